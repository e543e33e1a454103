"""Records of extremes, order, non-zeros and unique values."""

from __future__ import annotations

import numpy as np

from minipaddle.device.dtype import as_dtype
from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values


def _int64(dtype, attributes):
    return np.dtype(np.int64)


def _distinct(*shape):
    """Numbers of which no two are equal in any dtype, in no order."""
    count = int(np.prod(shape))
    order = np.random.default_rng(count).permutation(count)
    return np.asarray(order.reshape(shape), np.float64)


def _tied(*shape):
    return np.asarray(np.rint(np.abs(values(shape, 3))))


def _axes(keepdims=(False, True)):
    x = _tied(2, 3, 4)
    return tuple(
        Sample(f"axis {axis}, keepdim {keepdim}", (x,), {"axis": axis, "keepdim": keepdim})
        for axis in (None, 0, 1, -1)
        for keepdim in keepdims
    )


def _ends():
    return (
        *_axes(),
        Sample("all equal", (np.ones((3, 3)),)),
        Sample("0-d", (np.asarray(1.0),)),
        Sample("0-d, axis", (np.asarray(1.0),), {"axis": -1}),
        Sample("empty", (np.zeros((0, 3)),), {"axis": 1}),
        Sample("int32", (_tied(2, 3),), {"dtype": "int32"}),
    )


def _first(better):
    """The first element along the axis that no other is better than, by definition."""

    def find(x, axis=None, keepdim=False, dtype="int64"):
        if axis is None:
            found = find(x.reshape(-1), 0)
            return np.reshape(found, [1] * x.ndim if keepdim else [])
        if x.ndim == 0:
            return np.asarray(0)
        lines = np.moveaxis(x, axis, -1)
        out = np.zeros(lines.shape[:-1], int)
        for at in np.ndindex(*out.shape):
            line = list(lines[at])
            out[at] = min(i for i, a in enumerate(line) if not any(better(b, a) for b in line))
        return np.expand_dims(out, axis) if keepdim else out

    return find


def _argsort(x, axis=-1, descending=False, stable=False):
    """Python's sort is stable, also when it is reversed."""
    if x.ndim == 0:
        return np.asarray(0)

    def order(line):
        return np.array(sorted(range(len(line)), key=lambda i: line[i], reverse=descending), int)

    return np.apply_along_axis(order, axis, x) if x.size else np.zeros(x.shape, int)


def _orders():
    for descending in (False, True):
        for axis in (0, 1, -1):
            x = _tied(3, 8, 4)
            how = {"axis": axis, "descending": descending, "stable": True}
            yield Sample(f"ties {axis} {descending}", (x,), how)
        loose = {"descending": descending}
        yield Sample(f"no ties {descending}", (_distinct(2, 5),), loose)
        yield Sample(f"0-d {descending}", (np.asarray(1.0),), loose)
        yield Sample(f"empty {descending}", (np.zeros((0, 3)),), loose)
        yield Sample(f"empty axis {descending}", (np.zeros((0, 3)),), {"axis": 0, **loose})


def _count(x, axis=None, keepdim=False):
    return np.sum(x != 0, tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdim)


def _counts():
    x = _tied(2, 3, 4)
    return (
        *_axes(),
        Sample("several", (x,), {"axis": [0, -1]}),
        Sample("no axis", (x,), {"axis": ()}),
        Sample("0-d", (np.asarray(1.0),)),
        Sample("empty", (np.zeros((0, 3)),)),
        Sample("empty axis", (np.zeros((0, 3)),), {"axis": 0, "keepdim": True}),
    )


def _where_index(x):
    found = [at for at in np.ndindex(x.shape) if x[at]]
    return np.array(found, int).reshape(len(found), x.ndim)


def _searched(sorted_sequence, values, out_int32=False, right=False):
    """How many elements are smaller, or with ``right`` not larger."""
    edges, wanted = sorted_sequence[..., None, :], values[..., None]
    if sorted_sequence.ndim == 1:
        edges = sorted_sequence
    return np.sum(edges <= wanted if right else edges < wanted, axis=-1)


def _searches():
    edges, rows = np.array([0.0, 1.0, 1.0, 3.0]), np.sort(_tied(2, 1, 5), -1)
    for right in (False, True):
        how = {"right": right}
        yield Sample(f"rank 2 {right}", (edges, _tied(2, 6)), how)
        yield Sample(f"0-d {right}", (edges, np.asarray(1.0)), how)
        yield Sample(f"rows {right}", (rows, _tied(2, 1, 3)), how)
        yield Sample(f"int32 {right}", (edges, _tied(4)), {"out_int32": True, **how})
        yield Sample(f"empty values {right}", (edges, np.zeros((0, 3))), how)
        yield Sample(f"empty edges {right}", (np.zeros(0), _tied(3)), how)


def _names(x, axis, consecutive):
    """Lines of elements as tuples, and what names each of them among the different ones."""
    lines = x.reshape(-1, 1) if axis is None else np.moveaxis(x, axis, 0)
    keys = [tuple(line.reshape(-1).tolist()) for line in lines]
    runs = [i == 0 or not consecutive or keys[i] != keys[i - 1] for i in range(len(keys))]
    runs = np.cumsum(runs) if consecutive else np.zeros(len(keys))
    return lines, list(zip(runs, keys, strict=True))


def _unique_values(x, axis=None, consecutive=False):
    lines, names = _names(x, axis, consecutive)
    taken = lines[np.array([names.index(name) for name in sorted(set(names))], int)]
    return taken.reshape(-1) if axis is None else np.moveaxis(taken, 0, axis)


def _unique_inverse(x, axis=None, consecutive=False):
    names = _names(x, axis, consecutive)[1]
    different = sorted(set(names))
    return np.array([different.index(name) for name in names], int)


def _uniques():
    arrays = {
        "matrix": (_tied(3, 4), None),
        "rows": (_tied(6, 1, 2), 0),
        "columns": (_tied(2, 9), -1),
        "0-d": (np.asarray(1.0), None),
        "empty": (np.zeros((0, 3)), None),
        "no rows": (np.zeros((0, 3)), 0),
        "rows of no element": (np.zeros((0, 3)), 1),
    }
    return tuple(
        Sample(f"{name} {consecutive}", (x,), {"axis": axis, "consecutive": consecutive})
        for name, (x, axis) in arrays.items()
        for consecutive in (False, True)
    )


def _counted(inverse):
    return np.array([np.sum(inverse == n) for n in range(len(set(inverse.flat)))], int)


def _first_of_each(inverse):
    return np.array([list(inverse.flat).index(n) for n in range(len(set(inverse.flat)))], int)


def _numbered():
    """Numbers from 0 on, of which none is left out, once they are made ints."""
    return (
        Sample("several", (np.array([1, 0, 2, 1, 1, 0, 3]) / 3,)),
        Sample("matrix", (np.array([[1, 0, 2], [2, 0, 0]]) / 3,)),
        Sample("0-d", (np.asarray(0.0),)),
        Sample("empty", (np.zeros((0,)),)),
    )


_NUMBER = ErrorSample("number", lambda f, t: f(1.5), TypeError, ("Tensor", "float"))
_AXIS = ErrorSample("axis", lambda f, t: f(t((2, 3)), axis=2), ValueError, ("axis 2", "[2, 3]"))
_LINES = ErrorSample("axis", lambda f, t: f(t((2, 3)), 2), ValueError, ("2", "[2, 3]"))
_END_ERRORS = (
    _NUMBER,
    _AXIS,
    ErrorSample("empty", lambda f, t: f(t((0, 3))), ValueError, ("arg", "empty", "[0, 3]")),
    ErrorSample(
        "dtype", lambda f, t: f(t((2,)), dtype="float32"), ValueError, ("dtype", "int64", "float32")
    ),
    ErrorSample("no dtype", lambda f, t: f(t((2,)), dtype=None), ValueError, ("dtype", "int64")),
)


def _end(op, better):
    return OpSample(
        op,
        _first(better),
        _ends(),
        _END_ERRORS,
        result_dtype=lambda dtype, attributes: as_dtype(attributes.get("dtype", "int64")),
    )


SAMPLES = (
    _end("argmax", lambda a, b: a > b),
    _end("argmin", lambda a, b: a < b),
    OpSample("argsort", _argsort, tuple(_orders()), (_NUMBER, _AXIS), result_dtype=_int64),
    OpSample(
        "where_index",
        _where_index,
        (
            Sample("matrix", (_tied(3, 4),)),
            Sample("none", (np.zeros((3, 4)),)),
            Sample("0-d", (np.asarray(1.0),)),
            Sample("0-d zero", (np.asarray(0.0),)),
            Sample("empty", (np.zeros((0, 3)),)),
        ),
        (_NUMBER,),
        result_dtype=_int64,
    ),
    OpSample("count_nonzero", _count, _counts(), (_NUMBER, _AXIS), result_dtype=_int64),
    OpSample(
        "searchsorted",
        _searched,
        tuple(_searches()),
        (
            ErrorSample(
                "rows",
                lambda f, t: f(t((2, 3)), t((3, 3))),
                ValueError,
                ("searchsorted", "leading axes", "[2, 3]", "[3, 3]"),
            ),
            ErrorSample("0-d", lambda f, t: f(t(()), t((3,))), ValueError, ("1-D", "[]")),
            ErrorSample("text", lambda f, t: f(t((2,)), "2"), TypeError, ("values", "str")),
        ),
        result_dtype=lambda dtype, a: np.dtype(np.int32 if a.get("out_int32") else np.int64),
    ),
    OpSample(
        "unique_counts",
        _counted,
        _numbered(),
        (_NUMBER,),
        result_dtype=_int64,
    ),
    OpSample(
        "unique_index",
        _first_of_each,
        _numbered(),
        (_NUMBER,),
        result_dtype=_int64,
    ),
    OpSample("unique_values", _unique_values, _uniques(), (_NUMBER, _LINES)),
    OpSample("unique_inverse", _unique_inverse, _uniques(), (_NUMBER, _LINES), result_dtype=_int64),
)
