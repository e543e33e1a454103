"""Functions of numbers made of other ops, held to NumPy."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.functions import numerical
from tests.imperative.functions.composed import check

BOTH = [2.0, -0.0, 0.0, -3.0]


def tensor(*values, **kwargs):
    return paddle.to_tensor(list(values), **kwargs)


def _trapezoid(y, x=None, dx=1.0, axis=-1):
    return np.trapezoid(y, x, dx, axis) if hasattr(np, "trapezoid") else np.trapz(y, x, dx, axis)


@pytest.mark.parametrize(
    ("function", "reference", "shapes"),
    [
        (numerical.positive, lambda x: x, [(2, 3)]),
        (numerical.negative, np.negative, [(2, 3)]),
        (numerical.sgn, np.sign, [(2, 3)]),
        (
            lambda x: numerical.copysign(x, tensor(1.0, -2.0, 3.0, dtype="float64")),
            lambda x: np.copysign(x, [1.0, -2.0, 3.0]),
            [(2, 3)],
        ),
        (numerical.ldexp, lambda x, y: x * 2**y, [(2, 1), (3,)]),
        (numerical.logaddexp, lambda x, y: np.log(np.exp(x) + np.exp(y)), [(2, 1), (3,)]),
        (numerical.logaddexp, lambda x, y: np.log(np.exp(x) + np.exp(y)), [(), ()]),
        (numerical.stanh, lambda x: 1.7159 * np.tanh(0.67 * x), [(2, 3)]),
        (lambda x: numerical.stanh(x, 2.0, 3.0), lambda x: 3 * np.tanh(2 * x), [(4,)]),
        (numerical.trapezoid, _trapezoid, [(2, 3)]),
        (numerical.trapezoid, _trapezoid, [(2, 3), (3,)]),
        (numerical.trapezoid, _trapezoid, [(2, 3), (2, 3)]),
        (lambda y: y.trapezoid(dx=0.5, axis=0), lambda y: _trapezoid(y, None, 0.5, 0), [(4, 2)]),
        (
            lambda y, x: numerical.trapezoid(y, x, axis=0),
            lambda y, x: _trapezoid(y, x, axis=0),
            [(3, 2), (3,)],
        ),
        (
            numerical.cumulative_trapezoid,
            lambda y: np.cumsum((y[..., 1:] + y[..., :-1]) / 2, -1),
            [(2, 4)],
        ),
        (lambda x: numerical.vander(x, 3), lambda x: np.stack([x * x, x, x * 0 + 1], 1), [(4,)]),
        (
            lambda x: numerical.vander(x, increasing=True),
            lambda x: np.stack([x * 0 + 1, x], 1),
            [(2,)],
        ),
        (
            lambda x, y: numerical.cdist(x, y).square(),
            lambda x, y: ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1),
            [(2, 3, 2), (4, 2)],
        ),
        (
            lambda x, y: numerical.cdist(x, y, 1.0),
            lambda x, y: abs(x[..., :, None, :] - y[..., None, :, :]).sum(-1),
            [(3, 2), (4, 2)],
        ),
    ],
)
def test_values_and_gradients(function, reference, shapes):
    check(function, reference, *shapes)


def test_signs_of_zeros_and_infinities():
    inf = float("inf")
    assert np.signbit(numerical.copysign(tensor(*BOTH), -1.0).numpy()).all()
    found = numerical.copysign(tensor(1.0, inf, 0.0, 5.0), tensor(*BOTH)).tolist()
    assert found == [1.0, -inf, 0.0, -5.0]
    x = tensor(inf, -inf, float("nan"), 1.0)
    assert numerical.isposinf(x).tolist() == [True, False, False, False]
    assert numerical.isneginf(x).tolist() == [False, True, False, False]
    assert numerical.isneginf(tensor(1)).tolist() == numerical.isposinf(tensor(1)).tolist() == [0]


def test_logaddexp_of_what_would_overflow():
    inf = float("inf")
    x, y = tensor(800.0, -inf, -inf), tensor(800.0, 1.0, -inf)
    found = numerical.logaddexp(x, y).numpy()
    np.testing.assert_allclose(found[:2], [800 + np.log(2), 1.0], rtol=1e-6)
    assert found[2] == -inf


def test_ldexp_of_ints_is_float():
    out = numerical.ldexp(tensor(3, 5), tensor(1, -1))
    assert out.tolist() == [6.0, 2.5] and out.dtype == paddle.float32
    assert numerical.ldexp(tensor(3), tensor(1.0, dtype="float64")).dtype == paddle.float64


def test_equal_rows_have_distance_and_gradient_zero():
    x = paddle.ones([1, 2])
    x.stop_gradient = False
    for p in (0.5, 1.0, 2.0, 3.0, float("inf")):
        x.clear_gradient()
        out = numerical.cdist(x, paddle.ones([1, 2]), p)
        out.sum().backward()
        assert out.tolist() == [[0.0]] and x.grad.tolist() == [[0.0, 0.0]]


def test_increment_writes():
    x = tensor(1.5)
    assert numerical.increment(x, 2.0) is x and x.tolist() == [3.5]
    assert numerical.increment(tensor(3)).tolist() == [4]
    with pytest.raises(ValueError, match=r"one element.*\[2\]"):
        numerical.increment(tensor(1.0, 2.0))


def test_is_complex_is_false():
    assert not numerical.is_complex(tensor(1.0))
    with pytest.raises(TypeError, match="list"):
        numerical.is_complex([1.0])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: numerical.positive(x.astype("bool")), TypeError, "bool"),
        (lambda x: numerical.trapezoid(x, x, 1.0), ValueError, "x and dx"),
        (lambda x: numerical.trapezoid(x, axis=2), ValueError, "axis"),
        (lambda x: numerical.vander(x, 2), ValueError, r"\[2, 3\]"),
        (lambda x: numerical.vander(x[0], -1), ValueError, "-1"),
        (lambda x: numerical.cdist(x, x, -1.0), ValueError, "negative"),
        (lambda x: numerical.cdist(x, x[0]), ValueError, r"\[2, 3\] and \[3\]"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(paddle.ones([2, 3]))


def test_few_points_have_no_area():
    assert numerical.trapezoid(paddle.ones([2, 1])).tolist() == [0.0, 0.0]
    assert numerical.cumulative_trapezoid(paddle.ones([2, 1])).shape == [2, 0]
