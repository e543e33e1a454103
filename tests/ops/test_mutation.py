"""The gradient check is itself checked: no wrong gradient may pass it."""

from contextlib import ExitStack

import pytest

from minipaddle.device.backend import get_place
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import OPS
from minipaddle.testing.derivative import check_second_order
from minipaddle.testing.mutation import mutated, passes, rules, scaled, shifted
from tests.ops.operands import DIFFERENTIABLE
from tests.ops.samples import RECORDS

CPU = get_place("cpu")
FACTORS = {"by 0": 0.0, "by its negative": -1.0, "by 1.001 times itself": 1.001}
# The gradient of sign is zero, and so is each of those; it is replaced by one that is not.
ZERO = {"sign"}


def _rules():
    for op in DIFFERENTIABLE:
        for rule, output in rules(op, "cpu"):
            name = OPS[op].backward.gradients[output]
            yield pytest.param(op, rule, output, id=f"{op}-{rule}-{name}")


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(("op", "rule", "output"), list(_rules()))
def test_a_wrong_gradient_fails_the_check(op, rule, output, factor):
    assert passes(RECORDS[op], CPU)
    change = shifted if op in ZERO else scaled(FACTORS[factor], rule)
    with mutated(op, rule, output, change, "cpu"):
        assert not passes(RECORDS[op], CPU), f"{op}: replaced {factor}, passes for right"


def _cut(args, gradient):
    """The same values, but nothing tells any more what they were computed from."""
    return gradient.detach() if isinstance(gradient, Tensor) else gradient


@pytest.mark.parametrize("op", [op for op in DIFFERENTIABLE if op not in ZERO])
def test_a_gradient_cut_from_its_graph_fails_the_second_order(op):
    record = RECORDS[op]
    assert passes(record, CPU, check_second_order)
    with ExitStack() as changes:
        for output in range(len(OPS[op].backward.gradients)):
            changes.enter_context(mutated(op, "formula", output, _cut, "cpu"))
        assert passes(record, CPU)
        assert not passes(record, CPU, check_second_order)


def test_a_change_that_changes_nothing_passes():
    """The failures above come from the factors and not from the way they are put in."""
    for op in DIFFERENTIABLE:
        with ExitStack() as changes:
            for rule, output in rules(op, "cpu"):
                changes.enter_context(mutated(op, rule, output, scaled(1.0, rule), "cpu"))
            assert passes(RECORDS[op], CPU), op
        assert passes(RECORDS[op], CPU), op
