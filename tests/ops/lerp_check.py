"""lerp and its three gradients against their definition, for the tests of lerp."""

from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.imperative.functions.elementwise import lerp
from minipaddle.imperative.tensor import Tensor, to_tensor
from tests.ops.samples.sample import values


def leaf(array: Any, place: Place | str, dtype: Any = None) -> Tensor:
    """A tensor that wants a gradient."""
    return to_tensor(np.asarray(array), dtype, place=place, stop_gradient=False)


def summed(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """``gradient`` summed over the axes that ``shape`` broadcasts on."""
    gradient = gradient.sum(tuple(range(gradient.ndim - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] != 1)
    return gradient.sum(axes, keepdims=True)


def check_gradients(x: Any, y: Any, w: Any, place: Place, rtol: float = 1e-12) -> None:
    """Forward and all three gradients against the definition, in float64."""
    leaves = [leaf(a, place) for a in (x, y, w)]
    out = lerp(*leaves)
    right = x + w * (y - x)
    np.testing.assert_allclose(out.numpy(), right, rtol=rtol, atol=1e-13)
    seed = values(right.shape, 17)
    out.backward(to_tensor(seed, place=place))
    for t, gradient in zip(leaves, (seed * (1 - w), seed * w, seed * (y - x)), strict=True):
        wanted = summed(np.asarray(gradient), tuple(t.shape))
        assert t.grad.shape == t.shape
        np.testing.assert_allclose(t.grad.numpy(), wanted, rtol=rtol, atol=1e-12 * seed.size)
