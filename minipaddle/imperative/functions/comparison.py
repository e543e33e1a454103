"""Comparisons, logic, bits, and questions about a tensor, as users call them."""

from __future__ import annotations

from typing import Any

from minipaddle.device.dtype import is_float
from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.tensor import Tensor, to_tensor

_BINARY = """{does}; shapes broadcast.

Args:
    x: {takes}, or a number.
    y: {takes}, or a number. Tensors of different dtypes meet at the wider one.
    name: Unused; for Paddle's signature.

Returns:
    Tensor of {result}, of the broadcast shape.

Raises:
    TypeError: An operand is of no such type.
    ValueError: The shapes do not broadcast, or the places differ.

Example:
    >>> import minipaddle as paddle
    >>> paddle.{name}(paddle.to_tensor({x}), paddle.to_tensor({y})).tolist()
    {shown}
"""

_UNARY = """{does}.

Args:
    x: {takes} of any shape.
    name: Unused; for Paddle's signature.

Returns:
    Tensor of {result}, of x's shape.

Example:
    >>> import minipaddle as paddle
    >>> paddle.{name}(paddle.to_tensor({x})).tolist()
    {shown}
"""


def _declared(declaration: Any, doc: str, name: str, **words: Any) -> Any:
    declaration.__name__ = declaration.__qualname__ = name
    declaration.__doc__ = doc.format(name=name, **words)
    return bound(declaration)


def _unary(name: str, does: str, x: str, shown: list[Any], bits: bool = False) -> Any:
    """Declares an op of one tensor that answers with bool or, for ``bits``, in x's dtype."""

    def declaration(x: Tensor, name: str | None = None) -> Tensor: ...

    takes, result = ("Tensor of bool or ints", "x's dtype") if bits else ("Tensor", "bool")
    words = {"does": does, "takes": takes, "result": result, "x": x, "shown": shown}
    return _declared(declaration, _UNARY, name, **words)


def _binary(
    name: str, does: str, x: list[Any], y: Any, shown: list[Any], bits: bool = False
) -> Any:
    """Declares an op of two operands that answers with bool or, for ``bits``, in their dtype."""

    def declaration(x: Tensor | float, y: Tensor | float, name: str | None = None) -> Tensor: ...

    takes, result = ("Tensor of bool or ints", "their dtype") if bits else ("Tensor", "bool")
    words = {"does": does, "takes": takes, "result": result, "x": x, "y": y, "shown": shown}
    return _declared(declaration, _BINARY, name, **words)


_ABC, _TT, _TF = [1.0, 2.0, 3.0], [True, True, False], [True, False, False]

equal = _binary(
    "equal", "Whether elements are equal; NaN equals nothing", _ABC, 2.0, [False, True, False]
)
not_equal = _binary(
    "not_equal", "Whether elements differ; NaN differs from all", _ABC, 2.0, [True, False, True]
)
less_than = _binary("less_than", "Whether ``x < y``", _ABC, 2.0, [True, False, False])
less_equal = _binary("less_equal", "Whether ``x <= y``", _ABC, 2.0, [True, True, False])
greater_than = _binary("greater_than", "Whether ``x > y``", _ABC, 2.0, [False, False, True])
greater_equal = _binary("greater_equal", "Whether ``x >= y``", _ABC, 2.0, [False, True, True])

logical_and = _binary(
    "logical_and", "Whether both are true, that is not 0", _TT, _TF, [True, False, False]
)
logical_or = _binary(
    "logical_or", "Whether one of the two is true, that is not 0", _TT, _TF, [True, True, False]
)
logical_xor = _binary(
    "logical_xor", "Whether just one is true, that is not 0", _TT, _TF, [False, True, False]
)
logical_not = _unary("logical_not", "Whether elements are 0", "[True, False]", [False, True])

bitwise_and = _binary("bitwise_and", "The bits that both have", [6, 5], 3, [2, 1], bits=True)
bitwise_or = _binary("bitwise_or", "The bits that one of both has", [6, 5], 3, [7, 7], bits=True)
bitwise_xor = _binary("bitwise_xor", "The bits that differ", [6, 5], 3, [5, 6], bits=True)
bitwise_not = _unary(
    "bitwise_not", "Every bit turned over; of bool the opposite", "[6, -1]", [-7, 0], bits=True
)

isnan = _unary("isnan", "Whether elements are NaN", "[1.0, float('nan')]", [False, True])
signbit = _unary(
    "signbit", "Whether the sign is negative, also that of -0.0", "[1.0, -0.0]", [False, True]
)
isinf = _unary("isinf", "Whether elements are infinite", "[1.0, float('-inf')]", [False, True])
isfinite = _unary(
    "isfinite",
    "Whether elements are neither infinite nor NaN",
    "[1.0, float('inf')]",
    [True, False],
)


@bound
def bitwise_left_shift(
    x: Tensor | int, y: Tensor | int, is_arithmetic: bool = True, name: str | None = None
) -> Tensor:
    """Moves the bits of ``x`` to the left by ``y`` places; shapes broadcast.

    Args:
        x: Tensor of ints, or an int.
        y: Tensor of ints, or an int, not negative. Different dtypes meet at the wider one.
        is_arithmetic: Of no effect; the bits are the same.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape. Bits that leave are lost.

    Raises:
        TypeError: An operand is not of ints.
        ValueError: The shapes do not broadcast, or the places differ.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.bitwise_left_shift(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 1])).tolist()
        [4, 6]
    """


@bound
def bitwise_right_shift(
    x: Tensor | int, y: Tensor | int, is_arithmetic: bool = True, name: str | None = None
) -> Tensor:
    """Moves the bits of ``x`` to the right by ``y`` places; shapes broadcast.

    Args:
        x: Tensor of ints, or an int.
        y: Tensor of ints, or an int, not negative. Different dtypes meet at the wider one.
        is_arithmetic: Fill up with copies of the sign; False fills with zeros.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: An operand is not of ints.
        ValueError: The shapes do not broadcast, or the places differ.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.bitwise_right_shift(paddle.to_tensor([9, -4]), paddle.to_tensor([1, 1])).tolist()
        [4, -2]
    """


@bound
def isclose(
    x: Tensor,
    y: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Tensor:
    """Whether ``|x - y| <= atol + rtol * |y|``, or both are the same infinity; shapes broadcast.

    Args:
        x: Float tensor.
        y: Float tensor. Tensors of different dtypes meet at the wider one.
        rtol: Allowed difference as a part of ``|y|``.
        atol: Allowed difference beside that.
        equal_nan: NaN is close to NaN.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of bool, of the broadcast shape.

    Raises:
        TypeError: The dtype is not float.
        ValueError: The shapes do not broadcast, or the places differ.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.000001, 2.1])
        >>> paddle.isclose(x, y).tolist()
        [True, False]
    """


@bound
def allclose(
    x: Tensor,
    y: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Tensor:
    """Whether all elements are close, as ``isclose`` says.

    Args:
        x: Float tensor.
        y: Float tensor. Tensors of different dtypes meet at the wider one.
        rtol: Allowed difference as a part of ``|y|``.
        atol: Allowed difference beside that.
        equal_nan: NaN is close to NaN.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor of bool; True where there is no element.

    Raises:
        TypeError: The dtype is not float.
        ValueError: The shapes do not broadcast, or the places differ.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.000001, 2.1])
        >>> paddle.allclose(x, y).item(), paddle.allclose(x, y, rtol=0.1).item()
        (False, True)
    """


@bound
def equal_all(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Whether shapes and all elements are equal; NaN equals nothing.

    Args:
        x: Tensor.
        y: Tensor. Tensors of different dtypes meet at the wider one.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor of bool.

    Raises:
        ValueError: The places differ.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.equal_all(x, x).item(), paddle.equal_all(x, x[:1]).item()
        (True, False)
    """


def _checked(function: str, x: Any) -> Tensor:
    if not isinstance(x, Tensor):
        raise TypeError(f"{function}: x must be a Tensor; got {type(x).__name__}")
    return x


def is_floating_point(x: Tensor) -> bool:
    """Whether ``x`` is of a float dtype: float16, bfloat16, float32 or float64.

    Args:
        x: Tensor.

    Returns:
        A Python bool.

    Raises:
        TypeError: x is no Tensor.

    Example:
        >>> import minipaddle as paddle
        >>> [paddle.is_floating_point(paddle.ones([2], dtype)) for dtype in ("float16", "int8")]
        [True, False]
    """
    return is_float(_checked("is_floating_point", x).dtype)


def is_integer(x: Tensor) -> bool:
    """Whether ``x`` is of an int dtype; bool is none.

    Args:
        x: Tensor.

    Returns:
        A Python bool.

    Raises:
        TypeError: x is no Tensor.

    Example:
        >>> import minipaddle as paddle
        >>> [paddle.is_integer(paddle.ones([2], dtype)) for dtype in ("uint8", "bool")]
        [True, False]
    """
    return _checked("is_integer", x).dtype.kind in "iu"


def is_empty(x: Tensor, name: str | None = None) -> Tensor:
    """Whether ``x`` has no element.

    Args:
        x: Tensor.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor of bool on x's place.

    Raises:
        TypeError: x is no Tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.is_empty(paddle.ones([0, 3])).item()
        True
    """
    return to_tensor(_checked("is_empty", x).size == 0, place=x.place)


API = (
    *("is_empty", "Tensor.is_empty"),
    *("is_floating_point", "Tensor.is_floating_point"),
    *("is_integer", "Tensor.is_integer"),
)
