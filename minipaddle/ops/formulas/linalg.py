"""Gradients of matrix products and diagonals."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.ops.op import formula


@formula
def matmul_grad(
    F: Any,
    x: Any,
    y: Any,
    x_shape: tuple[int, ...],
    y_shape: tuple[int, ...],
    out_grad: Any,
    transpose_x: bool,
    transpose_y: bool,
) -> tuple[Any, ...]:
    # A vector on the left is a row, one on the right a column: give out_grad that axis back.
    rows, columns = len(x_shape) == 1, len(y_shape) == 1
    transpose_x, transpose_y = transpose_x and not rows, transpose_y and not columns
    shape = tuple(out_grad.shape)
    if rows:
        shape = (*shape[:-1], 1, shape[-1]) if not columns else (*shape, 1)
    if columns:
        shape = (*shape, 1)
    g = F.reshape(out_grad, shape) if rows or columns else out_grad
    x_grad = y_grad = None
    if y is not None:
        b = F.reshape(y, (*y_shape, 1)) if columns else y
        x_grad = (
            F.matmul(b, g, transpose_y, True)
            if transpose_x
            else (F.matmul(g, b, False, not transpose_y))
        )
    if x is not None:
        a = F.reshape(x, (1, *x_shape)) if rows else x
        if len(x_shape) > 2 >= len(y_shape) and not transpose_x:
            a, g = _rows(F, a), _rows(F, g)  # sums over the batch as well
        y_grad = (
            F.matmul(g, a, True, transpose_x)
            if transpose_y
            else (F.matmul(a, g, not transpose_x, False))
        )
        if columns:  # (..., k, 1) -> (..., k)
            y_grad = F.reshape(y_grad, tuple(y_grad.shape)[:-1])
    return x_grad, y_grad


@formula
def linear_grad(F: Any, x: Any, weight: Any, out_grad: Any) -> tuple[Any, ...]:
    x_grad = None if weight is None else F.matmul(out_grad, weight, False, True)
    weight_grad = None
    if x is not None:
        weight_grad = F.matmul(_rows(F, x), _rows(F, out_grad), True, False)
    return x_grad, weight_grad, out_grad


def _rows(F: Any, x: Any) -> Any:
    """``x`` as a matrix; the number of rows is told, as -1 is ambiguous where a row is empty."""
    shape = tuple(x.shape)
    return F.reshape(x, (math.prod(shape[:-1]), shape[-1]))


@formula
def diagonal_grad(
    F: Any, x_shape: tuple[int, ...], out_grad: Any, offset: int, axis1: int, axis2: int
) -> tuple[Any, ...]:
    return (F.put_diagonal(out_grad, x_shape, offset, axis1, axis2),)


@formula
def diagonal_put_back(F: Any, x: Any, out: Any, offset: int, axis1: int, axis2: int) -> Any:
    shape = tuple(x.shape)
    on_it = F.not_equal(
        F.put_diagonal(F.add(F.multiply(out, 0), 1), shape, offset, axis1, axis2), 0
    )
    return F.select(F.put_diagonal(out, shape, offset, axis1, axis2), on_it, x)


@formula
def put_diagonal_grad(
    F: Any, out_grad: Any, offset: int, axis1: int, axis2: int
) -> tuple[Any, ...]:
    return (F.diagonal(out_grad, offset, axis1, axis2),)


@formula
def dist_grad(F: Any, x: Any, y: Any, out: Any, out_grad: Any, p: float) -> tuple[Any, ...]:
    d = F.subtract(x, y)
    nonzero = F.add(out, F.subtract(1.0, F.sign(out)))  # out, or 1 where x and y are equal
    if p == 0:
        slope = F.multiply(d, 0.0)
    elif p == 2:
        slope = F.divide(d, nonzero)
    elif math.isinf(p):  # the elements that are as far apart as x and y are
        gap = F.sign(F.subtract(F.multiply(d, F.sign(d)), out))
        slope = F.multiply(F.sign(d), F.subtract(1.0, F.square(gap)))
    else:
        slope = F.signed_power(F.divide(d, nonzero), p - 1.0)
    x_grad = F.multiply(out_grad, slope)
    return x_grad, F.multiply(x_grad, -1.0)


@formula
def signed_power_grad(F: Any, x: Any, out_grad: Any, exponent: float) -> tuple[Any, ...]:
    if exponent == 1:
        return (out_grad,)
    size = F.multiply(F.signed_power(x, exponent - 1.0), F.sign(x))
    return (F.multiply(out_grad, F.multiply(size, exponent)),)
