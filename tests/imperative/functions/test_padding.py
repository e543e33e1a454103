"""Padding in Paddle's two forms, and vectors on diagonals."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.functions import padding
from minipaddle.imperative.functions.rearrange import rot90
from tests.imperative.functions.rearranging import check

CL, CHW, CDHW = (1, 2, 3), (1, 2, 2, 3), (1, 1, 2, 2, 3)
NAMES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap", "constant": "constant"}


def padded(*args, **attributes):
    return lambda x: padding.pad(x, *args, **attributes)


def numpy_pad(pairs, mode="constant"):
    return lambda x: np.pad(x, pairs, NAMES[mode])


NO = (0, 0)
PADS = {
    "all axes": (padded([1, 2, 3, 0]), numpy_pad([(1, 2), (3, 0)]), (2, 3)),
    "all axes from the last": (
        padded([1, 2, 3, 0], pad_from_left_axis=False),
        numpy_pad([(3, 0), (1, 2)]),
        (2, 3),
    ),
    "all axes of an image": (
        padded([0, 0, 1, 0, 0, 2, 3, 1]),
        numpy_pad([NO, (1, 0), (0, 2), (3, 1)]),
        CHW,
    ),
    "last axis": (padded((1, 2)), numpy_pad([NO, (1, 2)]), (2, 3)),
    "last two of three": (padded([1, 2, 0, 3]), numpy_pad([NO, (0, 3), (1, 2)]), CL),
    "a vector": (padded([1, 2]), numpy_pad([(1, 2)]), (3,)),
    "nothing": (padded([]), lambda x: x, (2, 3)),
    "0-d": (padded([]), lambda x: x, ()),
    "empty": (padded([1, 1, 0, 0]), numpy_pad([(1, 1), NO]), (0, 3)),
    "negative": (padded([-1, 1, 0, -2]), lambda x: np.pad(x[1:, :1], [(0, 1), NO]), (3, 3)),
    "cut to nothing": (padded([-1, -2, 0, 0]), lambda x: x[3:], (3, 3)),
    "channels last": (
        padded([1, 2, 0, 1], data_format="NHWC"),
        numpy_pad([NO, (0, 1), (1, 2), NO]),
        CHW,
    ),
    "a tensor": (padded(paddle.to_tensor([1, 2])), numpy_pad([NO, NO, (1, 2)]), CL),
}
for mode in NAMES:
    PADS |= {
        f"{mode} NCL": (padded([2, 1], mode), numpy_pad([NO, NO, (2, 1)], mode), CL),
        f"{mode} NLC": (
            padded([1, 0], mode, data_format="NLC"),
            numpy_pad([NO, (1, 0), NO], mode),
            CL,
        ),
        f"{mode} NCHW": (
            padded([2, 1, 0, 1], mode),
            numpy_pad([NO, NO, (0, 1), (2, 1)], mode),
            CHW,
        ),
        f"{mode} NCDHW": (
            padded([2, 0, 1, 1, 0, 1], mode, data_format="NCDHW"),
            numpy_pad([NO, NO, (0, 1), (1, 1), (2, 0)], mode),
            CDHW,
        ),
        f"{mode} NDHWC": (
            padded([1, 0, 1, 1, 0, 0], mode, data_format="NDHWC"),
            numpy_pad([NO, NO, (1, 1), (1, 0), NO], mode),
            CDHW,
        ),
        f"{mode}, int": (padded(1, mode), numpy_pad([NO, NO, (1, 1), (1, 1)], mode), CHW),
    }

DIAGONALS = {"diag of a number": (padding.diag, lambda x: x.reshape(1, 1), ())}
for offset in (-2, 0, 1):
    DIAGONALS |= {
        f"diag {offset}": (
            lambda x, k=offset: x.diag(k),
            lambda x, k=offset: np.diag(x, k),
            (3,),
        ),
        f"diag {offset} of a matrix": (
            lambda x, k=offset: x.diag(k),
            lambda x, k=offset: np.diag(x, k),
            (3, 4),
        ),
        f"diag {offset} of nothing": (
            lambda x, k=offset: x.diag(k),
            lambda x, k=offset: np.zeros((abs(k), abs(k)), x.dtype),
            (0,),
        ),
        f"diagflat {offset}": (
            lambda x, k=offset: x.diagflat(k),
            lambda x, k=offset: np.diagflat(x, k),
            (2, 2),
        ),
        f"diag_embed {offset}": (
            lambda x, k=offset: x.diag_embed(k),
            lambda x, k=offset: np.stack([np.diag(row, k) for row in x]),
            (2, 3),
        ),
        f"diag_embed {offset}, axes": (
            lambda x, k=offset: padding.diag_embed(x, k, 2, 0),
            lambda x, k=offset: np.stack([np.diag(row, -k) for row in x], 1),
            (2, 3),
        ),
    }

TURNS = {
    f"rot90 {k} {axes}": (
        lambda x, k=k, axes=axes: rot90(x, k, axes),
        lambda x, k=k, axes=axes: np.rot90(x, k, axes),
        (2, 3, 4),
    )
    for k in (-1, 0, 1, 2, 3, 6)
    for axes in ([0, 1], (-1, 0))
}
CASES = PADS | DIAGONALS | TURNS


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_numpy(name):
    check(*CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_a_copy(name):
    function, _, shape = CASES[name]
    x = paddle.ones(shape)
    assert not np.shares_memory(function(x).data, x.data)


@pytest.mark.parametrize("value", [2.5, -1, float("inf"), float("nan"), True])
def test_the_number_that_is_put_in(value):
    x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    out = padding.pad(x, [1, 0, 0, 1], value=value)
    right = np.pad([[1.0, 2.0]], [(1, 0), (0, 1)], constant_values=value)
    np.testing.assert_array_equal(out.numpy(), right)
    out.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[1.0, 1.0]])
    diagonal = padding.diag(paddle.to_tensor([1.0, 2.0]), 1, padding_value=value).numpy()
    np.testing.assert_array_equal(diagonal[[0, 1], [1, 2]], [1.0, 2.0])
    diagonal[[0, 1], [1, 2]] = value
    np.testing.assert_array_equal(diagonal, np.full((3, 3), value, "float32"))


REFUSED = {
    "mode": (lambda x: padding.pad(x, [1, 1], "wrap"), ("mode", "'circular'", "'wrap'")),
    "odd": (lambda x: padding.pad(x, [1, 1, 1]), ("[1, 1, 1]", "[1, 2, 3]")),
    "int": (lambda x: padding.pad(x[0], 1), ("[1]", "[2, 3]", "3 to 5 axes")),
    "too many": (lambda x: padding.pad(x, [0] * 8), ("[1, 2, 3]", "two counts")),
    "not spatial": (lambda x: padding.pad(x, [0] * 6, "reflect"), ("[1, 2, 3]", "spatial")),
    "rank": (lambda x: padding.pad(x[0], [1, 1], "reflect"), ("[2, 3]", "3 to 5 axes")),
    "format": (
        lambda x: padding.pad(x, [1, 1], data_format="NHWC"),
        ("data_format", "'NLC'", "'NHWC'"),
    ),
    "no format": (lambda x: padding.pad(x, [1, 1], data_format="C"), ("data_format", "'NCL'")),
    "reflect": (lambda x: padding.pad(x, [3, 0], "reflect"), ("axis 2", "length 3", "at most 2")),
    "negative": (lambda x: padding.pad(x, [-1, 0], "circular"), ("negative", "-1")),
    "cut": (lambda x: padding.pad(x, [-2, -2]), ("(-2, -2)", "3 elements")),
    "diag": (padding.diag, ("1 or 2 axes", "[1, 2, 3]")),
    "diag_embed": (lambda x: x[0, 0, 0].diag_embed(), ("diag_embed", "0-d")),
    "diag_embed axis": (lambda x: x.diag_embed(0, 0, 4), ("dim2 4", "rank 4", "[-4, 3]")),
    "diag_embed one": (lambda x: x.diag_embed(0, 0, -4), ("twice",)),
    "rot90 axis": (lambda x: x.rot90(1, [0, 3]), ("axes 3", "rank 3")),
    "rot90 axes": (lambda x: x.rot90(1, [0]), ("two axes", "[0]")),
    "rot90 twice": (lambda x: x.rot90(1, [0, -3]), ("twice",)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, words = REFUSED[name]
    with pytest.raises(ValueError) as caught:
        call(paddle.ones([1, 2, 3]))
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"
