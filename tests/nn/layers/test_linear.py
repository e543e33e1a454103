"""Linear."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn


def test_shapes_and_first_values() -> None:
    paddle.seed(5)
    layer = nn.Linear(30, 50)
    assert (layer.weight.shape, layer.bias.shape) == ([30, 50], [50])  # [in, out], as in Paddle
    assert layer.bias.tolist() == [0.0] * 50
    limit = np.sqrt(6 / 80)
    assert 0.9 * limit < abs(layer.weight.numpy()).max() <= limit


@pytest.mark.parametrize("shape", [[3], [5, 3], [2, 5, 3], [0, 3]])
@pytest.mark.parametrize("bias", [None, False])
def test_forward_and_backward_against_numpy(shape: list[int], bias: Any) -> None:
    layer = nn.Linear(3, 2, bias_attr=bias)
    x = paddle.to_tensor(
        np.random.default_rng(0).normal(size=shape).astype("float32"), stop_gradient=False
    )
    out = layer(x)
    flat = x.numpy().reshape(-1, 3).astype("float64")
    w = layer.weight.numpy().astype("float64")
    np.testing.assert_allclose(out.numpy(), (flat @ w).reshape(*shape[:-1], 2), rtol=1e-5)
    out.sum().backward()
    ones = np.ones((len(flat), 2))
    np.testing.assert_allclose(layer.weight.grad.numpy(), flat.T @ ones, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), (ones @ w.T).reshape(shape), rtol=1e-5)
    if bias is None:
        np.testing.assert_array_equal(layer.bias.grad.numpy(), np.full(2, len(flat)))
    else:
        assert layer.bias is None
        assert [name for name, _ in layer.named_parameters()] == ["weight"]


def test_attributes_of_parameters() -> None:
    layer = nn.Linear(
        2,
        1,
        weight_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(2.0), trainable=False),
        bias_attr=nn.initializer.Constant(3.0),
        name="scope",
    )
    assert layer(paddle.ones([1, 2])).tolist() == [[7.0]]
    assert layer.weight.stop_gradient
    assert layer.weight.name.startswith("scope_")


@pytest.mark.parametrize("value", [0, -1, 2.0, "3", None])
def test_numbers_of_features_that_do_not_fit(value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="in_features"):
        nn.Linear(value, 1)
    with pytest.raises((ValueError, TypeError), match="out_features"):
        nn.Linear(1, value)


def test_numpy_integers_are_integers() -> None:
    assert nn.Linear(np.prod([2, 3]), np.int32(2)).weight.shape == [6, 2]


def test_an_input_that_does_not_fit() -> None:
    layer = nn.Linear(3, 2)
    with pytest.raises(ValueError, match="linear"):
        layer(paddle.ones([1, 4]))
    with pytest.raises(TypeError, match="float64"):
        layer(paddle.ones([1, 3], "float64"))
    assert layer(paddle.ones([1, 3])).shape == [1, 2]


def test_repr() -> None:
    assert repr(nn.Linear(3, 2)).startswith("Linear(in_features=3, out_features=2")


def test_there_is_no_linear_without_a_weight() -> None:
    with pytest.raises(ValueError, match="weight_attr"):
        nn.Linear(2, 2, weight_attr=False)
