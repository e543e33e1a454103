"""Records of what goes by position and by condition."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import PAIRS, ErrorSample, OpSample, Sample, values

_NUMBER = ErrorSample("number", lambda f, t: f(1.5, [0], 0, 1), TypeError, ("Tensor", "float"))
_INT = ErrorSample(
    "float index", lambda f, t: f(t((2,)), t((1,)), 0, 1), TypeError, ("index", "int", "float32")
)


def _int64(dtype, attributes):
    return np.dtype(np.int64)


def _condition(shape, salt=0):
    return np.random.default_rng([salt, *shape]).random(shape) < 0.5


def _conditional(value_first):
    """Samples of x, a condition and another value, in every way in which their shapes broadcast."""
    for name, (a, b) in PAIRS.items():
        yield Sample(name, (values(a, 1), _condition(a), values(b, 2)))
        yield Sample(f"{name}, condition", (values(a, 1), _condition(b), values(b, 2)))
    large = (1100, 1000)  # worked in blocks, in any dtype
    yield Sample(
        "blocks", (values(large, 1), _condition(large), values((1100, 1), 2)), gradient=False
    )
    yield Sample(
        "blocks, column", (values(large, 1), _condition((1100, 1)), values((1000,), 2)), {}, False
    )
    yield Sample("number", (values((2, 3), 1), _condition((2, 3)), 0.5))
    if value_first:
        yield Sample("number first", (0.5, _condition((2, 3)), values((2, 3), 1)))


def _conditions(name):
    return (
        ErrorSample(
            "condition",
            lambda f, t: f(t((2,)), t((2,)), 1.0),
            TypeError,
            (name, "bool", "float32", "astype"),
        ),
        ErrorSample(
            "shapes",
            lambda f, t: f(t((2, 3)), t((4,), "bool"), 1.0),
            ValueError,
            (name, "[2, 3]", "[4]"),
        ),
        ErrorSample("text", lambda f, t: f(t((2,)), t((2,), "bool"), "2"), TypeError, ("str",)),
    )


# Shape of x, indices over the axes first to last.
_PLACES = {
    "rows": ((3, 2), [2, 0, 2], 0, 1),
    "row": ((3, 2), 1, 0, 1),
    "element": ((4,), 1, 0, 1),
    "rank 2": ((4,), [[3, 0, 3], [1, 3, 2]], 0, 1),
    "middle": ((2, 3, 2), [0, 2], 1, 2),
    "columns": ((2, 4), [3, 3, 1], 1, 2),
    "two axes": ((2, 3, 2), [5, 0, 5], 0, 2),
    "all axes": ((2, 3), [[4, 0], [4, 4]], 0, 2),
    "of a number": ((), [0, 0], 0, 0),
    "new axis": ((2, 3), [0], 1, 1),
    "none": ((2, 3), [], 1, 2),
    "empty": ((3, 0), [0, 2], 0, 1),
}


def _region(shape, index, first, last):
    return (*shape[:first], *np.shape(index), *shape[last:])


def _placed():
    for name, (shape, index, first, last) in _PLACES.items():
        at = np.asarray(index, np.int64)
        yield name, shape, at, _region(shape, at, first, last), {"first": first, "last": last}


def _gather_flat(x, index, first, last):
    merged = x.reshape(*x.shape[:first], -1 if x.size else 0, *x.shape[last:])
    if not x.size:
        merged = x.reshape(*x.shape[:first], int(np.prod(x.shape[first:last])), *x.shape[last:])
    return merged[(*[slice(None)] * first, index)]


def _written(x, index, value, first, last, write):
    """Every part of x that is written to, one after the other."""
    out = np.array(x)
    lengths = x.shape[first:last]
    region = _region(x.shape, index, first, last)
    parts = np.broadcast_to(np.asarray(value, x.dtype), region)
    before, whole = (slice(None),) * first, slice(None)
    for at in np.ndindex(*index.shape):
        place = (*before, *np.unravel_index(index[at], lengths)) if lengths else before
        out[(*place, ...)] = write(out[(*place, ...)], parts[(*[whole] * first, *at, ...)])
    return out


def _scatter_flat(x, index, value, first, last):
    return _written(x, index, value, first, last, lambda old, new: new)


def _scatter_add_flat(x, index, value, first, last):
    return _written(x, index, value, first, last, lambda old, new: old + new)


def _sum_flat(x, index, shape, first, last):
    return _scatter_add_flat(np.zeros(shape, x.dtype), index, x, first, last)


def _gathers():
    for name, shape, at, _, where in _placed():
        yield Sample(name, (values(shape, 1), at), where)
    yield Sample("int32", (values((3, 2), 1), np.array([1, 1], np.int32)), {"first": 0, "last": 1})


def _scatters():
    for name, shape, at, region, where in _placed():
        yield Sample(name, (values(shape, 1), at, values(region, 2)), where)
        yield Sample(f"{name}, number", (values(shape, 1), at, 0.5), where)
        yield Sample(f"{name}, broadcast", (values(shape, 1), at, values(region[-1:], 3)), where)


def _additions():
    yield from _scatters()
    rng = np.random.default_rng(5)
    many = {"scalars": ((7,), 200), "short rows": ((40, 3), 400), "long rows": ((4, 600), 9)}
    for name, (shape, count) in many.items():
        at = rng.integers(0, shape[0], count)
        value = values((count, *shape[1:]), 2) / 8
        where = {"first": 0, "last": 1}
        yield Sample(f"many {name}", (values(shape, 1), at, value), where, gradient=False)


def _sums():
    for name, shape, at, region, where in _placed():
        yield Sample(name, (values(region, 1), at), {"shape": shape, **where})


def _terms(*args):
    return 2 + args[1].size


def _size_added(x, index, value, first, last):
    return _scatter_add_flat(abs(x), index, abs(value), first, last)


def _size_summed(x, index, shape, first, last):
    return _sum_flat(abs(x), index, shape, first, last)


def _flat_index(x, lengths, axes):
    several = np.broadcast_arrays(*x)
    out = np.zeros(several[0].shape, int)
    for at in np.ndindex(*out.shape):
        for index, length in zip(several, lengths, strict=True):
            out[at] = out[at] * length + index[at] % length
    return out


def _flat_index_along(index, shape, axis):
    out = np.zeros(index.shape, int)
    for at in np.ndindex(*index.shape):
        place = list(at)
        place[axis] = index[at] % shape[axis]
        out[at] = np.ravel_multi_index(place, shape)
    return out


def _later_equals(index):
    flat = index.reshape(-1)
    found = [np.sum(flat[i + 1 :] == one) for i, one in enumerate(flat)]
    return np.array(found, int).reshape(index.shape)


def _ints(*numbers):
    """What becomes these ints; in a type without negative ones, their absolute values."""
    whole = np.asarray(numbers[0] if len(numbers) == 1 else numbers)
    return np.asarray(whole / 3)


_INDICES = (
    Sample("one", ([_ints(1, 0, 2)],), {"lengths": [3], "axes": [0]}),
    Sample("negative", ([_ints(-1, 0, -2)],), {"lengths": [3], "axes": [0]}),
    Sample("two", ([_ints(1, 0, 2), _ints(3, -1, 0)],), {"lengths": [3, 4], "axes": [0, 1]}),
    Sample("0-d", ([_ints(1), _ints(-2)],), {"lengths": [3, 4], "axes": [0, 1]}),
    Sample(
        "broadcast",
        ([_ints([[1], [0]]), _ints(2, 3, -4), _ints(1)],),
        {"lengths": [2, 5, 3], "axes": [1, 2, 3]},
    ),
    Sample("empty", ([np.zeros((0, 2))],), {"lengths": [3], "axes": [0]}),
)
_ALONG = (
    Sample("columns", (_ints([[1, 0, -3], [2, 2, 0]]),), {"shape": (2, 4), "axis": 1}),
    Sample("rows", (_ints([[1, 0, -2]]),), {"shape": (3, 3), "axis": 0}),
    Sample("shorter", (_ints([[[1], [-1]]]),), {"shape": (2, 3, 4), "axis": 1}),
    Sample("empty", (np.zeros((0, 2)),), {"shape": (3, 4), "axis": 0}),
    # Lengths and distances that the index's own type may not hold.
    Sample("long row", (_ints([[1, -100, 99]]),), {"shape": (2, 200), "axis": 1}),
    Sample("long columns", (_ints([[1], [-100], [99]]),), {"shape": (200, 70000), "axis": 0}),
)
_EQUALS = (
    Sample("some", (_ints(1, 0, 1, 1, 2, 0),)),
    Sample("ascending", (_ints(0, 2, 5),)),
    Sample("matrix", (_ints([[1, 1], [0, 1]]),)),
    Sample("0-d", (_ints(1),)),
    Sample("empty", (np.zeros((0, 2)),)),
)
_RANGE = ErrorSample(
    "range",
    lambda f, t: f([t((2,), "int64")], [1], [4]),
    IndexError,
    ("index 1", "axis 4", "length 1"),
)

SAMPLES = (
    OpSample(
        "select",
        lambda x, condition, y: np.where(condition, x, y),
        tuple(_conditional(True)),
        _conditions("select"),
    ),
    OpSample(
        "masked_fill",
        lambda x, mask, value: np.where(mask, value, x),
        tuple(_conditional(False)),
        _conditions("masked_fill"),
    ),
    OpSample("gather_flat", _gather_flat, tuple(_gathers()), (_NUMBER, _INT)),
    OpSample("scatter_flat", _scatter_flat, tuple(_scatters())),
    OpSample(
        "scatter_add_flat",
        _scatter_add_flat,
        tuple(_additions()),
        roundings=_terms,  # one addition a value, in any order
        magnitude=_size_added,
    ),
    OpSample(
        "sum_flat",
        _sum_flat,
        tuple(_sums()),
        roundings=_terms,
        magnitude=_size_summed,
    ),
    OpSample("flat_index", _flat_index, _INDICES, (_RANGE,), result_dtype=_int64),
    OpSample("flat_index_along", _flat_index_along, _ALONG, result_dtype=_int64, takes_0d=False),
    OpSample("later_equals", _later_equals, _EQUALS, result_dtype=_int64),
)
