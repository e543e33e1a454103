"""Elements read by position."""

import numpy as np
import pytest

import minipaddle as paddle
from tests.imperative.functions.rearranging import check

AT = np.array([2, 0, -1, 2])
PAIRS = np.array([[[1, 0], [0, 2]], [[1, -1], [1, 0]]])
ROWS = np.array([[0, 2, 2], [1, -1, 1]])


def on(x, index):
    """An index on the place of ``x``."""
    return paddle.to_tensor(index, place=x.place)


PARTS = {
    "gather": (lambda x: x.gather(on(x, AT)), lambda x: x[AT], (3, 2)),
    "gather, axis": (lambda x: x.gather(on(x, AT), 1), lambda x: x[:, AT], (2, 3, 2)),
    "gather, last axis": (lambda x: x.gather(on(x, AT), -1), lambda x: x[..., AT], (2, 3)),
    "gather, 0-d": (lambda x: x.gather(on(x, 1), 1), lambda x: x[:, 1], (2, 3)),
    "gather, axis in a tensor": (
        lambda x: x.gather(on(x, AT), on(x, np.array(1))),
        lambda x: x[:, AT],
        (2, 3),
    ),
    "gather nothing": (lambda x: x.gather(on(x, AT[:0])), lambda x: x[:0], (3, 2)),
    "gather, empty": (lambda x: x.gather(on(x, AT)), lambda x: x[AT], (3, 0)),
    "index_select": (lambda x: x.index_select(on(x, AT), 1), lambda x: x[:, AT], (2, 3)),
    "index_select, list": (lambda x: x.index_select([1, 1]), lambda x: x[[1, 1]], (2, 3)),
    "gather_nd": (
        lambda x: x.gather_nd(on(x, PAIRS)),
        lambda x: x[PAIRS[..., 0], PAIRS[..., 1]],
        (2, 3, 2),
    ),
    "gather_nd, one axis": (
        lambda x: x.gather_nd(on(x, AT[:, None])),
        lambda x: x[AT],
        (3, 2),
    ),
    "gather_nd, one row": (lambda x: x.gather_nd([1, 2]), lambda x: x[1, 2], (2, 3)),
    "index_sample": (
        lambda x: x.index_sample(on(x, ROWS)),
        lambda x: np.take_along_axis(x, ROWS, 1),
        (2, 3),
    ),
    "take_along_axis": (
        lambda x: x.take_along_axis(on(x, ROWS), 1),
        lambda x: np.take_along_axis(x, ROWS, 1),
        (2, 3),
    ),
    "take_along_axis, rows": (
        lambda x: x.take_along_axis(on(x, ROWS[:, :1]), 0),
        lambda x: np.take_along_axis(x, ROWS[:, :1], 0),
        (3, 2),
    ),
    "take_along_axis, x is broadcast": (
        lambda x: x.take_along_axis(on(x, ROWS), -1),
        lambda x: np.take_along_axis(np.broadcast_to(x, (2, 3)), ROWS, 1),
        (1, 3),
    ),
    "take_along_axis, shorter": (
        lambda x: x.take_along_axis(on(x, ROWS[:1]), 1, broadcast=False),
        lambda x: np.take_along_axis(x[:1], ROWS[:1], 1),
        (2, 3),
    ),
    "take": (lambda x: x.take(on(x, ROWS)), lambda x: x.reshape(-1)[ROWS], (2, 3)),
    "take, wrap": (
        lambda x: x.take(on(x, 5 * ROWS), "wrap"),
        lambda x: np.take(x, 5 * ROWS, mode="wrap"),
        (2, 3),
    ),
    "take, clip": (
        lambda x: x.take(on(x, 5 * ROWS), mode="clip"),
        lambda x: np.take(x, 5 * ROWS, mode="clip"),
        (2, 3),
    ),
    "take of a number": (lambda x: x.take([0, 0]), lambda x: x.reshape(-1)[[0, 0]], ()),
    "masked_select": (
        lambda x: x.masked_select(on(x, ROWS > 0)),
        lambda x: x[ROWS > 0],
        (2, 3),
    ),
    "masked_select, mask is broadcast": (
        lambda x: x.masked_select(on(x, np.array([True, False, True]))),
        lambda x: x[:, [True, False, True]].reshape(-1),
        (2, 3),
    ),
    "masked_select, x is broadcast": (
        lambda x: x.masked_select(on(x, ROWS > 0)),
        lambda x: np.broadcast_to(x, (2, 3))[ROWS > 0],
        (3,),
    ),
    "masked_select, 0-d": (
        lambda x: x.masked_select(on(x, np.array(True))),
        lambda x: x.reshape(1),
        (),
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_values_and_gradients(name):
    check(*PARTS[name])


REFUSED = {
    "gather range": (lambda x: x.gather([3]), IndexError, "index 3.*axis 0 of length 2"),
    "gather axis": (lambda x: x.gather([0], 2), ValueError, "gather: axis 2"),
    "gather matrix": (lambda x: x.gather([[0]]), ValueError, r"gather: index.*\[1, 1\]"),
    "gather float": (lambda x: x.gather([0.5]), TypeError, "ints"),
    "index_select range": (
        lambda x: x.index_select([0, -4], 1),
        IndexError,
        "index -4.*axis 1 of length 3",
    ),
    "gather_nd long": (lambda x: x.gather_nd([[0, 0, 0]]), ValueError, r"gather_nd.*1 to 2"),
    "gather_nd range": (lambda x: x.gather_nd([[0, 3]]), IndexError, "index 3.*axis 1"),
    "index_sample": (lambda x: x.index_sample(x[0]), ValueError, r"index_sample.*\[3\]"),
    "take_along_axis rank": (
        lambda x: x.take_along_axis(paddle.to_tensor([0]), 1),
        ValueError,
        "as many axes",
    ),
    "take_along_axis shape": (
        lambda x: x.take_along_axis(paddle.zeros([3, 1], "int64"), 1),
        ValueError,
        "take_along_axis: but for axis 1",
    ),
    "take_along_axis longer": (
        lambda x: x.take_along_axis(paddle.zeros([3, 1], "int64"), 1, False),
        ValueError,
        r"\[3, 1\] do not lie in arr of shape \[2, 3\]",
    ),
    "take_along_axis range": (
        lambda x: x.take_along_axis(paddle.full([2, 1], 3, "int64"), 1),
        IndexError,
        "index 3.*axis 1 of length 3",
    ),
    "take mode": (lambda x: x.take([0], "no"), ValueError, "take: mode.*'no'"),
    "take range": (lambda x: x.take([6]), IndexError, "index 6.*length 6"),
    "mask": (lambda x: x.masked_select(x), TypeError, "masked_select: mask.*bool.*float32"),
    "mask shape": (
        lambda x: x.masked_select(paddle.ones([4], "bool")),
        ValueError,
        r"\[2, 3\] and \[4\]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        call(paddle.ones([2, 3]))


def test_one_hot(place):
    numbers = paddle.to_tensor([[0, 2], [1, 0]])
    right = np.eye(3, dtype=np.float32)[[[0, 2], [1, 0]]]
    for x in (paddle.nn.functional.one_hot(numbers, 3), paddle.nn.functional.one_hot(numbers)):
        assert x.dtype == np.float32
        np.testing.assert_array_equal(x.numpy(), right)
    assert paddle.nn.functional.one_hot(numbers[0, 1], 4).tolist() == [0.0, 0.0, 1.0, 0.0]
    assert paddle.nn.functional.one_hot(numbers[:0], 4).shape == [0, 2, 4]
    with pytest.raises(IndexError, match=r"index 2.*length 2"):
        paddle.nn.functional.one_hot(numbers, 2)
    with pytest.raises(IndexError, match="negative; got -2"):
        paddle.nn.functional.one_hot(numbers - 2, 3)
    with pytest.raises(TypeError, match="ints"):
        paddle.nn.functional.one_hot(paddle.to_tensor([1.0]), 3)


def test_an_index_that_is_written_to_afterwards_changes_no_gradient():
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    index = paddle.to_tensor([0, 2])
    out = x.gather(index).sum() + x.take_along_axis(index, 0).sum()
    index[0] = 1
    out.backward()
    assert x.grad.tolist() == [2.0, 0.0, 2.0]
