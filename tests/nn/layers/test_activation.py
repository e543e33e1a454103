"""Activations as layers."""

from __future__ import annotations

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn
from minipaddle.nn.layers.function_layer import FunctionLayer

F = nn.functional

# Layer with settings other than its defaults, by position -> the function with the same by name.
SET = {
    nn.CELU: {"alpha": 0.5},
    nn.ELU: {"alpha": 0.5},
    nn.GELU: {"approximate": True},
    nn.GLU: {"axis": 0},
    nn.Hardshrink: {"threshold": 1.0},
    nn.Hardsigmoid: {},
    nn.Hardswish: {},
    nn.Hardtanh: {"min": -0.5, "max": 0.25},
    nn.LeakyReLU: {"negative_slope": 0.5},
    nn.LogSigmoid: {},
    nn.LogSoftmax: {"axis": 0},
    nn.Mish: {},
    nn.ReLU: {},
    nn.ReLU6: {},
    nn.SELU: {"scale": 2.0, "alpha": 0.5},
    nn.Sigmoid: {},
    nn.Silu: {},
    nn.Softmax: {"axis": 0},
    nn.Softplus: {"beta": 2.0, "threshold": 1.0},
    nn.Softshrink: {"threshold": 1.0},
    nn.Softsign: {},
    nn.Swish: {},
    nn.Tanh: {},
    nn.Tanhshrink: {},
    nn.ThresholdedReLU: {"threshold": 0.25, "value": -1.0},
}
NAMES = {nn.LeakyReLU: "leaky_relu", nn.LogSigmoid: "log_sigmoid", nn.LogSoftmax: "log_softmax",
         nn.ThresholdedReLU: "thresholded_relu"}  # fmt: skip
KINDS = [pytest.param(kind, id=kind.__name__) for kind in SET]


def test_every_one_is_here() -> None:
    public = {kind for kind in vars(nn).values() if isinstance(kind, type)}
    modules = {f"minipaddle.nn.layers.{name}" for name in ("activation", "rectifier")}
    simple = {kind for kind in public if issubclass(kind, FunctionLayer)}
    simple = {kind for kind in simple if kind.__module__ in modules}
    assert simple - {nn.Maxout, nn.RReLU, nn.Softmax2D} == set(SET)  # those have tests of their own


@pytest.mark.parametrize("kind", KINDS)
def test_is_its_function(kind: type[FunctionLayer]) -> None:
    function = getattr(F, NAMES.get(kind, kind.__name__.lower()))
    settings = SET[kind]
    array = np.random.default_rng(0).standard_normal((4, 6))
    x, y = (paddle.to_tensor(array, stop_gradient=False) for _ in range(2))
    for layer in (kind(*settings.values()), kind(**settings), kind(*settings.values(), "unused")):
        found, expected = layer(x), function(y, **settings)
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
        np.testing.assert_array_equal(kind()(x).numpy(), function(y).numpy())
        for out in (found, expected):
            (out * out).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())
        assert layer.parameters() == [] and all(name in repr(layer) for name in settings)
    assert x.tolist() == array.tolist()
    if settings:
        assert not np.array_equal(kind(**settings)(x).numpy(), kind()(x).numpy())


@pytest.mark.parametrize("kind", KINDS)
def test_settings_that_are_not_there(kind: type[FunctionLayer]) -> None:
    count = len(SET[kind]) + 2
    for values, named in (([1.0] * count, {}), ([], {"slope": 1.0}), (["a"] * count, {"name": ""})):
        with pytest.raises(TypeError, match=rf"{kind.__name__} takes \(.*name\), each once"):
            kind(*values, **named)


def test_a_setting_given_twice() -> None:
    with pytest.raises(TypeError, match=r"got 1 by position and \['negative_slope'\] by name"):
        nn.LeakyReLU(0.1, negative_slope=0.2)


def test_prelu_learns_its_slopes() -> None:
    layer = nn.PReLU(num_parameters=2, init=0.5)
    x = paddle.to_tensor([[-2.0, -4.0], [3.0, -1.0]], stop_gradient=False)
    out = layer(x)
    assert out.tolist() == [[-1.0, -2.0], [3.0, -0.5]]
    out.sum().backward()
    assert layer.weight.grad.tolist() == [-2.0, -5.0]
    assert list(layer.state_dict()) == ["weight"]
    last = nn.PReLU(2, data_format="NLC")
    assert last(paddle.ones([1, 3, 2]) * -1.0).tolist() == [[[-0.25, -0.25]] * 3]


def test_relu_keeps_nan() -> None:
    assert np.isnan(nn.ReLU()(paddle.to_tensor([float("nan")])).item())
