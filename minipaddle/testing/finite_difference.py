"""OpTest's gradient check: central differences of a mean loss, and Paddle's rule for comparing.

Unlike ``derivative``, which differentiates a reference in extended precision, this one runs the op
itself in the dtype under test. What the outputs are rounded by is divided by the step: values of
order 1 keep float64 gradients within the limit of 1e-7. The loss itself is summed in extended
precision and adds nothing to that; as a float64 it would add eps * |sum| / step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.device.dtype import as_dtype, is_half

Array = np.ndarray[Any, Any]


def central_differences(loss: Callable[[], Any], array: Array, delta: float) -> Array:
    """The gradient of ``loss`` by ``array``, which is moved element by element and put back."""
    gradient = np.zeros(array.shape, np.float64)
    step = array.dtype.type(delta)
    for index in np.ndindex(*array.shape):
        there = array[index]
        array[index] = there + step
        ahead = loss()
        array[index] = there - step
        behind = loss()
        array[index] = there
        gradient[index] = (ahead - behind) / (2 * float(delta))
    return gradient


def scale(expected: Array, dtype: Any) -> Array:
    """What a difference is divided by: the expected size, more where that is small."""
    size = abs(expected.astype(np.float64))
    if as_dtype(dtype) != np.float64:
        return np.where(size < 1e-3, 1.0, size)
    small = [size < 1e-10, (size > 1e-10) & (size <= 1e-8), (size > 1e-8) & (size <= 1e-6)]
    return np.select(small, [np.full_like(size, 1e-3), size * 1e4, size * 1e2], size)


def gradient_difference(expected: Array, found: Array, dtype: Any, limit: float) -> str:
    """What is wrong with the gradient ``found``, or "" where nothing is."""
    if expected.shape != found.shape:
        return f"shape {list(found.shape)}, expected {list(expected.shape)}"
    wrong = abs(found.astype(np.float64) - expected) / scale(expected, dtype)
    return describe(expected, found, wrong, limit, "max relative difference")


def value_difference(
    expected: Array, found: Array, atol: float, rtol: float, equal_nan: bool
) -> str:
    """What is wrong with the output ``found``, or "" where nothing is."""
    if expected.shape != found.shape:  # also [] against [1], which broadcast
        return f"shape {list(found.shape)}, expected {list(expected.shape)}"
    right, got = (np.asarray(a.astype(_wide(a))) for a in (expected, found))
    with np.errstate(invalid="ignore"):
        wrong = abs(got - right) - rtol * abs(right)
    same = (got == right) | (equal_nan & np.isnan(got) & np.isnan(right))
    text = f"max difference beyond rtol {rtol:g}"
    return describe(right, got, np.where(same, 0.0, wrong), atol, text)


def _wide(array: Array) -> Any:
    return np.complex128 if array.dtype.kind == "c" else np.float64


def describe(expected: Array, found: Array, wrong: Array, limit: float, what: str) -> str:
    """Size, limit, and the first element where ``wrong`` is above it; "" where none is."""
    bad = ~(wrong <= limit)  # NaN is bad
    if not bad.any():
        return ""
    first = int(np.flatnonzero(bad)[0])
    index = ", ".join(map(str, np.unravel_index(first, bad.shape))) if bad.ndim else ""
    return (
        f"{what} {float(np.max(wrong)):.3e}, limit {limit:.1e}, {int(bad.sum())} of {bad.size} "
        f"elements; first at flat index {first} ([{index}]): expected {expected.flat[first]!s}, "
        f"got {found.flat[first]!s}"
    )


def output_limits(dtype: Any, atol: float, rtol: float, exact: bool) -> tuple[float, float]:
    """Atol and rtol as the dtype wants them; ``exact`` is the rule that float64 has no atol."""
    dtype = as_dtype(dtype)
    if is_half(dtype):
        least = 1e-3 if dtype == np.float16 else 1e-2
        return max(atol, least), least
    return (0.0 if dtype == np.float64 and exact else atol), rtol


def gradient_limits(dtype: Any, delta: float, limit: float, exact: bool) -> tuple[float, float]:
    """Step and limit as the dtype wants them; ``exact`` is the rule for float64."""
    dtype = as_dtype(dtype)
    if is_half(dtype):
        return delta, max(limit, 1e-3 if dtype == np.float16 else 1e-2)
    return (1e-5, 1e-7) if dtype == np.float64 and exact else (delta, limit)
