"""Random numbers: the generator gives a call its key, and element i what the key makes of i.

Philox (random.cuh) makes the bits, so that they depend neither on the GPU nor on how the work is
cut. Parameters that have no distribution, such as a negative rate, are refused; the host waits for
the GPU to find out.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import cupy
import numpy as np

from minipaddle.device.generator import Generator
from minipaddle.ops.kernels.cpu.random import check_parameters, check_trials, check_weights
from minipaddle.ops.kernels.gpu.fold import PACK_BYTES
from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled, contiguous, empty
from minipaddle.ops.kernels.gpu.layout import Struct
from minipaddle.ops.kernels.gpu.positions import widened
from minipaddle.ops.kernels.gpu.search import search_rows
from minipaddle.ops.kernels.gpu.selection import mask_scale
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array, kernel

_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
_FLOAT64, _BOOL = np.dtype(np.float64), np.dtype(np.bool_)
_BLOCK = 4  # numbers of 32 bits that Philox makes at a time
_LARGEST = np.finfo(np.float64).max


def _key(generator: Generator) -> int:
    """64 random bits, with a sign, as kernels take ints."""
    bits: int = generator.bits.bit_generator.random_raw()
    return bits - (bits >> 63 << 64)


@functools.cache
def _kernel(name: str, dtype: Any, argument: str = "") -> Any:
    """The function ``name<T, argument>`` of random.cu; in both {T} stands for the element type."""
    expression = f"{name}<{{T}}{argument}>".replace("{T}", type_name(dtype))
    return compiled(FOLDER / "random.cu", expression)


def _filled(
    generator: Generator, shape: tuple[int, ...], dtype: Any, functor: str, fields: Any
) -> Array:
    """A new array of what ``functor`` of random.cu makes of random bits; ``fields`` are its own."""
    out = empty(shape, dtype)
    if not out.size:
        return out
    per_block = _BLOCK if out.itemsize < 8 and functor != "Whole" else 2
    threads = -(-out.size // per_block)
    run = _kernel("fill", out.dtype, f", {functor}<{{T}}>")
    run((-(-threads // THREADS),), (THREADS,), (out.size, _key(generator), Struct(fields), out))
    return out


@kernel("gaussian", "gpu")
def gaussian(
    generator: Generator,
    shape: tuple[int, ...],
    mean: float = 0.0,
    std: float = 1.0,
    dtype: Any = None,
) -> Array:
    return _filled(generator, shape, dtype, "Gaussian", np.array([mean, std], _FLOAT64))


@functools.lru_cache(maxsize=1024)
def _range(min: float, max: float, dtype: Any) -> Any:
    """``Uniform`` in random.cu: the end itself is never drawn, also where numbers are rounded."""
    low, top = np.array([min, max], dtype)
    if float(top) >= max:
        top = np.nextafter(top, dtype.type(-math.inf))
    return np.array([min, max - min, float(top if top > low else low)], _FLOAT64)


@kernel("uniform", "gpu")
def uniform(
    generator: Generator,
    shape: tuple[int, ...],
    dtype: Any = None,
    min: float = -1.0,
    max: float = 1.0,
) -> Array:
    dtype = np.dtype(dtype)
    return _filled(generator, shape, dtype, "Uniform", _range(min, max, dtype))


@kernel("randint", "gpu")
def randint(
    generator: Generator, low: int, high: int, shape: tuple[int, ...], dtype: Any = None
) -> Array:
    limits = np.iinfo(dtype)
    for name, out_of_bounds in (("low", low < limits.min), ("high", high > limits.max + 1)):
        if out_of_bounds:
            raise ValueError(f"{name} is out of bounds for {limits.dtype}")
    if low >= high:
        raise ValueError(f"low must be below high; got {low} and {high}")
    return _ints(generator, low, high - low, shape, dtype)


def _ints(generator: Generator, low: int, count: int, shape: tuple[int, ...], dtype: Any) -> Array:
    fields = np.array([low % 2**64, count % 2**64], np.uint64)
    return _filled(generator, shape, dtype, "Whole", fields)


@kernel("randperm", "gpu")
def randperm(generator: Generator, n: int, dtype: Any = None) -> Array:
    if n < 2:
        return cupy.arange(n).astype(dtype)
    # The order of random numbers, of which no two of n are equal but once in 2**65 / n**2.
    return cupy.argsort(_ints(generator, 0, 2**64, (n,), _INT64)).astype(dtype, copy=False)


def _by_element(name: str, function: str, argument: str = "") -> None:
    """Registers a function of random.cu that draws one number for each x."""

    def compute(x: Array, generator: Generator) -> Array:
        x = contiguous(x)
        out = empty(x.shape, x.dtype)
        if out.size:
            run, wrong = _kernel(function, x.dtype, argument), cupy.zeros((1,), _INT32)
            given = (out.size, _key(generator), x, out, wrong)
            run((-(-out.size // THREADS),), (THREADS,), given)
            if wrong.get()[0]:
                check_parameters(name, x.get())
        return out

    kernel(name, "gpu")(compute)


_by_element("bernoulli", "bernoulli")
_by_element("poisson", "by_element", ", Poisson")
_by_element("standard_gamma", "by_element", ", Gamma")


@kernel("binomial", "gpu")
def binomial(count: Array, prob: Array, generator: Generator) -> Array:
    shape = np.broadcast_shapes(count.shape, prob.shape)
    count = contiguous(cupy.broadcast_to(count.astype(_INT64, copy=False), shape))
    prob = contiguous(cupy.broadcast_to(prob, shape))
    out = empty(shape, _INT64)
    if out.size:
        wrong = cupy.zeros((1,), _INT32)
        given = (out.size, _key(generator), count, prob, out, wrong)
        _kernel("binomial", prob.dtype)((-(-out.size // THREADS),), (THREADS,), given)
        if wrong.get()[0]:
            check_trials(count.get(), prob.get())
    return out


@kernel("multinomial", "gpu")
def multinomial(
    x: Array, generator: Generator, num_samples: int = 1, replacement: bool = False
) -> Array:
    weights = cupy.atleast_2d(widened(x)).astype(_FLOAT64, copy=False)
    _check_weights(x, weights, num_samples, replacement)
    shape = (*x.shape[:-1], num_samples)
    if not math.prod(shape):
        return empty(shape, _INT64)
    if replacement:
        # Where a number in [0, total) falls among the running sums; a weight of 0 has no room.
        sums = cupy.cumsum(weights, -1)
        points = uniform(generator, (len(weights), num_samples), _FLOAT64, 0.0, 1.0) * sums[:, -1:]
        last = cupy.argmax(cupy.cumsum((weights > 0).astype(_INT64), -1), -1)
        # A product may round up to the total.
        return cupy.minimum(search_rows(sums, points, True), last[:, None]).reshape(shape)
    # Arrival times of rate x; those that come first are drawn, in their order: Efraimidis and
    # Spirakis (2006), Weighted random sampling with a reservoir.
    arrivals = -cupy.log1p(-uniform(generator, weights.shape, _FLOAT64, 0.0, 1.0))
    order = cupy.argsort(arrivals / weights, -1)
    return order[:, :num_samples].copy().reshape(shape)


def _check_weights(x: Array, weights: Array, num_samples: int, replacement: bool) -> None:
    """Refuses what the CPU refuses: a wrong choice would be an index. The host waits here."""
    fine = x.ndim in (1, 2) and num_samples >= 1
    if fine and weights.size:
        known = (weights >= 0) & (weights <= _LARGEST)
        enough = cupy.count_nonzero(weights, -1) >= (1 if replacement else num_samples)
        fine = bool(known.all() & enough.all())
    if not fine:
        check_weights(x.get(), weights.get(), num_samples, replacement)  # says what is wrong


@kernel("dropout", "gpu")
def dropout(
    x: Array,
    generator: Generator,
    p: float = 0.5,
    axis: tuple[int, ...] | None = None,
    scale: float = 1.0,
) -> tuple[Array, Array]:
    limit = round((1 - p) * 2**32)
    if axis is not None:
        varied = {range(x.ndim)[a] for a in axis}  # refuses what is no axis
        shape = tuple(n if i in varied else 1 for i, n in enumerate(x.shape))
        mask = _filled(generator, shape, _BOOL, "Kept", np.array([limit], np.uint64))
        scaled: Array = mask_scale(x, mask, scale)
        return scaled, mask
    x = contiguous(x)
    out, mask = empty(x.shape, x.dtype), empty(x.shape, _BOOL)
    n = out.size
    if n:
        width = PACK_BYTES // x.itemsize if x.data.ptr % PACK_BYTES == 0 else 1
        threads = n // width + n % width
        given = (n, _key(generator), limit, float(scale), x, out, mask)
        run = _kernel("dropout", x.dtype, f", {width}")
        run((-(-threads // THREADS),), (THREADS,), given)
    return out, mask
