"""Functions that only move values, held to NumPy: values, and gradients of both orders.

What such a function does to the numbers of x's elements says where every value of its result
comes from, and so what its gradient is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.device.backend import get_place
from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.autograd import grad
from minipaddle.imperative.functions import elementwise, reduction
from minipaddle.imperative.tensor import Tensor, to_tensor
from tests.device.plug import plugged_in
from tests.ops.samples.sample import values

DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int64", "uint8", "bool")


def listed(result: Any) -> list[Any]:
    """One result or several, as a list."""
    return list(result) if isinstance(result, (list, tuple)) else [result]


def check(function: Callable[..., Any], reference: Callable[..., Any], shape: Any) -> None:
    """``function`` on tensors is ``reference`` on arrays, in every dtype, and differentiable."""
    check_values(function, reference, shape)
    check_gradients(function, reference, shape)
    with plugged_in():
        (out, *_) = listed(function(to_tensor(values(shape), place="xpu:1"))) or [None]
        assert out is None or out.place is get_place("xpu:1")


def check_values(function: Callable[..., Any], reference: Callable[..., Any], shape: Any) -> None:
    for dtype in DTYPES:
        host = (7 * abs(values(shape, 1))).astype(as_dtype(dtype))
        gaps = to_tensor(np.repeat(host, 2, -1) if host.ndim else host)
        gaps = gaps[..., ::2] if host.ndim else gaps
        for x in (to_tensor(host), gaps):
            found, wanted = listed(function(x)), listed(reference(host))
            assert len(found) == len(wanted)
            for one, right in zip(found, wanted, strict=True):
                assert isinstance(one, Tensor) and type(one.data) is np.ndarray
                assert one.dtype == host.dtype and one.stop_gradient
                assert tuple(one.shape) == np.shape(right), dtype
                np.testing.assert_array_equal(one.numpy(), right, dtype)


def check_gradients(
    function: Callable[..., Any], reference: Callable[..., Any], shape: Any
) -> None:
    count = int(np.prod(shape))
    origins = listed(reference(np.arange(1, count + 1).reshape(shape)))  # 0: from nowhere
    x = to_tensor(values(shape, 1), stop_gradient=False)
    outs = listed(function(x))
    seeds = [values(tuple(out.shape), 9 + i) for i, out in enumerate(outs)]
    wanted = np.zeros(count + 1)
    for origin, seed in zip(origins, seeds, strict=True):
        np.add.at(wanted, np.reshape(origin, -1), seed.reshape(-1))
    tensors = [to_tensor(seed, stop_gradient=False) for seed in seeds]
    total = None
    for out, seed in zip(outs, tensors, strict=True):
        term = reduction.sum(elementwise.multiply(out, seed))
        total = term if total is None else elementwise.add(total, term)
    if total is None:
        return
    (first,) = grad(total, [x], create_graph=True)
    np.testing.assert_allclose(first.numpy(), wanted[1:].reshape(shape), rtol=1e-12, atol=1e-14)
    direction = values(shape, 5)
    slope = reduction.sum(elementwise.multiply(first, to_tensor(direction)))
    moved = np.concatenate([[0.0], direction.reshape(-1)])
    for found, origin in zip(grad(slope, tensors), origins, strict=True):
        np.testing.assert_allclose(found.numpy(), moved[np.asarray(origin, int)], rtol=1e-12)
