"""Tensors made from nothing: constants."""

from __future__ import annotations

from typing import Any

from minipaddle.device.backend import Place, current_place
from minipaddle.device.dtype import DType, as_dtype
from minipaddle.imperative.operand import Ints, int_list
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import get_op


def lengths_of(shape: Ints) -> tuple[int, ...]:
    """The lengths of the axes of a new tensor, none of them negative."""
    lengths = int_list("shape", shape) or ()
    if any(n < 0 for n in lengths):
        raise ValueError(f"shape must have no negative length; got {list(lengths)}")
    return lengths


def filled(name: str, place: Place, shape: tuple[int, ...], value: Any, dtype: DType) -> Tensor:
    """A tensor of one number, for the function ``name``, which an error of the number names."""
    try:
        return Tensor(get_op("full").kernels[place](shape, value, dtype), place)
    except OverflowError as error:
        raise OverflowError(f"{name}: fill_value: {error}") from None
    except MemoryError as error:
        doing = f"{name}({list(shape)}, {dtype.name})"
        raise place.backend.out_of_memory(place.index, error, doing) from error


def full(shape: Ints, fill_value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of one value.

    Args:
        shape: Lengths of the axes; ``[]`` makes a 0-d tensor.
        fill_value: Number, or 0-d tensor.
        dtype: Element type; by default bool for a bool, and the default float type for others.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor, on the current place.

    Raises:
        TypeError: ``shape`` is not made of ints, or ``dtype`` is unknown.
        ValueError: A length is negative.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.full([2], 0.5).tolist()
        [0.5, 0.5]
    """
    place = current_place()
    value = fill_value.numpy().item() if isinstance(fill_value, Tensor) else fill_value
    dtype = "bool" if dtype is None and isinstance(value, bool) else dtype
    return filled("full", place, lengths_of(shape), value, as_dtype(dtype))


def zeros(shape: Ints, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of zeros.

    Args:
        shape: Lengths of the axes.
        dtype: Element type; the default float type by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor, on the current place.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.zeros([2]).tolist()
        [0.0, 0.0]
    """
    return full(shape, 0, dtype)


def ones(shape: Ints, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of ones.

    Args:
        shape: Lengths of the axes.
        dtype: Element type; the default float type by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor, on the current place.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.ones([2]).tolist()
        [1.0, 1.0]
    """
    return full(shape, 1, dtype)


API = ("zeros", "ones")
