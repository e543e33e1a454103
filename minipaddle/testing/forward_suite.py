"""What every op has to do forward: values, dtypes, devices, the form in place, errors.

A check takes the op's record and goes through its samples; it raises AssertionError where the op
does not do what the record says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.device.dtype import as_dtype, is_half
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import to_tensor
from minipaddle.ops.op import OPS, namespace
from minipaddle.testing.operands import (
    DTYPES,
    array_paths,
    arrays,
    at,
    call,
    dtypes,
    inputs,
    operands,
    precise,
    refused,
    replaced,
    results,
    strided,
    tensor,
    tensors,
    where,
)
from minipaddle.testing.sample import OpSample, Sample


def expected(
    record: OpSample, sample: Sample, host: list[Any], dtype: Any
) -> tuple[list[Any], list[Any]]:
    """The reference's results and their dtypes; exact ones where they must be met exactly."""
    dtype = as_dtype(dtype)
    precision: Any = np.bool_ if dtype.kind == "b" else np.int64
    if dtype.kind not in "biu":
        precision = np.float64 if record.roundings is None else np.longdouble
    right = record.reference(*precise(record, sample, host, precision), **sample.attributes)
    wanted, found = record.result_dtype(dtype, sample.attributes), map(np.asarray, results(right))
    if isinstance(wanted, tuple):
        return list(found), list(wanted)
    arrays = list(found)
    further = isinstance(right, tuple)
    return arrays, [
        one.dtype if further and i and one.dtype.kind in "biu" else wanted
        for i, one in enumerate(arrays)
    ]


def tolerance(
    record: OpSample, sample: Sample, host: list[Any], right: list[Any], number: int, dtype: Any
) -> Any:
    """How far rounding may take result ``number`` from the reference, element by element."""
    args = precise(record, sample, host, np.longdouble)
    size = abs(right[number])
    if record.magnitude is not None:
        size = results(record.magnitude(*args, **sample.attributes))[number]
    half = is_half(dtype)
    eps = np.finfo(np.float32 if half else dtype).eps
    limit = (record.roundings or _exact)(*args) * eps * size
    if half:  # computed in float32 and rounded once: by half a unit of at most eps times the value
        limit = limit + half_unit(dtype) * abs(right[number]) + 2.0**-24
    return limit


def _exact(*args: Any) -> int:
    return 0


def half_unit(dtype: Any) -> float:
    """Half a unit in the last place of a half type's number 1."""
    return 2.0**-11 if dtype == np.float16 else 2.0**-8


def compare(
    record: OpSample, sample: Sample, host: list[Any], given: Any, out: Any, what: str
) -> None:
    """Fails unless ``out`` is the reference's result for operands of dtype ``given``."""
    right, wanted = expected(record, sample, host, given)
    found = results(out)
    assert len(found) == len(right), f"{what}: {len(found)} results, not {len(right)}"
    for i, (one, value, dtype) in enumerate(zip(found, right, wanted, strict=True)):
        text = f"{what}, result {i}" if len(right) > 1 else what
        got = one.numpy()
        assert got.dtype == dtype, f"{text}: dtype {got.dtype}, not {dtype}"
        assert got.shape == value.shape, f"{text}: shape {got.shape}, not {value.shape}"
        if record.roundings is None or dtype.kind in "biu":
            np.testing.assert_array_equal(got, value.astype(dtype), text)
            continue
        # An int operand is exact; of two floats the narrower one is computed in or rounded to.
        pair = [as_dtype(given), dtype]
        coarser = dtype if pair[0].kind in "biu" else min(pair, key=lambda one: one.itemsize)
        wrong = abs(got.astype(np.longdouble) - value)
        limit = tolerance(record, sample, host, right, i, coarser)
        assert (wrong <= limit).all(), f"{text}: wrong by {wrong}, allowed {limit}"


def check_forward(record: OpSample, dtype: str, place: Place) -> None:
    """The reference's values in the right dtype, on the place, and operands as they were."""
    kind = type(place.backend.from_host(np.zeros(1), place.index))
    for sample in record.samples:
        host = operands(record, sample, dtype)
        args = tensors(host, place)
        out = call(record, args, sample)
        what = where(record, sample, dtype, place)
        for one in results(out):
            assert one.place is place and one.stop_gradient, what
            assert type(one.data) is kind, f"{what}: {type(one.data)}"
        compare(record, sample, host, dtype, out, what)
        for i, (value, arg) in enumerate(zip(_flat(host), _flat(args), strict=True)):
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(arg.numpy(), value, f"{what}: changed operand {i}")


def check_gaps(record: OpSample, dtype: str, place: Place) -> None:
    """The same values from operands that are views with gaps."""
    for sample in record.samples:
        host = operands(record, sample, dtype)
        out = call(record, [strided(value, place) for value in host], sample)
        compare(record, sample, host, dtype, out, where(record, sample, dtype, place))


def check_same_bits(record: OpSample, dtype: str, places: list[Place]) -> None:
    """Every place gives the bits of the first."""
    for sample in record.samples:
        host = operands(record, sample, dtype)
        outs = [results(call(record, tensors(host, place), sample)) for place in places]
        for others in outs[1:]:
            for one, other in zip(outs[0], others, strict=True):
                first, second = one.numpy(), other.numpy()
                assert second.dtype == first.dtype and second.shape == first.shape
                assert second.tobytes() == first.tobytes(), where(record, sample, dtype)


def check_inplace(record: OpSample, dtype: str, place: Place) -> None:
    """The form ``name_`` writes the plain form's bits, or refuses another shape or dtype."""
    name = f"{record.op}_"
    for sample in record.samples:
        host = operands(record, sample, dtype)
        if (0,) not in inputs(record, sample):
            continue
        args = tensors(host, place)
        out = call(record, args, sample)
        what = where(record, sample, dtype)
        if out.shape != args[0].shape or out.dtype != args[0].dtype:
            with refused(ValueError, (name,), what):
                FUNCTIONS[name](*args, **sample.attributes)
            np.testing.assert_array_equal(args[0].numpy(), host[0], what)
            assert args[0].inplace_version == 0, what
            continue
        for x in (args[0], strided(host[0], place)):
            written = FUNCTIONS[name](x, *args[1:], **sample.attributes)
            assert written is x and x.inplace_version == 1, what
            assert x.numpy().tobytes() == out.numpy().tobytes(), what
            assert x.dtype == out.dtype, what


def check_mixed_places(record: OpSample, first: Place, other: Place) -> None:
    """Operands on two places are refused, by a text that names both and the operands."""
    sample = next(s for s in record.samples if len(array_paths(s)) > 1)
    names, host = OPS[record.op].operands, operands(record, sample)
    for path in array_paths(sample)[1:]:
        args = replaced(tensors(host, first), [path], [tensor(at(host, path), other)])
        words = (record.op, str(first), str(other), names[0], names[path[0]])
        with refused(ValueError, words, where(record, sample, path)):
            call(record, args, sample)


def check_error(record: OpSample, number: int, function: Callable[..., Any], place: Place) -> None:
    """What error sample ``number`` calls is refused with the words that it wants."""

    def make(shape: tuple[int, ...], dtype: str = "float32") -> Any:
        return to_tensor(np.ones(shape, as_dtype(dtype)), place=place)

    error = record.errors[number]
    with refused(error.error, error.words, f"{record.op}, error sample {error.name!r}"):
        error.call(function, make)


def check_refused_dtypes(record: OpSample, place: Place) -> None:
    """A dtype that the op is not declared for is refused by a text that names both."""
    sample = record.samples[0]
    for dtype in sorted(set(DTYPES["any"]) - set(dtypes(OPS[record.op]))):
        args = tensors(operands(record, sample, dtype), place)
        with refused(TypeError, (record.op, dtype), where(record, sample, dtype)):
            call(record, args, sample)


def check_view(record: OpSample, place: Place) -> None:
    """A view shares the version, and where the host can tell, the memory of what it views."""
    for sample in record.samples:
        args = tensors(operands(record, sample), place)
        out = call(record, args, sample)
        for one in results(out):
            if one.size:  # an empty result shares nothing
                assert one.version is args[0].version, where(record, sample)
            if one.size and isinstance(one.data, np.ndarray):
                assert np.shares_memory(one.data, args[0].data), where(record, sample)


def check_writing(record: OpSample, dtype: str, place: Place) -> None:
    """An op that only writes leaves what the reference says in every array operand."""
    for sample in record.samples:
        host = operands(record, sample, dtype)
        given = arrays(host, place)
        getattr(namespace(place), record.op)(*given, *sample.attributes.values())
        exact = precise(record, sample, host, np.longdouble)
        found, right = _flat(given), _flat(record.reference(*exact, **sample.attributes))
        for one, before, wanted in zip(found, _flat(host), right, strict=True):
            if not isinstance(wanted, np.ndarray):
                continue
            got = place.backend.to_host(one)
            assert got.dtype == before.dtype, where(record, sample)
            # The update is of the size of the learning rate, the parameter of order 1.
            half = is_half(as_dtype(dtype))
            eps = 2 * half_unit(dtype) if half else float(np.finfo(dtype).eps)
            limit = eps * (record.roundings(*host) if record.roundings else 1) * 4
            np.testing.assert_allclose(
                got.astype(np.longdouble), wanted, 0, limit, err_msg=where(record, sample, dtype)
            )


def _flat(items: Any) -> Iterator[Any]:
    for item in items:
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item
