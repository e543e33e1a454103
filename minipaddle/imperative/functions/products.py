"""Products of vectors and matrices, composed of matmul and its like."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from minipaddle.device.dtype import is_half
from minipaddle.imperative.functions import elementwise, linalg, reduction, shape
from minipaddle.imperative.tensor import Tensor


def check_rank(function: str, *ranks: int, **tensors: Tensor) -> None:
    """Refuses what is no Tensor of one of the ranks."""
    for argument, x in tensors.items():
        if not isinstance(x, Tensor):
            raise TypeError(f"{function}: {argument} must be a Tensor; got {type(x).__name__}")
        if x.ndim not in ranks:
            wanted = " or ".join(map(str, ranks)) if len(ranks) < 4 else f"{ranks[0]} or more"
            raise ValueError(f"{function}: {argument} must have rank {wanted}; got shape {x.shape}")


def in_float32(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """Has half types computed in float32 and rounded once."""
    dtypes = {x.dtype for x in tensors}
    if len(dtypes) > 1 or not is_half(tensors[0].dtype):
        return function(*tensors)
    wide = function(*(elementwise.cast(x, "float32") for x in tensors))
    return elementwise.cast(wide, dtypes.pop())


def mm(input: Tensor, mat2: Tensor, name: str | None = None) -> Tensor:
    """Matrix product; ``matmul`` under the name that some programs use.

    Args:
        input: Tensor of shape [..., m, k], or a vector.
        mat2: Tensor of shape [..., k, n], or a vector, of input's dtype.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [..., m, n].

    Raises:
        ValueError: The inner lengths differ.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.mm(paddle.ones([2, 3]), paddle.ones([3, 1])).tolist()
        [[3.0], [3.0]]
    """
    return linalg.matmul(input, mat2)


def bmm(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Products of two batches of matrices, one by one.

    Args:
        x: Tensor of shape [b, m, k].
        y: Tensor of shape [b, k, n], of x's dtype.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [b, m, n].

    Raises:
        ValueError: A rank is not 3, or the shapes do not fit; nothing broadcasts.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.bmm(paddle.ones([5, 2, 3]), paddle.ones([5, 3, 4])).shape
        [5, 2, 4]
    """
    check_rank("bmm", 3, x=x, y=y)
    if x.shape[0] != y.shape[0]:
        raise ValueError(
            f"bmm: x of shape {x.shape} and y of shape {y.shape} must hold as many matrices"
        )
    return linalg.matmul(x, y)


def mv(x: Tensor, vec: Tensor, name: str | None = None) -> Tensor:
    """Product of a matrix and a vector.

    Args:
        x: Tensor of shape [m, k].
        vec: Tensor of shape [k], of x's dtype.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [m].

    Raises:
        ValueError: A rank is another one, or the lengths differ.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.mv(paddle.ones([2, 3]), paddle.ones([3])).tolist()
        [3.0, 3.0]
    """
    check_rank("mv", 2, x=x)
    check_rank("mv", 1, vec=vec)
    return linalg.matmul(x, vec)


def dot(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Sum of the products of two vectors' elements; of matrices, row by row.

    Args:
        x: Tensor of shape [n] or [b, n].
        y: Tensor of x's shape and dtype.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or one of shape [b].

    Raises:
        ValueError: The shapes differ, or the rank is neither 1 nor 2.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    check_rank("dot", 1, 2, x=x, y=y)
    if x.shape != y.shape:
        raise ValueError(f"dot: x and y must have one shape; got {x.shape} and {y.shape}")
    if x.ndim == 1:
        return linalg.matmul(x, y)
    return in_float32(lambda a, b: reduction.sum(elementwise.multiply(a, b), -1, a.dtype), x, y)


def inner(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Sums of products over the last axis of both.

    Args:
        x: Tensor of shape [..., n].
        y: Tensor of shape [..., n], of x's dtype. If either has a single element, both are
            multiplied element by element instead.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor with the other axes of x, then those of y.

    Raises:
        ValueError: The last axes differ in length.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.inner(paddle.ones([2, 3]), paddle.ones([4, 3])).shape
        [2, 4]
    """
    if x.size == 1 or y.size == 1:
        return elementwise.multiply(x, y)
    check_rank("inner", *range(1, 65), x=x, y=y)
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"inner: the last axes of x and y must have one length; got {x.shape} and {y.shape}"
        )
    rows = [shape.reshape(a, [math.prod(a.shape[:-1]), a.shape[-1]]) for a in (x, y)]
    product = linalg.matmul(rows[0], rows[1], False, True)
    return shape.reshape(product, [*x.shape[:-1], *y.shape[:-1]])


def outer(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Every element of ``x`` times every element of ``y``.

    Args:
        x: Tensor of any shape; taken as a vector of its m elements.
        y: Tensor of any shape; taken as a vector of its n elements.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [m, n].

    Example:
        >>> import minipaddle as paddle
        >>> paddle.outer(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
        [[3.0, 4.0], [6.0, 8.0]]
    """
    return elementwise.multiply(shape.reshape(x, [x.size, 1]), shape.reshape(y, [1, y.size]))


def addmm(
    input: Tensor,
    x: Tensor,
    y: Tensor,
    beta: float = 1.0,
    alpha: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """``beta * input + alpha * (x @ y)`` of matrices.

    Args:
        input: Tensor that broadcasts to [m, n].
        x: Tensor of shape [m, k], of input's dtype.
        y: Tensor of shape [k, n], of input's dtype.
        beta: Factor of ``input``.
        alpha: Factor of the product.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [m, n].

    Raises:
        TypeError: The dtypes differ.
        ValueError: The shapes do not fit, or a factor of ints is no whole number.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.ones([2, 3]), paddle.ones([3, 2])
        >>> paddle.addmm(paddle.ones([2, 2]), x, y, beta=2.0).tolist()
        [[5.0, 5.0], [5.0, 5.0]]
    """
    check_rank("addmm", 2, x=x, y=y)
    return in_float32(functools.partial(_add_product, "addmm", beta, alpha), input, x, y)


def baddbmm(
    input: Tensor,
    x: Tensor,
    y: Tensor,
    beta: float = 1.0,
    alpha: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """``beta * input + alpha * (x @ y)`` of batches of matrices.

    Args:
        input: Tensor that broadcasts to [b, m, n].
        x: Tensor of shape [b, m, k], of input's dtype.
        y: Tensor of shape [b, k, n], of input's dtype.
        beta: Factor of ``input``.
        alpha: Factor of the product.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [b, m, n].

    Raises:
        TypeError: The dtypes differ.
        ValueError: The shapes do not fit, or a factor of ints is no whole number.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.ones([4, 2, 3]), paddle.ones([4, 3, 2])
        >>> paddle.baddbmm(paddle.ones([2, 2]), x, y).shape
        [4, 2, 2]
    """
    check_rank("baddbmm", 3, x=x, y=y)
    if x.shape[0] != y.shape[0]:
        raise ValueError(
            f"baddbmm: x of shape {x.shape} and y of shape {y.shape} must hold as many matrices"
        )
    return in_float32(functools.partial(_add_product, "baddbmm", beta, alpha), input, x, y)


def _add_product(
    function: str, beta: float, alpha: float, input: Tensor, x: Tensor, y: Tensor
) -> Tensor:
    product = linalg.matmul(x, y)
    if input.dtype is not product.dtype:
        raise TypeError(
            f"{function}: operands must have one dtype; got input: {input.dtype.name}, "
            f"x: {x.dtype.name}; use astype"
        )
    pairs = zip(reversed(input.shape), reversed(product.shape), strict=False)
    if input.ndim > product.ndim or any(n not in (1, m) for n, m in pairs):
        raise ValueError(
            f"{function}: input of shape {input.shape} must broadcast to the product's shape "
            f"{product.shape}"
        )
    scaled = _scaled(function, "alpha", alpha, product)
    return elementwise.add(scaled, _scaled(function, "beta", beta, input))


def _scaled(function: str, argument: str, factor: float, x: Tensor) -> Tensor:
    if factor == 1:
        return x
    if x.dtype.kind in "iu":
        if factor != int(factor):
            raise ValueError(f"{function}: {argument} must be whole for ints; got {factor}")
        factor = int(factor)
    return elementwise.multiply(x, factor)


def bilinear(
    x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None
) -> Tensor:
    """``x1 @ weight[k] @ x2 + bias[k]`` for each row of x1 and x2 and each k.

    Args:
        x1: Float tensor [N, in1].
        x2: Tensor [N, in2].
        weight: Tensor [out, in1, in2].
        bias: Tensor [1, out], or None for 0.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor [N, out].

    Raises:
        ValueError: The shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> x, y, w = paddle.ones([1, 2]), paddle.ones([1, 3]), paddle.ones([4, 2, 3])
        >>> paddle.nn.functional.bilinear(x, y, w).tolist()
        [[6.0, 6.0, 6.0, 6.0]]
    """
    check_rank("bilinear", 2, x1=x1, x2=x2)
    check_rank("bilinear", 3, weight=weight)
    if x1.shape[0] != x2.shape[0] or weight.shape[1:] != [x1.shape[1], x2.shape[1]]:
        raise ValueError(
            "bilinear: x1 must be [N, in1], x2 [N, in2] and weight [out, in1, in2]; got "
            f"{x1.shape}, {x2.shape} and {weight.shape}"
        )
    through = linalg.matmul(shape.unsqueeze(x1, 0), weight)  # [out, N, in2]
    out = shape.t(reduction.sum(elementwise.multiply(through, x2), -1))
    return out if bias is None else elementwise.add(out, bias)


API = (
    "nn.functional.bilinear",
    "mm",
    "bmm",
    "mv",
    "dot",
    "inner",
    "outer",
    "addmm",
    "baddbmm",
    "Tensor.mm",
    "Tensor.bmm",
    "Tensor.mv",
    "Tensor.dot",
    "Tensor.inner",
    "Tensor.outer",
    "Tensor.addmm",
    "Tensor.baddbmm",
)
