"""Every op against its record: values, dtypes, devices, in-place form, errors, completeness."""

import inspect

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.device.dtype import as_dtype, is_half
from minipaddle.imperative import functions
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.op import COMPOSITE, OPS, namespace
from tests.ops.operands import (
    DTYPES,
    FUNCTION_OPS,
    arrays,
    call,
    dtypes,
    operands,
    precise,
    strided,
    tensor,
    where,
)
from tests.ops.samples import RECORDS

INPLACE = [name for name in FUNCTION_OPS if OPS[name].inplace]
WRITING = [name for name in RECORDS if name.endswith("_")]
RANDOM = ["gaussian", "uniform"]
SEVERAL = [name for name in FUNCTION_OPS if len(OPS[name].operands) > 1]
OP_DTYPES = [(op, dtype) for op in FUNCTION_OPS for dtype in dtypes(OPS[op])]


def expected(record, host, sample):
    """The reference's result: in the result's dtype where it must be met exactly."""
    dtype = next(value.dtype for value in host if isinstance(value, np.ndarray))
    wanted = record.result_dtype(dtype, sample.attributes)
    if dtype.kind in "biu":
        return np.asarray(record.reference(*precise(host, np.int64), **sample.attributes)), wanted
    precision = np.float64 if record.roundings is None else np.longdouble
    right = record.reference(*precise(host, precision), **sample.attributes)
    return np.asarray(right), wanted


def tolerance(record, host, sample, right, dtype):
    """How far rounding may take a result from the reference, element by element."""
    args = precise(host, np.longdouble)
    size = abs(right)
    if record.magnitude is not None:
        size = record.magnitude(*args, **sample.attributes)
    half = is_half(dtype)
    eps = np.finfo(np.float32 if half else dtype).eps
    limit = record.roundings(*args) * eps * size
    if half:  # computed in float32 and rounded once: by half a unit of at most eps times the value
        limit = limit + half_unit(dtype) * abs(right) + 2.0**-24
    return limit


def half_unit(dtype):
    return 2.0**-11 if dtype == np.float16 else 2.0**-8


def check(record, sample, host, out, what):
    """Fails unless ``out``, on the host, is the reference's result."""
    right, dtype = expected(record, host, sample)
    assert out.dtype == dtype, f"{what}: dtype {out.dtype}"
    assert out.shape == right.shape, f"{what}: shape {out.shape}, not {right.shape}"
    if record.roundings is None or dtype.kind in "biu":
        np.testing.assert_array_equal(out, right.astype(dtype), what)
        return
    given = next(value.dtype for value in host if isinstance(value, np.ndarray))
    # An int operand is exact; of two floats the narrower one is computed in or rounded to.
    coarser = dtype if given.kind in "biu" else min(given, dtype, key=lambda one: one.itemsize)
    wrong = abs(out.astype(np.longdouble) - right)
    limit = tolerance(record, host, sample, right, coarser)
    assert (wrong <= limit).all(), f"{what}: wrong by {wrong}, allowed {limit}"


@pytest.mark.parametrize(("op", "dtype"), OP_DTYPES)
def test_forward(op, dtype, place):
    record = RECORDS[op]
    for sample in record.samples:
        host = operands(sample, dtype)
        args = [tensor(value, place) for value in host]
        out = call(op, args, sample)
        what = where(record, sample, dtype, place)
        assert out.place is place and out.stop_gradient, what
        if place.backend.name == "cpu":
            assert type(out.data) is np.ndarray, f"{what}: {type(out.data)}"
        check(record, sample, host, out.numpy(), what)
        for i in arrays(sample):
            np.testing.assert_array_equal(args[i].numpy(), host[i], f"{what}: changed operand {i}")


@pytest.mark.parametrize(("op", "dtype"), OP_DTYPES)
def test_operands_with_gaps_in_memory(op, dtype, place):
    record = RECORDS[op]
    for sample in record.samples:
        host = operands(sample, dtype)
        out = call(op, [strided(value, place) for value in host], sample)
        check(record, sample, host, out.numpy(), where(record, sample, dtype, place))


@pytest.mark.parametrize(("op", "dtype"), OP_DTYPES)
def test_every_device_gives_the_bits_of_the_cpu(op, dtype, xpu):
    places = [get_place("cpu"), get_place("xpu:0"), get_place("xpu:7")]
    for sample in RECORDS[op].samples:
        host = operands(sample, dtype)
        outs = [call(op, [tensor(v, one) for v in host], sample).numpy() for one in places]
        for out in outs[1:]:
            assert out.dtype == outs[0].dtype and out.shape == outs[0].shape
            assert out.tobytes() == outs[0].tobytes(), where(RECORDS[op], sample, dtype)


@pytest.mark.parametrize(("op", "dtype"), [(op, d) for op, d in OP_DTYPES if op in INPLACE])
def test_in_place_form(op, dtype, place):
    for sample in RECORDS[op].samples:
        host = operands(sample, dtype)
        args = [tensor(value, place) for value in host]
        out = call(op, args, sample)
        what = where(RECORDS[op], sample, dtype)
        if 0 not in arrays(sample):
            continue
        if out.shape != args[0].shape or out.dtype != args[0].dtype:
            with pytest.raises(ValueError, match=f"{op}_"):
                FUNCTIONS[f"{op}_"](*args, **sample.attributes)
            np.testing.assert_array_equal(args[0].numpy(), host[0], what)
            assert args[0].inplace_version == 0
            continue
        for x in (args[0], strided(host[0], place)):
            written = FUNCTIONS[f"{op}_"](x, *args[1:], **sample.attributes)
            assert written is x and x.inplace_version == 1, what
            assert x.numpy().tobytes() == out.numpy().tobytes(), what
            assert x.dtype == out.dtype


@pytest.mark.parametrize("op", SEVERAL)
def test_operands_on_different_places_are_refused(op, xpu):
    sample = next(s for s in RECORDS[op].samples if len(arrays(s)) > 1)
    for at in arrays(sample)[1:]:
        for places in (("cpu", "xpu:1"), ("xpu:1", "xpu:2")):
            args = [tensor(v, get_place(places[0])) for v in operands(sample)]
            args[at] = tensor(operands(sample)[at], get_place(places[1]))
            with pytest.raises(ValueError) as caught:
                call(op, args, sample)
            names = [OPS[op].operands[i] for i in (0, at)]
            for word in (op, *places, *names):
                assert word in str(caught.value)


ERRORS = [(op, error) for op, record in RECORDS.items() for error in record.errors]


@pytest.mark.parametrize(
    ("op", "error"), ERRORS, ids=[f"{op}-{error.name.replace(' ', '_')}" for op, error in ERRORS]
)
def test_what_an_op_refuses(op, error, place):
    def make(shape, dtype="float32"):
        return to_tensor(np.ones(shape, as_dtype(dtype)), place=place)

    function = FUNCTIONS.get(op) or getattr(functions.creation, op)
    with pytest.raises(error.error) as caught:
        error.call(function, make)
    assert type(caught.value) is error.error
    missing = [word for word in error.words if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"


@pytest.mark.parametrize("op", FUNCTION_OPS)
def test_dtypes_that_an_op_is_not_declared_for(op, place):
    refused = set(DTYPES["any"]) - set(dtypes(OPS[op]))
    sample = RECORDS[op].samples[0]
    for dtype in sorted(refused):
        with pytest.raises(TypeError) as caught:
            call(op, [tensor(value, place) for value in operands(sample, dtype)], sample)
        assert op in str(caught.value) and dtype in str(caught.value)


@pytest.mark.parametrize("op", WRITING)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_ops_that_only_write(op, dtype, place):
    record, put = RECORDS[op], place.backend.from_host
    for sample in record.samples:
        host = operands(sample, dtype)
        given = [
            [put(item, 0) for item in value] if isinstance(value, list)
            else put(value, 0) if isinstance(value, np.ndarray)
            else value
            for value in host
        ]  # fmt: skip
        getattr(namespace(place), op)(*given, *sample.attributes.values())
        found = _flattened(given)
        right = _flattened(record.reference(*precise(host, np.longdouble), **sample.attributes))
        for one, wanted in zip(found, right, strict=True):
            if not isinstance(wanted, np.ndarray):
                continue
            got = place.backend.to_host(one)
            assert got.dtype == as_dtype(dtype)
            # The update is of the size of the learning rate, the parameter of order 1.
            eps = 2 * half_unit(got.dtype) if is_half(got.dtype) else np.finfo(got.dtype).eps
            limit = eps * (record.roundings(*host) if record.roundings else 1) * 4
            np.testing.assert_allclose(got.astype(np.longdouble), wanted, rtol=0, atol=limit)


def _flattened(items):
    for item in items:
        if isinstance(item, list):
            yield from _flattened(item)
        else:
            yield item


def test_full(place):
    for sample in RECORDS["full"].samples:
        out = functions.creation.full(**sample.attributes)
        right = RECORDS["full"].reference(**sample.attributes)
        assert out.place is place and out.dtype == right.dtype
        np.testing.assert_array_equal(out.numpy(), right)


@pytest.mark.parametrize("op", RANDOM)
def test_random_ops_repeat_by_seed_and_differ_without(op, place):
    run = getattr(namespace(place), op)
    for sample in RECORDS[op].samples:
        given = dict(sample.attributes, dtype=as_dtype(sample.attributes["dtype"]))
        given["generator"] = place.generator
        args = [given[param.name] for param in OPS[op].params]
        drawn = []
        for seed in (7, 7, None, 8):
            if seed is not None:
                place.generator.manual_seed(seed)
            drawn.append(place.backend.to_host(run(*args)))
        assert all(d.shape == given["shape"] and d.dtype == given["dtype"] for d in drawn)
        first, again, other, reseeded = (d.tobytes() for d in drawn)
        assert first == again
        if drawn[0].size > 1:
            assert len({first, other, reseeded}) == 3


def test_random_ops_have_their_moments(place):
    place.generator.manual_seed(3)
    for op in RANDOM:
        for sample in RECORDS[op].samples:
            attributes = dict(sample.attributes, dtype=as_dtype(sample.attributes["dtype"]))
            if attributes["shape"] != (70_000,):
                continue
            attributes["generator"] = place.generator
            args = [attributes[param.name] for param in OPS[op].params]
            drawn = getattr(namespace(place), op)(*args)
            sampled = place.backend.to_host(drawn).astype(np.float64)
            if op == "gaussian":
                mean, deviation = 3.0, 0.5
            else:
                mean, deviation = 3.5, 3.0 / np.sqrt(12)
                assert sampled.min() >= 2.0 and sampled.max() <= 5.0
            # Five standard errors of the mean, and of the deviation of 70,000 draws; a half type's
            # own steps (2**-7 of values below 8) average out to far less.
            error = deviation / np.sqrt(sampled.size)
            assert abs(sampled.mean() - mean) < 5 * error + 2.0**-11
            assert abs(sampled.std() - deviation) < 5 * error + 2.0**-11


def test_a_view_shares_memory_and_version():
    for name in FUNCTION_OPS:
        if OPS[name].view:
            for sample in RECORDS[name].samples:
                (x,) = (tensor(value, get_place("cpu")) for value in operands(sample))
                out = call(name, [x], sample)
                assert out.version is x.version
                if out.size:
                    assert np.shares_memory(out.data, x.data), where(RECORDS[name], sample)


@pytest.mark.parametrize("op", OPS)
def test_completeness(op):
    """An op comes with its record, a CPU kernel, its documentation and its gradient."""
    declared = OPS[op]
    assert op in RECORDS, f"tests/ops/samples has no record of {op}"
    assert RECORDS[op].samples, f"the record of {op} has no sample"
    kinds = declared.kernels.registered
    assert "cpu" in kinds or COMPOSITE in kinds, f"{op} has no kernel for the CPU"
    if declared.backward is not None:
        assert declared.backward.formula is not None, f"{declared.backward.name} has no formula"
    names = [op, *([f"{op}_"] if declared.inplace else [])]
    for path in declared.api:
        name = path.rpartition(".")[2]
        function = FUNCTIONS.get(name) or getattr(Tensor, name, None)
        function = function or getattr(functions.creation, name, None)
        assert function is not None, f"{op}: nothing is called {path}"
    for name in names if op in FUNCTIONS else []:
        assert inspect.getdoc(FUNCTIONS[name]), f"{name} has no docstring"
    public = [path for path in declared.api if not path.startswith("Tensor.")]
    if public:
        doc = inspect.getdoc(FUNCTIONS.get(op) or getattr(functions.creation, public[0])) or ""
        for part in ("Args:", "Returns:", "Example:", ">>> "):
            assert part in doc, f"the docstring of {op} has no {part}"


def test_no_record_or_kernel_without_a_declaration():
    assert sorted(RECORDS) == sorted(OPS)
    assert [name for name in FUNCTIONS if name.removesuffix("_") not in OPS] == []
    for name, op in OPS.items():
        assert op.inplace or not op.inplace_kernels.registered, name


@pytest.mark.parametrize("op", FUNCTION_OPS)
def test_a_record_covers_what_breaks(op):
    """0-d, empty and, for several operands, broadcasting are in every record."""
    shapes = [
        [value.shape for value in sample.operands if isinstance(value, np.ndarray)]
        for sample in RECORDS[op].samples
    ]
    assert any(0 in shape for several in shapes for shape in several), f"{op}: no empty sample"
    if op not in ("matmul", "linear"):
        assert any(() in several for several in shapes), f"{op}: no 0-d sample"
    if op in SEVERAL:
        ranks = {tuple(map(len, several)) for several in shapes if len(several) > 1}
        assert any(one[0] < one[1] for one in ranks), f"{op}: no sample with x of lower rank"
        assert any(one[0] > one[1] for one in ranks), f"{op}: no sample with x of higher rank"
