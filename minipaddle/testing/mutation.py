"""Wrong gradient rules put in the place of an op's own: the gradient check must notice each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minipaddle.device.backend import Place
from minipaddle.ops.op import OPS, Backward
from minipaddle.testing import derivative
from minipaddle.testing.sample import OpSample

Change = Callable[[tuple[Any, ...], Any], Any]


def rules(op: str, kind: str) -> list[tuple[str, int]]:
    """Every rule of the op for a kind of device: "formula" or "fused", and which gradient."""
    backward = OPS[op].backward
    assert backward is not None
    names = ["formula", "fused"] if kind in backward.fused else ["formula"]
    return [(name, i) for name in names for i in range(len(backward.gradients))]


def _changed(rule: Any, output: int, change: Change) -> Any:
    """``rule`` with one of its results passed through ``change``."""

    @functools.wraps(rule)
    def run(*args: Any) -> list[Any]:
        found = list(rule(*args))
        if found[output] is not None:
            found[output] = change(args, found[output])
        return found

    return run


@contextmanager
def mutated(op: str, rule: str, output: int, change: Change, kind: str) -> Iterator[None]:
    """While the body runs, a rule's gradient ``output`` goes through ``change(args, gradient)``."""
    backward = OPS[op].backward
    assert backward is not None
    formula, fused = backward.formula, dict(backward.fused)
    if rule == "formula":
        backward.formula = _changed(formula, output, change)
    else:
        backward.fused[kind] = _changed(fused[kind], output, change)
    backward.table.clear()
    try:
        yield
    finally:
        _restore(backward, formula, fused)


def _restore(backward: Backward, formula: Any, fused: dict[str, Any]) -> None:
    backward.formula = formula
    backward.fused.clear()
    backward.fused.update(fused)
    backward.table.clear()


def scaled(factor: float, rule: str) -> Change:
    """The gradient times ``factor``."""

    def change(args: tuple[Any, ...], gradient: Any) -> Any:
        if rule == "formula":  # args[0] is F: the same line for arrays and for tensors
            return args[0].multiply(gradient, factor)
        gradient *= factor  # where it was written: ``into`` has to hold what is returned
        return gradient

    return change


def shifted(args: tuple[Any, ...], gradient: Any) -> Any:
    """The gradient plus one, for a formula whose right gradient is zero."""
    return args[0].add(gradient, 1.0)


def passes(
    record: OpSample, place: Place, check: Callable[..., None] = derivative.check_first_order
) -> bool:
    """Whether the gradient check finds nothing wrong with the op."""
    try:
        for sample in record.samples:
            if sample.gradient:
                check(record, sample, place)
    except AssertionError:
        return False
    return True
