"""Samples as tensors: of any dtype, on any place, contiguous or not."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.op import OPS, Op
from tests.ops.samples import RECORDS, OpSample, Sample

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTS = ("int8", "int32", "int64", "uint8")
DTYPES = {
    "float": FLOATS,
    "int": INTS,
    "numeric": FLOATS + INTS,
    "integral": (*INTS, "bool"),
    "any": (*FLOATS, *INTS, "bool"),
}

# Ops that are functions of tensors: all but the creation ops and those that only write.
FUNCTION_OPS = [name for name in RECORDS if name in FUNCTIONS]
DIFFERENTIABLE = [name for name in FUNCTION_OPS if OPS[name].backward is not None]


def cast(value: Any, dtype: Any) -> Any:
    """A sample's operand in ``dtype``; a number in what a user would write beside it."""
    dtype = as_dtype(dtype)
    if isinstance(value, list):
        return [cast(item, dtype) for item in value]
    if value is None or dtype.name in FLOATS:
        return value.astype(dtype) if isinstance(value, np.ndarray) else value
    if not isinstance(value, np.ndarray):
        return bool(value) if dtype.kind == "b" else round(value)
    if dtype.kind == "b":
        return np.asarray(value > 0)
    whole = np.rint(3 * value)
    return np.asarray(abs(whole) if dtype.kind == "u" else whole, dtype)


def operands(sample: Sample, dtype: Any = "float64") -> list[Any]:
    """The sample's operands on the host, in ``dtype``."""
    return [cast(value, dtype) for value in sample.operands]


def precise(value: Any, precision: Any) -> Any:
    """An operand as the reference takes it."""
    if isinstance(value, list):
        return [precise(item, precision) for item in value]
    return value.astype(precision) if isinstance(value, np.ndarray) else value


def tensor(value: Any, place: Place, stop_gradient: bool = True) -> Any:
    """``value`` on ``place``; numbers and None as they are."""
    if not isinstance(value, np.ndarray):
        return value
    return to_tensor(value, place=place, stop_gradient=stop_gradient)


def strided(value: Any, place: Place) -> Any:
    """The same values as a view with gaps, its last axis reversed."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        return tensor(value, place)
    wide = np.zeros([2 * n for n in value.shape], value.dtype)
    wide[(*[slice(None, None, 2)] * (value.ndim - 1), slice(None, None, -2))] = value
    every = slice(None, None, 2)
    return tensor(wide, place)[(*[every] * (value.ndim - 1), slice(None, None, -2))]


def call(op: str, args: list[Any], sample: Sample) -> Tensor:
    """The op's function on ``args`` with the sample's attributes."""
    result: Tensor = FUNCTIONS[op](*args, **sample.attributes)
    return result


def arrays(sample: Sample) -> list[int]:
    """Positions of the operands that are arrays."""
    return [i for i, value in enumerate(sample.operands) if isinstance(value, np.ndarray)]


def dtypes(op: Op) -> tuple[str, ...]:
    """Names of the dtypes that the op is declared for."""
    return DTYPES[op.dtypes]


def where(record: OpSample, sample: Sample, *more: object) -> str:
    """What a failed comparison names."""
    return f"{record.op}, sample {sample.name!r} {' '.join(map(str, more))}"
