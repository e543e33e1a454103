"""Samples as tensors: of any dtype, on any place, contiguous or not.

An op's inputs are the float64 arrays of its sample that stand in operands without a dtype of their
own, alone or in a list. They take the dtype under test and are what the op is differentiated by.
An operand declared with a dtype, as ``Tensor:int index``, is handed over as the sample has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import to_tensor
from minipaddle.ops.op import OPS, Op
from minipaddle.testing.sample import RANDOM_SEED, OpSample, Sample

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTS = ("int8", "int32", "int64", "uint8")
DTYPES = {
    "float": FLOATS,
    "int": INTS,
    "numeric": FLOATS + INTS,
    "integral": (*INTS, "bool"),
    "any": (*FLOATS, *INTS, "bool"),
}

# Where an input stands among the operands: (operand,), or (operand, item) in a list.
Path = tuple[int, ...]


def dtypes(op: Op) -> tuple[str, ...]:
    """Names of the dtypes that the op is declared for."""
    return DTYPES[op.dtypes]


def is_random(op: Op) -> bool:
    """Whether the op draws random numbers."""
    return any(param.type == "Generator" for param in op.params)


def untyped(record: OpSample) -> list[bool]:
    """For each operand, whether it takes the dtype under test."""
    return [":" not in param.type for param in OPS[record.op].params if param.is_tensor]


def array_paths(sample: Sample) -> list[Path]:
    """Where all arrays stand."""
    found: list[Path] = []
    for i, value in enumerate(sample.operands):
        listed = isinstance(value, list)
        for j, item in enumerate(value if listed else [value]):
            if isinstance(item, np.ndarray):
                found.append((i, j) if listed else (i,))
    return found


def inputs(record: OpSample, sample: Sample) -> list[Path]:
    """Where the arrays stand that the op can be differentiated by."""
    given, free = list(sample.operands), untyped(record)
    return [p for p in array_paths(sample) if free[p[0]] and at(given, p).dtype == np.float64]


def at(args: list[Any], path: Path) -> Any:
    """The operand, or the item of a list operand, at ``path``."""
    value: Any = args
    for step in path:
        value = value[step]
    return value


def replaced(args: list[Any], paths: list[Path], new: list[Any]) -> list[Any]:
    """A copy of ``args`` with ``new`` at ``paths``."""
    copy = [list(value) if isinstance(value, list) else value for value in args]
    for path, value in zip(paths, new, strict=True):
        at(copy, path[:-1])[path[-1]] = value
    return copy


def cast(value: Any, dtype: Any) -> Any:
    """A sample's operand in ``dtype``; a number in what a user would write beside it."""
    dtype = as_dtype(dtype)
    if isinstance(value, list):
        return [cast(item, dtype) for item in value]
    if isinstance(value, np.ndarray) and value.dtype != np.float64:
        return value
    if value is None or dtype.name in FLOATS:
        return value.astype(dtype) if isinstance(value, np.ndarray) else value
    if not isinstance(value, np.ndarray):
        return bool(value) if dtype.kind == "b" else round(value)
    if dtype.kind == "b":
        return np.asarray(value > 0)
    whole = np.rint(3 * value)
    return np.asarray(abs(whole) if dtype.kind == "u" else whole, dtype)


def operands(record: OpSample, sample: Sample, dtype: Any = "float64") -> list[Any]:
    """The sample's operands on the host, the inputs among them in ``dtype``."""
    pairs = zip(sample.operands, untyped(record), strict=True)
    return [cast(value, dtype) if free else value for value, free in pairs]


def precise(record: OpSample, sample: Sample, host: list[Any], precision: Any) -> list[Any]:
    """``host``, operands of the sample in any dtype, as the reference takes them."""
    paths = inputs(record, sample)
    return replaced(host, paths, [at(host, path).astype(precision) for path in paths])


def each(convert: Callable[[Any], Any], value: Any) -> Any:
    """``convert`` of an operand, or of each item of a list."""
    return [convert(item) for item in value] if isinstance(value, list) else convert(value)


def tensor(value: Any, place: Place, stop_gradient: bool = True) -> Any:
    """``value`` on ``place``; numbers and None as they are, a list item by item."""

    def convert(item: Any) -> Any:
        if not isinstance(item, np.ndarray):
            return item
        wants = not stop_gradient and as_dtype(item.dtype).name in FLOATS
        return to_tensor(item, place=place, stop_gradient=not wants)

    return each(convert, value)


def tensors(host: list[Any], place: Place) -> list[Any]:
    """All operands on ``place``, without gradients."""
    return [tensor(value, place) for value in host]


def arrays(host: list[Any], place: Place) -> list[Any]:
    """All operands as a kernel of ``place`` takes them."""

    def put(item: Any) -> Any:
        is_array = isinstance(item, np.ndarray)
        return place.backend.from_host(item, place.index) if is_array else item

    return [each(put, value) for value in host]


def leaves(
    record: OpSample, sample: Sample, host: list[Any], place: Place
) -> tuple[list[Any], list[Any]]:
    """All operands on ``place``, and those of them, the inputs, that want a gradient."""
    args = tensors(host, place)
    found = [at(args, path) for path in inputs(record, sample)]
    for leaf in found:
        leaf.stop_gradient = False
    return args, found


def strided(value: Any, place: Place) -> Any:
    """The same values as a view with gaps, its last axis reversed."""

    def convert(item: Any) -> Any:
        if not isinstance(item, np.ndarray) or not item.ndim:
            return tensor(item, place)
        wide = np.zeros([2 * n for n in item.shape], item.dtype)
        wide[(*[slice(None, None, 2)] * (item.ndim - 1), slice(None, None, -2))] = item
        every = slice(None, None, 2)
        return tensor(wide, place)[(*[every] * (item.ndim - 1), slice(None, None, -2))]

    return each(convert, value)


def call(record: OpSample, args: list[Any], sample: Sample) -> Any:
    """The op's function on ``args`` with the sample's attributes; random numbers start anew."""
    if is_random(OPS[record.op]):
        place = at(args, array_paths(sample)[0]).place
        place.generator.manual_seed(RANDOM_SEED)
    return FUNCTIONS[record.op](*args, **sample.attributes)


def results(out: Any) -> list[Any]:
    """What an op returned, or a reference, as a list."""
    return list(out) if isinstance(out, (list, tuple)) else [out]


def smooth_results(out: Any) -> list[Any]:
    """The results that gradients flow from: every item of a list, the first of a tuple."""
    return results(out)[:1] if isinstance(out, tuple) else results(out)


def where(record: OpSample, sample: Sample, *more: object) -> str:
    """What a failed comparison names."""
    return f"{record.op}, sample {sample.name!r} {' '.join(map(str, more))}"


@contextmanager
def refused(kinds: type[Exception], words: tuple[str, ...], what: str) -> Iterator[None]:
    """Fails unless the body raises one of ``kinds`` whose text has all ``words``."""
    try:
        yield
    except kinds as error:
        missing = [word for word in words if word not in str(error)]
        assert not missing, f"{what}: {type(error).__name__} {error} lacks {missing}"
        assert type(error) is kinds, f"{what}: raises {type(error).__name__}, not {kinds.__name__}"
    else:
        raise AssertionError(f"{what}: must raise {kinds.__name__}")
