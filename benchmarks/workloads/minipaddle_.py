"""Workloads in minipaddle: those written for Paddle, unchanged, and some that look inside."""

import sys
from collections.abc import Callable
from pathlib import Path

import minipaddle
from benchmarks import outside
from benchmarks.workloads import large
from benchmarks.workloads.op_calls import op_call, op_names, op_node
from benchmarks.workloads.timing import loop
from minipaddle import distributed as dist
from minipaddle.utils import load_op

sys.modules["paddle"] = minipaddle  # Paddle's programs run with only the import changed

from benchmarks.workloads.paddle_ import (  # noqa: E402
    all_reduce,
    build_mlp,
    build_net,
    dp,
    lerp,
    lerp_broadcast,
    linear_net_losses,
    mlp_dp,
    mlp_losses,
    mlp_step,
    spawn,
    start,
    training,
)

__all__ = [
    "all_reduce",
    "dp",
    "large_names",
    "large_op",
    "lerp",
    "lerp_broadcast",
    "linear_net",
    "linear_net_losses",
    "mlp",
    "mlp_dp",
    "mlp_losses",
    "op_call",
    "op_names",
    "op_node",
    "outside_op",
    "resident_all_reduce",
    "spawn",
    "start",
    "version",
]

Run = Callable[[int], float]


def version() -> str:
    return f"minipaddle {minipaddle.__version__}"


def linear_net(reducer: bool = False) -> Run:
    """The training step; with ``reducer``, gradients also go through a Reducer of one rank."""
    net = build_net()
    if reducer:
        net = minipaddle.DataParallel(net, group=dist.get_group())
    return loop(training(net, 0))


def mlp(size: str, batch: int, reducer: bool = False) -> Run:
    """The step of an MLP; ``reducer`` as for ``linear_net``."""
    net = build_mlp(size)
    if reducer:
        net = minipaddle.DataParallel(net, group=dist.get_group())
    return loop(mlp_step(net, size, batch, 0))


def resident_all_reduce(megabytes: int) -> Run:
    """Reduce a bucket that lies in the group's own memory, as the Reducer does."""
    group = dist.get_group().process_group
    bucket = group.empty(megabytes * 1_000_000 // 4, "float32")
    bucket.array[:] = 0.0

    def step() -> None:
        group.wait_comm(group.allreduce_mean(bucket, 0, group.wait_compute(0)))

    return loop(step)


def large_names() -> list[tuple[str, str]]:
    """The cases of `large`, each with the reason why it cannot be run, or ""."""

    def lacks(name: str) -> str:
        operands = [minipaddle.to_tensor(array) for array in large.arrays(name, 2)]
        try:
            large.CASES[name].paddle(minipaddle, *operands)
        except AttributeError as error:
            return str(error).partition(";")[0]
        return ""

    return [(name, lacks(name)) for name in large.CASES]


def large_op(case: str, size: int, mode: str) -> Run:
    """A call on large arrays: ``forward``, or with the gradient of every float operand."""
    function = large.CASES[case].paddle
    operands = [minipaddle.to_tensor(array) for array in large.arrays(case, size)]
    if mode == "forward":
        return loop(lambda: function(minipaddle, *operands))
    inputs = [x for x in operands if x.dtype == minipaddle.float32]
    for x in inputs:
        x.stop_gradient = False
    cotangent = minipaddle.ones_like(function(minipaddle, *operands))

    def step() -> None:
        function(minipaddle, *operands).backward(cotangent)
        for x in inputs:
            x.clear_grad()

    return loop(step)


def outside_op(file: str, op: str, number: int, mode: str) -> Run:
    """An op from outside the tree (outside.py)."""
    function = getattr(load_op(file), op)
    given, attributes = outside.operands(Path(file), op, number)
    args, inputs = outside.converted(given, minipaddle.to_tensor)
    if mode == "forward":
        return loop(lambda: function(*args, **attributes))
    for x in inputs:
        x.stop_gradient = False
    cotangent = minipaddle.ones(function(*args, **attributes).shape)

    def step() -> None:
        function(*args, **attributes).backward(cotangent)
        for x in inputs:
            x.clear_grad()

    return loop(step)
