"""A small call of every op that has a record, and what it costs around the kernel.

The samples are those of tests/ops/samples: of each op the first that is large enough to have an
axis and small enough for the kernel to take no time of its own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any

import minipaddle
from benchmarks.workloads.timing import loop
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS
from minipaddle.testing.operands import array_paths, at, inputs, operands, tensors
from minipaddle.testing.sample import OpSample, Sample
from tests.ops.samples import RECORDS

Run = Callable[[int], float]
SMALL = range(1, 65)  # elements of an operand


def _sample(record: OpSample) -> Sample:
    """The sample that the op is called with."""

    def is_small(sample: Sample) -> bool:
        arrays = [at(list(sample.operands), path) for path in array_paths(sample)]
        return all(array.ndim and array.size in SMALL for array in arrays)

    return next((s for s in record.samples if is_small(s)), record.samples[0])


def op_names(mode: str) -> list[str]:
    """Ops with a function of their own; for "recorded", those with a gradient.

    For "engine", those of them that can be called with their own result again.
    """
    names = sorted(name for name in RECORDS if name in FUNCTIONS)
    if mode == "plain":
        return names
    names = [name for name in names if OPS[name].backward is not None]
    return names if mode == "recorded" else [name for name in names if _chains(name)]


def _prepare(op: str, wants_grad: bool = False) -> tuple[Callable[..., Any], list[Any]]:
    """The op's function, with its attributes, and its operands."""
    record = RECORDS[op]
    sample = _sample(record)
    dtype = "int64" if OPS[op].dtypes in ("int", "integral") else "float32"
    args = tensors(operands(record, sample, dtype), minipaddle.ones([1]).place)
    for path in inputs(record, sample) if wants_grad else []:
        at(args, path).stop_gradient = False
    return partial(FUNCTIONS[op], **sample.attributes), args


def _chains(op: str) -> bool:
    function, args = _prepare(op)
    out = function(*args)
    alike = isinstance(out, minipaddle.Tensor) and isinstance(args[0], minipaddle.Tensor)
    if not alike or (out.shape, out.dtype) != (args[0].shape, args[0].dtype):
        return False
    try:
        for _ in range(50):
            out = function(out, *args[1:])
    except ValueError:  # a loss of probabilities may be none
        return False
    return True


@contextmanager
def _listed(table: dict[Any, Any], place: Any) -> Iterator[list[tuple[Any, ...]]]:
    """While the body runs, what a table's function for the place is called with is listed."""
    function, calls = table[place], []

    def listing(*args: Any) -> Any:
        calls.append(args)
        return function(*args)

    table[place] = listing
    try:
        yield calls
    finally:
        table[place] = function


def op_call(op: str, mode: str) -> Run:
    """One call: ``recorded``, ``plain`` (nothing recorded) or its ``kernel`` alone."""
    function, args = _prepare(op, mode == "recorded")
    if mode != "kernel":
        return loop(partial(function, *args))
    place = minipaddle.ones([1]).place
    with _listed(OPS[op].kernels, place) as calls:
        function(*args)
    return loop(partial(OPS[op].kernels[place], *calls[0]))


def op_node(op: str, mode: str) -> Run:
    """Backward through a chain of calls, per call; or what the gradient's rule alone takes."""
    function, (x, *rest) = _prepare(op)
    x.stop_gradient = False
    cotangent = minipaddle.ones_like(x)
    if mode == "kernel":
        node = function(x, *rest).edge
        rule = OPS[op].backward.table[x.place]
        given = (*node.saved, cotangent.data, *node.attributes)
        if rule.fused:
            wanted = tuple(edge is not None for edge in node.edges)
            return loop(partial(rule.function, *given, wanted, None))
        return loop(partial(rule.function, rule.namespace, *given))

    def run(nodes: int) -> float:
        out = x
        for _ in range(nodes):
            out = function(out, *rest)
        begin = perf_counter()
        out.backward(cotangent)
        return perf_counter() - begin

    return run
