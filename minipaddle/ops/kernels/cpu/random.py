"""Random numbers, drawn in chunks of a fixed size whatever the number of threads.

A result of one chunk comes from the generator itself. A larger one takes a key from it, and chunk i
its numbers from the stream that NumPy's SeedSequence spawns from the key under the number i: so the
threads share the chunks, and the numbers do not depend on how.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.device.generator import Generator
from minipaddle.ops.kernels.cpu.block import blockwise, quiet, share_out
from minipaddle.ops.op import Array, kernel

# Elements. To start a stream takes 25 us, to draw 128K normal float32 0.4 ms and a mask 0.15 ms.
CHUNK = 128 * 1024

# Normal float32 that are made at a time, so that all steps find them in the cache.
PIECE = 32 * 1024

# fill(bits, part, where) writes numbers drawn from ``bits`` to ``part``, the slice ``where`` of
# the result laid out flat.
Fill: TypeAlias = "Callable[[np.random.Generator, Array, slice], Any]"


def _drawn(generator: Generator, shape: tuple[int, ...], dtype: Any, fill: Fill) -> Array:
    """A new array filled by ``fill``; half types are filled as float32 and rounded once."""
    out = np.empty(shape, dtype)
    flat, computed = out.reshape(-1), compute_dtype(out.dtype)

    def chunk(bits: np.random.Generator, where: slice) -> None:
        part = flat[where]
        if computed == out.dtype:
            quiet(fill, bits, part, where)
            return
        precise = np.empty(part.shape, computed)
        quiet(fill, bits, precise, where)
        np.copyto(part, precise, casting="same_kind")

    def work(share: Iterable[int]) -> None:
        for i in share:
            stream = np.random.SeedSequence(key, spawn_key=(i,))
            bits = np.random.Generator(np.random.PCG64(stream))
            chunk(bits, slice(i * CHUNK, (i + 1) * CHUNK))

    if flat.size <= CHUNK:
        chunk(generator.bits, slice(0, flat.size))
    else:
        key = generator.bits.integers(0, 2**63, 2).tolist()
        share_out(work, list(range(math.ceil(flat.size / CHUNK))))
    return out


def _standard_normal(bits: np.random.Generator, out: Array) -> None:
    """Standard normal float32 by vector functions, in a quarter of the time NumPy's own take.

    Each pair of 32 random bits gives radius and angle of two numbers: Box and Muller (1958), A note
    on the generation of random normal deviates. The largest are sqrt(-2 log(2**-33)) = 6.76, which
    one of 7e10 numbers would pass.
    """
    half = (out.size + 1) // 2
    drawn = bits.bit_generator.random_raw(half).view(np.uint32)
    radius = np.add(drawn[:half], np.float32(0.5), dtype=np.float32, casting="unsafe")
    np.multiply(radius, np.float32(2.0**-32), out=radius)  # in (0, 1]
    np.multiply(np.log(radius, out=radius), -2.0, out=radius)
    np.sqrt(radius, out=radius)
    angle = drawn[half:].view(np.int32).astype(np.float32)
    np.multiply(angle, np.float32(2 * math.pi / 2**32), out=angle)  # in [-pi, pi]
    np.multiply(np.cos(angle), radius, out=out[:half])
    rest = out.size - half
    np.multiply(np.sin(angle[:rest]), radius[:rest], out=out[half:])


@kernel("gaussian", "cpu")
def gaussian(
    generator: Generator,
    shape: tuple[int, ...],
    mean: float = 0.0,
    std: float = 1.0,
    dtype: Any = None,
) -> Array:
    def fill(bits: np.random.Generator, part: Array, where: slice) -> None:
        if part.itemsize == 4:
            for start in range(0, part.size, PIECE):
                _standard_normal(bits, part[start : start + PIECE])
        else:
            bits.standard_normal(dtype=part.dtype, out=part)
        np.multiply(part, std, out=part)
        np.add(part, mean, out=part)

    return _drawn(generator, shape, dtype, fill)


@kernel("uniform", "cpu")
def uniform(
    generator: Generator,
    shape: tuple[int, ...],
    dtype: Any = None,
    min: float = -1.0,
    max: float = 1.0,
) -> Array:
    def fill(bits: np.random.Generator, part: Array, where: slice) -> None:
        bits.random(dtype=part.dtype, out=part)
        np.multiply(part, max - min, out=part)
        np.add(part, min, out=part)

    return _drawn(generator, shape, dtype, fill)


@kernel("randint", "cpu")
def randint(
    generator: Generator, low: int, high: int, shape: tuple[int, ...], dtype: Any = None
) -> Array:
    def fill(bits: np.random.Generator, part: Array, where: slice) -> None:
        part[...] = bits.integers(low, high, part.size, dtype=part.dtype)

    return _drawn(generator, shape, dtype, fill)


@kernel("randperm", "cpu")
def randperm(generator: Generator, n: int, dtype: Any = None) -> Array:
    return generator.bits.permutation(n).astype(dtype)


def _bernoulli(bits: np.random.Generator, x: Array) -> Array:
    return bits.random(x.size, dtype=x.dtype) < x


def _poisson(bits: np.random.Generator, x: Array) -> Array:
    return bits.poisson(x)


def _standard_gamma(bits: np.random.Generator, x: Array) -> Array:
    return bits.standard_gamma(x, dtype=x.dtype)


# Of an op that draws one number for each x, the largest x that it takes, and what that is.
_LIMITS = {
    "bernoulli": (1.0, "probabilities from 0 to 1"),
    "poisson": (1e18, "rates from 0 to 1e18"),  # NumPy draws int64
    "standard_gamma": (math.inf, "shape parameters, not negative"),
}


def check_parameters(name: str, x: Array) -> None:
    """Refuses what has no distribution of the op ``name``."""
    _check_range("x", x, *_LIMITS[name])


def check_trials(count: Array, prob: Array) -> None:
    """Refuses what has no binomial distribution."""
    _check_range("count", count, math.inf, "numbers of trials, not negative")
    _check_range("prob", prob, 1.0, "probabilities from 0 to 1")


def _by_element(name: str, draw: Callable[[Any, Array], Array]) -> None:
    """Registers ``draw(bits, x)``, one number for each x."""

    def compute(x: Array, generator: Generator) -> Array:
        check_parameters(name, x)
        parameters = np.ravel(x)

        def fill(bits: np.random.Generator, part: Array, where: slice) -> None:
            part[...] = draw(bits, parameters[where].astype(part.dtype, copy=False))

        return _drawn(generator, x.shape, x.dtype, fill)

    kernel(name, "cpu")(compute)


def _check_range(name: str, x: Array, limit: float, words: str) -> None:
    if x.size and not (float(x.min()) >= 0 and float(x.max()) <= limit):  # NaN is neither
        numbers = x.astype(np.float64).reshape(-1)
        wrong = numbers[~((numbers >= 0) & (numbers <= limit))]
        raise ValueError(f"{name} must hold {words}; got {wrong[0]}")


_by_element("bernoulli", _bernoulli)
_by_element("poisson", _poisson)
_by_element("standard_gamma", _standard_gamma)


@kernel("binomial", "cpu")
def binomial(count: Array, prob: Array, generator: Generator) -> Array:
    check_trials(count, prob)
    shape = np.broadcast_shapes(count.shape, prob.shape)
    counts, chances = (np.broadcast_to(a, shape).reshape(-1) for a in (count, prob))

    def fill(bits: np.random.Generator, part: Array, where: slice) -> None:
        part[...] = bits.binomial(counts[where], chances[where].astype(np.float64))

    return _drawn(generator, shape, np.int64, fill)


@kernel("multinomial", "cpu")
def multinomial(
    x: Array, generator: Generator, num_samples: int = 1, replacement: bool = False
) -> Array:
    weights = np.atleast_2d(x).astype(np.float64)
    check_weights(x, weights, num_samples, replacement)
    if replacement:
        # Where a number in [0, total) falls among the running sums; a weight of 0 has no room.
        sums = np.cumsum(weights, -1)
        points = generator.bits.random((len(weights), num_samples)) * sums[:, -1:]
        rows = zip(sums, points, strict=True)
        drawn = np.array([np.searchsorted(row, at, side="right") for row, at in rows], np.int64)
        last = (weights > 0).cumsum(-1).argmax(-1)  # a product may round up to the total
        drawn = np.minimum(drawn.reshape(points.shape), last[:, None])
    else:
        # Arrival times of rate x; those that come first are drawn, in their order: Efraimidis and
        # Spirakis (2006), Weighted random sampling with a reservoir.
        arrivals = generator.bits.standard_exponential(weights.shape)
        times = quiet(np.divide, arrivals, weights)
        drawn = np.argsort(times, -1)[:, :num_samples]
    return np.ascontiguousarray(drawn.reshape(*x.shape[:-1], num_samples))


def check_weights(x: Array, weights: Array, num_samples: int, replacement: bool) -> None:
    if x.ndim not in (1, 2):
        raise ValueError(f"x must have 1 or 2 axes; got shape {list(x.shape)}")
    if num_samples < 1:
        raise ValueError(f"num_samples must be at least 1; got {num_samples}")
    _check_range("x", x, np.finfo(np.float64).max, "finite weights, not negative")
    wanted = 1 if replacement else num_samples
    positive = np.count_nonzero(weights, -1).min(initial=wanted)
    if positive < wanted:
        raise ValueError(
            f"x must have a weight above 0 for each of num_samples {wanted} that are drawn without "
            f"replacement (at least 1 in any case); a row has {positive}"
        )


@kernel("dropout", "cpu")
def dropout(
    x: Array,
    generator: Generator,
    p: float = 0.5,
    axis: tuple[int, ...] | None = None,
    scale: float = 1.0,
) -> tuple[Array, Array]:
    shape = x.shape
    if axis is not None:
        varied = {range(x.ndim)[a] for a in axis}  # refuses what is no axis
        shape = tuple(n if i in varied else 1 for i, n in enumerate(shape))
    limit = round((1 - p) * 2**32)

    def fill(bits: np.random.Generator, part: Array, where: slice) -> None:
        raw = bits.bit_generator.random_raw(-(-part.size // 2)).view(np.uint32)
        np.less(raw[: part.size], limit, out=part)

    mask = _drawn(generator, shape, np.bool_, fill)
    return mask_scale(x, mask, scale), mask


@kernel("mask_scale", "cpu")
def mask_scale(x: Array, mask: Array, scale: float = 1.0) -> Array:
    bits, computed = np.dtype(f"u{x.itemsize}"), compute_dtype(x.dtype)

    def fill(out: Array, x: Array, mask: Array) -> None:
        # The bits times 0 or 1: an infinity or NaN that is dropped becomes 0 too. Four times as
        # fast as to choose by the mask, which no processor can foresee.
        kept = np.multiply(x.view(bits), mask, out=out.view(bits)).view(x.dtype)
        if scale != 1.0:
            np.multiply(kept.astype(computed, copy=False), scale, out=out, casting="same_kind")

    return blockwise(fill, (x, mask))
