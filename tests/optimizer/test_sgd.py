"""SGD against its one line."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.optimizer import SGD
from tests.optimizer.reference import ReferenceSGD, leaf, leaves, send

SHAPES = [(3, 4), (), (5,), (0, 2), (1, 1)]


@pytest.mark.parametrize(
    ("dtype", "rtol"), [("float64", 1e-13), ("float32", 2e-6), ("float16", 1e-2)]
)
def test_many_steps_against_numpy(dtype: str, rtol: float) -> None:
    rng = np.random.default_rng(0)
    params = leaves(SHAPES, dtype)
    expected = [p.numpy().astype("float64") for p in params]
    sgd, reference = SGD(0.0625, params), ReferenceSGD(0.0625)
    for _ in range(30):
        grads = [rng.normal(size=p.shape).astype(dtype) for p in params]
        send(params, grads)
        sgd.step()
        sgd.clear_grad()
        expected = [
            reference.step(p, g.astype("float64")) for p, g in zip(expected, grads, strict=True)
        ]
    for param, value in zip(params, expected, strict=True):
        assert param.dtype.name == dtype
        np.testing.assert_allclose(param.numpy(), value, rtol=rtol, atol=rtol)


def test_bfloat16() -> None:
    x = leaf([1.0, -2.0], "float32").astype("bfloat16").detach()
    x.stop_gradient = False
    sgd = SGD(0.5, [x])
    send([x], [[1.0, 1.0]])
    sgd.step()
    assert x.dtype.name == "bfloat16"
    assert x.numpy().tolist() == [0.5, -2.5]


def test_default_rate_and_arguments() -> None:
    x = leaf([1.0])
    assert SGD(parameters=[x]).get_lr() == 0.001
    assert SGD(0.5, [x]).get_lr() == 0.5


def test_a_gradient_kept_over_steps_is_applied_again() -> None:
    x = leaf([1.0])
    sgd = SGD(0.5, [x])
    send([x], [[1.0]])
    sgd.step()
    sgd.step()
    assert x.tolist() == [0.0]
    send([x], [[1.0]])
    sgd.step()
    assert x.tolist() == [-1.0]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_parameters_larger_than_a_block(dtype: str) -> None:
    """Whole blocks, parts of blocks, and small ones in between."""
    shapes: list[tuple[int, ...]] = [(7,), (300, 301), (3, 2), (100_003,), (), (64, 1024)]
    params = leaves(shapes, dtype)
    before = [p.numpy() for p in params]
    grads = [np.random.default_rng(i).normal(size=s).astype(dtype) for i, s in enumerate(shapes)]
    send(params, grads)
    SGD(0.125, params).step()
    for param, value, grad in zip(params, before, grads, strict=True):
        np.testing.assert_array_equal(param.numpy(), value - grad * value.dtype.type(0.125))


@pytest.mark.parametrize("shape", [(4, 6), (400, 600)])
def test_parameters_whose_memory_is_not_contiguous(shape: tuple[int, int]) -> None:
    values = np.arange(float(shape[0] * shape[1])).reshape(shape)
    x, y = leaf(values), leaf(np.ones(3))
    x.data = np.asfortranarray(values)  # as after a user re-pointed it
    grad = np.random.default_rng(0).normal(size=shape)
    send([x, y], [grad, np.ones(3)])
    array = x.data
    SGD(0.5, [x, y]).step()
    assert x.data is array
    np.testing.assert_array_equal(x.numpy(), values - 0.5 * grad)
    assert y.tolist() == [0.5] * 3


def test_nan_and_infinity_stay_where_they_are() -> None:
    x, y = leaf([1.0, 1.0, 1.0]), leaf([1.0])
    send([x, y], [[np.nan, np.inf, 1.0], [1.0]])
    SGD(0.5, [x, y]).step()
    np.testing.assert_array_equal(x.numpy(), [np.nan, -np.inf, 0.5])
    assert y.tolist() == [0.5]


def test_training_reduces_a_loss() -> None:
    paddle.seed(0)
    net: Any = paddle.nn.Linear(2, 1)
    x = paddle.to_tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = paddle.to_tensor([[1.0], [2.0], [3.0]])
    sgd = SGD(0.5, net.parameters())
    for _ in range(300):
        loss = paddle.nn.functional.mse_loss(net(x), y)
        loss.backward()
        sgd.step()
        sgd.clear_grad()
    assert loss.item() < 1e-6
    np.testing.assert_allclose(net.weight.numpy(), [[2.0], [1.0]], atol=1e-2)
