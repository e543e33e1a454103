"""How often values are there, as users call it."""

from __future__ import annotations

from minipaddle.device.dtype import INTS
from minipaddle.imperative.functions import arithmetic, comparison, elementwise, reduction
from minipaddle.imperative.functions.indexing import flat_nonzero, gather_flat, sum_flat
from minipaddle.imperative.functions.ordering import sort
from minipaddle.imperative.functions.search import searchsorted
from minipaddle.imperative.functions.shape import expand, reshape
from minipaddle.imperative.tensor import Tensor, to_tensor


def _flat(x: Tensor) -> Tensor:
    return reshape(x, (x.size,))


def bincount(
    x: Tensor, weights: Tensor | None = None, minlength: int = 0, name: str | None = None
) -> Tensor:
    """How often each of the numbers 0, 1, ... is there, or the sum of its weights.

    Args:
        x: Int tensor of 1 axis, not negative.
        weights: Tensor of x's shape; a gradient flows to it.
        minlength: Count at least up to this number.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of 1 axis: int64 counts, or sums in the dtype of ``weights``.

    Raises:
        TypeError: x is not of int dtype.
        ValueError: x is negative or has not 1 axis, or the shapes differ.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.bincount(paddle.to_tensor([1, 3, 1]), minlength=5).tolist()
        [0, 2, 0, 1, 0]
    """
    if x.dtype not in INTS:
        raise TypeError(f"bincount: x must be of int dtype; got {x.dtype.name}")
    if x.ndim != 1 or (weights is not None and weights.shape != x.shape):
        other = "" if weights is None else f" and weights of shape {weights.shape}"
        raise ValueError(f"bincount: needs x of 1 axis, and weights alike; got {x.shape}{other}")
    if x.size and (low := int(reduction.min(x))) < 0:
        raise ValueError(f"bincount: x must not be negative; got {low}")
    length = max(int(reduction.max(x)) + 1 if x.size else 0, minlength)
    if weights is None:
        weights = expand(to_tensor(1, place=x.place), tuple(x.shape))
    return sum_flat(weights, elementwise.cast(x, "int64"), (length,), 0, 1)


def histogram(
    input: Tensor,
    bins: int = 100,
    min: float = 0.0,
    max: float = 0.0,
    weight: Tensor | None = None,
    density: bool = False,
    name: str | None = None,
) -> Tensor:
    """How many elements lie in each of several intervals of equal length.

    Args:
        input: Float or int tensor of any shape; what lies outside, and NaN, is not counted.
        bins: Number of intervals.
        min: Lower end of the first one.
        max: Upper end of the last one, which belongs to it. If the two are equal, the smallest and
            the largest element are taken.
        weight: Tensor of input's shape, summed instead of counted; a gradient flows to it.
        density: Divide by the sum and by the length of an interval.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of ``bins`` elements: int64 counts, sums in weight's dtype, or float32 densities.

    Raises:
        ValueError: ``bins`` is not positive, ``min`` is above ``max``, or an end is not finite.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.histogram(paddle.to_tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist()
        [0, 2, 1, 0]
    """
    x = elementwise.cast(_flat(input.detach()), "float64")
    if min == max and x.size:
        min, max = float(reduction.min(x)), float(reduction.max(x))
    if min == max:
        min, max = min - 1, max + 1
    if bins < 1 or not max - min < float("inf") or min > max:
        raise ValueError(
            f"histogram: bins must be positive and min <= max finite; got {bins}, {min} and {max}"
        )
    inside = comparison.logical_and(comparison.greater_equal(x, min), comparison.less_equal(x, max))
    chosen = flat_nonzero(inside)
    shares = elementwise.subtract(gather_flat(x, chosen, 0, 1), min)
    at = elementwise.cast(elementwise.multiply(shares, bins / (max - min)), "int64")
    at = arithmetic.minimum(at, bins - 1)
    sums = bincount(at, None if weight is None else gather_flat(_flat(weight), chosen, 0, 1), bins)
    if not density:
        return sums
    sums = elementwise.cast(sums, "float32") if weight is None else sums
    return elementwise.divide(sums, reduction.sum(sums) * ((max - min) / bins))


def isin(
    x: Tensor,
    test_x: Tensor,
    assume_unique: bool = False,
    invert: bool = False,
    name: str | None = None,
) -> Tensor:
    """Whether each element is one of several.

    Args:
        x: Float or int tensor of any shape.
        test_x: Those, a tensor of any shape.
        assume_unique: Unused; the result does not depend on it.
        invert: Whether it is not.
        name: Unused; for Paddle's signature.

    Returns:
        Bool tensor of x's shape; NaN is equal to nothing.

    Raises:
        TypeError: A tensor is of bool.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.isin(paddle.to_tensor([1, 5, 3]), paddle.to_tensor([3, 4, 1])).tolist()
        [True, False, True]
    """
    ordered = sort(_flat(test_x))
    if not ordered.size:
        return elementwise.assign(expand(to_tensor(invert, place=x.place), tuple(x.shape)))
    at = arithmetic.minimum(searchsorted(ordered, x), ordered.size - 1)
    nearest = gather_flat(ordered, at, 0, 1)
    found: Tensor = comparison.not_equal(nearest, x) if invert else comparison.equal(nearest, x)
    return found


API = (
    *("bincount", "Tensor.bincount"),
    *("histogram", "Tensor.histogram"),
    *("isin", "Tensor.isin"),
)
