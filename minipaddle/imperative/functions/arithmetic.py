"""Arithmetic of two operands beyond the four operations, as users call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minipaddle.imperative.dispatch import bound, bound_inplace
from minipaddle.imperative.functions import comparison, elementwise
from minipaddle.imperative.functions.rectifier import relu
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import Tensor

Binary = Callable[..., Tensor]

_DOCUMENTATION = """\
{summary}

Args:
    x: {kinds}.
    y: {kinds}. Tensors of different dtypes meet at the wider one; shapes broadcast.
    name: Unused; for Paddle's signature.

Returns:
    Tensor of the broadcast shape.

Raises:
    TypeError: An operand is of a type or dtype that the op does not take.
    ValueError: The shapes do not broadcast, the places differ{more}.

Example:
    >>> import minipaddle as paddle
    >>> x, y = paddle.to_tensor({x}), paddle.to_tensor({y})
    >>> paddle.{name}(x, y).tolist()
    {result}
"""


def _binary(
    name: str,
    summary: str,
    example: tuple[str, str, str],
    kinds: str = "Float or int tensor, or number",
    more: str = "",
) -> Binary:
    """Declares the function of an op with two operands and no attributes."""

    def declaration(x: Any, y: Any, name: str | None = None) -> Tensor: ...

    x, y, result = example
    declaration.__name__ = declaration.__qualname__ = name
    declaration.__doc__ = _DOCUMENTATION.format(
        summary=summary, kinds=kinds, more=more, x=x, y=y, name=name, result=result
    )
    return bound(declaration)


_TIES = "; where both are equal, y has the gradient."
_NAN = ", NaN only where both are; where both are equal, x has the gradient."
maximum = _binary(
    "maximum", "The larger of two, NaN where one is" + _TIES,
    ("[1.0, 5.0]", "[3.0, 2.0]", "[3.0, 5.0]"),
)  # fmt: skip
minimum = _binary(
    "minimum", "The smaller of two, NaN where one is" + _TIES,
    ("[1.0, 5.0]", "[3.0, 2.0]", "[1.0, 2.0]"),
)  # fmt: skip
fmax = _binary(
    "fmax", "The larger of two" + _NAN,
    ("[1.0, float('nan')]", "[3.0, 2.0]", "[3.0, 2.0]"),
)  # fmt: skip
fmin = _binary(
    "fmin", "The smaller of two" + _NAN,
    ("[1.0, float('nan')]", "[3.0, 2.0]", "[1.0, 2.0]"),
)  # fmt: skip
floor_divide = _binary(
    "floor_divide", "The quotient, rounded down to a whole number; it has no gradient.",
    ("[7.0, -7.0]", "[2.0, 2.0]", "[3.0, -4.0]"),
    more=",\n        or y is 0 where both are ints",
)  # fmt: skip
remainder = _binary(
    "remainder", "What ``floor_divide`` leaves: ``x - y * floor(x / y)``, with the sign of y.",
    ("[7.0, -7.0]", "[4.0, 4.0]", "[3.0, 1.0]"),
    more=",\n        or y is 0 where both are ints",
)  # fmt: skip
atan2 = _binary(
    "atan2", "Angle of the point (y, x) in radians: ``atan(x / y)`` in the right quadrant.",
    ("[0.0, 0.0]", "[1.0, 2.0]", "[0.0, 0.0]"), kinds="Float tensor",
)  # fmt: skip
pow = _binary(
    "pow",
    "x to the power of y. Where x or y is 0, gradients that are 0 times infinity are 0.",
    ("[2.0, 3.0]", "[3.0, 2.0]", "[8.0, 9.0]"),
    more=",\n        or an int is raised to a negative int",
)
floor_divide_ = bound_inplace(floor_divide)
remainder_ = bound_inplace(remainder)
pow_ = bound_inplace(pow)
gcd = _binary(
    "gcd", "The greatest common divisor, not negative; that of 0 and 0 is 0.",
    ("[12, -8]", "[18, 12]", "[6, 4]"), kinds="Int tensor, or number",
)  # fmt: skip
lcm = _binary(
    "lcm", "The least common multiple, not negative; 0 where one of both is 0.",
    ("[4, -6]", "[6, 9]", "[12, 18]"), kinds="Int tensor, or number",
)  # fmt: skip
gcd_ = bound_inplace(gcd)
lcm_ = bound_inplace(lcm)
mod = floor_mod = remainder
mod_ = floor_mod_ = remainder_


def hypot(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """``sqrt(x * x + y * y)``; shapes broadcast.

    Args:
        x: Float tensor.
        y: Float tensor. Tensors of different dtypes meet at the wider one.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.hypot(paddle.to_tensor([3.0]), paddle.to_tensor([4.0])).tolist()
        [5.0]
    """
    total = elementwise.add(elementwise.square(x), elementwise.square(y))
    root: Tensor = FUNCTIONS["sqrt_"](total)
    return root


def heaviside(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """0 where x is negative, 1 where it is positive, and y where it is 0; shapes broadcast.

    Args:
        x: Float or int tensor.
        y: Float or int tensor, finite.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.heaviside(paddle.to_tensor([-2.0, 0.0, 3.0]), paddle.to_tensor(0.5)).tolist()
        [0.0, 0.5, 1.0]
    """
    at_zero = elementwise.multiply(comparison.equal(x, 0), y)
    return elementwise.add(relu(elementwise.sign(x)), at_zero)


def add_n(inputs: Tensor | Sequence[Tensor], name: str | None = None) -> Tensor:
    """Sum of several tensors of one shape.

    Args:
        inputs: Tensors, at least one; or a single tensor.
        name: Unused; for Paddle's signature.

    Returns:
        A new tensor of their shape.

    Raises:
        ValueError: There are none, or their shapes differ.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.add_n([x, x, x]).tolist()
        [3.0, 6.0]
    """
    tensors = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if not tensors or any(t.shape != tensors[0].shape for t in tensors):
        shapes = ", ".join(str(t.shape) for t in tensors) or "none"
        raise ValueError(f"add_n: inputs must be tensors of one shape; got {shapes}")
    total = elementwise.assign(tensors[0]) if len(tensors) == 1 else tensors[0]
    for tensor in tensors[1:]:
        total = elementwise.add(total, tensor)
    return total


API = ("add_n", "heaviside", "Tensor.heaviside", "hypot", "Tensor.hypot")
