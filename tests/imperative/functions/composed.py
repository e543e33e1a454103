"""A function composed of others, checked against the same in NumPy."""

import numpy as np

import minipaddle as paddle
from minipaddle.imperative.functions.elementwise import multiply
from minipaddle.imperative.functions.reduction import sum as total
from minipaddle.testing.derivative import compare, numeric_gradient
from tests.ops.samples.sample import values


def check(function, reference, *shapes, second=True):
    """``function`` of tensors is ``reference`` of arrays, and so are gradients of two orders.

    The second order is that of a sum of the first-order gradients, each weighted by its input.
    """
    arrays = [values(shape, i + 1) for i, shape in enumerate(shapes)]
    tensors = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    out = function(*tensors)
    right = np.asarray(reference(*arrays))
    assert out.shape == list(right.shape) and out.dtype == np.float64
    np.testing.assert_allclose(out.numpy(), right, rtol=1e-12, atol=1e-12)
    weight = values(right.shape, 91)

    def loss(args):
        return np.sum(weight * np.asarray(reference(*args)))

    precise = [a.astype(np.longdouble) for a in arrays]
    first = [numeric_gradient(loss, precise, i) for i in range(len(arrays))]
    found = paddle.grad(
        out, tensors, paddle.to_tensor(weight), create_graph=True, allow_unused=True
    )
    for i, (one, wanted) in enumerate(zip(found, first, strict=True)):
        compare(one, wanted, f"gradient {i}")
    if not second:
        return

    def slope(args):
        moved = [numeric_gradient(loss, args, i) for i in range(len(args))]
        return np.sum([np.sum(m * a) for m, a in zip(moved, precise, strict=True)])

    sums = [total(multiply(g, paddle.to_tensor(a))) for g, a in zip(found, arrays, strict=True)]
    sums = [one for one in sums if not one.stop_gradient]  # others are constants
    again = paddle.grad(sums, tensors, allow_unused=True) if sums else [None] * len(tensors)
    for i, one in enumerate(again):
        compare(one, numeric_gradient(slope, precise, i), f"second order {i}")
