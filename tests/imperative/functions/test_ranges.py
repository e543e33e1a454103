"""Sequences, indices, and tensors like others."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.backend import get_place, set_device
from minipaddle.imperative.functions import ranges
from tests.device.plug import plugged_in

ARANGES = {
    "end": ((5,), np.arange(5)),
    "start": ((2, 5), np.arange(2, 5)),
    "step": ((1, 8, 3), np.arange(1, 8, 3)),
    "back": ((5, 0, -2), np.arange(5, 0, -2)),
    "nothing": ((3, 1), np.arange(0)),
    "float end": ((2.5,), np.arange(3, dtype="float32")),
    "float step": ((0, 1, 0.25), np.array([0, 0.25, 0.5, 0.75], "float32")),
    "float start": ((0.5, 3), np.array([0.5, 1.5, 2.5], "float32")),
    "int tensors": ((paddle.to_tensor(1), paddle.to_tensor([4])), np.arange(1, 4)),
    "float tensor": ((paddle.to_tensor(3.0),), np.arange(3, dtype="float32")),
    "NumPy's int": ((np.int32(3),), np.arange(3)),
    "large": ((2**60, 2**60 + 3), np.arange(2**60, 2**60 + 3)),
}


@pytest.mark.parametrize("name", ARANGES)
def test_arange(name):
    args, right = ARANGES[name]
    out = ranges.arange(*args)
    assert out.dtype == right.dtype and out.stop_gradient
    np.testing.assert_array_equal(out.numpy(), right)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "uint8"])
def test_a_sequence_comes_in_the_dtype_asked_for(dtype):
    for out, right in (
        (ranges.arange(0, 6, 2, dtype), [0, 2, 4]),
        (ranges.linspace(0, 6, 3, dtype), [0, 3, 6]),
        (ranges.linspace(6, 0, 4, dtype), [6, 4, 2, 0]),
        (ranges.logspace(0, 4, 3, 2, dtype), [1, 4, 16]),
        (ranges.eye(2, 3, dtype), [[1, 0, 0], [0, 1, 0]]),
    ):
        assert out.dtype.name == dtype
        assert out.tolist() == right


def test_a_float_sequence_follows_the_default_dtype():
    paddle.set_default_dtype("float64")
    try:
        makers = (ranges.arange(2.0), ranges.linspace(0, 1, 2), ranges.eye(2), ranges.empty([2]))
        assert [out.dtype.name for out in makers] == ["float64"] * 4
        assert ranges.arange(2).dtype.name == "int64"
    finally:
        paddle.set_default_dtype("float32")


def test_linspace_and_logspace():
    np.testing.assert_array_equal(
        ranges.linspace(-1, 1, 7, "float64").numpy(), np.linspace(-1, 1, 7)
    )
    assert ranges.linspace(3.0, 9.0, 1).tolist() == [3.0]
    given = [paddle.to_tensor(n) for n in (0.0, 1.0, 3)]
    assert ranges.linspace(*given).tolist() == [0.0, 0.5, 1.0]
    np.testing.assert_allclose(
        ranges.logspace(-2, 2, 9, dtype="float64").numpy(), np.logspace(-2, 2, 9), rtol=1e-14
    )
    assert ranges.logspace(0.0, 1000.0, 2).tolist() == [1.0, float("inf")]  # and no warning


@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 3])
@pytest.mark.parametrize(("row", "col"), [(3, 3), (2, 4), (4, 2), (3, None), (0, 2)])
def test_triangle_indices(row, col, offset):
    for function, reference in (
        (ranges.tril_indices, np.tril_indices),
        (ranges.triu_indices, np.triu_indices),
    ):
        out = function(row, col, offset)
        assert out.dtype == np.int64
        np.testing.assert_array_equal(out.numpy(), reference(row, offset, col))
    assert function(row, col, offset, "int32").dtype == np.int32


LIKE = {
    "full_like": (lambda x, dtype=None: ranges.full_like(x, 3, dtype), 3),
    "zeros_like": (ranges.zeros_like, 0),
    "ones_like": (ranges.ones_like, 1),
    "empty_like": (ranges.empty_like, 0),
}


@pytest.mark.parametrize("name", LIKE)
@pytest.mark.parametrize("shape", [[2, 3], [], [0, 3]])
def test_like_another(name, shape):
    make, value = LIKE[name]
    for dtype in ("float16", "bfloat16", "float32", "float64", "int8", "int64", "bool"):
        x = paddle.ones(shape, dtype)
        out, other = make(x), make(x, "int32")
        assert out.dtype == x.dtype and other.dtype == np.int32
        assert out.shape == other.shape == shape
        assert (out.numpy() == np.asarray(value).astype(x.dtype)).all()
        assert (other.numpy() == value).all()
    leaf = paddle.ones(shape)
    leaf.stop_gradient = False
    assert make(leaf).stop_gradient


def test_full_like_takes_a_tensor():
    assert ranges.full_like(paddle.ones([2]), paddle.to_tensor(2.5)).tolist() == [2.5, 2.5]


def test_where_they_lie():
    with plugged_in():
        x = paddle.ones([2])
        set_device("xpu:2")
        made = (
            ranges.arange(3), ranges.linspace(0, 1, 2), ranges.logspace(0, 1, 2), ranges.eye(2),
            ranges.tril_indices(2), ranges.triu_indices(2), ranges.empty([2]),
        )  # fmt: skip
        assert {out.place for out in made} == {get_place("xpu:2")}
        assert {make(x).place for make, _ in LIKE.values()} == {get_place("cpu")}


REFUSED = {
    "step": (lambda: ranges.arange(0, 5, 0), ValueError, ("step", "0")),
    "dtype": (lambda: ranges.arange(3, dtype="real"), TypeError, ("real", "float32")),
    "linspace": (lambda: ranges.linspace(0, 1, 0), ValueError, ("linspace", "num", "0")),
    "linspace type": (lambda: ranges.linspace(0, 1, 2.5), TypeError, ("float",)),
    "logspace": (lambda: ranges.logspace(0, 1, -1), ValueError, ("logspace", "num", "-1")),
    "eye": (lambda: ranges.eye(2, -1), ValueError, ("eye", "2", "-1")),
    "empty": (lambda: ranges.empty([-1]), ValueError, ("shape", "-1")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error) as caught:
        call()
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"
