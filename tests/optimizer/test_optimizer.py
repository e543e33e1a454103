"""What all optimizers share: arguments, groups, who takes part, versions."""

import gc
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.backend import set_device
from minipaddle.optimizer import SGD, Adam, Optimizer
from tests.device.plug import plugged_in
from tests.optimizer.reference import ReferenceAdam, leaf, leaves, send

# ---- arguments ----


@pytest.mark.parametrize("kind", [SGD, Adam])
@pytest.mark.parametrize("rate", [1, True, "0.1", None, [0.1], np.ones(1)])
def test_the_rate_must_be_a_float(kind: type[Optimizer], rate: Any) -> None:
    with pytest.raises(TypeError, match="learning_rate"):
        kind(learning_rate=rate, parameters=[leaf([1.0])])


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        (lambda x: None, AttributeError, "parameters"),
        (lambda x: x, TypeError, "Tensor"),
        (lambda x: {"params": [x]}, TypeError, "dict"),
        (lambda x: {x}, TypeError, "set"),
        (lambda x: [{"params": {x}}], TypeError, "set"),
        (lambda x: [x, 5], TypeError, "int"),
        (lambda x: [x.numpy()], TypeError, "ndarray"),
        (lambda x: ["weight"], TypeError, "str"),
        (lambda x: [x, x], ValueError, "twice"),
        (lambda x: [{"params": [x]}, {"params": [x]}], ValueError, "twice"),
        (lambda x: [{"params": [x]}, x], TypeError, "Tensor"),
        (lambda x: [x, {"params": [x]}], TypeError, "dict"),
        (lambda x: [{"parms": [x]}], ValueError, "params"),
        (lambda x: [{"params": [x], "learnig_rate": 0.1}], ValueError, "learnig_rate"),
    ],
)
def test_parameters_that_do_not_fit(parameters: Any, error: type[Exception], words: str) -> None:
    for kind in (SGD, Adam):
        with pytest.raises(error, match=words):
            kind(learning_rate=0.1, parameters=parameters(leaf([1.0])))


def test_two_parameters_of_one_name_are_refused() -> None:
    x, y = leaf([1.0]), leaf([1.0])
    x.name = y.name = "same"
    with pytest.raises(ValueError, match="same"):
        Adam(parameters=[x, y])


def test_parameters_may_come_from_any_iterable() -> None:
    net = paddle.nn.Linear(2, 1)
    for parameters in (net.parameters(), tuple(net.parameters()), iter(net.parameters())):
        sgd = SGD(0.5, parameters)
        net(paddle.ones([1, 2])).sum().backward()
        before = net.bias.item()
        sgd.step()
        assert net.bias.item() == before - 0.5
        sgd.clear_grad()


def test_no_parameters_at_all() -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        SGD(0.1, [])


def test_get_and_set_lr() -> None:
    x = leaf([1.0])
    sgd = SGD(0.5, [x])
    send([x], [[1.0]])
    sgd.step()
    sgd.set_lr(0.25)
    assert sgd.get_lr() == 0.25
    sgd.step()
    assert x.tolist() == [0.25]
    sgd.set_lr(1)
    assert sgd.get_lr() == 1.0
    for wrong in ("0.1", None, True, [0.1]):
        with pytest.raises(TypeError):
            sgd.set_lr(wrong)
    assert sgd.get_lr() == 1.0


def test_the_base_updates_nothing() -> None:
    x = leaf([1.0])
    send([x], [[1.0]])
    with pytest.raises(TypeError, match="update"):
        Optimizer(0.1, [x]).step()


def test_minimize_steps_and_leaves_backward_to_the_caller() -> None:
    x = leaf([1.0])
    sgd = SGD(0.5, [x])
    loss = x * 2.0
    sgd.minimize(loss)
    assert x.tolist() == [1.0]
    loss.backward()
    sgd.minimize(loss)
    assert x.tolist() == [0.0]


# ---- groups ----


def test_group_rates_are_factors_on_the_global_one() -> None:
    a, b, c = leaf([1.0]), leaf([1.0]), leaf([1.0])
    sgd = SGD(0.5, [{"params": [a]}, {"params": [b], "learning_rate": 0.5}, {"params": c}])
    send([a, b, c], [[1.0]] * 3)
    sgd.step()
    assert [p.item() for p in (a, b, c)] == [0.5, 0.75, 0.5]
    sgd.set_lr(1.0)
    sgd.step()
    assert [p.item() for p in (a, b, c)] == [-0.5, 0.25, -0.5]


def test_a_parameters_own_factor_is_multiplied_in() -> None:
    attr = paddle.ParamAttr(learning_rate=0.5, initializer=paddle.nn.initializer.Constant(1.0))
    weight = paddle.nn.Linear(1, 1, weight_attr=attr).weight
    sgd = SGD(0.5, [{"params": [weight], "learning_rate": 0.25}])
    weight.backward()
    sgd.step()
    assert weight.item() == 1 - 0.5 * 0.25 * 0.5


def test_adam_with_groups_against_numpy() -> None:
    params = leaves([(3,), (2, 2), (1,), (4,)])
    factors = [1.0, 0.1, 0.1, 1.0]
    adam = Adam(
        0.05,
        parameters=[
            {"params": [params[0], params[3]]},
            {"params": params[1:3], "learning_rate": 0.1},
        ],
    )
    references = [ReferenceAdam(0.05 * factor) for factor in factors]
    values = [p.numpy() for p in params]
    rng = np.random.default_rng(0)
    for _ in range(20):
        grads = [rng.normal(size=p.shape) for p in params]
        send(params, grads)
        adam.step()
        adam.clear_grad()
        values = [r.step(v, g) for r, v, g in zip(references, values, grads, strict=True)]
    for param, value in zip(params, values, strict=True):
        np.testing.assert_allclose(param.numpy(), value, rtol=1e-12)


# ---- who takes part ----


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_parameters_without_gradient_are_skipped(kind: type[Optimizer]) -> None:
    params = leaves([(2,), (3,), (2,)])
    optimizer = kind(learning_rate=0.1, parameters=params)
    middle = params[1].numpy()
    send([params[0], params[2]], [np.ones(2), np.ones(2)])
    optimizer.step()
    np.testing.assert_array_equal(params[1].numpy(), middle)
    assert [p.inplace_version for p in params] == [1, 0, 1]
    assert params[1].grad is None


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_freezing_and_thawing(kind: type[Optimizer]) -> None:
    params = leaves([(2,), (3,), (2,)])
    optimizer = kind(learning_rate=0.1, parameters=params)
    grads = [np.ones(p.shape) for p in params]
    send(params, grads)
    optimizer.step()
    frozen = params[1].numpy()
    params[1].stop_gradient = True  # its gradient is still there
    optimizer.step()
    np.testing.assert_array_equal(params[1].numpy(), frozen)
    params[1].stop_gradient = False
    optimizer.step()
    assert (params[1].numpy() < frozen).all()
    assert [p.inplace_version for p in params] == [3, 2, 3]


def test_a_replaced_gradient_is_used_and_the_next_one_too() -> None:
    params = leaves([(2,), (2,), (2,)])
    values = [p.numpy() for p in params]
    sgd = SGD(1.0, params)
    for replaced in (0, 1, 2, 1):
        send(params, [np.ones(2)] * 3)
        params[replaced].grad = paddle.to_tensor([10.0, 20.0], dtype="float64")
        sgd.step()
        sgd.clear_grad()
        for i in range(3):
            values[i] = values[i] - (np.array([10.0, 20.0]) if i == replaced else np.ones(2))
            np.testing.assert_allclose(params[i].numpy(), values[i])
    send(params, [np.ones(2)] * 3)
    sgd.step()
    for param, value in zip(params, values, strict=True):
        np.testing.assert_allclose(param.numpy(), value - 1.0)


def test_a_replaced_gradient_of_another_dtype_and_layout() -> None:
    x = leaf(np.zeros((2, 3)), "float32")
    values = np.arange(6.0).reshape(3, 2)
    for kind in (SGD, Adam):
        x.set_value(np.zeros((2, 3)))
        given = paddle.to_tensor(values, dtype="float64")
        given.data = given.data.T
        x.grad = given
        kind(learning_rate=1.0, parameters=[x]).step()
        assert x.dtype == paddle.float32
        expected = -values.T if kind is SGD else -np.sign(values.T)  # Adam's first step
        np.testing.assert_allclose(x.numpy(), expected, rtol=1e-4)


def test_gradients_changed_in_place_are_used() -> None:
    params = leaves([(2,), (2,)])
    values = [p.numpy() for p in params]
    sgd = SGD(1.0, params)
    for _ in range(3):
        send(params, [np.ones(2)] * 2)
        for param in params:
            param.grad.multiply_(0.5)
        sgd.step()
        sgd.clear_grad()
    for param, value in zip(params, values, strict=True):
        np.testing.assert_allclose(param.numpy(), value - 1.5)


def test_gradients_of_a_recorded_backward_are_used() -> None:
    x = leaf([3.0])
    sgd = SGD(0.5, [x])
    for expected in (0.0, 0.0):
        x.square().backward(create_graph=True)
        sgd.step()
        sgd.clear_grad()
        assert x.item() == expected


def test_accumulated_gradients() -> None:
    x = leaf([1.0])
    sgd = SGD(0.5, [x])
    for _ in range(2):
        for _ in range(3):
            send([x], [[1.0]])
        sgd.step()
        sgd.clear_grad()
    assert x.tolist() == [-2.0]


# ---- versions, errors, memory ----


def test_a_step_raises_versions_and_a_stale_graph_is_noticed() -> None:
    x, w = leaf([2.0]), leaf([3.0])
    sgd = SGD(0.1, [w])
    loss = x * w
    loss.backward(retain_graph=True)
    sgd.step()
    assert w.inplace_version == 1
    with pytest.raises(RuntimeError, match="multiply"):
        loss.backward()


def test_a_step_records_nothing_and_keeps_leaves_leaves() -> None:
    x = leaf([2.0])
    x.square().backward()
    SGD(0.1, [x]).step()
    assert x.is_leaf
    assert not x.stop_gradient
    assert x.grad.stop_gradient


def test_a_kernel_that_fails_leaves_the_optimizer_usable() -> None:
    x = leaf([1.0])
    sgd = SGD(0.5, [x])
    send([x], [[1.0]])
    sgd.step()
    array, x.data = x.data, np.ones(3)  # does not fit its gradient
    with pytest.raises(ValueError):
        sgd.step()
    x.data = array
    sgd.step()
    assert x.tolist() == [0.0]


def test_on_a_plugged_in_device() -> None:
    with plugged_in():
        set_device("xpu:0")
        for kind in (SGD, Adam):
            on_xpu = leaves([(2, 2), (3,)])
            set_device("cpu")
            on_cpu = leaves([(2, 2), (3,)])
            set_device("xpu:0")
            for params in (on_xpu, on_cpu):
                optimizer = kind(learning_rate=0.1, parameters=params)
                for _ in range(3):
                    loss = (params[0] * params[0]).sum() + (params[1] * params[1]).sum()
                    loss.backward()
                    optimizer.step()
                    optimizer.clear_grad()
            for a, b in zip(on_xpu, on_cpu, strict=True):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)


def test_parameters_on_several_places() -> None:
    with plugged_in():
        params = [
            paddle.to_tensor([1.0], place=place, stop_gradient=False)
            for place in ("cpu", "xpu:0", "xpu:1", "cpu")
        ]
        sgd = SGD(0.5, params)
        for _ in range(2):
            for param in params:
                param.backward()
            sgd.step()
            sgd.clear_grad()
        assert [p.tolist() for p in params] == [[0.0]] * 4


def test_steps_leave_nothing_for_the_collector() -> None:
    params = leaves([(2,), (3,)])
    adam = Adam(parameters=params)

    def step(i: int) -> None:
        send(params, [np.ones(2), np.ones(3)])
        params[i % 2].stop_gradient = i % 3 == 0
        adam.step()
        adam.clear_grad(set_to_zero=i % 2 == 0)
        params[i % 2].stop_gradient = False

    step(0)
    gc.collect()
    gc.disable()
    try:
        for i in range(200):
            step(i)
        assert gc.collect() == 0
    finally:
        gc.enable()
