"""States: names, other names, what does not fit, schedulers and master weights."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.optimizer import SGD, Adam, AdamW, Momentum, Optimizer, lr
from minipaddle.optimizer.saved_state import steps_done
from tests.optimizer.reference import leaf, leaves, send


def trained(optimizer: Optimizer, params: list[Any], steps: int, first: int = 0) -> None:
    for step in range(first, first + steps):
        rng = np.random.default_rng(step)
        send(params, [rng.normal(size=p.shape) for p in params])
        optimizer.step()
        optimizer.clear_grad()


def equal(params: list[Any], others: list[Any]) -> None:
    for one, other in zip(params, others, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_a_model_made_again_goes_on_from_the_state_of_the_first() -> None:
    """Its layers are numbered on: linear_2.w_0 where the state has linear_0.w_0."""

    def model() -> list[Any]:
        made = paddle.nn.Sequential(paddle.nn.Linear(3, 2), paddle.nn.Linear(2, 1))
        return made.parameters()

    for kind in (Momentum, Adam, AdamW):
        params, others = model(), model()
        assert not {p.name for p in params} & {p.name for p in others}
        optimizer = kind(0.1, parameters=params)
        trained(optimizer, params, 3)
        for one, other in zip(params, others, strict=True):
            other.set_value(one)
        again = kind(0.1, parameters=others)
        again.set_state_dict(optimizer.state_dict())
        for each, tensors in ((optimizer, params), (again, others)):
            trained(each, tensors, 3, first=3)
        equal(params, others)


def test_names_that_overlap_by_chance_are_not_followed() -> None:
    """One layer further on, each name but the last is one that the state has of another."""
    names = [f"layer_{i}.w_0" for i in range(4)]
    params, others = leaves([(2,)] * 3), leaves([(2,)] * 3)
    for i in range(3):
        params[i].name, others[i].name = names[i], names[i + 1]
    momentum, again = Momentum(0.1, parameters=params), Momentum(0.1, parameters=others)
    trained(momentum, params, 2)
    again.set_state_dict(momentum.state_dict())
    for i in range(3):
        one = momentum.state_dict()[f"{names[i]}_velocity_0"]
        other = again.state_dict()[f"{names[i + 1]}_velocity_0"]
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_frozen_parameters_have_no_state_and_need_none() -> None:
    params, others = leaves([(2,), (3,), (2,)]), leaves([(2,), (3,), (2,)])
    adam, again = Adam(parameters=params), Adam(parameters=others)
    params[0].stop_gradient = others[0].stop_gradient = True
    for _ in range(2):
        send(params[1:], [np.ones(3), np.ones(2)])
        adam.step()
    state = adam.state_dict()
    assert not [name for name in state if name.startswith(params[0].name)]
    again.set_state_dict(state)
    moment = again.state_dict()[f"{others[2].name}_moment1_0"]
    np.testing.assert_array_equal(moment.numpy(), state[f"{params[2].name}_moment1_0"].numpy())


def test_shapes_and_numbers_that_do_not_fit_are_refused_and_nothing_changes() -> None:
    params = leaves([(2,), (3,)])
    momentum = Momentum(parameters=params)
    trained(momentum, params, 2)
    state = momentum.state_dict()
    swapped = Momentum(parameters=leaves([(3,), (2,)]))
    with pytest.raises(ValueError, match=r"velocity.*\[3\].*\[2\]"):
        swapped.set_state_dict(state)
    assert swapped.state_dict() == {}
    with pytest.raises(ValueError, match=r"2 parameters .* 3 here"):
        Momentum(parameters=leaves([(2,), (3,), (1,)])).set_state_dict(state)


def test_a_state_of_another_kind_is_a_warning() -> None:
    params = leaves([(2,)])
    momentum, adam = Momentum(parameters=params), Adam(parameters=params)
    trained(momentum, params, 1)
    with pytest.warns(UserWarning, match="lacks entries"):
        adam.set_state_dict(momentum.state_dict())


def test_another_number_at_the_end_of_a_name() -> None:
    """Paddle counts the optimizers of a process there."""
    params = leaves([(2,)])
    momentum = Momentum(parameters=params)
    trained(momentum, params, 1)
    state = momentum.state_dict()
    moved = {name.replace("_velocity_0", "_velocity_3"): value for name, value in state.items()}
    again = Momentum(parameters=params)
    again.set_state_dict(moved)
    assert again.state_dict().keys() == state.keys()


def test_the_name_of_the_optimizer_is_part_of_those_of_the_accumulators() -> None:
    params = leaves([(2,)])
    adam = Adam(parameters=params, name="first")
    trained(adam, params, 1)
    name = params[0].name
    assert set(adam.state_dict()) == {
        f"{name}_first_{part}_0"
        for part in ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")
    }
    again = Adam(parameters=params, name="first")
    again.load_state_dict(adam.state_dict())
    assert again.state_dict().keys() == adam.state_dict().keys()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.0, 0.99), (0.5, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("steps", [0, 1, 7, 900, 50_000])
def test_the_number_of_steps_comes_back_from_the_powers(
    steps: int, betas: tuple[float, float], dtype: str
) -> None:
    powers = {beta: np.asarray([beta ** (steps + 1)], dtype) for beta in betas}
    found = steps_done(powers)
    largest = max(betas)
    if largest and powers[largest][0] > 1e-30:
        assert found == steps
    else:  # no correction is left to be seen
        assert largest**found < 1e-16 or not largest


# ---- schedulers ----


def test_the_rate_is_restored() -> None:
    def new() -> tuple[Any, AdamW, Any]:
        schedule = lr.StepDecay(0.1, step_size=2, gamma=0.5)
        model = paddle.nn.Linear(1, 1)
        adamw = AdamW(schedule, weight_decay=0.5, parameters=model.parameters())
        return schedule, adamw, model

    def epoch(schedule: Any, optimizer: Any, model: Any) -> None:
        model(paddle.ones([1, 1])).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()

    schedule, adamw, model = new()
    for _ in range(3):
        epoch(schedule, adamw, model)
    other, again, copy = new()
    again.set_state_dict(adamw.state_dict())
    copy.set_state_dict(model.state_dict())
    assert again.get_lr() == adamw.get_lr() == 0.05
    assert other.last_epoch == schedule.last_epoch == 3
    epoch(schedule, adamw, model)
    epoch(other, again, copy)
    assert again.get_lr() == 0.025
    equal(model.parameters(), copy.parameters())


def test_a_state_and_an_optimizer_of_which_one_has_a_scheduler() -> None:
    x = leaf([1.0])
    fixed, scheduled = SGD(0.5, [x]), SGD(lr.StepDecay(0.5, 2), [x])
    with pytest.raises(ValueError, match="LR_Scheduler"):
        scheduled.set_state_dict(fixed.state_dict())
    with pytest.warns(UserWarning, match="LR_Scheduler"):
        fixed.set_state_dict(scheduled.state_dict())
    assert fixed.get_lr() == 0.5


# ---- master weights ----


def half_of(values: Any, dtype: str = "float16") -> Any:
    return paddle.to_tensor(values, dtype=dtype, stop_gradient=False)


@pytest.mark.parametrize("kind", [SGD, Momentum, Adam, AdamW])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_master_weights_keep_what_a_half_type_would_lose(kind: Any, dtype: str) -> None:
    """Each step is far below the distance of two numbers of the type near 1."""
    half, plain, exact = half_of([1.0], dtype), half_of([1.0], dtype), leaf([1.0], "float32")
    optimizers = [
        kind(1e-5, parameters=[half], multi_precision=True),
        kind(1e-5, parameters=[plain]),
        kind(1e-5, parameters=[exact]),
    ]
    for _ in range(400):
        for optimizer, tensor in zip(optimizers, (half, plain, exact), strict=True):
            send([tensor], [[1.0]])
            optimizer.step()
            optimizer.clear_grad()
    assert half.dtype.name == dtype
    assert plain.item() == 1.0
    master = optimizers[0].state_dict()["master_weights"][half.name]
    assert master.dtype.name == "float32"
    np.testing.assert_allclose(master.numpy(), exact.numpy(), rtol=1e-6)
    assert half.item() == master.astype(dtype).item() < 1.0


def test_master_weights_and_their_moments_come_back() -> None:
    params = [half_of([1.0, 2.0]), half_of([3.0])]
    adam = Adam(1e-3, parameters=params, multi_precision=True)
    trained(adam, params, 3)
    state = adam.state_dict()
    name = params[0].name
    assert set(state["master_weights"]) == {p.name for p in params}
    assert state["master_weights"][name].name == f"{name}_fp32_master_0"
    assert f"{name}_fp32_master_0_moment1_0" in state
    others = [half_of(p.numpy()) for p in params]
    again = Adam(1e-3, parameters=others, multi_precision=True)
    again.set_state_dict(state)
    trained(adam, params, 3, first=3)
    trained(again, others, 3, first=3)
    equal(params, others)
    one, other = (list(o.state_dict()["master_weights"].values()) for o in (adam, again))
    equal(one, other)


def test_single_precision_parameters_have_no_master_weights() -> None:
    params = [leaf([1.0], "float32"), half_of([1.0])]
    sgd = SGD(0.1, params, multi_precision=True)
    trained(sgd, params, 1)
    assert list(sgd.state_dict()["master_weights"]) == [params[1].name]


def test_a_write_to_the_parameter_reaches_its_master_weights() -> None:
    """Otherwise the next step would take the write back."""
    x = half_of([1.0, 1.0])
    sgd = SGD(0.25, [x], multi_precision=True)
    for value in (4.0, 8.0):
        x.set_value([value, value])
        send([x], [[1.0, 0.0]])
        sgd.step()
        sgd.clear_grad()
        assert x.tolist() == [value - 0.25, value]


def test_a_write_of_what_was_there_keeps_the_digits_of_the_master_weights() -> None:
    x = half_of([1.0])
    sgd = SGD(2.0**-14, [x], multi_precision=True)
    trained_by_one = 1 - 2.0**-14
    send([x], [[1.0]])
    sgd.step()
    x.set_value(x.numpy())
    sgd.clear_grad()
    sgd.step()
    master = sgd.state_dict()["master_weights"][x.name]
    assert x.item() == 1.0 and master.item() == trained_by_one


def test_a_penalty_and_a_clip_act_on_the_master_weight() -> None:
    x = half_of([1.0])
    clip = paddle.nn.ClipGradByGlobalNorm(0.5)
    sgd = SGD(1e-4, [x], weight_decay=0.5, grad_clip=clip, multi_precision=True)
    value = 1.0
    for _ in range(10):
        send([x], [[8.0]])
        sgd.step()
        sgd.clear_grad()
        value -= 1e-4 * (0.5 + 0.5 * value)
    master = sgd.state_dict()["master_weights"][x.name]
    np.testing.assert_allclose(master.item(), value, rtol=1e-6)


def test_moments_may_be_of_the_half_type() -> None:
    x = half_of([1.0])
    adamw = AdamW(0.1, parameters=[x], use_lowprecision_moment=True)
    send([x], [[1.0]])
    adamw.step()
    assert adamw.state_dict()[f"{x.name}_moment1_0"].dtype.name == "float16"
    assert abs(x.item() - 0.9) < 2e-3
