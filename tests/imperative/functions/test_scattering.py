"""Elements written by position, and by condition."""

import numpy as np
import pytest

import minipaddle as paddle
from tests.imperative.functions.composed import check

AT = np.array([2, 0, -1])
ROWS = np.array([[0, 2, 2], [1, -1, 1]])
ALL = np.array([[0, 2, 2], [1, -1, 1], [0, 0, 0]])
PAIRS = np.array([[1, 0], [0, 2], [1, 0]])


def on(x, index):
    return paddle.to_tensor(index, place=x.place)


def added(x, index, value):
    out = np.array(x)
    np.add.at(out, index, value)
    return out


def assigned(x, index, value):
    out = np.array(x)
    out[index] = value
    return out


def folded(fold, x, rows, value, include_self=True):
    """``put_along_axis`` along axis 1, one value after the other."""
    out = np.array(x)
    seen = set()
    for i, j in np.ndindex(*rows.shape):
        place = (i, rows[i, j] % x.shape[1])
        first = place not in seen and not include_self
        out[place] = value[i, j] if first else fold(out[place], value[i, j])
        seen.add(place)
    return out


def mean(x, value, include_self=True):
    counts = folded(np.add, np.ones(x.shape), ROWS, np.ones(ROWS.shape), include_self)
    return folded(np.add, x, ROWS, value, include_self) / counts


def put(reduce, **how):
    return lambda x, v: x.put_along_axis(on(x, ROWS), v, 1, reduce, **how)


FUNCTIONS = {
    "where": (
        lambda x, y: paddle.where(x > y, x, y * y),
        lambda x, y: np.where(x > y, x, y * y),
        (2, 3),
        (3,),
    ),
    "index_add": (
        lambda x, v: x.index_add(on(x, AT), 0, v),
        lambda x, v: added(x, AT, v),
        (3, 2),
        (3, 2),
    ),
    "index_add, axis": (
        lambda x, v: x.index_add(on(x, AT), -1, v),
        lambda x, v: added(x, (slice(None), AT), v),
        (2, 3),
        (2, 3),
    ),
    "index_fill": (
        lambda x, v: x.index_fill(on(x, AT), 1, v),
        lambda x, v: assigned(x, (slice(None), AT), v),
        (2, 4),
        (),
    ),
    "scatter": (
        lambda x, v: x.scatter(on(x, AT), v),
        lambda x, v: assigned(x, AT, v),
        (3, 2),
        (3, 2),
    ),
    "scatter, 0-d": (
        lambda x, v: x.scatter(on(x, 1), v),
        lambda x, v: assigned(x, 1, v),
        (3, 2),
        (2,),
    ),
    "scatter, add": (
        lambda x, v: x.scatter(on(x, AT), v, overwrite=False),
        lambda x, v: added(assigned(x, AT, 0), AT, v),
        (3, 2),
        (3, 2),
    ),
    "scatter_nd": (
        lambda v: paddle.scatter_nd(on(v, PAIRS), v, [2, 3, 2]),
        lambda v: added(np.zeros((2, 3, 2), v.dtype), tuple(PAIRS.T), v),
        (3, 2),
    ),
    "scatter_nd_add": (
        lambda x, v: x.scatter_nd_add(on(x, PAIRS), v),
        lambda x, v: added(x, tuple(PAIRS.T), v),
        (2, 3),
        (3,),
    ),
    "assign": (
        put("assign"),
        lambda x, v: folded(lambda old, new: new, x, ROWS, v),
        (2, 3),
        (2, 3),
    ),
    "add": (put("add"), lambda x, v: folded(np.add, x, ROWS, v), (2, 3), (2, 3)),
    "add without x": (
        put("add", include_self=False),
        lambda x, v: folded(np.add, x, ROWS, v, False),
        (2, 3),
        (2, 3),
    ),
    "mul": (put("mul"), lambda x, v: folded(np.multiply, x, ROWS, v), (2, 3), (2, 3)),
    "multiply without x": (
        put("multiply", include_self=False),
        lambda x, v: folded(np.multiply, x, ROWS, v, False),
        (2, 3),
        (2, 3),
    ),
    "amin": (put("amin"), lambda x, v: folded(np.minimum, x, ROWS, v), (2, 3), (2, 3)),
    "amax": (put("amax"), lambda x, v: folded(np.maximum, x, ROWS, v), (2, 3), (2, 3)),
    "mean": (put("mean"), mean, (2, 3), (2, 3)),
    "mean without x": (
        put("mean", include_self=False),
        lambda x, v: mean(x, v, False),
        (2, 3),
        (2, 3),
    ),
    "indices are broadcast": (
        lambda x, v: x.put_along_axis(on(x, [[2, 0]]), v, 1),
        lambda x, v: assigned(x, (slice(None), [2, 0]), v),
        (2, 3),
        (2, 2),
    ),
    "value is broadcast": (
        lambda x, v: x.put_along_axis(on(x, ROWS), v, 1, "add"),
        lambda x, v: folded(np.add, x, ROWS, np.broadcast_to(v, (2, 3))),
        (2, 3),
        (2, 1),
    ),
    "shorter": (
        lambda x, v: x.put_along_axis(on(x, ROWS[:1]), v, 1, "add", broadcast=False),
        lambda x, v: np.concatenate([folded(np.add, x[:1], ROWS[:1], v), x[1:]]),
        (2, 3),
        (1, 3),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name):
    check(*FUNCTIONS[name])


IN_PLACE = {
    "where_": lambda x, v: paddle.where(x > v, x, v),
    "masked_fill_": lambda x, v: x.masked_fill(x > v, 2.0),
    "index_add_": lambda x, v: x.index_add(on(x, AT), 0, v),
    "index_fill_": lambda x, v: x.index_fill(on(x, AT), 1, 2.0),
    "scatter_": lambda x, v: x.scatter(on(x, AT), v),
    "put_along_axis_": lambda x, v: x.put_along_axis(on(x, ALL), v, 1),
}
WRITES = {
    "where_": lambda x, v: paddle.where_(x > v, x, v),
    "masked_fill_": lambda x, v: x.masked_fill_(x > v, 2.0),
    "index_add_": lambda x, v: x.index_add_(on(x, AT), 0, v),
    "index_fill_": lambda x, v: x.index_fill_(on(x, AT), 1, 2.0),
    "scatter_": lambda x, v: x.scatter_(on(x, AT), v),
    "put_along_axis_": lambda x, v: x.put_along_axis_(on(x, ALL), v, 1),
    "scatter_, add": lambda x, v: x.scatter_(on(x, AT), v, False),
    "put_along_axis_, mul": lambda x, v: x.put_along_axis_(on(x, ALL), v, 1, "mul"),
}
IN_PLACE["scatter_, add"] = lambda x, v: x.scatter(on(x, AT), v, False)
IN_PLACE["put_along_axis_, mul"] = lambda x, v: x.put_along_axis(on(x, ALL), v, 1, "mul")


@pytest.mark.parametrize("name", WRITES)
def test_in_place(name, place):
    """The form in place has the values and the gradients of the plain one."""
    rows = np.arange(9.0).reshape(3, 3)
    seen = []
    for function in (IN_PLACE[name], WRITES[name]):
        x = paddle.to_tensor(rows, stop_gradient=False)
        v = paddle.to_tensor(rows[::-1].copy() / 2, stop_gradient=False)
        base = x * 1.0
        out = function(base, v)
        (out * out).sum().backward()
        seen.append([out.tolist(), x.grad.tolist(), None if v.grad is None else v.grad.tolist()])
    assert seen[0] == seen[1]
    assert out is base and base.inplace_version > 0


def test_where(place):
    condition = paddle.to_tensor([[True, False], [False, True]])
    found = paddle.where(condition)
    assert [one.tolist() for one in found] == [[0, 1], [0, 1]]
    assert paddle.where(condition, 1.0, 0.0).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert paddle.where(condition, 1.0, 0.0).dtype == np.float32
    assert paddle.where(condition, 1, 2).dtype == np.int64
    mixed = paddle.where(condition, paddle.to_tensor([1, 2]), 0.5)
    assert mixed.dtype == np.float32 and mixed.tolist() == [[1.0, 0.5], [0.5, 2.0]]
    with pytest.raises(ValueError, match="both"):
        paddle.where(condition, 1.0)
    with pytest.raises(TypeError, match="condition must be of bool"):
        paddle.where(paddle.ones([2]), 1.0, 2.0)


def test_of_several_updates_for_one_row_the_last_one_stays(place):
    x = paddle.to_tensor([1.0, 1.0])
    v = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    index = paddle.to_tensor([1, 1])
    out = x.scatter(index, v)
    assert out.tolist() == [1.0, 3.0]
    out.sum().backward()
    assert v.grad.tolist() == [0.0, 1.0]


REFUSED = {
    "index_add range": (
        lambda x: x.index_add([5], 1, x),
        IndexError,
        "index 5.*axis 1 of length 3",
    ),
    "index_add shape": (lambda x: x.index_add([0], 1, paddle.ones([5])), ValueError, r"\[5\]"),
    "index_fill value": (
        lambda x: x.index_fill([0], 1, x),
        ValueError,
        r"index_fill: value.*\[2, 3\]",
    ),
    "scatter dtype": (
        lambda x: x.scatter([0], paddle.ones([1, 3], "int64")),
        TypeError,
        "one dtype.*float32.*int64",
    ),
    "scatter_nd": (
        lambda x: paddle.scatter_nd(paddle.to_tensor([[2]]), x[:1], [2, 3]),
        IndexError,
        "index 2.*axis 0 of length 2",
    ),
    "scatter_nd_add": (
        lambda x: x.scatter_nd_add(paddle.to_tensor([[0, 1, 2]]), x),
        ValueError,
        "scatter_nd_add: the last axis of index",
    ),
    "put reduce": (
        lambda x: x.put_along_axis(paddle.to_tensor([[0]]), 1.0, 1, "sum"),
        ValueError,
        "reduce must be one of.*'sum'",
    ),
    "put range": (
        lambda x: x.put_along_axis(paddle.to_tensor([[3]]), 1.0, 1),
        IndexError,
        "index 3.*axis 1 of length 3",
    ),
    "masked_fill_ larger": (
        lambda x: x[0].masked_fill_(paddle.ones([2, 3], "bool"), 1.0),
        ValueError,
        "masked_fill_",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, error, words = REFUSED[name]
    x = paddle.ones([2, 3])
    with pytest.raises(error, match=words):
        call(x)
    assert x.inplace_version == 0
