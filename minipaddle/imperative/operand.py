"""Operands that do not fit an op as they are: numbers, arrays, mixed dtypes and mistakes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.device.dtype import (
    BOOLS,
    FLOATS,
    INTS,
    DType,
    as_dtype,
    get_default_dtype,
    is_half,
)
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import Op, Param

# The bound functions by op name. dispatch.bound fills it.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


class _Bound:
    """The bound functions as a namespace F, for formulas over tensors."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            return FUNCTIONS[name]
        except KeyError:
            raise AttributeError(name) from None


BOUND = _Bound()

# Those that stand beside a float tensor as they are.
NUMBERS = frozenset({float, int})

# What a kernel raises about its arguments, or for want of memory; OverflowError for a number that
# the dtype cannot hold.
KERNEL_ERRORS = (ValueError, TypeError, IndexError, MemoryError, OverflowError, ZeroDivisionError)

# What ops of a class of dtypes take: kinds, where "f" is also bfloat16, words, and the remedy.
_TAKEN = {
    "float": ("f", "float16, bfloat16, float32 or float64", "astype('float32')"),
    "int": ("iu", "ints", "astype('int64')"),
    "numeric": ("iufc", "floats and ints", "astype"),
    "integral": ("biu", "bool and ints", "astype('bool') or astype('int64')"),
    "any": ("biufc", "any dtype", "astype"),
}

_NUMBER_TYPES = (bool, int, float, np.bool_, np.integer, np.floating)


def coerce(op: Op, args: tuple[Any, ...], inplace: bool = False) -> list[Any]:
    """Operands as tensors of one place and fit dtypes; the way of everything unusual.

    A number stays a number, inside a tensor that never leaves the call; where the op wants an
    array it becomes one. A NumPy array is copied to the place. Optional operands may be None. In
    place the first operand stays as it is, and the others take its dtype.

    Raises:
        TypeError: An operand is of a wrong type or dtype; the text names it.
        ValueError: Operands lie on different places.
    """
    if args[0].__class__ in NUMBERS and not inplace and _is_plain_pair(op, args):
        return [Tensor(args[0], args[1].place), args[1]]
    params = [p for p in op.params if p.is_tensor]
    if op.list_input:
        params, args = _listed(op, params[0], args[0])
        return [_coerced(op, params, args, inplace)]
    return _coerced(op, params, args, inplace)


def _number_dtype(numbers: list[Any]) -> DType:
    """The dtype of a result computed from numbers alone."""
    if any(isinstance(number, float) for number in numbers):
        return as_dtype(get_default_dtype())
    return as_dtype("bool" if all(isinstance(n, bool) for n in numbers) else "int64")


def _listed(op: Op, param: Param, items: Any) -> tuple[list[Param], tuple[Any, ...]]:
    """The items of a list operand as operands of their own."""
    if not isinstance(items, (list, tuple)) or not items:
        found = "an empty one" if isinstance(items, (list, tuple)) else type(items).__name__
        raise TypeError(
            f"{op.name}: {param.name} must be a list of at least one Tensor; got {found}"
        )
    return [Param(f"{param.name}[{i}]", "Tensor") for i in range(len(items))], tuple(items)


def _coerced(op: Op, params: list[Param], args: tuple[Any, ...], inplace: bool) -> list[Any]:
    place = _common_place(op, params, args)
    operands = [_as_operand(op, p, a, place) for p, a in zip(params, args, strict=True)]
    kept = [p.own_dtypes is not None for p in params]
    for param, operand, own in zip(params, operands, kept, strict=True):
        if own and operand is not None:
            _check_own_dtype(op, param, operand)
    tensors = [t for t, own in zip(operands, kept, strict=True) if not own]
    params = [p for p in params if p.own_dtypes is None]
    if tensors:
        tensors = _matched(op, params, tensors, args, inplace)
    found = iter(tensors)
    return [t if own else next(found) for t, own in zip(operands, kept, strict=True)]


def _check_own_dtype(op: Op, param: Param, operand: Tensor) -> None:
    """Refuses indices that are not ints and masks that are not bools."""
    allowed = {"int": INTS, "bool": BOOLS}.get(param.own_dtypes or "any")
    dtype = operand.data.dtype
    if allowed is not None and dtype not in allowed:
        raise TypeError(
            f"{op.name}: {param.name} must be of {param.own_dtypes} dtype; got {dtype.name}; "
            f"convert it with astype('{'int64' if param.own_dtypes == 'int' else 'bool'}')"
        )


def _matched(
    op: Op, params: list[Param], tensors: list[Any], args: tuple[Any, ...], inplace: bool
) -> list[Any]:
    """The operands brought to one dtype that the op takes."""
    if inplace and not isinstance(args[0], Tensor):
        kind = type(args[0]).__name__
        raise TypeError(f"{op.name}_: x is written in place and must be a Tensor; got {kind}")
    arrays = [t for t in tensors if t is not None and not is_number(t.data)]
    if not arrays:  # numbers beside indices or a mask
        dtype = _number_dtype([t.data for t in tensors])
        return [_to_dtype(op, p, t, dtype) for p, t in zip(params, tensors, strict=True)]
    dtypes = list(dict.fromkeys(t.data.dtype for t in arrays))
    dtype = _common_dtype(op, dtypes, tensors, params)
    if inplace:
        dtype = _inplace_dtype(op, args[0], dtype)
    _check_dtype(op, dtype)
    return [_to_dtype(op, p, t, dtype) for p, t in zip(params, tensors, strict=True)]


def _is_plain_pair(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether these are a number and a float tensor, as in ``1.0 - x``, for an op that takes it."""
    return (
        len(args) == 2
        and op.params[0].type == "Tensor|Scalar"
        and "f" in _TAKEN[op.dtypes][0]
        and isinstance(args[1], Tensor)
        and not is_number(args[1].data)
        and args[1].data.dtype in FLOATS
    )


def _inplace_dtype(op: Op, first: Tensor, result: DType) -> DType:
    """The dtype of the tensor that is written, if it can hold the result."""
    dtype: DType = first.data.dtype
    if (result in FLOATS and dtype not in FLOATS) or (result.kind in "iu" and dtype.kind == "b"):
        raise TypeError(
            f"{op.name}_: the result has dtype {result.name}, which {first.name} of dtype "
            f"{dtype.name} cannot hold; use {op.name}, or astype first"
        )
    return dtype


def is_number(data: Any) -> bool:
    """Whether this stands for an operand as a number, not as an array."""
    return isinstance(data, _NUMBER_TYPES)


def _common_place(op: Op, params: list[Param], args: tuple[Any, ...]) -> Place:
    places = {p.name: a.place for p, a in zip(params, args, strict=True) if isinstance(a, Tensor)}
    if len(set(places.values())) > 1:
        where = ", ".join(f"{name} on {place}" for name, place in places.items())
        raise ValueError(f"{op.name}: operands must lie on one place; got {where}")
    if not places:
        kinds = ", ".join(
            f"{p.name}: {type(a).__name__}" for p, a in zip(params, args, strict=True)
        )
        raise TypeError(f"{op.name}: needs a Tensor; got {kinds}; paddle.to_tensor makes one")
    return next(iter(places.values()))


def _as_operand(op: Op, param: Param, arg: Any, place: Place) -> Tensor | None:
    if isinstance(arg, Tensor):
        return arg
    if arg is None and param.name in op.optional:
        return None
    if isinstance(arg, (_NUMBER_TYPES, list, tuple)) and param.own_dtypes is not None:
        arg = np.asarray(arg)
    if isinstance(arg, _NUMBER_TYPES):
        return Tensor(arg.item() if isinstance(arg, np.generic) else arg, place)
    if isinstance(arg, np.ndarray):
        return Tensor(place.backend.from_host(arg, place.index), place)
    raise TypeError(
        f"{op.name}: {param.name} must be a Tensor or a number; got {type(arg).__name__}"
    )


def _common_dtype(
    op: Op, dtypes: list[DType], tensors: list[Tensor | None], params: list[Param]
) -> DType:
    if len(dtypes) > 1 and not op.promoted:
        found = ", ".join(
            f"{p.name}: {t.data.dtype.name}"
            for p, t in zip(params, tensors, strict=True)
            if t is not None and not is_number(t.data)
        )
        raise TypeError(f"{op.name}: operands must have one dtype; got {found}; use astype")
    dtype = dtypes[0]
    for other in dtypes[1:]:
        dtype = _promote(dtype, other)
    if not op.promoted:
        return dtype
    numbers = [t.data for t in tensors if t is not None and is_number(t.data)]
    if dtype not in FLOATS and any(isinstance(n, float) for n in numbers):
        return as_dtype(get_default_dtype())
    if dtype.kind == "b" and any(not isinstance(n, bool) for n in numbers):
        return as_dtype("int64")
    return dtype


def _promote(a: DType, b: DType) -> DType:
    """Paddle's rule: a float wins over an int; of two floats or two ints the wider one wins."""
    if (a in FLOATS) != (b in FLOATS):
        return a if a in FLOATS else b
    if a in FLOATS and is_half(a) and is_half(b):
        return as_dtype("float32")
    if a in FLOATS:
        return a if a.itemsize >= b.itemsize else b
    return np.promote_types(a, b)


def _to_dtype(op: Op, param: Param, tensor: Tensor | None, dtype: DType) -> Tensor | None:
    if tensor is None or (param.type == "Tensor|Scalar" and is_number(tensor.data)):
        return tensor
    if is_number(tensor.data):
        try:
            host = np.asarray(tensor.data, dtype)
        except OverflowError as error:
            raise OverflowError(f"{op.name}: {param.name}: {error}") from None
        return Tensor(tensor.place.backend.from_host(host, tensor.place.index), tensor.place)
    if tensor.data.dtype == dtype:
        return tensor
    cast: Tensor = FUNCTIONS["cast"](tensor, dtype)
    return cast


def _check_dtype(op: Op, dtype: DType) -> None:
    kinds, words, remedy = _TAKEN[op.dtypes]
    if ("f" if dtype in FLOATS else dtype.kind) not in kinds:
        raise TypeError(f"{op.name}: takes {words}; got {dtype.name}; convert with {remedy} first")


def differs(tensors: Any, arrays: list[Any]) -> bool:
    """Whether a list operand is no list, or not of one place and dtype."""
    if tensors.__class__ is not list and tensors.__class__ is not tuple:
        return True
    place, dtype = tensors[0].place, arrays[0].dtype
    return any(
        t.place is not place or a.dtype is not dtype for t, a in zip(tensors, arrays, strict=True)
    )


def explain(op: Op, error: Exception, tensors: tuple[Any, ...]) -> Exception:
    """The error of a kernel, with the op and what it was given in front."""
    params = [p.name for p in op.params if p.is_tensor]
    given = ", ".join(f"{name}: {_described(t)}" for name, t in zip(params, tensors, strict=True))
    call = f"{op.name}({given})"
    if isinstance(error, MemoryError):
        place = (tensors[0][0] if isinstance(tensors[0], (list, tuple)) else tensors[0]).place
        explained: Exception = place.backend.out_of_memory(place.index, error, call)
        return explained
    kind = type(error) if type(error) in KERNEL_ERRORS[:-1] else ValueError
    return kind(f"{call}: {error}")


def _described(operand: Any) -> str:
    if isinstance(operand, (list, tuple)):
        return "[" + ", ".join(map(_described, operand)) + "]"
    if isinstance(operand, Tensor) and not is_number(operand.data):
        return f"{operand.shape} {operand.data.dtype.name}"
    return str(operand.data if isinstance(operand, Tensor) else operand)


def check_name(function: str, name: Any) -> None:
    """Refuses what stands in the place of ``name`` by mistake, as in ``reshape(x, 6, 1)``."""
    if not isinstance(name, str):
        raise TypeError(
            f"{function}: name must be a str; got {name!r}, one argument too many? Several lengths "
            "or axes go in one list, such as [6, 1]"
        )


# What stands for several ints: lengths, axes, counts.
Ints = int | list[int] | tuple[int, ...] | Tensor


def int_list(name: str, value: Any) -> tuple[int, ...] | None:
    """An ``int[]`` attribute as a tuple: an int, a list, a tuple, or None as it is."""
    if value is None:
        return None
    try:
        if isinstance(value, (list, tuple)):
            return tuple(operator.index(v) for v in value)
        if isinstance(value, Tensor) and value.ndim:
            return tuple(int(v) for v in value.numpy())
        return (operator.index(value),)
    except TypeError:
        raise TypeError(f"{name} must be an int or a list of ints; got {value!r}") from None
