"""What every random op has to do: draws that a seed repeats, of the distribution on record.

The seeds are fixed, so that a check that has passed once passes for ever.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.device.dtype import as_dtype, is_half
from minipaddle.ops.op import OPS, REQUIRED, namespace
from minipaddle.testing.forward_suite import half_unit
from minipaddle.testing.operands import arrays, operands, precise, results, where
from minipaddle.testing.sample import OpSample, Sample

# Of all samples of a right op, one in this many would be refused by the bounds below.
RARE = 1e9

Array = np.ndarray[Any, Any]


def drawn(
    record: OpSample, sample: Sample, dtype: str, place: Place, seed: int | None
) -> tuple[list[Any], Array]:
    """The operands, and what the op's kernel draws after a restart at ``seed`` if there is one."""
    if seed is not None:
        place.generator.manual_seed(seed)
    op, host = OPS[record.op], operands(record, sample, dtype)
    values = dict(zip(op.operands, arrays(host, place), strict=True))
    values.update(sample.attributes, generator=place.generator)
    args = []
    for param in op.params:
        value = values.get(param.name, param.default)
        assert value is not REQUIRED, f"{where(record, sample)} lacks {param.name}"
        args.append(as_dtype(value) if param.type == "DataType" else value)
    out = getattr(namespace(place), record.op)(*args)
    return host, np.asarray(place.backend.to_host(results(out)[0]))


def check_created(record: OpSample, dtype: str, place: Place) -> None:
    """What an op without operands draws has shape and dtype of the reference's result."""
    for sample in record.samples:
        _, out = drawn(record, sample, dtype, place, 7)
        wanted = record.reference(**sample.attributes)
        what = where(record, sample)
        assert out.shape == wanted.shape, f"{what}: shape {out.shape}, not {wanted.shape}"
        assert out.dtype == wanted.dtype, f"{what}: dtype {out.dtype}, not {wanted.dtype}"


def check_seed(record: OpSample, dtype: str, place: Place) -> None:
    """A seed repeats what is drawn; many draws without it, and with another one, differ."""
    for sample in (*record.samples, *record.draws):
        draws = [drawn(record, sample, dtype, place, seed)[1].tobytes() for seed in (7, 7, None, 8)]
        assert draws[0] == draws[1], where(record, sample)
        if sample in record.draws:
            assert len(set(draws)) == 3, where(record, sample)


def check_distribution(record: OpSample, dtype: str, place: Place) -> None:
    """The elements of each of ``draws`` follow the record's distribution, and not one another.

    By the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart, P(sup |F_n - F| > e) is at most
    2 exp(-2 n e^2), whatever F is: that gives the bound on the distribution. A half type's element
    is a number rounded by half a unit, so F is looked at that much lower and higher. The
    correlation of F of neighbours is for independent ones near normal with deviation 1 / sqrt(n),
    of which 6.2 are passed once in RARE.
    """
    assert record.cdf is not None and record.draws, f"{record.op} has no distribution on record"
    for sample in record.draws:
        host, out = drawn(record, sample, dtype, place, 3)
        what, found = where(record, sample, dtype), out.ravel().astype(np.float64)
        given = precise(record, sample, host, np.float64)
        cdf = functools.partial(record.cdf, **sample.attributes)
        values, counts = np.unique(found, return_counts=True)
        unit = half_unit(out.dtype) if is_half(out.dtype) else 0.0
        near = unit * abs(values) + (2.0**-24 if unit else 0.0)
        share = np.cumsum(counts) / found.size
        gaps = cdf(values - near, *given) - share, share - cdf(values + near, *given)
        wrong, error = np.max(gaps), math.sqrt(math.log(2 * RARE) / (2 * found.size))
        assert wrong <= error, f"{what}: distribution off by {wrong}, allowed {error}"
        spread = cdf(found, *given)
        tie = np.corrcoef(spread[1:], spread[:-1])[0, 1]
        assert abs(tie) <= 6.2 / math.sqrt(found.size), f"{what}: neighbours correlate by {tie}"
