"""How often values are there."""

import numpy as np
import pytest

import minipaddle as paddle


def test_bincount(place):
    x = paddle.to_tensor([1, 3, 1, 0])
    assert x.bincount().tolist() == [1, 2, 0, 1] and x.bincount().dtype == np.int64
    assert x.bincount(minlength=6).tolist() == [1, 2, 0, 1, 0, 0]
    assert x.bincount(minlength=2).tolist() == [1, 2, 0, 1]
    assert x[:0].bincount().shape == [0]
    weights = paddle.to_tensor([0.5, 1.0, 2.0, 4.0], stop_gradient=False)
    out = x.astype("int32").bincount(weights)
    assert out.tolist() == [4.0, 2.5, 0.0, 1.0] and out.dtype == np.float32
    (out * out).sum().backward()
    assert weights.grad.tolist() == [5.0, 2.0, 5.0, 8.0]


def test_bincount_is_refused():
    for x, weights, error, words in (
        ([1.0], None, TypeError, "bincount: x must be of int"),
        ([-1], None, ValueError, "negative; got -1"),
        ([[1]], None, ValueError, r"\[1, 1\]"),
        ([1], paddle.ones([2]), ValueError, r"\[1\].*\[2\]"),
    ):
        with pytest.raises(error, match=words):
            paddle.bincount(paddle.to_tensor(x), weights)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_histogram(dtype, place):
    host = np.array([[0, 1, 1], [2, 4, 7]], dtype)
    x = paddle.to_tensor(host)
    for bins, low, high in ((4, 0, 4), (3, 1, 7), (5, -2, 10)):
        out = x.histogram(bins, low, high)
        assert out.dtype == np.int64
        assert out.tolist() == np.histogram(host, bins, (low, high))[0].tolist()
    assert x.histogram(4).tolist() == np.histogram(host, 4)[0].tolist()
    density = x.histogram(4, density=True).numpy()
    np.testing.assert_allclose(density, np.histogram(host, 4, density=True)[0], rtol=1e-6)
    assert density.dtype == np.float32
    weight = paddle.to_tensor(np.arange(6.0).reshape(2, 3), stop_gradient=False)
    out = x.histogram(2, 0, 2, weight)
    assert out.tolist() == [0.0, 6.0]
    out.sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]


def test_histogram_at_the_edge():
    assert paddle.to_tensor([2.0, 2.0]).histogram(2).tolist() == [0, 2]
    assert paddle.ones([0]).histogram(3).tolist() == [0, 0, 0]
    assert paddle.to_tensor([1.0, float("nan"), 9.0]).histogram(2, 0, 3).tolist() == [1, 0]
    for how in ({"bins": 0}, {"min": 2, "max": 1}, {"max": float("inf")}):
        with pytest.raises(ValueError, match="histogram: bins must be positive"):
            paddle.ones([2]).histogram(**how)


def test_isin(place):
    x, some = paddle.to_tensor([[1, 5], [3, 9]]), paddle.to_tensor([[3, 4, 1]])
    assert x.isin(some).tolist() == [[True, False], [True, False]]
    assert x.isin(some, invert=True).tolist() == [[False, True], [False, True]]
    assert x.isin(some[:0]).tolist() == [[False, False]] * 2
    assert x.isin(some[:0], invert=True).tolist() == [[True, True]] * 2
    assert x.isin(paddle.to_tensor([1.0, 0.5])).tolist() == [[True, False], [False, False]]
    nan = paddle.to_tensor([float("nan"), 1.0])
    assert nan.isin(nan).tolist() == [False, True]
    assert paddle.to_tensor(3).isin(some).item() is True
