"""The gradient check is itself checked: no wrong gradient may pass it."""

import functools

import pytest

from minipaddle.device.backend import get_place
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import OPS
from tests.ops.derivative import check_first_order, check_second_order
from tests.ops.operands import DIFFERENTIABLE
from tests.ops.samples import RECORDS

FACTORS = {"by 0": 0.0, "by its negative": -1.0, "by 1.001 times itself": 1.001}
# Of a gradient that is zero each of those is zero too; it is replaced by one that is not.
ZERO = {name for name, record in RECORDS.items() if record.zero_gradient}


def _rules():
    """Every gradient rule: op, "formula" or "fused", and the output to be changed."""
    for op in DIFFERENTIABLE:
        backward = OPS[op].backward
        for kind in ["formula", "fused"] if "cpu" in backward.fused else ["formula"]:
            for output in range(len(backward.gradients)):
                yield pytest.param(op, kind, output, id=f"{op}-{kind}-{backward.gradients[output]}")


def _changed(rule, output, change):
    """``rule`` with one of its results passed through ``change``."""

    @functools.wraps(rule)
    def run(*args):
        results = list(rule(*args))
        if results[output] is not None:
            results[output] = change(args, results[output])
        return results

    return run


def _scaled(factor, kind):
    def change(args, gradient):
        if kind == "formula":  # args[0] is F: the same line for arrays and for tensors
            return args[0].multiply(gradient, factor)
        gradient *= factor  # where it was written: ``into`` has to hold what is returned
        return gradient

    return change


def _ones(args, gradient):
    return args[0].add(gradient, 1.0)


def _passes(op, check=check_first_order):
    try:
        for sample in RECORDS[op].samples:
            if sample.gradient:
                check(op, sample, get_place("cpu"))
    except AssertionError:
        return False
    return True


@pytest.fixture
def mutate(monkeypatch):
    def install(op, kind, output, change):
        backward = OPS[op].backward
        if kind == "formula":
            monkeypatch.setattr(backward, "formula", _changed(backward.formula, output, change))
        else:
            rule = _changed(backward.fused["cpu"], output, change)
            monkeypatch.setitem(backward.fused, "cpu", rule)
        backward.table.clear()

    yield install
    monkeypatch.undo()
    for op in DIFFERENTIABLE:
        OPS[op].backward.table.clear()


@pytest.mark.parametrize("replaced", FACTORS)
@pytest.mark.parametrize(("op", "kind", "output"), list(_rules()))
def test_a_wrong_gradient_fails_the_check(op, kind, output, replaced, mutate):
    assert _passes(op)
    change = _ones if op in ZERO else _scaled(FACTORS[replaced], kind)
    mutate(op, kind, output, change)
    assert not _passes(op), f"{OPS[op].backward.name} replaced {replaced} passes for right"


def _cut(args, gradient):
    """The same values, but nothing tells any more what they were computed from."""
    return gradient.detach() if isinstance(gradient, Tensor) else gradient


@pytest.mark.parametrize("op", [op for op in DIFFERENTIABLE if op not in ZERO])
def test_a_gradient_cut_from_its_graph_fails_the_second_order(op, mutate):
    assert _passes(op, check_second_order)
    for output in range(len(OPS[op].backward.gradients)):
        mutate(op, "formula", output, _cut)
    assert _passes(op)
    assert not _passes(op, check_second_order)


def test_a_change_that_changes_nothing_passes(mutate):
    """The failures above come from the factors and not from the way they are put in."""
    for op in DIFFERENTIABLE:
        backward = OPS[op].backward
        for kind in ["formula", "fused"] if "cpu" in backward.fused else ["formula"]:
            for output in range(len(backward.gradients)):
                mutate(op, kind, output, _scaled(1.0, kind))
        assert _passes(op), op
