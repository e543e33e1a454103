"""Sorted elements, ranks, medians."""

import numpy as np
import pytest

import minipaddle as paddle
from tests.imperative.functions.composed import check

NAN = float("nan")


def along(x, axis, index):
    return np.take_along_axis(x, index, axis)


FUNCTIONS = {
    "sort": (lambda x: x.sort(), lambda x: np.sort(x), (3, 4)),
    "sort, axis": (lambda x: x.sort(0), lambda x: np.sort(x, 0), (3, 4)),
    "sort, descending": (
        lambda x: x.sort(1, descending=True, stable=True),
        lambda x: -np.sort(-x, 1),
        (2, 5, 3),
    ),
    "sort a number": (lambda x: x.sort(), lambda x: x, ()),
    "sort nothing": (lambda x: x.sort(), lambda x: x, (3, 0)),
    "topk": (lambda x: x.topk(2)[0], lambda x: -np.sort(-x)[:, :2], (3, 4)),
    "topk, smallest": (
        lambda x: x.topk(2, axis=0, largest=False)[0],
        lambda x: np.sort(x, 0)[:2],
        (3, 4),
    ),
    "kthvalue": (lambda x: x.kthvalue(2)[0], lambda x: np.sort(x)[:, 1], (3, 4)),
    "kthvalue, axis": (
        lambda x: x.kthvalue(3, 0, keepdim=True)[0],
        lambda x: np.sort(x, 0)[2:],
        (3, 4),
    ),
    "mode": (lambda x: x.mode()[0], lambda x: np.min(x, -1), (3, 4)),  # all are different
    "mode, axis": (lambda x: x.mode(0, True)[0], lambda x: np.min(x, 0, keepdims=True), (3, 4)),
    "median": (lambda x: x.median(), lambda x: np.median(x), (3, 4)),
    "median, odd": (lambda x: x.median(1), lambda x: np.median(x, 1), (2, 5)),
    "median, axis": (
        lambda x: x.median(0, keepdim=True),
        lambda x: np.median(x, 0, keepdims=True),
        (4, 3),
    ),
    "median, min": (lambda x: x.median(0, mode="min")[0], lambda x: np.sort(x, 0)[1], (4, 3)),
    "median of a number": (lambda x: x.median(), lambda x: x, ()),
    "nanmedian": (lambda x: x.nanmedian(), lambda x: np.median(x), (3, 4)),
    "nanmedian, axes": (
        lambda x: x.nanmedian([0, -1], keepdim=True),
        lambda x: np.median(x, (0, 2), keepdims=True),
        (2, 3, 4),
    ),
    "nanmedian, min": (lambda x: x.nanmedian(0, mode="min"), lambda x: np.sort(x, 0)[1], (4, 3)),
    "quantile": (
        lambda x: x.quantile(0.3, axis=1),
        lambda x: np.apply_along_axis(quantile, 1, x, 0.3),
        (2, 4),
    ),
    "quantiles": (
        lambda x: x.quantile([0.0, 0.75, 1.0]),
        lambda x: np.array([quantile(x.reshape(-1), q) for q in (0.0, 0.75, 1.0)]),
        (2, 3),
    ),
}


def quantile(line, q):
    ordered = np.sort(line)
    at = q * (len(line) - 1)
    low = int(at)
    high = min(low + 1, len(line) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name):
    check(*FUNCTIONS[name])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint8"])
def test_dtypes_and_positions(dtype, place):
    host = np.array([[3, 1, 3, 0], [2, 2, 5, 1]], dtype)
    x = paddle.to_tensor(host)
    assert x.sort().dtype == host.dtype and x.sort().tolist() == np.sort(host).tolist()
    values, index = x.topk(2)
    assert values.dtype == host.dtype and index.dtype == np.int64
    np.testing.assert_array_equal(along(host, 1, index.numpy()), values.numpy())
    assert values.tolist() == [[3, 3], [5, 2]]
    values, index = x.kthvalue(1)
    assert values.tolist() == [0, 1] and index.tolist() == [3, 3]
    values, index = x.mode()
    assert values.tolist() == [3, 2] and index.tolist() == [2, 1]
    assert values.dtype == host.dtype and index.dtype == np.int64
    values, index = x.median(1, mode="min")
    assert values.tolist() == [1, 2] and index.tolist() == [1, 0]
    assert x.median(1).tolist() == [2.0, 2.0]
    assert x.median(1).dtype == (host.dtype if host.dtype.kind == "f" else np.float32)


def test_nan():
    x = paddle.to_tensor([[1.0, NAN, 3.0], [5.0, 2.0, 7.0]])
    assert str(x.sort()[0].tolist()) == "[1.0, 3.0, nan]"
    assert str(x.median(1).tolist()) == "[nan, 5.0]"
    assert str(x.median().item()) == "nan"
    values, index = x.median(1, mode="min")
    assert str(values.tolist()) == "[nan, 5.0]" and index.tolist() == [1, 0]
    assert x.nanmedian(1).tolist() == [2.0, 5.0]
    assert x.nanmedian(1, mode="min").tolist() == [1.0, 5.0]
    assert x.nanmedian().item() == 3.0
    assert str(x.quantile(0.5, 1).tolist()) == "[nan, 5.0]"
    assert str(paddle.to_tensor([NAN, NAN]).nanmedian().item()) == "nan"
    infinite = paddle.to_tensor([1.0, 2.0, float("inf")])
    assert infinite.median().item() == 2.0 and infinite.nanmedian().item() == 2.0


def test_gradient_of_nanmedian_reaches_the_elements_taken(place):
    x = paddle.to_tensor([4.0, NAN, 1.0, 2.0, 3.0], stop_gradient=False)
    x.nanmedian().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0, 0.5, 0.5]


REFUSED = {
    "sort axis": (lambda x: x.sort(2), ValueError, "axis 2"),
    "topk k": (lambda x: x.topk(4), ValueError, r"k must lie in \[1, 3\].*4"),
    "kthvalue k": (lambda x: x.kthvalue(0), ValueError, r"\[1, 3\].*0"),
    "mode axis": (lambda x: x.mode(5), ValueError, "mode: axis 5"),
    "median mode": (lambda x: x.median(mode="max"), ValueError, "median: mode.*'max'"),
    "median axis": (lambda x: x.median(3), ValueError, "median: axis 3"),
    "median empty": (lambda x: x[:0].median(), ValueError, r"median: .*\[0, 3\]"),
    "nanmedian mode": (lambda x: x.nanmedian(mode="max"), ValueError, "nanmedian: mode"),
    "quantile": (lambda x: x.quantile(1.5), ValueError, r"quantile: q.*\[0, 1\].*1.5"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        call(paddle.ones([2, 3]))
