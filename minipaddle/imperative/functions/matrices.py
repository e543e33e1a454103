"""Chains, powers, diagonals and covariances of matrices, composed of other functions."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from minipaddle.imperative.functions import elementwise, linalg, reduction, shape
from minipaddle.imperative.functions.math import sqrt
from minipaddle.imperative.functions.products import check_rank
from minipaddle.imperative.tensor import Tensor


def matrix_transpose(x: Tensor, name: str | None = None) -> Tensor:
    """``x`` with its last two axes swapped; shares memory with it.

    Args:
        x: Tensor of shape [..., m, n].
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [..., n, m].

    Raises:
        ValueError: x has less than two axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.linalg.matrix_transpose(paddle.ones([5, 2, 3])).shape
        [5, 3, 2]
    """
    check_rank("matrix_transpose", *range(2, 65), x=x)
    return shape.swapaxes(x, -2, -1)


def matrix_power(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """A square matrix multiplied by itself, in about log2(n) products.

    Args:
        x: Tensor of shape [..., m, m].
        n: How often x stands in the product; 0 gives identity matrices, without a gradient.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: x is not square, or ``n`` is negative, which takes an inverse.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.linalg.matrix_power(paddle.to_tensor([[1.0, 1.0], [0.0, 1.0]]), 5).tolist()
        [[1.0, 5.0], [0.0, 1.0]]
    """
    check_rank("matrix_power", *range(2, 65), x=x)
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"matrix_power: x must be square; got shape {x.shape}")
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"matrix_power: n must not be negative, as x is not inverted; got {n}")
    if n == 0:
        ones = Tensor(x.place.backend.from_host(np.ones((), x.dtype), x.place.index), x.place)
        row = shape.expand(ones, x.shape[:-1])
        return linalg.put_diagonal(row, x.shape, 0, -2, -1)
    result = None
    while n:
        if n % 2:
            result = x if result is None else linalg.matmul(result, x)
        n //= 2
        if n:
            x = linalg.matmul(x, x)
    assert result is not None
    return result


def multi_dot(x: list[Tensor], name: str | None = None) -> Tensor:
    """The product of several matrices, in the order of multiplications that takes the least work.

    Args:
        x: Two tensors or more, of shape [m, k]; the first and the last may be vectors.
        name: Unused; for Paddle's signature.

    Returns:
        Their product.

    Raises:
        ValueError: There are less than two, or shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> a, b, c = paddle.ones([2, 50]), paddle.ones([50, 3]), paddle.ones([3, 4])
        >>> paddle.linalg.multi_dot([a, b, c]).shape
        [2, 4]
    """
    if len(x) < 2:
        raise ValueError(f"multi_dot: x must have two tensors or more; got {len(x)}")
    for i, one in enumerate(x):
        ranks = (1, 2) if i in (0, len(x) - 1) else (2,)
        check_rank("multi_dot", *ranks, **{f"x[{i}]": one})
    lengths = [x[0].shape[0] if x[0].ndim == 2 else 1]
    lengths += [one.shape[-1] if one.ndim == 2 or not i else 1 for i, one in enumerate(x)]

    @functools.cache
    def best(first: int, last: int) -> tuple[int, int]:
        """Least multiplications for x[first] ... x[last], and after which to split."""
        if first == last:
            return 0, first
        outside = lengths[first] * lengths[last + 1]
        return min(
            (best(first, k)[0] + best(k + 1, last)[0] + outside * lengths[k + 1], k)
            for k in range(first, last)
        )

    def product(first: int, last: int) -> Tensor:
        if first == last:
            return x[first]
        k = best(first, last)[1]
        return linalg.matmul(product(first, k), product(k + 1, last))

    return product(0, len(x) - 1)


def kron(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Kronecker product: every element of ``x`` replaced by its product with all of ``y``.

    Args:
        x: Tensor of any shape.
        y: Tensor of any shape; the one of lower rank gets leading axes of length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor whose lengths are the products of those of x and y.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.kron(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 10.0])).tolist()
        [1.0, 10.0, 2.0, 20.0]
    """
    rank = max(x.ndim, y.ndim)
    of_x, of_y = ([1] * (rank - a.ndim) + a.shape for a in (x, y))
    apart = shape.reshape(x, [n for length in of_x for n in (length, 1)])
    beside = shape.reshape(y, [n for length in of_y for n in (1, length)])
    product = elementwise.multiply(apart, beside)
    return shape.reshape(product, [a * b for a, b in zip(of_x, of_y, strict=True)])


def trace(
    x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """Sum of a diagonal.

    Args:
        x: Tensor of rank two or more.
        offset: How far above the main diagonal; below it where negative.
        axis1: The axis that counts rows.
        axis2: The axis that counts columns.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's other axes and dtype.

    Raises:
        ValueError: x has less than two axes, or ``axis1`` and ``axis2`` name no two of them.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.trace(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).item()
        5.0
    """
    return reduction.sum(linalg.diagonal(x, offset, axis1, axis2), -1, x.dtype)


def cov(
    x: Tensor,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Covariances of variables over their observations.

    Args:
        x: Float tensor of shape [variables, observations], or [observations] of one variable.
        rowvar: False if rows are observations and columns variables.
        ddof: Divide by one less than the number of observations, which is unbiased.
        fweights: How often each observation was made, whole numbers of shape [observations].
        aweights: How important each observation is, of shape [observations].
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [variables, variables], or 0-d for one variable.

    Raises:
        ValueError: x has more than two axes, or weights have another shape.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.linalg.cov(paddle.to_tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
    """
    check_rank("cov", 1, 2, x=x)
    rows = shape.reshape(x, [1, x.size]) if x.ndim == 1 else x
    if not rowvar and x.ndim == 2:
        rows = matrix_transpose(x)
    weights: Any = None
    removed: Any = 1
    for argument, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        if given.shape != rows.shape[1:]:
            raise ValueError(
                f"cov: {argument} must have shape {rows.shape[1:]}, one number an observation; "
                f"got {given.shape}"
            )
        one = elementwise.cast(given, x.dtype)
        weights = one if weights is None else elementwise.multiply(weights, one)
    if weights is None:
        centred = elementwise.subtract(rows, reduction.mean(rows, 1, True))
        total: Any = rows.shape[1]
        weighted = centred
    else:
        total = reduction.sum(weights)
        mean = reduction.sum(elementwise.multiply(rows, weights), 1, None, True)
        centred = elementwise.subtract(rows, elementwise.divide(mean, total))
        weighted = elementwise.multiply(centred, weights)
        if aweights is not None:
            heavy = elementwise.multiply(weights, elementwise.cast(aweights, x.dtype))
            removed = elementwise.divide(reduction.sum(heavy), total)
    products = linalg.matmul(weighted, centred, False, True)
    result = products / (total - removed if ddof else total)
    return shape.reshape(result, []) if result.size == 1 else result


def corrcoef(x: Tensor, rowvar: bool = True, name: str | None = None) -> Tensor:
    """Correlation coefficients of variables over their observations.

    Args:
        x: Float tensor of shape [variables, observations], or [observations] of one variable.
        rowvar: False if rows are observations and columns variables.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [variables, variables], or 0-d for one variable.

    Raises:
        ValueError: x has more than two axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.linalg.corrcoef(paddle.to_tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
    """
    covariance = cov(x, rowvar)
    if not covariance.ndim:
        return elementwise.divide(covariance, covariance)
    deviation = sqrt(linalg.diagonal(covariance))
    by_row = elementwise.divide(covariance, shape.reshape(deviation, [deviation.size, 1]))
    return elementwise.divide(by_row, deviation)


API = (
    "kron",
    "trace",
    "linalg.matrix_power",
    "linalg.multi_dot",
    *("linalg.matrix_transpose", "matrix_transpose", "Tensor.matrix_transpose"),
    "linalg.cov",
    "linalg.corrcoef",
    "Tensor.kron",
    "Tensor.trace",
    "Tensor.cov",
    "Tensor.corrcoef",
    "Tensor.matrix_power",
)
