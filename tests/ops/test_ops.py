"""Every op against its record: values, dtypes, devices, in-place form, errors, completeness."""

import inspect

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.imperative import functions
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import COMPOSITE, OPS
from minipaddle.testing import forward_suite, random_suite
from minipaddle.testing.operands import FLOATS, at, dtypes, inputs, is_random
from tests.ops.operands import FUNCTION_OPS
from tests.ops.samples import RECORDS

INPLACE = [name for name in FUNCTION_OPS if OPS[name].inplace]
WRITING = [name for name in RECORDS if name.endswith("_")]
RANDOM = [name for name in RECORDS if is_random(OPS[name])]
SEVERAL = [name for name in FUNCTION_OPS if len(OPS[name].operands) > 1]
RANDOM_DTYPES = [  # without an operand the dtype is an attribute, and the record has all
    (op, dtype)
    for op in RANDOM
    for dtype in (dtypes(OPS[op]) if op in FUNCTION_OPS else ["float32"])
]
OP_DTYPES = [(op, dtype) for op in FUNCTION_OPS for dtype in dtypes(OPS[op])]


@pytest.mark.parametrize(("op", "dtype"), OP_DTYPES)
def test_forward(op, dtype, place):
    forward_suite.check_forward(RECORDS[op], dtype, place)


@pytest.mark.parametrize(("op", "dtype"), OP_DTYPES)
def test_operands_with_gaps_in_memory(op, dtype, place):
    forward_suite.check_gaps(RECORDS[op], dtype, place)


@pytest.mark.parametrize(("op", "dtype"), OP_DTYPES)
def test_every_device_gives_the_bits_of_the_cpu(op, dtype, xpu):
    places = [get_place(name) for name in ("cpu", "xpu:0", "xpu:7")]
    forward_suite.check_same_bits(RECORDS[op], dtype, places)


@pytest.mark.parametrize(("op", "dtype"), [(op, d) for op, d in OP_DTYPES if op in INPLACE])
def test_in_place_form(op, dtype, place):
    forward_suite.check_inplace(RECORDS[op], dtype, place)


@pytest.mark.parametrize("op", SEVERAL)
def test_operands_on_different_places_are_refused(op, xpu):
    for one, other in (("cpu", "xpu:1"), ("xpu:1", "xpu:2")):
        forward_suite.check_mixed_places(RECORDS[op], get_place(one), get_place(other))


ERRORS = [
    pytest.param(op, i, id=f"{op}-{error.name.replace(' ', '_')}")
    for op, record in RECORDS.items()
    for i, error in enumerate(record.errors)
]


# A GPU shows a wrong value as NaN, or leaves the element out: to raise an error, the host would
# have to wait for every such op.
SHOWN_AS_NAN = {
    ("bernoulli_loss", "no probability"),
    ("embedding_lookup", "id"),
    ("embedding_lookup", "negative id"),
    ("hard_cross_entropy", "class"),
    ("put_class", "class"),
    ("scatter_rows", "id"),
    ("take_class", "class"),
}


@pytest.mark.parametrize(("op", "number"), ERRORS)
def test_what_an_op_refuses(op, number, place):
    if str(place) == "gpu:0" and (op, RECORDS[op].errors[number].name) in SHOWN_AS_NAN:
        pytest.skip("a GPU does not wait to look at values")
    function = FUNCTIONS.get(op) or getattr(functions.creation, op)
    forward_suite.check_error(RECORDS[op], number, function, place)


@pytest.mark.parametrize("op", FUNCTION_OPS)
def test_dtypes_that_an_op_is_not_declared_for(op, place):
    forward_suite.check_refused_dtypes(RECORDS[op], place)


@pytest.mark.parametrize("op", WRITING)
@pytest.mark.parametrize("dtype", FLOATS)
def test_ops_that_only_write(op, dtype, place):
    forward_suite.check_writing(RECORDS[op], dtype, place)


def test_full(place):
    for sample in RECORDS["full"].samples:
        out = functions.creation.full(**sample.attributes)
        right = RECORDS["full"].reference(**sample.attributes)
        assert out.place is place and out.dtype == right.dtype
        np.testing.assert_array_equal(out.numpy(), right)


@pytest.mark.parametrize(("op", "dtype"), RANDOM_DTYPES)
def test_random_ops_repeat_by_seed_and_differ_without(op, dtype, place):
    random_suite.check_seed(RECORDS[op], dtype, place)


@pytest.mark.parametrize(("op", "dtype"), RANDOM_DTYPES)
def test_random_ops_have_their_distribution(op, dtype, place):
    random_suite.check_distribution(RECORDS[op], dtype, place)


@pytest.mark.parametrize("op", [name for name in RANDOM if name not in FUNCTION_OPS])
def test_random_ops_without_operands_make_what_is_asked_for(op, place):
    random_suite.check_created(RECORDS[op], "float32", place)


@pytest.mark.parametrize("op", [name for name in FUNCTION_OPS if OPS[name].view])
def test_a_view_shares_memory_and_version(op, place):
    forward_suite.check_view(RECORDS[op], place)


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
        [at(sample.operands, path).shape for path in inputs(RECORDS[op], sample)]
        for sample in RECORDS[op].samples
    ]
    assert any(0 in shape for several in shapes for shape in several), f"{op}: no empty sample"
    if RECORDS[op].takes_0d:
        assert any(() in several for several in shapes), f"{op}: no 0-d sample"
    if len(OPS[op].inputs) > 1:
        ranks = {tuple(map(len, several)) for several in shapes if len(several) > 1}
        assert any(one[0] < one[1] for one in ranks), f"{op}: no sample with x of lower rank"
        assert any(one[0] > one[1] for one in ranks), f"{op}: no sample with x of higher rank"
