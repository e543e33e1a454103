"""Ops from outside the tree, timed beside the function that PyTorch has for the same.

``NAME_samples.py`` beside ``NAME.yaml`` may say how:

    TORCH = {"squared_relu": lambda torch, x: torch.relu(x).square()}
    BENCHMARK = {"squared_relu": lambda: [Sample("rows", (values((4096, 4096)),))]}

An op without an entry in BENCHMARK is called with vectors of a million elements and the defaults of
its attributes. Arrays are float32, and each case is run forward, and with the gradient of every
float operand where the op has one. PyTorch's interpreter reads the same file, so that it needs
NumPy and PyYAML as well.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from minipaddle.ops.op import OPS, REQUIRED
from minipaddle.testing.operands import each
from minipaddle.testing.runner import read_samples
from minipaddle.testing.sample import Sample, values
from minipaddle.utils import load_op

ELEMENTS = 1 << 20


def samples_of(file: Path, op: str) -> list[Sample]:
    """What an op of an ops file is timed with."""
    table = getattr(read_samples(file), "BENCHMARK", {})
    if op in table:
        return list(table[op]())
    load_op(file)
    missing = [p.name for p in OPS[op].params if not p.is_tensor and p.default is REQUIRED]
    if missing or any(p.type not in ("Tensor", "Tensor|Scalar") for p in OPS[op].params[:1]):
        raise SystemExit(f"{file.stem}_samples.py: op {op!r} needs an entry in BENCHMARK")
    arrays = tuple(values((ELEMENTS,), i, 0.125) for i, _ in enumerate(OPS[op].operands))
    return [Sample(f"[{ELEMENTS}]", arrays)]


def operands(file: Path, op: str, number: int) -> tuple[list[Any], dict[str, Any]]:
    """Operands, floats among them in float32, and attributes of one sample."""
    sample = samples_of(file, op)[number]
    return [each(_single, value) for value in sample.operands], sample.attributes


def _single(value: Any) -> Any:
    is_double = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.float32) if is_double else value


def converted(given: list[Any], make: Callable[[Any], Any]) -> tuple[list[Any], list[Any]]:
    """``given`` with ``make`` of every array, also in a list; and what became of float arrays."""
    floats = []

    def convert(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        made = make(value)
        if value.dtype == np.float32:
            floats.append(made)
        return made

    return [each(convert, value) for value in given], floats


def torch_function(file: Path, op: str) -> Any:
    """The function that does the op in PyTorch; it is called with ``torch`` and the operands."""
    return getattr(read_samples(file), "TORCH", {})[op]


def config(path: Path) -> dict[str, Any]:
    """The cases of an ops file, as a benchmark's configuration."""
    file = path.resolve()
    functions = load_op(file)
    torch = getattr(read_samples(file), "TORCH", {})
    cases = []
    for op in (name for name in vars(functions) if name in OPS):
        modes = ["forward", "forward and backward"][: 2 if OPS[op].backward else 1]
        for number, sample in enumerate(samples_of(file, op)):
            for mode in modes:
                args = {"file": str(file), "op": op, "number": number, "mode": mode}
                entry = {"workload": "outside_op", "args": args}
                labels = ["minipaddle", *(["torch"] if op in torch else [])]
                cases.append({
                    "name": f"{op} {sample.name}, {mode}",
                    "contenders": dict.fromkeys(labels, entry),
                    "compare": [{"ratio": ["minipaddle", "torch"]}],
                })  # fmt: skip
    return {"title": f"ops of {path.name}", "rounds": 30, "slice_ms": 50, "cases": cases}
