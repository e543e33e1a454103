"""Where an optimizer lays gradients and state, and what is updated in one go."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.flat_buffer import FlatBuffer
from minipaddle.optimizer import SGD, Adam, Optimizer
from tests.optimizer.reference import leaf, leaves, send


def test_gradients_lie_one_after_another_after_the_first_step() -> None:
    params = leaves([(2, 2), (), (3,)])
    send(params, [np.full(p.shape, float(i + 1)) for i, p in enumerate(params)])
    held = [p.grad for p in params]
    sgd = SGD(1.0, params)
    sgd.step()
    flats = {id(p.leaf_node().flat) for p in params}
    assert len(flats) == 1
    flat = params[0].leaf_node().flat
    assert flat is not None
    assert flat.array.tolist() == [1.0] * 4 + [2.0] + [3.0] * 3
    for param, grad in zip(params, held, strict=True):
        assert param.grad is grad
    sgd.clear_grad()
    assert flat.array.tolist() == [0.0] * 8


def test_one_call_of_the_update_serves_neighbours_with_equal_settings() -> None:
    class Counting(SGD):
        sizes: list[int]

        def update(self, stretch: Any, rate: float, step: int) -> None:
            self.sizes.append(len(stretch.slots))
            super().update(stretch, rate, step)

    params = leaves([(2,)] * 6)
    sgd = Counting(0.1, params)

    def sizes(sgd: Counting) -> list[int]:
        sgd.sizes = []
        sgd.step()
        return sgd.sizes

    ones = [np.ones(2)] * 6
    send(params, ones)
    assert sizes(sgd) == [6]
    params[2].stop_gradient = True
    assert sizes(sgd) == [2, 3]
    params[2].stop_gradient = False
    sgd = Counting(0.1, params)
    assert sizes(sgd) == [6]
    params[4].grad = paddle.ones([2], "float64")
    assert sorted(sizes(sgd)) == [1, 1, 4]
    sgd.clear_grad()
    assert sizes(sgd) == [6]
    other = Counting(0.1, [{"params": params[:3]}, {"params": params[3:], "learning_rate": 2.0}])
    other.sizes = []
    other.step()
    assert other.sizes == [3, 3]


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_the_order_of_parameters_may_differ_from_that_of_their_gradients(
    kind: type[Optimizer],
) -> None:
    """Gradients lie in another order, as a Reducer's buckets do; and one lies elsewhere."""
    shapes = [(2,), (3,), (1, 2), (4,)]
    params, plain = leaves(shapes), leaves(shapes)
    order = [2, 0, 1]
    flat = FlatBuffer(params[0].place, np.zeros(7), [shapes[i] for i in order])
    for index, i in enumerate(order):
        params[i].leaf_node().move_home(flat, index)
    rng = np.random.default_rng(0)
    one = kind(learning_rate=0.1, parameters=params)
    two = kind(learning_rate=0.1, parameters=plain)
    for _ in range(5):
        grads = [rng.normal(size=s) for s in shapes]
        for optimizer, tensors in ((one, params), (two, plain)):
            send(tensors, grads)
            optimizer.step()
            optimizer.clear_grad()
    for a, b in zip(params, plain, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert params[2].leaf_node().flat is flat


def test_the_layout_follows_the_gradients_so_that_one_call_is_enough() -> None:
    class Counting(SGD):
        calls = 0

        def update(self, stretch: Any, rate: float, step: int) -> None:
            self.calls += 1
            super().update(stretch, rate, step)

    params = leaves([(2,), (3,), (4,)])
    values = [p.numpy() for p in params]
    flat = FlatBuffer(params[0].place, np.zeros(9), [(4,), (3,), (2,)])
    for index, param in enumerate(reversed(params)):
        param.leaf_node().move_home(flat, index)
    send(params, [np.full(p.shape, float(i)) for i, p in enumerate(params)])
    sgd = Counting(1.0, params)
    sgd.step()
    assert sgd.calls == 1
    for i, (param, value) in enumerate(zip(params, values, strict=True)):
        np.testing.assert_array_equal(param.numpy(), value - i)


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_gradients_of_others_in_between_are_left_out(kind: type[Optimizer]) -> None:
    params = leaves([(2,), (3,), (4,)])
    flat = FlatBuffer(params[0].place, np.zeros(9), [(2,), (3,), (4,)])
    for index, param in enumerate(params):
        param.leaf_node().move_home(flat, index)
    values = [p.numpy() for p in params]
    optimizer = kind(learning_rate=1.0, parameters=[params[0], params[2]])
    send(params, [np.full(p.shape, 10.0**i) for i, p in enumerate(params)])
    optimizer.step()
    steps = (1.0, 0.0, 100.0) if kind is SGD else (1.0, 0.0, 1.0)
    for param, value, step in zip(params, values, steps, strict=True):
        np.testing.assert_allclose(param.numpy(), value - step, rtol=1e-6)


def test_a_new_home_for_gradients_in_the_middle_keeps_the_state() -> None:
    """As when the model is handed to DataParallel after some steps."""
    shapes = [(2,), (3,), (4,)]
    params, plain = leaves(shapes), leaves(shapes)
    one, two = Adam(0.1, parameters=params), Adam(0.1, parameters=plain)
    rng = np.random.default_rng(0)
    for step in range(8):
        if step == 4:
            flat = FlatBuffer(params[0].place, np.zeros(9), [shapes[i] for i in (2, 1, 0)])
            for index, i in enumerate((2, 1, 0)):
                params[i].leaf_node().move_home(flat, index)
        grads = [rng.normal(size=s) for s in shapes]
        for optimizer, tensors in ((one, params), (two, plain)):
            send(tensors, grads)
            optimizer.step()
            optimizer.clear_grad(set_to_zero=step % 2 == 0)
    for a, b in zip(params, plain, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_parameters_of_several_dtypes() -> None:
    params = [leaf([1.0, 1.0], "float32"), leaf([1.0], "float64"), leaf([1.0], "float32")]
    adam = Adam(0.5, parameters=params, epsilon=0.0)
    send(params, [[1.0, 1.0], [1.0], [1.0]])
    adam.step()
    for param in params:
        np.testing.assert_allclose(param.numpy(), 0.5, rtol=1e-6)
    assert [p.grad.dtype.name for p in params] == ["float32", "float64", "float32"]


def test_two_optimizers_over_the_same_and_over_parts_of_a_model() -> None:
    params = leaves([(2,), (3,), (2,)])
    values = [p.numpy() for p in params]
    whole, part = SGD(1.0, params), SGD(1.0, params[1:])
    for _ in range(2):
        send(params, [np.ones(p.shape) for p in params])
        whole.step()
        part.step()
        whole.clear_grad()
    for param, value, steps in zip(params, values, (2, 4, 4), strict=True):
        np.testing.assert_allclose(param.numpy(), value - steps)


def test_clear_grad_reaches_every_parameter_before_and_after_the_first_step() -> None:
    params = leaves([(2,), (3,)])
    sgd = SGD(1.0, params)
    for _ in range(2):
        send(params, [np.ones(2), np.ones(3)])
        sgd.clear_grad()
        assert [p.grad.tolist() for p in params] == [[0.0] * 2, [0.0] * 3]
        sgd.clear_gradients(set_to_zero=False)
        assert [p.grad for p in params] == [None, None]
        send(params, [np.ones(2), np.ones(3)])
        sgd.step()
