"""Mathematical functions of one tensor, as users call them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from minipaddle.device.dtype import FLOATS, INTS, as_dtype
from minipaddle.imperative.dispatch import bound, bound_inplace
from minipaddle.imperative.functions import arithmetic, elementwise
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import Tensor


class Unary(Protocol):
    """A function of one tensor."""

    def __call__(self, x: Tensor, name: str | None = None) -> Tensor:
        """The function of every element."""
        ...


_DOCUMENTATION = """\
{summary}

Args:
    x: {kinds} tensor of any shape.
    name: Unused; for Paddle's signature.

Returns:
    Tensor of x's shape and dtype.

Raises:
    TypeError: x is no tensor, or one of a dtype that the op does not take.

Example:
    >>> import minipaddle as paddle
    >>> paddle.{name}(paddle.to_tensor({given})).tolist()
    {result}
"""


def _unary(name: str, summary: str, given: str, result: str, kinds: str = "Float") -> Unary:
    """Declares the function of an op with one operand and no attributes."""

    def declaration(x: Tensor, name: str | None = None) -> Tensor: ...

    declaration.__name__ = declaration.__qualname__ = name
    declaration.__doc__ = _DOCUMENTATION.format(
        summary=summary, kinds=kinds, name=name, given=given, result=result
    )
    return bound(declaration)


_BOTH = "Float or int"
abs = _unary("abs", "Absolute value of every element.", "[-1.5, 2.0]", "[1.5, 2.0]", _BOTH)
neg = _unary("neg", "The negative of every element.", "[1.0, -2.0]", "[-1.0, 2.0]", _BOTH)

exp = _unary("exp", "e to the power of every element.", "[0.0]", "[1.0]")
expm1 = _unary("expm1", "``exp(x) - 1``, exact also near 0.", "[0.0]", "[0.0]")
log = _unary("log", "Natural logarithm; -inf at 0, NaN below.", "[1.0, 0.0]", "[0.0, -inf]")
log2 = _unary("log2", "Logarithm to base 2; -inf at 0, NaN below.", "[8.0]", "[3.0]")
log10 = _unary("log10", "Logarithm to base 10; -inf at 0, NaN below.", "[1.0]", "[0.0]")
log1p = _unary("log1p", "``log(1 + x)``, exact also near 0.", "[0.0]", "[0.0]")
sqrt = _unary("sqrt", "Square root; NaN below 0.", "[4.0, 9.0]", "[2.0, 3.0]")
rsqrt = _unary("rsqrt", "``1 / sqrt(x)``; inf at 0, NaN below.", "[4.0, 0.25]", "[0.5, 2.0]")
reciprocal = _unary("reciprocal", "``1 / x``; inf at 0.", "[4.0, 0.5]", "[0.25, 2.0]")

sin = _unary("sin", "Sine of every element, in radians.", "[0.0]", "[0.0]")
cos = _unary("cos", "Cosine of every element, in radians.", "[0.0]", "[1.0]")
tan = _unary("tan", "Tangent of every element, in radians.", "[0.0]", "[0.0]")
asin = _unary("asin", "Inverse sine in radians; NaN outside [-1, 1].", "[0.0]", "[0.0]")
acos = _unary("acos", "Inverse cosine in radians; NaN outside [-1, 1].", "[1.0]", "[0.0]")
atan = _unary("atan", "Inverse tangent in radians.", "[0.0]", "[0.0]")
sinh = _unary("sinh", "Hyperbolic sine of every element.", "[0.0]", "[0.0]")
cosh = _unary("cosh", "Hyperbolic cosine of every element.", "[0.0]", "[1.0]")
asinh = _unary("asinh", "Inverse hyperbolic sine.", "[0.0]", "[0.0]")
acosh = _unary("acosh", "Inverse hyperbolic cosine; NaN below 1.", "[1.0]", "[0.0]")
atanh = _unary("atanh", "Inverse hyperbolic tangent; NaN outside [-1, 1].", "[0.0]", "[0.0]")

_FLAT = "; its gradient is zero."
floor = _unary("floor", "The next whole number below" + _FLAT, "[-1.5, 1.5]", "[-2.0, 1.0]")
ceil = _unary("ceil", "The next whole number above" + _FLAT, "[-1.5, 1.5]", "[-1.0, 2.0]")
trunc = _unary(
    "trunc", "The next whole number towards 0" + _FLAT, "[-1.5, 1.5]", "[-1.0, 1.0]", _BOTH
)


@bound
def round(x: Tensor, decimals: int = 0, name: str | None = None) -> Tensor:
    """The nearest number of so many decimals; halves go to the even one, the gradient is zero.

    Args:
        x: Float tensor of any shape.
        decimals: Decimals that are kept; a negative number rounds to tens, hundreds and so on.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.round(paddle.to_tensor([-0.5, 0.4, 2.5])).tolist()
        [-0.0, 0.0, 2.0]
    """


@bound
def logit(x: Tensor, eps: float | None = None, name: str | None = None) -> Tensor:
    """``log(x / (1 - x))``, the inverse of the sigmoid.

    Args:
        x: Float tensor of any shape.
        eps: x is first brought to [eps, 1 - eps], outside of which the gradient is zero. With
            None the result is NaN outside [0, 1].
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.logit(paddle.to_tensor([0.5, 1.0])).tolist()
        [0.0, inf]
    """


_WRITABLE: tuple[Callable[..., Tensor], ...] = (
    abs, neg, exp, expm1, log, log2, log10, log1p, sqrt, rsqrt,
    reciprocal, sin, cos, tan, asin, acos, atan, sinh, cosh, asinh,
    acosh, atanh, floor, ceil, trunc, round, logit,
)  # fmt: skip
(
    abs_, neg_, exp_, expm1_, log_, log2_, log10_, log1p_, sqrt_, rsqrt_, reciprocal_, sin_, cos_,
    tan_, asin_, acos_, atan_, sinh_, cosh_, asinh_, acosh_, atanh_, floor_, ceil_, trunc_, round_,
    logit_,
) = map(bound_inplace, _WRITABLE)  # fmt: skip


# ---- bounds ----


def _number(bound: Any) -> Any:
    """A bound as a number, if it is a tensor of one element to which no gradient flows."""
    if isinstance(bound, Tensor) and bound.size == 1 and bound.stop_gradient:
        return bound.item()
    return bound


def clip(
    x: Tensor,
    min: Tensor | float | None = None,
    max: Tensor | float | None = None,
    name: str | None = None,
) -> Tensor:
    """Brings every element between two bounds.

    With numbers the gradient is zero outside the bounds. With tensors it is that of
    ``minimum(maximum(x, min), max)``.

    Args:
        x: Float or int tensor of any shape.
        min: Lower bound: number, tensor that broadcasts with x, or None for no bound.
        max: Upper bound, likewise.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype; of the default float type for an int tensor with a float bound.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.clip(paddle.to_tensor([-2.0, 0.5, 3.0]), 0.0, 1.0).tolist()
        [0.0, 0.5, 1.0]
    """
    min, max = _number(min), _number(max)
    fractions = isinstance(min, float) or isinstance(max, float)
    if fractions and isinstance(x, Tensor) and x.dtype in INTS:
        x = elementwise.cast(x, as_dtype(None))
    if not isinstance(min, Tensor) and not isinstance(max, Tensor):
        clipped: Tensor = _clip(x, min, max, name)
        return clipped
    if min is not None:
        x = arithmetic.maximum(x, min)
    return x if max is None else arithmetic.minimum(x, max)


def clip_(
    x: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """``clip`` that overwrites ``x``; each bound is a number or a tensor of one element.

    Returns:
        ``x`` itself.

    Raises:
        ValueError: x is a leaf that wants a gradient.
    """
    clipped: Tensor = _clip_in_place(x, _number(min), _number(max), name)
    return clipped


def _to_numbers(name: str, documented: Any) -> Any:
    """Declares the function of the op clip, whose bounds are numbers."""

    def declaration(
        x: Tensor, min: float | None = None, max: float | None = None, name: str | None = None
    ) -> Tensor: ...

    declaration.__name__ = declaration.__qualname__ = name
    declaration.__doc__ = documented.__doc__
    return bound(declaration)


_clip = _to_numbers("clip", clip)
_clip_in_place = _to_numbers("clip_", clip_)


@bound
def nan_to_num(
    x: Tensor,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers in the place of NaN and infinities, whose gradient is 0.

    Args:
        x: Float tensor of any shape.
        nan: What NaN becomes.
        posinf: What infinity becomes; the largest number of the dtype by default.
        neginf: What -infinity becomes; the smallest number of the dtype by default.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0, float("nan"), float("inf")])
        >>> paddle.nan_to_num(x, posinf=9.0).tolist()
        [1.0, 0.0, 9.0]
    """


nan_to_num_ = bound_inplace(nan_to_num)


# ---- compositions ----


def frac(x: Tensor, name: str | None = None) -> Tensor:
    """``x - trunc(x)``: what stands after the point, with the sign of x.

    Args:
        x: Float or int tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.frac(paddle.to_tensor([1.25, -1.5])).tolist()
        [0.25, -0.5]
    """
    return elementwise.subtract(x, trunc(x))


def _as_float(x: Tensor) -> Tensor:
    return x if x.dtype in FLOATS else elementwise.cast(x, "float32")


def deg2rad(x: Tensor, name: str | None = None) -> Tensor:
    """Degrees in radians.

    Args:
        x: Float or int tensor of any shape; ints become float32.
        name: Unused; for Paddle's signature.

    Returns:
        Float tensor of x's shape.

    Example:
        >>> import minipaddle as paddle
        >>> f"{paddle.deg2rad(paddle.to_tensor(180.0)).item():.4f}"
        '3.1416'
    """
    return elementwise.multiply(_as_float(x), math.pi / 180)


def rad2deg(x: Tensor, name: str | None = None) -> Tensor:
    """Radians in degrees.

    Args:
        x: Float or int tensor of any shape; ints become float32.
        name: Unused; for Paddle's signature.

    Returns:
        Float tensor of x's shape.

    Example:
        >>> import minipaddle as paddle
        >>> f"{paddle.rad2deg(paddle.to_tensor(1.0)).item():.3f}"
        '57.296'
    """
    return elementwise.multiply(_as_float(x), 180 / math.pi)


def scale(
    x: Tensor,
    scale: Tensor | float = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """``scale * x + bias``, or ``scale * (x + bias)``.

    Args:
        x: Float or int tensor of any shape.
        scale: Factor: a number or a tensor of one element.
        bias: Number that is added.
        bias_after_scale: Whether to add after the multiplication.
        act: Name of a function of one tensor to apply to the result, such as "relu".
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype; an int tensor takes the whole part of ``scale`` and ``bias``.

    Raises:
        ValueError: ``act`` names no function.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), 2.0, 1.0).tolist()
        [3.0, 5.0]
    """
    return _scaled(x, scale, bias, bias_after_scale, act, "")


def scale_(
    x: Tensor,
    scale: Tensor | float = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """``scale`` that overwrites ``x``.

    Returns:
        ``x`` itself.

    Raises:
        ValueError: ``act`` names no function, or x is a leaf that wants a gradient.
    """
    return _scaled(x, scale, bias, bias_after_scale, act, "_")


def _scaled(
    x: Tensor, scale: Any, bias: Any, bias_after_scale: bool, act: str | None, form: str
) -> Tensor:
    if act is not None and act + form not in FUNCTIONS:
        raise ValueError(f"scale: act must be the name of a function such as 'relu'; got {act!r}")
    if x.dtype not in FLOATS:
        scale, bias = (v if isinstance(v, Tensor) else int(v) for v in (scale, bias))
    steps = [("multiply", scale), ("add", bias)]
    for step, operand in steps if bias_after_scale else reversed(steps):
        if step == "multiply" or operand != 0:
            x = FUNCTIONS[step + form](x, operand)
    return x if act is None else FUNCTIONS[act + form](x)


API = (
    *("clip", "Tensor.clip", "clip_", "Tensor.clip_"),
    *("deg2rad", "Tensor.deg2rad"),
    *("frac", "Tensor.frac"),
    *("rad2deg", "Tensor.rad2deg"),
    *("scale", "Tensor.scale", "scale_", "Tensor.scale_"),
)
