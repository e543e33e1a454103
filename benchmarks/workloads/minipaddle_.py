"""Workloads in minipaddle: those written for Paddle, unchanged, and some that look inside."""

import sys
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from time import perf_counter
from typing import Any

import minipaddle
from benchmarks import outside
from benchmarks.workloads.timing import loop, uniform
from minipaddle import distributed as dist
from minipaddle.ops.op import Op, get_op, namespace
from minipaddle.utils import load_op

sys.modules["paddle"] = minipaddle  # Paddle's programs run with only the import changed

from benchmarks.workloads.paddle_ import (  # noqa: E402
    all_reduce,
    build_net,
    dp,
    lerp,
    lerp_broadcast,
    linear_net_losses,
    spawn,
    start,
    training,
)

__all__ = [
    "all_reduce",
    "dp",
    "engine_node",
    "lerp",
    "lerp_broadcast",
    "linear_net",
    "linear_net_losses",
    "op_call",
    "op_names",
    "outside_op",
    "resident_all_reduce",
    "spawn",
    "start",
    "version",
]

Run = Callable[[int], float]

SQUARE = [4, 4]
# What each case, named after its op, is called with: shapes of tensors, numbers; attributes.
CALLS: dict[str, tuple[list[Any], list[Any]]] = {
    "add": ([SQUARE, SQUARE], []),
    "lerp": ([SQUARE, SQUARE, SQUARE], []),
    "lerp with a number": ([SQUARE, SQUARE, 0.3], []),
    "linear": ([SQUARE, SQUARE, [4]], []),
    "matmul": ([SQUARE, SQUARE], []),
    "mean": ([SQUARE], []),
    "mse_loss": ([SQUARE, SQUARE], []),
    "multiply": ([SQUARE, SQUARE], []),
    "multiply by a number": ([SQUARE, 2.0], []),
    "relu": ([SQUARE], []),
    "reshape": ([SQUARE], [(16,)]),
    "square": ([SQUARE], []),
    "subtract": ([SQUARE, SQUARE], []),
    "sum": ([SQUARE], []),
}


def version() -> str:
    return f"minipaddle {minipaddle.__version__}"


def linear_net(reducer: bool = False) -> Run:
    """The training step; with ``reducer``, gradients also go through a Reducer of one rank."""
    net = build_net()
    if reducer:
        net = minipaddle.DataParallel(net, group=dist.get_group())
    return loop(training(net, 0))


def resident_all_reduce(megabytes: int) -> Run:
    """Reduce a bucket that lies in the group's own memory, as the Reducer does."""
    group = dist.get_group().process_group
    bucket = group.empty(megabytes * 1_000_000 // 4, "float32")
    bucket.array[:] = 0.0

    def step() -> None:
        group.wait_comm(group.allreduce_mean(bucket, 0, group.wait_compute(0)))

    return loop(step)


def op_names() -> list[str]:
    return sorted(CALLS)


def op_call(op: str, mode: str) -> Run:
    """One call on tiny arrays: ``recorded``, ``plain`` (nothing recorded) or ``kernel`` alone."""
    shapes, attributes = CALLS[op]
    declared = get_op(op.split()[0])
    operands = [
        shape if isinstance(shape, float) else minipaddle.to_tensor(uniform(shape, "float32", 1))
        for shape in shapes
    ]
    if mode == "kernel":
        return loop(kernel_call(declared, operands, attributes))
    operands[0].stop_gradient = mode != "recorded"
    function = public_function(declared)
    return loop(lambda: function(*operands, *attributes))


def kernel_call(op: Op, operands: list[Any], attributes: list[Any]) -> Callable[[], Any]:
    """The op's kernel with the arrays and all attributes that it takes."""
    arrays = [operand if isinstance(operand, float) else operand.data for operand in operands]
    defaults = [param.default for param in op.params][len(arrays) + len(attributes) :]
    kernel = op.kernels[operands[0].place]
    arguments = [*arrays, *attributes, *defaults]
    return lambda: kernel(*arguments)


def public_function(op: Op) -> Callable[..., Any]:
    return reduce(getattr, op.api[0].split("."), minipaddle)


def engine_node(mode: str) -> Run:
    """Backward through a chain of additions, per node; or what the gradient's rule alone takes."""
    x = minipaddle.to_tensor(uniform(SQUARE, "float32", 1), stop_gradient=False)
    other = minipaddle.to_tensor(uniform(SQUARE, "float32", 2))
    cotangent = minipaddle.ones(SQUARE)
    if mode == "kernel":
        gradient = get_op("add").backward.table[x.place]
        functions, array = namespace(x.place), cotangent.data
        return loop(lambda: gradient.function(functions, array))

    def run(nodes: int) -> float:
        out = x
        for _ in range(nodes):
            out = out + other
        begin = perf_counter()
        out.backward(cotangent)
        return perf_counter() - begin

    return run


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
