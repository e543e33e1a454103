"""Adam against algorithm 1 of its paper."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.optimizer import SGD, Adam
from tests.optimizer.reference import ReferenceAdam, leaf, leaves, send

SHAPES = [(3, 4), (), (5,), (0, 2), (1, 1)]


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-12), ("float32", 2e-5)])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"beta1": 0.5, "beta2": 0.75, "epsilon": 1e-3},
        {"beta1": 0.0, "beta2": 0.0},
        {"epsilon": 0.0},
        {"epsilon": 10.0},
    ],
    ids=str,
)
def test_many_steps_against_numpy(settings: dict[str, float], dtype: str, rtol: float) -> None:
    rng = np.random.default_rng(0)
    params = leaves(SHAPES, dtype)
    expected = [p.numpy().astype("float64") for p in params]
    adam = Adam(0.01, parameters=params, **settings)
    references = [ReferenceAdam(0.01, **settings) for _ in params]
    for _ in range(100):
        grads = [(rng.normal(size=p.shape) + 0.1).astype(dtype) for p in params]
        send(params, grads)
        adam.step()
        adam.clear_grad()
        expected = [
            r.step(p, g.astype("float64"))
            for r, p, g in zip(references, expected, grads, strict=True)
        ]
    for param, value in zip(params, expected, strict=True):
        assert param.dtype.name == dtype
        np.testing.assert_allclose(param.numpy(), value, rtol=rtol, atol=rtol)


def test_epsilon_is_added_after_the_bias_correction() -> None:
    """At the first step: g / (|g| + eps), where the unscaled form would be 0.0316 off."""
    x = leaf([0.0])
    adam = Adam(1.0, parameters=[x], epsilon=1.0)
    send([x], [[1.0]])
    adam.step()
    np.testing.assert_allclose(x.item(), -0.5, rtol=1e-12)


def test_the_first_step_is_the_rate_whatever_the_gradient() -> None:
    x = leaf([1.0, 1.0, 1.0])
    adam = Adam(0.25, parameters=[x], epsilon=0.0)
    send([x], [[1e-12, -1e12, 3.0]])
    adam.step()
    np.testing.assert_allclose(x.numpy(), [0.75, 1.25, 0.75], rtol=1e-12)


def test_empty_gradients_keep_the_moments_moving() -> None:
    x, idle = leaf([1.0]), leaf([1.0])
    adam, reference = Adam(0.1, parameters=[x, idle]), ReferenceAdam(0.1)
    send([x], [[2.0]])
    value = np.array([1.0])
    for grad in (2.0, 0.0, 0.0, 0.0):
        adam.step()
        adam.clear_grad()
        value = reference.step(value, np.array([grad]))
    np.testing.assert_allclose(x.numpy(), value, rtol=1e-12)
    assert x.item() < 0.8
    assert idle.tolist() == [1.0]
    assert idle.inplace_version == 0


def test_none_gradients_do_not() -> None:
    x = leaf([1.0])
    adam = Adam(0.1, parameters=[x])
    send([x], [[2.0]])
    adam.step()
    adam.clear_grad(set_to_zero=False)
    after_one = x.item()
    adam.step()
    assert x.item() == after_one
    send([x], [[2.0]])
    adam.step()
    reference = ReferenceAdam(0.1)
    expected = reference.step(reference.step(np.array([1.0]), 2.0), 2.0)
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-12)


def test_each_parameter_counts_its_own_steps() -> None:
    """One that joins later has the bias correction of its own first step."""
    early, late = leaf([1.0, 1.0]), leaf([1.0])
    adam = Adam(0.1, parameters=[early, late])
    references = [ReferenceAdam(0.1), ReferenceAdam(0.1)]
    values = [early.numpy(), late.numpy()]
    rng = np.random.default_rng(0)
    for step in range(12):
        takes_part = [True, step >= 5 and step != 8]
        grads = [rng.normal(size=2), rng.normal(size=1)]
        params = [p for p, part in zip((early, late), takes_part, strict=True) if part]
        send(params, [g for g, part in zip(grads, takes_part, strict=True) if part])
        adam.step()
        adam.clear_grad(set_to_zero=False)
        for i, part in enumerate(takes_part):
            if part:
                values[i] = references[i].step(values[i], grads[i])
    np.testing.assert_allclose(early.numpy(), values[0], rtol=1e-12)
    np.testing.assert_allclose(late.numpy(), values[1], rtol=1e-12)


def test_parameters_larger_than_a_block() -> None:
    shapes: list[tuple[int, ...]] = [(7,), (300, 301), (3, 2), (50_003,), ()]
    params = leaves(shapes)
    values = [p.numpy() for p in params]
    adam = Adam(0.01, parameters=params)
    references = [ReferenceAdam(0.01) for _ in shapes]
    for step in range(3):
        rng = np.random.default_rng(step)
        grads = [rng.normal(size=shape) for shape in shapes]
        send(params, grads)
        adam.step()
        adam.clear_grad()
        values = [r.step(v, g) for r, v, g in zip(references, values, grads, strict=True)]
    for param, value in zip(params, values, strict=True):
        np.testing.assert_allclose(param.numpy(), value, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_stay_finite_and_move_by_the_rate(dtype: str) -> None:
    """0.01 ** 2 * 0.001 and 1e-8 are both nothing in float16."""
    x = paddle.to_tensor([1.0, 1.0, 1.0], dtype=dtype, stop_gradient=False)
    adam = Adam(0.0625, parameters=[x])
    for _ in range(3):
        send([x], [[0.01, -0.001, 0.0]])
        adam.step()
        adam.clear_grad()
    assert x.dtype.name == dtype
    values = x.numpy().astype("float64")
    np.testing.assert_allclose(values, [1 - 3 / 16, 1 + 3 / 16, 1.0], rtol=2e-2)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"beta1": 1.0}, "beta1"),
        ({"beta1": -0.1}, "beta1"),
        ({"beta2": 1.5}, "beta2"),
        ({"beta2": float("nan")}, "beta2"),
        ({"epsilon": -1e-8}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
    ],
)
def test_settings_out_of_range(settings: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        Adam(parameters=[leaf([1.0])], **settings)


def test_defaults() -> None:
    adam = Adam(parameters=[leaf([1.0])])
    assert adam.get_lr() == 0.001


# ---- state ----


def trained(steps: int, adam: Adam, params: list[paddle.Tensor], first: int = 0) -> None:
    for step in range(first, first + steps):
        rng = np.random.default_rng(step)
        send(params, [rng.normal(size=p.shape) for p in params])
        adam.step()
        adam.clear_grad()


def twins(params: list[paddle.Tensor]) -> list[paddle.Tensor]:
    """Other tensors of the same values and names, as in a new process."""
    made = [leaf(p.numpy()) for p in params]
    for one, other in zip(made, params, strict=True):
        one.name = other.name
    return made


@pytest.mark.parametrize("as_numpy", [False, True])
def test_a_restored_optimizer_goes_on_identically(as_numpy: bool) -> None:
    params = leaves(SHAPES)
    adam = Adam(0.01, parameters=params)
    trained(5, adam, params)
    state = adam.state_dict()
    if as_numpy:
        state = {k: v.numpy() if isinstance(v, paddle.Tensor) else v for k, v in state.items()}
    others = twins(params)
    trained(7, adam, params, first=5)
    again = Adam(0.01, parameters=others[::-1])
    again.set_state_dict(state)
    trained(7, again, others, first=5)
    for one, other in zip(params, others, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_state_is_a_copy_with_a_name_for_each_accumulator() -> None:
    params = leaves([(2,), ()])
    adam = Adam(0.01, parameters=params)
    assert adam.state_dict() == {}
    trained(1, adam, params)
    state = adam.state_dict()
    assert sorted(state) == sorted(
        f"{p.name}_{part}_0"
        for p in params
        for part in ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")
    )
    moment = state[f"{params[0].name}_moment1_0"]
    before = moment.tolist()
    trained(1, adam, params, first=1)
    assert moment.tolist() == before
    assert adam.state_dict()[f"{params[0].name}_moment1_0"].tolist() != before
    power = state[f"{params[0].name}_beta1_pow_acc_0"]
    np.testing.assert_allclose(power.numpy(), [0.9**2], rtol=1e-15)


def test_state_can_be_set_in_the_middle_and_for_some_parameters_only() -> None:
    params = leaves([(2,), (3,)])
    adam = Adam(0.01, parameters=params)
    trained(2, adam, params)
    state, values = adam.state_dict(), [p.numpy() for p in params]
    trained(3, adam, params, first=2)
    expected = [p.numpy() for p in params]
    adam.set_state_dict(state)
    for param, value in zip(params, values, strict=True):
        param.set_value(value)
    trained(3, adam, params, first=2)
    for param, value in zip(params, expected, strict=True):
        np.testing.assert_array_equal(param.numpy(), value)
    kept = adam.state_dict()
    name = params[0].name
    with pytest.warns(UserWarning, match=f"lacks entries of {params[1].name}"):
        adam.set_state_dict({k: v for k, v in state.items() if k.startswith(name)})
    mixed = adam.state_dict()
    other = params[1].name
    for owner, steps in ((name, 2), (other, 5)):
        power = mixed[f"{owner}_beta2_pow_acc_0"].item()
        np.testing.assert_allclose(power, 0.999 ** (steps + 1), rtol=1e-15)
    assert mixed[f"{other}_moment1_0"].tolist() == kept[f"{other}_moment1_0"].tolist()
    with pytest.warns(UserWarning, match="no entries"):
        adam.set_state_dict({})
    assert adam.state_dict().keys() == mixed.keys()


def test_a_state_of_another_shape_is_refused_and_nothing_changes() -> None:
    params = leaves([(2,), (3,)])
    adam = Adam(0.01, parameters=params)
    trained(1, adam, params)
    before = adam.state_dict()
    bad = dict(before)
    bad[f"{params[1].name}_moment2_0"] = np.zeros(4)
    bad[f"{params[0].name}_moment1_0"] = np.zeros(2)
    with pytest.raises(ValueError, match=r"moment2.*\[3\].*\[4\]"):
        adam.set_state_dict(bad)
    after = adam.state_dict()
    for key, value in before.items():
        assert np.array_equal(np.asarray(value), np.asarray(after[key]))


def test_state_of_an_optimizer_without_accumulators() -> None:
    params = leaves([(2,)])
    sgd = SGD(0.1, params)
    send(params, [np.ones(2)])
    sgd.step()
    sgd.set_state_dict(sgd.state_dict())
    send(params, [np.ones(2)])
    sgd.step()
