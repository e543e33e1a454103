"""Matrix products through NumPy's BLAS, and diagonals.

Half types are multiplied in float32, and ints in float32 or float64 where that is exact: BLAS knows
no other types, and NumPy's own loops over them are tens of times slower.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from minipaddle.device.dtype import FLOAT32, is_half
from minipaddle.ops.kernels.cpu.block import Into, narrowed, quiet
from minipaddle.ops.op import Array, kernel

# Up to here a type holds every whole number.
_EXACT = {np.dtype(np.float32): 2**24, np.dtype(np.float64): 2**53}
_FEW = 2**14  # below so many multiplications a look at all the elements does not pay
# Sums of so many rows are a product with ones: half the cost of np.add.reduce on small matrices.
_ONES = {dtype: np.ones(256, dtype) for dtype in _EXACT}


def _product(x: Array, y: Array, into: Array | None = None) -> Array:
    """``x @ y`` for arrays of rank two and more; NumPy itself is slow and inexact on half types."""
    if x.itemsize == 2 or x.dtype.kind != "f":
        product = _product_in_float(x, y)
        if product is not None:
            if into is None:
                return product
            np.copyto(into, product)
            return into
    if x.ndim == 2 == y.ndim:
        return x.dot(y, into)  # a third of matmul's overhead on small matrices
    return np.matmul(x, y, out=into)


def _product_in_float(x: Array, y: Array) -> Array | None:
    """``x @ y`` by way of a type that BLAS knows; None where that does not pay or is not exact."""
    if is_half(x.dtype):
        return narrowed(np.matmul(x.astype(FLOAT32), y.astype(FLOAT32)), x.dtype)
    if x.size * y.shape[-1] > _FEW:
        most = x.shape[-1] * _largest(x) * _largest(y)  # no sum, in any order, is larger
        for dtype, exact in _EXACT.items():
            if most <= exact:
                product = np.matmul(x.astype(dtype), y.astype(dtype)).astype(np.int64)
                return product.astype(x.dtype, copy=False)  # wraps as a sum in x's dtype does
    return None


def _largest(x: Array) -> int:
    return 0 if not x.size else max(int(x.max()), -int(x.min()))


@kernel("matmul", "cpu")
def matmul(x: Array, y: Array, transpose_x: bool = False, transpose_y: bool = False) -> Array:
    if transpose_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if transpose_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    try:
        if x.ndim == 2 == y.ndim:
            return _product(x, y)
        return _product_of_ranks(x, y)
    except ValueError:
        refuse_product(x, y)


def _product_of_ranks(x: Array, y: Array) -> Array:
    """The product where not both are matrices."""
    if x.ndim == 0 or y.ndim == 0:
        raise ValueError
    rows, columns = x.ndim == 1, y.ndim == 1
    a, b = x[None, :] if rows else x, y[:, None] if columns else y
    if a.ndim > 2 == b.ndim and a.flags.c_contiguous:  # one large product, not many small ones
        out = _product(_rows(a), b).reshape(*a.shape[:-1], b.shape[-1])
    else:
        out = _product(a, b)
    if rows:
        out = out.squeeze(-2)
    return out.squeeze(-1) if columns else out


def refuse_product(x: Array, y: Array) -> NoReturn:
    """Raises the error of shapes that have no product, with what would help."""
    if x.ndim == 0 or y.ndim == 0:
        raise ValueError("matmul takes no 0-d operand; multiply scales by a number")
    inner, given = x.shape[-1], y.shape[-2:][0]
    if inner == given:
        raise ValueError(
            f"the leading axes {list(x.shape[:-2])} of x and {list(y.shape[:-2])} of y do not "
            "broadcast; each pair must be equal, or one of them 1"
        )
    hint = ""
    if y.ndim > 1 and inner == y.shape[-1]:
        hint = "; y with its last two axes swapped would fit (transpose_y)"
    elif x.ndim > 1 and x.shape[-2] == given:
        hint = "; x with its last two axes swapped would fit (transpose_x)"
    raise ValueError(
        f"a row of x as multiplied, {list(x.shape)}, has {inner} elements and a column of y, "
        f"{list(y.shape)}, has {given}; they must be equal{hint}"
    )


def _rows(x: Array) -> Array:
    """``x`` as a matrix; the number of rows is told, as -1 is ambiguous where a row is empty."""
    return x if x.ndim == 2 else x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


@kernel("linear", "cpu")
def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    if x.itemsize == 2:  # a half type: the bias joins before the only rounding
        wide = [None if a is None else a.astype(FLOAT32) for a in (x, weight, bias)]
        return narrowed(linear(*wide), x.dtype)
    try:
        _, wide = weight.shape
        out = _product(x if x.ndim == 2 else _rows(x), weight)
    except (ValueError, IndexError):
        raise ValueError(
            "x must have shape [..., in] and weight [in, out], with the same number of features in"
        ) from None
    if bias is not None:
        if bias.shape != (wide,):
            raise ValueError(f"bias must have one element a feature out, shape [{wide}]")
        np.add(out, bias, out=out)
    return out if x.ndim == 2 else out.reshape(*x.shape[:-1], wide)


@kernel("linear_grad", "cpu")
def linear_grad(
    x: Array | None,
    weight: Array | None,
    out_grad: Array,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array | None, Array | None, Array | None]:
    flat = _rows(out_grad)
    to_x, to_weight, to_bias = into if into is not None else (None, None, None)
    x_grad = weight_grad = bias_grad = None
    if weight is not None:
        if out_grad.ndim == 2:
            x_grad = _product(flat, weight.T, to_x)
        else:
            x_grad = _product(flat, weight.T).reshape(*out_grad.shape[:-1], weight.shape[0])
    if x is not None:
        weight_grad = _product(_rows(x).T, flat, to_weight)
    if wanted[2]:
        bias_grad = _column_sums(flat, to_bias)
    return x_grad, weight_grad, bias_grad


def _column_sums(x: Array, into: Array | None) -> Array:
    if is_half(x.dtype):
        sums = narrowed(np.add.reduce(x, axis=0, dtype=FLOAT32), x.dtype)
        if into is None:
            return sums
        np.copyto(into, sums)
        return into
    ones = _ONES[x.dtype]
    if len(x) <= len(ones):
        return ones[: len(x)].dot(x, into)
    return np.add.reduce(x, axis=0, out=into)


@kernel("diagonal", "cpu")
def diagonal(x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    check_diagonal(x, axis1, axis2)
    return _diagonal(x, offset, axis1, axis2)


def check_diagonal(x: Array, axis1: int, axis2: int) -> None:
    """Refuses axes that have no diagonal."""
    if x.ndim < 2:
        raise ValueError("a diagonal needs two axes")
    for name, axis in (("axis1", axis1), ("axis2", axis2)):
        if not -x.ndim <= axis < x.ndim:
            raise ValueError(f"{name} must name one of the {x.ndim} axes; got {axis}")
    if axis1 % x.ndim == axis2 % x.ndim:
        raise ValueError(f"axis1 and axis2 must differ; got {axis1} and {axis2}")


@kernel("put_diagonal", "cpu")
def put_diagonal(
    x: Array, shape: tuple[int, ...], offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Array:
    out = np.zeros(shape, x.dtype)
    np.copyto(_diagonal(out, offset, axis1, axis2), x)
    return out


def _diagonal(x: Array, offset: int, axis1: int, axis2: int) -> Array:
    """A view that can be written to, where ``x`` can; NumPy marks it as read only."""
    view = np.diagonal(x, offset, axis1, axis2)
    if x.flags.writeable:
        view.flags.writeable = True
    return view


@kernel("dist", "cpu")
def dist(x: Array, y: Array, p: float = 2.0) -> Array:
    if is_half(x.dtype):
        return narrowed(dist(x.astype(FLOAT32), y.astype(FLOAT32), p), x.dtype)
    apart = np.subtract(x, y).reshape(-1)
    if p == 0:
        return np.asarray(np.count_nonzero(apart), x.dtype)
    if p == 2:
        squares = quiet(np.dot, apart, apart)
        if _ORDINARY < squares < 1 / _ORDINARY:
            return np.asarray(np.sqrt(squares))
    return np.asarray(quiet(_norm, np.abs(apart), p), x.dtype)


_ORDINARY = 1e-24  # between this and its inverse no addend that counts was lost or too large


def _norm(sizes: Array, p: float) -> Any:
    """The p-norm, by way of the largest element: its power alone might not be representable."""
    if not sizes.size:
        return 0.0
    largest = sizes.min() if p < 0 else sizes.max()
    if math.isinf(p) or largest == 0 or not np.isfinite(largest):
        return largest
    np.divide(sizes, largest, out=sizes)
    return largest * np.power(np.add.reduce(np.power(sizes, p, out=sizes)), 1 / p)


@kernel("signed_power", "cpu")
def signed_power(x: Array, exponent: float) -> Array:
    if is_half(x.dtype):
        return narrowed(signed_power(x.astype(FLOAT32), exponent), x.dtype)
    power = quiet(np.power, np.abs(x), exponent)
    return np.asarray(np.where(x == 0, x, np.copysign(power, x)))
