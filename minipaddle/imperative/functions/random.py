"""Tensors of random numbers, all drawn by the generator of their place."""

from __future__ import annotations

import builtins
import operator
from typing import Any

from minipaddle.device.backend import Place, current_place
from minipaddle.device.dtype import as_dtype, is_float
from minipaddle.imperative.functions import elementwise
from minipaddle.imperative.functions.creation import lengths_of
from minipaddle.imperative.functions.math import exp
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import get_op


def draw(op_name: str, place: Place, generator: Any = None, **attributes: Any) -> Tensor:
    """What op ``op_name`` draws on ``place``, from another generator than its own if one is given.

    Raises:
        TypeError: The dtype is not one that the op draws.
    """
    op = get_op(op_name)
    element = attributes["dtype"] = as_dtype(attributes["dtype"])
    if op.dtypes == "float" and not is_float(element):
        raise TypeError(f"{op_name} random numbers need a float dtype; got {element.name}")
    if op.dtypes == "int" and element.kind not in "iu":
        raise TypeError(f"{op_name} draws ints and needs an int dtype; got {element.name}")
    if "shape" in attributes:
        attributes["shape"] = lengths_of(attributes["shape"])
    attributes["generator"] = place.generator if generator is None else generator
    try:
        return Tensor(op.kernels[place](*(attributes[p.name] for p in op.params)), place)
    except MemoryError as error:
        raise place.backend.out_of_memory(place.index, error, op.name) from error


def draw_uniform(
    place: Place, shape: Ints, dtype: Any, low: float, high: float, seed: int = 0
) -> Tensor:
    """See ``uniform``."""
    if low > high:
        raise ValueError(f"min must not be larger than max; got {low} and {high}")
    generator = place.backend.generator(place.index).manual_seed(seed) if seed else None
    return draw("uniform", place, generator, shape=shape, dtype=dtype, min=low, max=high)


def draw_normal(place: Place, shape: Ints, dtype: Any, mean: float, std: float) -> Tensor:
    """See ``normal``."""
    if std < 0:
        raise ValueError(f"std must not be negative; got {std}")
    return draw("gaussian", place, shape=shape, dtype=dtype, mean=mean, std=std)


def rand(shape: Ints, dtype: Any = None, name: str | None = None) -> Tensor:
    """Random numbers spread evenly over [0, 1).

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
        >>> x = paddle.rand([100])
        >>> bool((x.numpy() >= 0).all() and (x.numpy() < 1).all())
        True
    """
    return draw_uniform(current_place(), shape, dtype, 0.0, 1.0)


def rand_like(x: Tensor, dtype: Any = None, name: str | None = None) -> Tensor:
    """``rand`` in the shape of a tensor, on its place.

    Args:
        x: Tensor of the wanted shape.
        dtype: Float element type; that of x by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.rand_like(paddle.zeros([2, 3])).shape
        [2, 3]
    """
    return draw_uniform(x.place, x.data.shape, _dtype_like(x, dtype), 0.0, 1.0)


def _dtype_like(x: Tensor, dtype: Any) -> Any:
    return x.data.dtype if dtype is None else dtype


def randn(shape: Ints, dtype: Any = None, name: str | None = None) -> Tensor:
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
    return draw_normal(current_place(), shape, dtype, 0.0, 1.0)


def standard_normal(shape: Ints, dtype: Any = None, name: str | None = None) -> Tensor:
    """The same as ``randn``.

    Args:
        shape: Lengths of the axes.
        dtype: Float element type; the default float type by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor, on the current place.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.standard_normal([2, 3]).shape
        [2, 3]
    """
    return randn(shape, dtype)


def randn_like(x: Tensor, dtype: Any = None, name: str | None = None) -> Tensor:
    """``randn`` in the shape of a tensor, on its place.

    Args:
        x: Tensor of the wanted shape.
        dtype: Float element type; that of x by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.randn_like(paddle.zeros([2, 3])).shape
        [2, 3]
    """
    return draw_normal(x.place, x.data.shape, _dtype_like(x, dtype), 0.0, 1.0)


def normal(
    mean: float | Tensor = 0.0,
    std: float | Tensor = 1.0,
    shape: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal random numbers.

    Args:
        mean: Mean; a float tensor has one for each element of the result.
        std: Standard deviation, not negative; a float tensor as for ``mean``.
        shape: Lengths of the axes; not looked at beside a tensor, whose shape the result has.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor, of the default float type on the current place; beside a tensor of its type, on
        its place, and its gradient flows.

    Raises:
        ValueError: ``std`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.normal(10.0, 0.1, [4]).shape
        [4]
        >>> paddle.normal(paddle.to_tensor([0.0, 100.0]), 0.1).shape
        [2]
    """
    like = mean if isinstance(mean, Tensor) else std
    if not isinstance(like, Tensor):
        return draw_normal(current_place(), () if shape is None else shape, None, mean, std)  # type: ignore[arg-type]
    if not isinstance(std, Tensor) and std < 0:
        raise ValueError(f"std must not be negative; got {std}")
    return elementwise.add(elementwise.multiply(randn_like(like), std), mean)


def log_normal(
    mean: float | Tensor = 1.0,
    std: float | Tensor = 2.0,
    shape: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Random numbers whose logarithms are normal: ``exp`` of what ``normal`` draws.

    Args:
        mean: Mean of the logarithms; number or tensor.
        std: Their standard deviation; number or tensor.
        shape: Lengths of the axes; not looked at beside a tensor.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor.

    Example:
        >>> import minipaddle as paddle
        >>> bool((paddle.log_normal(0.0, 1.0, [9]).numpy() > 0).all())
        True
    """
    return exp(normal(mean, std, shape))


def uniform(
    shape: Ints,
    dtype: Any = None,
    min: float = -1.0,
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
    return draw_uniform(current_place(), shape, dtype, min, max, seed)


def randint(
    low: int = 0,
    high: int | None = None,
    shape: Ints = (1,),
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """Random ints of [low, high), all equally likely.

    Args:
        low: The smallest; 0 if it is the only number given, which is ``high`` then.
        high: The first that is too large.
        shape: Lengths of the axes.
        dtype: Int element type; int64 by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor, on the current place.

    Raises:
        TypeError: ``dtype`` is not an int type.
        ValueError: There is no int in the range, or one that the dtype does not hold.

    Example:
        >>> import minipaddle as paddle
        >>> set(paddle.randint(3, 5, [100]).tolist()) == {3, 4}
        True
    """
    return _randint(current_place(), low, high, shape, "int64" if dtype is None else dtype)


def _randint(place: Place, low: int, high: int | None, shape: Ints, dtype: Any) -> Tensor:
    low, high = (0, low) if high is None else (low, high)
    try:
        low, high = operator.index(low), operator.index(high)
    except TypeError:
        text = f"low and high must be ints, and lengths shape=; got {low!r} and {high!r}"
        raise TypeError(text) from None
    if low >= high:
        raise ValueError(f"low must be less than high; got {low} and {high}")
    return draw("randint", place, low=low, high=high, shape=shape, dtype=dtype)


def randint_like(
    x: Tensor, low: int = 0, high: int | None = None, dtype: Any = None, name: str | None = None
) -> Tensor:
    """``randint`` in the shape of a tensor, on its place.

    Args:
        x: Tensor of the wanted shape.
        low: The smallest; 0 if it is the only number given, which is ``high`` then.
        high: The first that is too large.
        dtype: Element type, also a float one or bool; that of x by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor.

    Raises:
        ValueError: There is no int in the range.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.randint_like(paddle.zeros([2]), 5, 6).tolist()
        [5.0, 5.0]
    """
    wanted = as_dtype(_dtype_like(x, dtype))
    drawn = wanted if wanted.kind in "iu" else "int64"
    ints = _randint(x.place, low, high, x.data.shape, drawn)
    return ints if wanted.kind in "iu" else elementwise.cast(ints, wanted)


def randperm(n: int, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """The numbers 0 to n - 1 in random order.

    Args:
        n: How many, at least 1.
        dtype: Element type, an int or float type.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [n], on the current place.

    Raises:
        ValueError: ``n`` is less than 1.

    Example:
        >>> import minipaddle as paddle
        >>> sorted(paddle.randperm(5).tolist())
        [0, 1, 2, 3, 4]
    """
    if n < 1:
        raise ValueError(f"n must be at least 1; got {n}")
    return draw("randperm", current_place(), n=builtins.int(n), dtype=dtype)


API = (
    *("rand", "rand_like", "randn", "randn_like", "standard_normal", "normal", "log_normal"),
    *("uniform", "randint", "randint_like", "randperm"),
)
