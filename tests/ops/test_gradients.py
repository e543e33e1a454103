"""Gradients of every op: first and second order, fused and by formula, shape and dtype."""

import itertools

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.imperative.autograd import no_grad
from minipaddle.imperative.engine import fit_gradient
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS, namespace
from tests.ops.derivative import check_first_order, check_second_order
from tests.ops.operands import (
    DIFFERENTIABLE,
    FLOATS,
    arrays,
    call,
    operands,
    strided,
    tensor,
    where,
)
from tests.ops.samples import RECORDS
from tests.ops.samples.sample import values

FUSED = [name for name in DIFFERENTIABLE if OPS[name].backward.fused]
INPLACE = [name for name in DIFFERENTIABLE if OPS[name].inplace]


def smooth(op):
    return [sample for sample in RECORDS[op].samples if sample.gradient]


@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_first_order(op, place):
    for sample in smooth(op):
        check_first_order(op, sample, place)


@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_second_order(op, place):
    for sample in smooth(op):
        check_second_order(op, sample, place)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_a_gradient_has_the_shape_and_dtype_of_its_input(op, dtype, place):
    for sample in RECORDS[op].samples:
        args = [tensor(value, place, stop_gradient=False) for value in operands(sample, dtype)]
        inputs = [args[i] for i in arrays(sample)]
        out = call(op, args, sample)
        if out.stop_gradient:
            assert out.dtype.name not in FLOATS, where(RECORDS[op], sample)
            continue
        out.backward()
        for x in inputs:
            assert x.grad.shape == x.shape, where(RECORDS[op], sample, dtype)
            assert x.grad.dtype == x.dtype, where(RECORDS[op], sample, dtype)
            assert x.grad.place is place
            assert np.isfinite(x.grad.numpy().astype(np.float64)).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_a_cleared_gradient_is_overwritten_and_any_other_added_to(op, dtype, place):
    """The memory of a cleared gradient is where fused kernels write the next one to."""
    for sample in RECORDS[op].samples:
        args = [tensor(value, place, stop_gradient=False) for value in operands(sample, dtype)]
        inputs = [args[i] for i in arrays(sample)]
        if call(op, args, sample).stop_gradient:
            continue
        seen = []
        for clear in (True, True, False):
            call(op, args, sample).backward()
            seen.append([x.grad.numpy() for x in inputs])
            if clear:
                for x in inputs:
                    x.clear_grad()
                if len(seen) == 1:  # one that nobody has looked at since keeps its memory
                    assert all(x.grad.numpy().any() == 0 for x in inputs)
                    for x in inputs:
                        x.clear_grad()
        what = where(RECORDS[op], sample, dtype)
        for first, again, third in zip(*seen, strict=True):
            np.testing.assert_array_equal(first, again, what)
            np.testing.assert_array_equal(first, third, what)
        call(op, args, sample).backward()
        for first, x in zip(seen[0], inputs, strict=True):
            np.testing.assert_array_equal(x.grad.numpy(), first + first, what)


@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_each_input_alone_gets_the_gradient_it_gets_with_the_others(op, place):
    for sample in smooth(op):
        host = operands(sample)
        every = [tensor(value, place, stop_gradient=False) for value in host]
        call(op, every, sample).backward()
        for i in arrays(sample):
            alone = [tensor(value, place, stop_gradient=j != i) for j, value in enumerate(host)]
            call(op, alone, sample).backward()
            np.testing.assert_array_equal(
                alone[i].grad.numpy(), every[i].grad.numpy(), where(RECORDS[op], sample, i)
            )
            assert all(alone[j].grad is None for j in arrays(sample) if j != i)


@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_gradients_pass_through_views_with_gaps(op, place):
    for sample in smooth(op):
        host = operands(sample)
        plain = [tensor(value, place, stop_gradient=False) for value in host]
        gaps = [strided(value, place) for value in host]
        for i in arrays(sample):
            gaps[i].stop_gradient = False
        call(op, plain, sample).backward()
        call(op, gaps, sample).backward()
        for i in arrays(sample):
            np.testing.assert_allclose(
                gaps[i].grad.numpy(),
                plain[i].grad.numpy(),
                rtol=1e-13,
                atol=1e-13,
                err_msg=where(RECORDS[op], sample, i),
            )


def _saves_x_for(op, i):
    """Whether a gradient for operand ``i`` needs the values that the in-place form overwrites."""
    names = OPS[op].operands
    return any(
        saved.name == names[0] and not saved.shape_only and saved.only_for in (None, names[i])
        for saved in OPS[op].backward.saved
    )


@pytest.mark.parametrize("op", INPLACE)
def test_the_in_place_form_has_the_gradient_of_the_plain_one(op, place):
    for sample in smooth(op):
        if 0 not in arrays(sample):
            continue
        for i in arrays(sample):
            _check_inplace_gradient(op, sample, i, place)


def _check_inplace_gradient(op, sample, i, place):
    host = operands(sample)
    plain = [tensor(value, place, stop_gradient=j != i) for j, value in enumerate(host)]
    out = call(op, plain, sample)
    if out.shape != plain[0].shape:
        return
    seed = tensor(values(tuple(out.shape), 93), place)
    out.backward(seed)
    leaves = [tensor(value, place, stop_gradient=j != i) for j, value in enumerate(host)]
    written = FUNCTIONS["assign"](leaves[0])
    out = FUNCTIONS[f"{op}_"](written, *leaves[1:], **sample.attributes)
    assert out is written
    if _saves_x_for(op, i):
        with pytest.raises(RuntimeError, match=f"gradient of {op} needs was changed in place"):
            out.backward(seed)
        return
    out.backward(seed)
    np.testing.assert_array_equal(
        leaves[i].grad.numpy(), plain[i].grad.numpy(), where(RECORDS[op], sample, i)
    )


def _fitted(gradient, like, space):
    """What the engine makes of a gradient, as a host array."""

    class Edge:
        shape, dtype = like.shape, like.dtype

    return np.array(fit_gradient(space, gradient, gradient.shape, Edge))


def _fused_and_formula(op, sample, wanted, into):
    """Both gradients of a call in which the inputs of ``wanted`` want one."""
    host = operands(sample)
    args = [
        tensor(value, get_place("cpu"), stop_gradient=not want)
        for value, want in zip(host, wanted, strict=True)
    ]
    node = call(op, args, sample).edge
    seed = values(node.shape, 94)
    rest = (*node.saved, seed, *node.attributes)
    before = [np.array(value) if isinstance(value, np.ndarray) else value for value in rest]
    space = namespace(node.place)
    fused = OPS[op].backward.table[node.place]
    assert fused.fused
    found = list(fused.function(*rest, wanted, into))
    for old, new in zip(before, rest, strict=True):
        if isinstance(old, np.ndarray):
            np.testing.assert_array_equal(new, old)
    right = OPS[op].backward.formula(space, *rest)
    return found, right, host, space, seed.size


@pytest.mark.parametrize("op", FUSED)
@pytest.mark.parametrize("with_into", [False, True], ids=["new arrays", "into"])
def test_a_fused_gradient_is_its_formula(op, with_into):
    for sample in smooth(op):
        positions = arrays(sample)
        for bits in itertools.product((False, True), repeat=len(positions)):
            if not any(bits):
                continue
            wanted = [False] * len(sample.operands)
            for position, bit in zip(positions, bits, strict=True):
                wanted[position] = bit
            _check_fused(op, sample, tuple(wanted), with_into)


def _check_fused(op, sample, wanted, with_into):
    into = None
    if with_into:
        into = tuple(
            np.full(value.shape, np.nan) if want else None
            for value, want in zip(sample.operands, wanted, strict=True)
        )
    found, right, host, space, terms = _fused_and_formula(op, sample, wanted, into)
    assert len(found) == len(wanted)
    for i, want in enumerate(wanted):
        if not want:
            assert found[i] is None or not with_into or found[i] is not into[i]
            continue
        what = where(RECORDS[op], sample, "wanted", wanted, "gradient", i)
        assert type(found[i]) is np.ndarray, what
        got, formula = _fitted(found[i], host[i], space), _fitted(right[i], host[i], space)
        # Two orders of summing at most ``terms`` products of numbers of order 1.
        size = 8 * (1 + terms) * np.finfo(np.float64).eps * max(1, abs(formula).max(initial=0))
        np.testing.assert_allclose(got, formula, rtol=0, atol=size, err_msg=what)
        if with_into and found[i].shape == into[i].shape and found[i].flags.c_contiguous:
            same = found[i] is into[i] or not np.shares_memory(found[i], into[i])
            assert same, f"{what}: what is returned must be the array that was written"


def test_at_the_kink_relu_and_sign_have_the_gradient_zero(place):
    for op, right in (("relu", [0.0, 0.0, 0.0, 1.0, np.nan]), ("sign", [0.0, 0.0, 0.0, 0.0, 0.0])):
        x = tensor(np.array([-1.0, -0.0, 0.0, 1.0, np.nan]), place, stop_gradient=False)
        FUNCTIONS[op](x).backward()
        np.testing.assert_array_equal(x.grad.numpy(), right, op)


@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_nothing_is_recorded_without_need(op, place):
    sample = RECORDS[op].samples[0]
    host = operands(sample)
    assert call(op, [tensor(value, place) for value in host], sample).stop_gradient
    with no_grad():
        args = [tensor(value, place, stop_gradient=False) for value in host]
        assert call(op, args, sample).stop_gradient
