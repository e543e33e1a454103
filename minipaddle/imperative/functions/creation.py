"""Tensors made from nothing: constants and random numbers."""

from __future__ import annotations

from typing import Any

from minipaddle.device.backend import current_place
from minipaddle.device.dtype import as_dtype, is_float
from minipaddle.imperative.operand import int_list
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import get_op

Shape = int | list[int] | tuple[int, ...] | Tensor


def _lengths(shape: Shape) -> tuple[int, ...]:
    lengths = int_list("shape", shape) or ()
    if any(n < 0 for n in lengths):
        raise ValueError(f"shape must have no negative length; got {list(lengths)}")
    return lengths


def full(shape: Shape, fill_value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of one value.

    Args:
        shape: Lengths of the axes; ``[]`` makes a 0-d tensor.
        fill_value: Number, or 0-d tensor.
        dtype: Element type; the default float type by default.
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
    array = get_op("full").kernels[place](_lengths(shape), value, as_dtype(dtype))
    return Tensor(array, place)


def zeros(shape: Shape, dtype: Any = None, name: str | None = None) -> Tensor:
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


def ones(shape: Shape, dtype: Any = None, name: str | None = None) -> Tensor:
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


def _draw(op_name: str, shape: Shape, dtype: Any, *args: Any) -> Tensor:
    place = current_place()
    element = as_dtype(dtype)
    if not is_float(element):
        raise TypeError(f"random numbers need a float dtype; got {element.name}")
    values = {"generator": place.generator, "dtype": element, "shape": _lengths(shape)}
    values.update(args)
    op = get_op(op_name)
    array = op.kernels[place](*(values[p.name] for p in op.params))
    return Tensor(array, place)


def randn(shape: Shape, dtype: Any = None, name: str | None = None) -> Tensor:
    """Standard normal random numbers.

    Args:
        shape: Lengths of the axes.
        dtype: Float element type; the default float type by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor, on the current place.

    Raises:
        TypeError: ``dtype`` is not a float type.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.randn([2, 3]).shape
        [2, 3]
    """
    return _draw("gaussian", shape, dtype, ("mean", 0.0), ("std", 1.0))


def normal(
    mean: float = 0.0, std: float = 1.0, shape: Shape | None = None, name: str | None = None
) -> Tensor:
    """Normal random numbers of the default float type.

    Args:
        mean: Mean.
        std: Standard deviation, not negative.
        shape: Lengths of the axes; none by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor, on the current place.

    Raises:
        ValueError: ``std`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.normal(10.0, 0.1, [4]).shape
        [4]
    """
    if std < 0:
        raise ValueError(f"std must not be negative; got {std}")
    return _draw("gaussian", shape or (), None, ("mean", mean), ("std", std))


def uniform(
    shape: Shape,
    dtype: Any = None,
    min: float = 0.0,
    max: float = 1.0,
    seed: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers spread evenly over [min, max).

    Args:
        shape: Lengths of the axes.
        dtype: Float element type; the default float type by default.
        min: Lower end.
        max: Upper end.
        seed: 0 draws from the place's generator; another value from a sequence of its own.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor, on the current place.

    Raises:
        TypeError: ``dtype`` is not a float type.
        ValueError: ``min`` is larger than ``max``.

    Example:
        >>> import minipaddle as paddle
        >>> bool((paddle.uniform([100], min=2.0, max=3.0).numpy() >= 2.0).all())
        True
    """
    if min > max:
        raise ValueError(f"min must not be larger than max; got {min} and {max}")
    if seed:
        place = current_place()
        state = place.generator.get_state()
        place.generator.manual_seed(seed)
        try:
            return _draw("uniform", shape, dtype, ("min", min), ("max", max))
        finally:
            place.generator.set_state(state)
    return _draw("uniform", shape, dtype, ("min", min), ("max", max))


API = ("zeros", "ones", "randn")
