"""Functions of numbers made of other ops: signs, powers of two, distances, sums under a curve."""

from __future__ import annotations

from minipaddle.device.dtype import is_float
from minipaddle.imperative.functions import (
    arithmetic,
    broadcasting,
    comparison,
    cumulative,
    elementwise,
    joining,
    math,
    reduction,
    shape,
    slicing,
    statistics,
)
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.axes import normal_axis


def positive(x: Tensor, name: str | None = None) -> Tensor:
    """``+x``: the tensor itself.

    Args:
        x: Float or int tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        ``x``.

    Raises:
        TypeError: x is a tensor of bool.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.positive(paddle.to_tensor([-1.0])).tolist()
        [-1.0]
    """
    if x.dtype.kind == "b":
        raise TypeError("positive: takes floats and ints; got bool; convert with astype first")
    return x


negative = math.neg
sgn = elementwise.sign


def copysign(x: Tensor, y: Tensor | float, name: str | None = None) -> Tensor:
    """The size of x with the sign of y, also that of -0.0; shapes broadcast.

    Args:
        x: Float tensor.
        y: Float tensor, or number.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape. The gradient for y is 0.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.copysign(paddle.to_tensor([1.0, -2.0]), -0.0).tolist()
        [-1.0, -2.0]
    """
    sign_of = y if isinstance(y, Tensor) else to_tensor(float(y), x.dtype, x.place)
    negated = elementwise.cast(comparison.signbit(sign_of), x.dtype)
    signs = elementwise.subtract(1.0, elementwise.multiply(2.0, negated))
    return elementwise.multiply(math.abs(x), signs)


def ldexp(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """``x * 2 ** y``; shapes broadcast.

    Args:
        x: Float or int tensor.
        y: Float or int tensor.
        name: Unused; for Paddle's signature.

    Returns:
        Float tensor of the broadcast shape; float32 where both are ints.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.ldexp(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([2, -1])).tolist()
        [4.0, 1.5]
    """
    dtype = next((t.dtype for t in (x, y) if is_float(t.dtype)), "float32")
    x, y = (t if is_float(t.dtype) else elementwise.cast(t, dtype) for t in (x, y))
    return elementwise.multiply(x, arithmetic.pow(2.0, y))


def logaddexp(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """``log(exp(x) + exp(y))``, without overflow; shapes broadcast.

    Args:
        x: Float tensor.
        y: Float tensor of the same dtype.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.logaddexp(paddle.to_tensor([1000.0]), paddle.to_tensor([0.0])).tolist()
        [1000.0]
    """
    return statistics.logsumexp(joining.stack(broadcasting.broadcast_tensors([x, y])), 0)


def stanh(
    x: Tensor, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None
) -> Tensor:
    """``scale_b * tanh(scale_a * x)``.

    Args:
        x: Float tensor of any shape.
        scale_a: Factor inside.
        scale_b: Factor outside.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.stanh(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return elementwise.multiply(scale_b, elementwise.tanh(elementwise.multiply(scale_a, x)))


def isneginf(x: Tensor, name: str | None = None) -> Tensor:
    """Whether elements are -infinity.

    Args:
        x: Float or int tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of bool of x's shape.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.isneginf(paddle.to_tensor([1.0, float("-inf")])).tolist()
        [False, True]
    """
    found: Tensor = comparison.equal(x, float("-inf")) if is_float(x.dtype) else comparison.isinf(x)
    return found


def isposinf(x: Tensor, name: str | None = None) -> Tensor:
    """Whether elements are infinity.

    Args:
        x: Float or int tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of bool of x's shape.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.isposinf(paddle.to_tensor([1.0, float("inf")])).tolist()
        [False, True]
    """
    found: Tensor = comparison.equal(x, float("inf")) if is_float(x.dtype) else comparison.isinf(x)
    return found


def is_complex(x: Tensor) -> bool:
    """Whether the elements are complex numbers, of which minipaddle has no tensors: False.

    Args:
        x: Tensor of any dtype.

    Returns:
        False.

    Raises:
        TypeError: x is no tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.is_complex(paddle.ones([2]))
        False
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"is_complex: x must be a Tensor; got {type(x).__name__}")
    return bool(x.dtype.kind == "c")


def increment(x: Tensor, value: float = 1.0, name: str | None = None) -> Tensor:
    """Adds a number to a tensor of one element, in place.

    Args:
        x: Float or int tensor of one element.
        value: The number.
        name: Unused; for Paddle's signature.

    Returns:
        ``x`` itself.

    Raises:
        ValueError: x has another number of elements, or is a leaf that wants a gradient.

    Example:
        >>> import minipaddle as paddle
        >>> step = paddle.zeros([1])
        >>> paddle.increment(step).tolist()
        [1.0]
    """
    if x.size != 1:
        raise ValueError(f"increment: x must have one element; got shape {x.shape}; use add_")
    return elementwise.add_(x, value if is_float(x.dtype) else int(value))


def _panels(y: Tensor, x: Tensor | None, dx: float | None, axis: int, op: str) -> Tensor:
    """Areas of the trapezoids between neighbours along ``axis``."""
    if x is not None and dx is not None:
        raise ValueError(f"{op}: x and dx were both given; give one of them")
    at = normal_axis(axis, y.ndim, f"{op}: axis")
    n = y.shape[at]
    left, right = slicing.narrow(y, at, 0, max(n - 1, 0)), slicing.narrow(y, at, min(1, n), n - 1)
    sums = elementwise.add(left, right)
    if x is None:
        return elementwise.multiply(sums, 0.5 * (1.0 if dx is None else dx))
    if x.ndim == 1 and y.ndim > 1:
        x = shape.reshape(x, [-1, *[1] * (y.ndim - 1 - at)])
        steps = cumulative.diff(x, axis=0)
    else:
        steps = cumulative.diff(x, axis=axis)
    return elementwise.multiply(elementwise.multiply(sums, 0.5), steps)


def trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    dx: float | None = None,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Area under the straight lines from point to point.

    Args:
        y: Float tensor of at least 1 axis: heights.
        x: Places: tensor of y's shape or of one axis. The default is a distance of ``dx``.
        dx: Distance of neighbours; 1 by default.
        axis: The axis that is integrated.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of y's shape without ``axis``.

    Raises:
        ValueError: ``x`` and ``dx`` are both given, there is no such axis, or shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.trapezoid(paddle.to_tensor([0.0, 1.0, 4.0])).item()
        3.0
    """
    return reduction.sum(_panels(y, x, dx, axis, "trapezoid"), axis)


def cumulative_trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    dx: float | None = None,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Areas under the straight lines from the first point to each later one.

    Args:
        y: Float tensor of at least 1 axis: heights.
        x: Places: tensor of y's shape or of one axis. The default is a distance of ``dx``.
        dx: Distance of neighbours; 1 by default.
        axis: The axis that is integrated.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of y's shape, one shorter along ``axis``.

    Raises:
        ValueError: ``x`` and ``dx`` are both given, there is no such axis, or shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.cumulative_trapezoid(paddle.to_tensor([0.0, 1.0, 4.0])).tolist()
        [0.5, 3.0]
    """
    return cumulative.cumsum(_panels(y, x, dx, axis, "cumulative_trapezoid"), axis)


def vander(
    x: Tensor, n: int | None = None, increasing: bool = False, name: str | None = None
) -> Tensor:
    """Matrix whose columns are powers of a vector.

    Args:
        x: Float tensor of shape [m].
        n: Number of columns; m by default.
        increasing: Whether the powers rise from the first column to the last.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [m, n].

    Raises:
        ValueError: x is no vector, or ``n`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.vander(paddle.to_tensor([2.0, 3.0]), 3).tolist()
        [[4.0, 2.0, 1.0], [9.0, 3.0, 1.0]]
    """
    count = x.size if n is None else n
    if x.ndim != 1 or count < 0:
        raise ValueError(f"vander: takes a vector and n >= 0; got shape {x.shape} and n={n}")
    powers = list(range(count)) if increasing else list(range(count - 1, -1, -1))
    exponents = to_tensor(powers, x.dtype, x.place)
    return arithmetic.pow(shape.unsqueeze(x, -1), exponents)


def cdist(
    x: Tensor,
    y: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
    name: str | None = None,
) -> Tensor:
    """Distances of each row of x from each row of y.

    Args:
        x: Float tensor of shape ``[..., P, M]``.
        y: Float tensor of shape ``[..., R, M]``; the axes in front broadcast.
        p: Which norm of the difference: a number from 0 to infinity.
        compute_mode: Of no effect: differences are taken, which is exact also for near rows.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape ``[..., P, R]``. Where two rows are equal the gradient is 0.

    Raises:
        ValueError: ``p`` is negative, or the shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0], [0.0, 1.0]])
        >>> paddle.cdist(x, y).tolist()
        [[5.0, 1.0]]
    """
    if p < 0:
        raise ValueError(f"cdist: p must not be negative; got {p}")
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"cdist: x and y must be [..., P, M] and [..., R, M]; got {x.shape} and {y.shape}"
        )
    difference = elementwise.subtract(shape.unsqueeze(x, -2), shape.unsqueeze(y, -3))
    return statistics.norm(difference, p, -1)


API = (
    *("positive", "negative", "Tensor.negative", "sgn", "Tensor.sgn"),
    *("copysign", "Tensor.copysign", "ldexp", "Tensor.ldexp", "logaddexp", "Tensor.logaddexp"),
    *("stanh", "Tensor.stanh", "isneginf", "Tensor.isneginf", "isposinf", "Tensor.isposinf"),
    *("is_complex", "Tensor.is_complex", "increment", "Tensor.increment"),
    *("trapezoid", "Tensor.trapezoid", "cumulative_trapezoid", "Tensor.cumulative_trapezoid"),
    *("vander", "Tensor.vander", "cdist", "Tensor.cdist"),
)
