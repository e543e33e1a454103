"""Activations as layers."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn


@pytest.mark.parametrize(
    ("layer", "value", "derivative"),
    [
        (nn.ReLU(), lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0),
        (nn.Tanh(), np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    ],
    ids=["ReLU", "Tanh"],
)
def test_value_and_gradient(layer: nn.Layer, value: object, derivative: object) -> None:
    array = np.array([-2.0, -0.5, 0.0, 0.5, 2.0])
    x = paddle.to_tensor(array, stop_gradient=False)
    y = layer(x)
    np.testing.assert_allclose(y.numpy(), value(array), rtol=1e-14)  # type: ignore[operator]
    y.backward()
    expected = derivative(array)  # type: ignore[operator]
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-14)
    assert layer.parameters() == []
    assert x.tolist() == array.tolist()


def test_relu_keeps_nan() -> None:
    assert np.isnan(nn.ReLU()(paddle.to_tensor([float("nan")])).item())
