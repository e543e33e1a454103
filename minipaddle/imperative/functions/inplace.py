"""Forms in place of functions that ops.yaml does not give one, and values that are overwritten."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from minipaddle.imperative.functions import (
    arithmetic,
    comparison,
    cumulative,
    elementwise,
    math,
    numerical,
    products,
    rearrange,
    shape,
)
from minipaddle.imperative.tensor import Tensor
from minipaddle.imperative.view import take_shape

_DOCUMENTATION = """\
``{name}`` that {does}; the arguments are the same.

Returns:
    The first argument itself.

Raises:
    ValueError: It is a leaf that wants a gradient{more}.
"""


def _named(run: Any, function: Any, does: str, more: str = "") -> Any:
    """``run`` with the signature of ``function`` and the name of its form in place."""
    name = function.__name__
    run.__name__ = run.__qualname__ = name + "_"
    run.__signature__ = inspect.signature(function)
    run.__doc__ = _DOCUMENTATION.format(name=name, does=does, more=more)
    return run


def _shaping(function: Callable[..., Tensor]) -> Any:
    """The form of a view function that gives its first argument the new shape."""

    def run(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return take_shape(x, function(x, *args, **kwargs))

    return _named(run, function, "changes the shape of its first argument; views of that stay")


def _writing(function: Callable[..., Tensor]) -> Any:
    """The form that writes the result into the first argument, in whose dtype it must be."""

    def run(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        written: Tensor = shape.setitem_(x, function(x, *args, **kwargs), (Ellipsis,))
        return written

    does = "overwrites its first argument"
    return _named(run, function, does, ", or the result is larger")


reshape_ = _shaping(shape.reshape)
flatten_ = _shaping(shape.flatten)
squeeze_ = _shaping(shape.squeeze)
unsqueeze_ = _shaping(shape.unsqueeze)
transpose_ = _shaping(shape.transpose)
t_ = _shaping(shape.t)

addmm_ = _writing(products.addmm)
baddbmm_ = _writing(products.baddbmm)
bitwise_and_ = _writing(comparison.bitwise_and)
bitwise_left_shift_ = _writing(comparison.bitwise_left_shift)
bitwise_not_ = _writing(comparison.bitwise_not)
bitwise_or_ = _writing(comparison.bitwise_or)
bitwise_right_shift_ = _writing(comparison.bitwise_right_shift)
bitwise_xor_ = _writing(comparison.bitwise_xor)
copysign_ = _writing(numerical.copysign)
cumprod_ = _writing(cumulative.cumprod)
cumsum_ = _writing(cumulative.cumsum)
frac_ = _writing(math.frac)
hypot_ = _writing(arithmetic.hypot)
ldexp_ = _writing(numerical.ldexp)
logical_and_ = _writing(comparison.logical_and)
logical_not_ = _writing(comparison.logical_not)
logical_or_ = _writing(comparison.logical_or)
logical_xor_ = _writing(comparison.logical_xor)
tril_ = _writing(rearrange.tril)
triu_ = _writing(rearrange.triu)


def fill_(x: Tensor, value: Tensor | float) -> Tensor:
    """Overwrites every element with one number.

    Args:
        x: Tensor of any shape and dtype.
        value: The number, or a tensor of one element.

    Returns:
        ``x`` itself; no gradient flows through it to what it was before.

    Raises:
        ValueError: x is a leaf that wants a gradient, or ``value`` has several elements.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.ones([2]).fill_(3.0).tolist()
        [3.0, 3.0]
    """
    if isinstance(value, Tensor):
        if value.size != 1:
            raise ValueError(f"fill_: value must have one element; got shape {value.shape}")
        value = elementwise.cast(shape.reshape(value, []), x.dtype)
    written: Tensor = shape.setitem_(x, value, (Ellipsis,))
    return written


def zero_(x: Tensor) -> Tensor:
    """Overwrites every element with 0.

    Args:
        x: Tensor of any shape and dtype.

    Returns:
        ``x`` itself; no gradient flows through it to what it was before.

    Raises:
        ValueError: x is a leaf that wants a gradient.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.ones([2]).zero_().tolist()
        [0.0, 0.0]
    """
    return fill_(x, 0)


_SHAPING = ("reshape_", "flatten_", "squeeze_", "unsqueeze_", "transpose_", "t_")
_WRITING = (
    *("addmm_", "baddbmm_", "bitwise_and_", "bitwise_left_shift_", "bitwise_not_", "bitwise_or_"),
    *("bitwise_right_shift_", "bitwise_xor_", "copysign_", "cumprod_", "cumsum_", "frac_"),
    *("hypot_", "ldexp_", "logical_and_", "logical_not_", "logical_or_", "logical_xor_"),
    *("tril_", "triu_"),
)
API = (
    *(path for name in (*_SHAPING, *_WRITING) for path in (name, f"Tensor.{name}")),
    *("Tensor.fill_", "Tensor.zero_"),
)
