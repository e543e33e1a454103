"""Optimizer updates: gradient and state are flat, parameters lie where they lie.

The flat arrays hold the parameters' values one after another in the order of the list. Work goes
in cache-sized blocks on all threads, so that a block of gradient, state and step is read from
memory once. Half types are computed in float32, which is also the type of their state.

Every update takes the same last arguments, which say what becomes of a gradient before it is used:
``clip(grad, lowest, highest) * scale + l2 * param + l1 * sign(param)``. And every one takes
``master``: None, or the parameters' values in float32, flat, which are then what is updated; the
parameters become these values, rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from minipaddle.device.dtype import FLOAT32, is_half
from minipaddle.ops.kernels.cpu.block import (
    BLOCK_BYTES,
    cut,
    for_each_block,
    quiet,
    share_out,
)
from minipaddle.ops.op import Array, kernel

Part = tuple[Array, slice]
Block = tuple[slice, list[Part]]
Change = Callable[..., Array]
# Master weights or None, gradient, and state, all flat.
Arrays = tuple[Array | None, Array, tuple[Array, ...]]
Treatment = tuple[float, float, float, float, float]

_INFINITY = math.inf
UNTREATED: Treatment = (1.0, -_INFINITY, _INFINITY, 0.0, 0.0)


def _blocks(params: list[Array]) -> Iterator[Block]:
    """Blocks of the flat range, each with the parts of parameters that it covers.

    Small parameters share a block; a large contiguous one is cut into several.
    """
    limit = BLOCK_BYTES // params[0].itemsize if params else 1
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


def update(
    change: Change,
    params: list[Array],
    arrays: Arrays,
    treatment: Treatment,
    keep: float = 1.0,
) -> None:
    """Makes every parameter ``keep * param - change(grad, *state)``.

    Args:
        change: Gets parts of the treated gradient, which it leaves as it is, and of the state,
            which it brings up to date.
        params: Parameters, written in place.
        arrays: Master weights, gradient and state.
        treatment: scale, lowest, highest, l1, l2.
        keep: Factor of the parameters.
    """
    if not params:
        return
    grad = arrays[1]
    blocks = None if grad.nbytes <= BLOCK_BYTES else list(_blocks(params))
    parts = _parts(params) if blocks is None else []
    size = parts[-1][1].stop if blocks is None else blocks[-1][0].stop
    if size != grad.size:
        raise ValueError(f"the gradient has {grad.size} elements, its parameters have {size}")
    if blocks is None:
        quiet(_update, change, parts, arrays, treatment, keep)
        return

    def work(share: Iterable[Block]) -> None:
        master, grad, state = arrays
        for block, parts in share:
            part = None if master is None else master[block]
            held = part, grad[block], tuple([array[block] for array in state])
            _update(change, parts, held, treatment, keep)

    share_out(work, blocks)


def _parts(params: list[Array]) -> list[Part]:
    parts, start = [], 0
    for param in params:
        stop = start + param.size
        parts.append((param, slice(start, stop)))
        start = stop
    return parts


def _update(
    change: Change, parts: list[Part], arrays: Arrays, treatment: Treatment, keep: float
) -> None:
    """``update`` of one block, whose arrays these are."""
    master, grad, state = arrays
    plain = treatment == UNTREATED
    if is_half(grad.dtype):
        grad = grad.astype(FLOAT32)
    if plain and keep == 1.0 and master is None:
        _subtract(parts, change(grad, *state))
        return
    values, shared = (master, False) if master is not None else _values(parts, grad)
    step = change(grad if plain else treated(grad, values, treatment), *state)
    if keep != 1.0:
        np.multiply(values, keep, out=values)
    np.subtract(values, step, out=values)
    if not shared:
        for param, where in parts:
            param[...] = values[where].reshape(param.shape)


def treated(grad: Array, values: Array, treatment: Treatment) -> Array:
    """The gradient as an update uses it; ``values`` are the parameters'."""
    scale, lowest, highest, l1, l2 = treatment
    if lowest > -_INFINITY or highest < _INFINITY:
        grad = np.clip(grad, lowest, highest)
    if scale != 1.0:
        grad = np.multiply(grad, scale)
    if l2:
        grad = np.add(grad, np.multiply(values, l2))
    if l1:
        grad = np.add(grad, np.multiply(np.sign(values), l1))
    return grad


def _values(parts: list[Part], like: Array) -> tuple[Array, bool]:
    """A block's parameters, flat and of one dtype, and whether that is their own memory."""
    first = parts[0][0]
    if len(parts) == 1 and first.dtype == like.dtype and first.flags.c_contiguous:
        return first.reshape(-1), True
    joined = np.concatenate([param.reshape(-1) for param, _ in parts])
    return joined.astype(like.dtype, copy=False), False


def _subtract(parts: list[Part], step: Array) -> None:
    for param, where in parts:
        change = step[where] if param.ndim == 1 else step[where].reshape(param.shape)
        if param.dtype is step.dtype:
            np.subtract(param, change, out=param)
        else:  # a half type: computed in float32 and rounded once
            param[...] = (param.astype(step.dtype) - change).astype(param.dtype)


def averaged(mean: Array, new: Array, decay: float) -> None:
    """``mean = decay * mean + (1 - decay) * new``; ``new`` is overwritten."""
    np.multiply(new, 1 - decay, out=new)
    np.multiply(mean, decay, out=mean)
    np.add(mean, new, out=mean)


@kernel("sgd_", "cpu")
def sgd_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    learning_rate: float,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    def change(g: Array) -> Array:
        return np.multiply(g, learning_rate)

    update(change, params, (master, grad, ()), (scale, lowest, highest, l1, l2))


@kernel("sgd_rows_", "cpu")
def sgd_rows_(
    param: Array,
    rows: Array,
    value: Array,
    learning_rate: float,
    scale: float,
    lowest: float,
    highest: float,
) -> None:
    if is_half(param.dtype):
        value = value.astype(FLOAT32)
    value = treated(value, value, (scale, lowest, highest, 0.0, 0.0))
    step = quiet(np.multiply, value, learning_rate)
    held = param[rows].astype(step.dtype, copy=False)
    param[rows] = quiet(np.subtract, held, step).astype(param.dtype, copy=False)


@kernel("momentum_", "cpu")
def momentum_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    velocity: Array,
    learning_rate: float,
    momentum: float,
    use_nesterov: bool,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    def change(g: Array, velocity: Array) -> Array:
        np.multiply(velocity, momentum, out=velocity)
        np.add(velocity, g, out=velocity)
        if not use_nesterov:
            return np.multiply(velocity, learning_rate)
        step = np.multiply(velocity, momentum)
        np.add(step, g, out=step)
        return np.multiply(step, learning_rate, out=step)

    update(change, params, (master, grad, (velocity,)), (scale, lowest, highest, l1, l2))


@kernel("adagrad_", "cpu")
def adagrad_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    moment: Array,
    learning_rate: float,
    epsilon: float,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    # Duchi et al. (2011), Adaptive subgradient methods, figure 1, the diagonal form.
    def change(g: Array, moment: Array) -> Array:
        step = np.multiply(g, g)
        np.add(moment, step, out=moment)
        np.sqrt(moment, out=step)
        np.add(step, epsilon, out=step)
        np.divide(g, step, out=step)
        return np.multiply(step, learning_rate, out=step)

    update(change, params, (master, grad, (moment,)), (scale, lowest, highest, l1, l2))


@kernel("rmsprop_", "cpu")
def rmsprop_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    moment: Array,
    mean_square: Array,
    mean_grad: Array,
    learning_rate: float,
    rho: float,
    epsilon: float,
    momentum: float,
    centered: bool,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    def change(g: Array, moment: Array, mean_square: Array, mean_grad: Array) -> Array:
        step = np.multiply(g, g)
        averaged(mean_square, step, rho)
        if centered:
            averaged(mean_grad, np.array(g), rho)
            np.multiply(mean_grad, mean_grad, out=step)
            np.subtract(mean_square, step, out=step)
            np.add(step, epsilon, out=step)
        else:
            np.add(mean_square, epsilon, out=step)
        np.sqrt(step, out=step)
        np.divide(g, step, out=step)
        np.multiply(step, learning_rate, out=step)
        np.multiply(moment, momentum, out=moment)
        return np.add(moment, step, out=moment)

    state = (moment, mean_square, mean_grad)
    update(change, params, (master, grad, state), (scale, lowest, highest, l1, l2))


@kernel("squared_norm", "cpu")
def squared_norm(x: Array) -> Array:
    flat = x.reshape(-1)

    def work(share: Iterable[tuple[slice, ...]]) -> float:
        return math.fsum(_squares(cut(flat, block, 1)) for block in share)

    return np.asarray(math.fsum(for_each_block(work, flat.shape, flat.itemsize)))


def _squares(part: Array) -> float:
    if is_half(part.dtype):
        part = part.astype(FLOAT32)
    found = float(np.dot(part, part))
    if math.isfinite(found) or part.dtype == np.float64:
        return found
    wide = part.astype(np.float64)  # the squares of large float32 numbers fit only here
    return float(np.dot(wide, wide))
