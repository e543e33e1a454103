"""What `op_overhead` times: every op that has a record and a function."""

import pytest

from benchmarks.workloads import op_calls
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS
from tests.ops.samples import RECORDS


def test_every_op_with_a_function_is_called():
    assert op_calls.op_names("plain") == sorted(RECORDS.keys() & FUNCTIONS.keys())
    recorded = set(op_calls.op_names("recorded"))
    assert recorded == {n for n in op_calls.op_names("plain") if OPS[n].backward is not None}
    chained = set(op_calls.op_names("engine"))
    assert {"add", "tanh", "softmax", "flip"} <= chained <= recorded
    assert not chained & {"sum", "unbind", "concat"}


@pytest.mark.parametrize("mode", ["plain", "recorded", "kernel"])
def test_calls_run(mode):
    for op in op_calls.op_names("recorded" if mode == "recorded" else "plain"):
        assert op_calls.op_call(op, mode)(2) > 0, op


@pytest.mark.parametrize("mode", ["engine", "kernel"])
def test_chains_run(mode):
    for op in op_calls.op_names("engine"):
        assert op_calls.op_node(op, mode)(3) > 0, op


def test_the_kernel_is_called_as_dispatch_calls_it():
    """The table is as before once the arguments are known."""
    place = next(iter(OPS["add"].kernels))
    before = OPS["add"].kernels[place]
    op_calls.op_call("add", "kernel")
    assert OPS["add"].kernels[place] is before
