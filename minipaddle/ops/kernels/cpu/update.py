"""Optimizer updates: gradient and moments are flat, parameters lie where they lie.

The flat arrays hold the parameters' values one after another in the order of the list. Work goes
in cache-sized blocks, so that a block of gradient, moments and step is read from memory once.
Half types are computed in float32, which is also the type of their moments.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from minipaddle.device.dtype import FLOAT32, is_half
from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES, quiet
from minipaddle.ops.op import Array, kernel

Part = tuple[Array, slice]


def _blocks(params: list[Array]) -> Iterator[tuple[slice, list[Part]]]:
    """Blocks of the flat range, each with the parts of parameters that it covers.

    Small parameters share a block; a large contiguous one is cut into several.
    """
    # Parameter, gradient, two moments and a scratch array together make one block.
    limit = BLOCK_BYTES // (5 * params[0].itemsize) if params else 1
    start = stop = 0
    parts: list[Part] = []
    for param in params:
        pieces = [param]
        if param.size > limit and param.flags.c_contiguous:
            flat = param.reshape(-1)
            pieces = [flat[i : i + limit] for i in range(0, flat.size, limit)]
        for piece in pieces:
            if parts and stop - start + piece.size > limit:
                yield slice(start, stop), parts
                start, parts = stop, []
            parts.append((piece, slice(stop - start, stop - start + piece.size)))
            stop += piece.size
    if parts:
        yield slice(start, stop), parts


def _subtract(parts: list[Part], step: Array) -> None:
    for param, where in parts:
        change = step[where].reshape(param.shape)
        if param.dtype is step.dtype:
            np.subtract(param, change, out=param)
        else:  # a half type: computed in float32 and rounded once
            param[...] = (param.astype(step.dtype) - change).astype(param.dtype)


def _wide(grad: Array) -> Array:
    return grad.astype(FLOAT32) if is_half(grad.dtype) else grad


@kernel("sgd_", "cpu")
def sgd_(params: list[Array], grad: Array, learning_rate: float) -> None:
    quiet(_sgd, params, grad, learning_rate)  # infinities must not warn between two writes


def _sgd(params: list[Array], grad: Array, learning_rate: float) -> None:
    for block, parts in _blocks(params):
        _subtract(parts, np.multiply(_wide(grad[block]), learning_rate))


@kernel("adam_", "cpu")
def adam_(
    params: list[Array],
    grad: Array,
    moment1: Array,
    moment2: Array,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    step: int,
) -> None:
    # Kingma and Ba (2015), algorithm 1, with the bias corrections drawn into rate and epsilon.
    correction2 = math.sqrt(1 - beta2**step)
    rate = learning_rate * correction2 / (1 - beta1**step)
    quiet(_adam, params, grad, (moment1, moment2), (beta1, beta2), rate, epsilon * correction2)


def _adam(
    params: list[Array],
    grad: Array,
    moments: tuple[Array, Array],
    betas: tuple[float, float],
    rate: float,
    scaled_epsilon: float,
) -> None:
    (moment1, moment2), (beta1, beta2) = moments, betas
    for block, parts in _blocks(params):
        g, m, v = _wide(grad[block]), moment1[block], moment2[block]
        scratch = np.multiply(g, 1 - beta1)
        np.multiply(m, beta1, out=m)
        np.add(m, scratch, out=m)
        np.multiply(g, g, out=scratch)
        np.multiply(scratch, 1 - beta2, out=scratch)
        np.multiply(v, beta2, out=v)
        np.add(v, scratch, out=v)
        np.sqrt(v, out=scratch)
        np.add(scratch, scaled_epsilon, out=scratch)
        np.divide(m, scratch, out=scratch)
        np.multiply(scratch, rate, out=scratch)
        _subtract(parts, scratch)
