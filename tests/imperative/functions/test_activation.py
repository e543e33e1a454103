"""Activations made of other ops: values from NumPy, and their gradients."""

import math

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from minipaddle.imperative.autograd import grad

X = np.array([-40.0, -5.0, -1.7, -0.6, -0.2, 0.3, 0.7, 1.4, 4.5, 7.0, 40.0])
SIGMOID = 1 / (1 + np.exp(-X))
SOFTPLUS = np.log1p(np.exp(-abs(X))) + np.maximum(X, 0)
NEGATIVE = np.expm1(np.minimum(X, 0))
SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772

# Function, value, derivative.
CASES = {
    "log_sigmoid": (F.log_sigmoid, -SOFTPLUS + X, 1 - SIGMOID),
    "swish": (F.swish, X * SIGMOID, SIGMOID * (1 + X * (1 - SIGMOID))),
    "mish": (
        F.mish,
        X * np.tanh(SOFTPLUS),
        np.tanh(SOFTPLUS) + X * SIGMOID / np.cosh(SOFTPLUS) ** 2,
    ),
    "softsign": (F.softsign, X / (1 + abs(X)), 1 / (1 + abs(X)) ** 2),
    "tanhshrink": (F.tanhshrink, X - np.tanh(X), np.tanh(X) ** 2),
    "relu6": (F.relu6, np.clip(X, 0, 6), (X > 0) & (X < 6)),
    "selu": (
        F.selu,
        SCALE * np.where(X > 0, X, ALPHA * NEGATIVE),
        SCALE * np.where(X > 0, 1, ALPHA * np.exp(np.minimum(X, 0))),
    ),
    "celu": (
        lambda x: F.celu(x, 0.5),
        np.where(X > 0, X, 0.5 * np.expm1(np.minimum(X, 0) / 0.5)),
        np.where(X > 0, 1, np.exp(np.minimum(X, 0) / 0.5)),
    ),
    "celu 1": (F.celu, np.where(X > 0, X, NEGATIVE), np.exp(np.minimum(X, 0))),
    "hardshrink": (F.hardshrink, np.where(abs(X) > 0.5, X, 0), abs(X) > 0.5),
    "softshrink": (F.softshrink, np.sign(X) * np.maximum(abs(X) - 0.5, 0), abs(X) > 0.5),
    "prelu": (
        lambda x: F.prelu(x, paddle.to_tensor([0.25], "float64")),
        np.where(X > 0, X, 0.25 * X),
        np.where(X > 0, 1, 0.25),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_value_and_derivative(name):
    function, value, derivative = CASES[name]
    x = paddle.to_tensor(X, "float64", stop_gradient=False)
    out = function(x)
    np.testing.assert_allclose(out.numpy(), value, rtol=1e-13, atol=1e-15)
    (first,) = grad(out, [x], create_graph=True)
    np.testing.assert_allclose(first.numpy(), derivative, rtol=1e-12, atol=1e-14)
    step = 1e-6
    ahead, behind = (
        grad(function(moved), [moved])[0].numpy()
        for moved in (
            paddle.to_tensor(X + s, "float64", stop_gradient=False) for s in (step, -step)
        )
    )
    second = np.zeros_like(X)
    if not first.stop_gradient:
        second = grad(first, [x], allow_unused=True)[0].numpy()
    np.testing.assert_allclose(second, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_dtype_shape_and_far_values(name, dtype):
    x = paddle.to_tensor([[-200.0, 0.0, 200.0]], dtype)
    if name == "prelu":
        out = F.prelu(x, paddle.to_tensor([0.25], dtype))
    else:
        out = CASES[name][0](x)
    assert out.dtype == x.dtype and out.shape == [1, 3]
    assert np.isfinite(out.numpy()).all()
    assert CASES[name][0](paddle.zeros([0, 2], "float64")).shape == [0, 2]


def test_log_sigmoid_far_to_the_left_is_x():
    x = paddle.to_tensor([-1e30, -math.inf], "float64", stop_gradient=False)
    out = F.log_sigmoid(x)
    assert out.tolist() == [-1e30, -math.inf]
    out.backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_shrinks_have_no_gradient_at_the_bound():
    for function in (F.hardshrink, F.softshrink):
        x = paddle.to_tensor([-0.5, 0.5], stop_gradient=False)
        function(x).backward()
        assert x.grad.tolist() == [0.0, 0.0]


def test_glu_along_any_axis():
    host = np.random.default_rng(0).standard_normal((2, 4, 6))
    for axis in (1, 2, -1, -2):
        a, b = np.split(host, 2, axis)
        x = paddle.to_tensor(host, "float64", stop_gradient=False)
        out = F.glu(x, axis)
        s = 1 / (1 + np.exp(-b))
        np.testing.assert_allclose(out.numpy(), a * s, rtol=1e-14)
        out.backward()
        right = np.concatenate([s, a * s * (1 - s)], axis)
        np.testing.assert_allclose(x.grad.numpy(), right, rtol=1e-13)
    for axis in (0, 3, -4):
        with pytest.raises(ValueError, match=f"glu: axis {axis} of x"):
            F.glu(paddle.ones([3, 2, 2]), axis)


def test_prelu_with_a_weight_a_channel():
    host = np.random.default_rng(1).standard_normal((2, 3, 4))
    for shape, axis, form in (((1, 3, 1), 1, "NCL"), ((1, 1, 4), 2, "NLC")):
        w = np.arange(1.0, 1 + host.shape[axis]) / 8
        x = paddle.to_tensor(host, "float64", stop_gradient=False)
        weight = paddle.to_tensor(w, "float64", stop_gradient=False)
        out = F.prelu(x, weight, form)
        factor = np.where(host > 0, 1, w.reshape(shape))
        np.testing.assert_allclose(out.numpy(), host * factor)
        out.backward()
        np.testing.assert_allclose(x.grad.numpy(), factor)
        others = tuple(i for i in range(3) if i != axis)
        np.testing.assert_allclose(weight.grad.numpy(), np.minimum(host, 0).sum(others))
    assert F.prelu(paddle.to_tensor(-4.0), paddle.to_tensor([0.5])).numpy() == np.float32(-2.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: F.prelu(x, paddle.ones([2])), r"prelu: weight, \[2\], must fit axis 1"),
        (lambda x: F.prelu(x, paddle.ones([3]), "HWC"), "prelu: data_format .*HWC"),
        (lambda x: F.selu(x, scale=1.0), "selu: scale must be above 1; got 1.0"),
        (lambda x: F.celu(x, 0.0), "celu: alpha must be above 0; got 0.0"),
        (lambda x: F.hardshrink(x, -1.0), "hardshrink.*threshold must be at least 0; got -1.0"),
        (lambda x: F.softshrink(x, -1.0), "softshrink.*threshold must be at least 0; got -1.0"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call(paddle.ones([2, 3]))


def test_in_place_forms_write_into_x():
    for name in ("relu_", "leaky_relu_", "elu_", "hardtanh_", "thresholded_relu_", "softmax_"):
        x = paddle.to_tensor([-2.0, 0.5, 3.0])
        right = getattr(F, name[:-1])(x).tolist()
        assert getattr(F, name)(x) is x and x.tolist() == right, name
    y = paddle.to_tensor([0.0])
    assert y.sigmoid_() is y and y.tolist() == [0.5]
    assert y.erf_() is y and abs(y.item() - math.erf(0.5)) < 1e-7
