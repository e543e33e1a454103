"""``python -m benchmarks.lerp_gpu [--save] [--case N ...]``: lerp on a GPU beside PyTorch's.

Nine cases: forward, backward for x and y, and backward for all three. A time is GPU time per call,
from events around a burst that waits behind a long kernel, so that the host is never waited for;
buffers rotate, so that operands come from memory and not from the cache. The share of the copy
speed counts the bytes that must move, each operand and result once, against a device-to-device
copy of 1 GB in the same run. Needs CuPy; PyTorch's columns are left out without PyTorch.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import minipaddle as paddle
from minipaddle.device.backend import get_backend
from minipaddle.imperative.gradient import fit_gradient
from minipaddle.ops.op import OPS, namespace

RESULTS = Path(__file__).parent / "results" / "lerp_gpu.json"
ROTATED_BYTES = 300_000_000  # several times the cache of a large GPU
KINDS = ("forward", "backward", "with weight")

Shape = tuple[int, ...]
CASES: dict[int, tuple[Shape, Shape, Shape, str]] = {
    1: ((16, 102400), (16, 102400), (1,), "float32"),
    2: ((16, 204800), (16, 204800), (1,), "float64"),
    3: ((16, 1, 1, 1), (16, 3, 244, 244), (3, 1, 244), "float32"),
    4: ((64, 1, 4096), (64, 256, 4096), (1,), "float32"),
    5: ((4096,), (16384, 4096), (1,), "float32"),
    6: ((64, 1048576), (64, 1048576), (64, 1048576), "float32"),
    7: ((64, 1048576), (64, 1048576), (1,), "float32"),
    8: ((64, 1048576), (64, 1048576), (1,), "float16"),
    9: ((16, 1, 1, 1), (16, 3, 224, 224), (1,), "float32"),
}


class Clock:
    """Times bursts of calls on the GPU."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        code = (
            'extern "C" __global__ void wait(long long n) {'
            " long long start = clock64(); while (clock64() - start < n) {} }"
        )
        self._wait = cupy.RawKernel(code, "wait")

    def microseconds(self, calls: Sequence[Callable[[], Any]]) -> float:
        """The median over bursts of the time of one call."""
        for call in calls:
            call()
        found = []
        for _ in range(5):
            first, last = self.cupy.cuda.Event(), self.cupy.cuda.Event()
            self._wait((1,), (1,), (24_000_000,))
            first.record()
            for call in calls:
                call()
            last.record()
            last.synchronize()
            found.append(self.cupy.cuda.get_elapsed_time(first, last) * 1e3 / len(calls))
        return statistics.median(found)


def copy_speed(cupy: Any, clock: Clock) -> float:
    """Bytes a microsecond, read and written, of a copy of 1 GB."""
    source, target = (cupy.ones(2**28, "float32") for _ in range(2))
    return 2 * source.nbytes / clock.microseconds([lambda: cupy.copyto(target, source)] * 8)


def buffers(cupy: Any, case: tuple[Shape, Shape, Shape, str]) -> list[tuple[Any, ...]]:
    """Several sets of x, y, weight and the gradient of the result."""
    *shapes, dtype = case
    shapes.append(np.broadcast_shapes(*shapes))
    size = math.prod(shapes[-1]) * np.dtype(dtype).itemsize
    count = max(3, min(24, ROTATED_BYTES // size + 1))
    random = cupy.random.RandomState(1)
    return [
        tuple(random.random_sample(shape).astype(dtype) for shape in shapes) for _ in range(count)
    ]


def must_move(case: tuple[Shape, Shape, Shape, str]) -> dict[str, int]:
    """Bytes that each kind of call reads and writes at least."""
    *shapes, dtype = case
    x, y, weight = (math.prod(shape) for shape in shapes)
    out = math.prod(np.broadcast_shapes(*shapes))
    counts = (x + y + weight + out, weight + out + x + y, 2 * (x + y + weight) + out)
    return {k: n * np.dtype(dtype).itemsize for k, n in zip(KINDS, counts, strict=True)}


def ours(sets: list[tuple[Any, ...]]) -> dict[str, list[Callable[[], Any]]]:
    """The calls of this package's kernels."""
    place = paddle.device.get_place("gpu")
    forward = OPS["lerp"].kernels[place]
    backward = OPS["lerp"].backward
    assert backward is not None
    rule = backward.table[place].function

    def gradient(x: Any, y: Any, w: Any, g: Any, third: bool) -> Any:
        kept = (x, y) if third else (None, None)
        return rule(*kept, w, x.shape, y.shape, g, (True, True, third), None)

    calls: dict[str, list[Callable[[], Any]]] = {kind: [] for kind in KINDS}
    for i in range(max(12, len(sets))):
        x, y, w, g = sets[i % len(sets)]
        calls["forward"].append(lambda x=x, y=y, w=w: forward(x, y, w))
        for kind, third in (("backward", False), ("with weight", True)):
            calls[kind].append(lambda x=x, y=y, w=w, g=g, t=third: gradient(x, y, w, g, t))
    return calls


def formulas(sets: list[tuple[Any, ...]]) -> list[Callable[[], Any]]:
    """All three gradients by lerp's formula on this package's kernels: expanded, then summed."""
    place = paddle.device.get_place("gpu")
    F, backward = namespace(place), OPS["lerp"].backward
    assert backward is not None and backward.formula is not None
    formula = backward.formula

    def gradient(x: Any, y: Any, w: Any, g: Any) -> Any:
        found = formula(F, x, y, w, x.shape, y.shape, g)
        return [fit_gradient(F, one, one.shape, a) for one, a in zip(found, (x, y, w), strict=True)]

    return [partial(gradient, *sets[i % len(sets)]) for i in range(max(12, len(sets)))]


def by_compiler(sets: list[tuple[Any, ...]]) -> list[Callable[[], Any]]:
    """The gradients of x and y by torch.compile, each from a graph of its own."""
    import torch

    lerp = torch.compile(torch.lerp, dynamic=False)
    calls = []
    for i in range(max(12, len(sets))):
        x, y, w, g = (torch.as_tensor(a, device="cuda") for a in sets[i % len(sets)])
        leaves = [a.detach().requires_grad_() for a in (x, y)]
        out = lerp(*leaves, w)
        calls.append(partial(torch.autograd.grad, out, leaves, g, retain_graph=True))
    return calls


def peers(sets: list[tuple[Any, ...]]) -> dict[str, list[Callable[[], Any]]]:
    """The same calls of PyTorch's, on the same memory."""
    import torch

    calls: dict[str, list[Callable[[], Any]]] = {kind: [] for kind in KINDS}
    for i in range(max(12, len(sets))):
        x, y, w, g = (torch.as_tensor(a, device="cuda") for a in sets[i % len(sets)])
        calls["forward"].append(lambda x=x, y=y, w=w: torch.lerp(x, y, w))
        for kind, third in (("backward", False), ("with weight", True)):
            leaves = [a.detach().requires_grad_(i < 2 or third) for i, a in enumerate((x, y, w))]
            wanted = leaves if third else leaves[:2]
            out = torch.lerp(*leaves)
            calls[kind].append(
                lambda out=out, wanted=wanted, g=g: torch.autograd.grad(
                    out, wanted, g, retain_graph=True
                )
            )
    return calls


def measure(cupy: Any, clock: Clock, number: int, speed: float, compiler: bool) -> dict[str, Any]:
    """One case: times, shares of the copy speed, and times of PyTorch's."""
    case = CASES[number]
    sets = buffers(cupy, case)
    row: dict[str, Any] = {"case": number, "shapes": case[:3], "dtype": case[3]}
    for kind, calls in ours(sets).items():
        time = clock.microseconds(calls)
        row[kind] = {"us": round(time, 2), "share": round(must_move(case)[kind] / time / speed, 3)}
    row["with weight"]["formula us"] = round(clock.microseconds(formulas(sets)), 2)
    if compiler:
        row["backward"]["torch.compile us"] = round(clock.microseconds(by_compiler(sets)), 2)
    try:
        for kind, calls in peers(sets).items():
            row[kind]["torch us"] = round(clock.microseconds(calls), 2)
    except ImportError:
        pass
    return row


def shown(row: dict[str, Any]) -> str:
    """A row as text."""
    parts = [f"{row['case']} {' '.join(str(list(s)) for s in row['shapes'])} {row['dtype']}"]
    for kind in KINDS:
        found = row[kind]
        text = f"{kind} {found['us']} us, {found['share']} of copy"
        for name in ("formula us", "torch.compile us"):
            if name in found:
                text += f", {name[:-3]} {found[name]} us"
        if "torch us" in found:
            text += f", torch {found['torch us']} us ({found['torch us'] / found['us']:.2f} x)"
        parts.append(text)
    return "; ".join(parts)


def main() -> None:
    """Measures and prints the cases."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lerp_gpu", description=__doc__)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--compile", action="store_true", help="torch.compile's backward, too")
    parser.add_argument("--case", type=int, action="append", choices=list(CASES))
    options = parser.parse_args()
    paddle.set_device("gpu")
    cupy = get_backend("gpu").xp
    clock = Clock(cupy)
    speed = copy_speed(cupy, clock)
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
    device = properties["name"].decode()
    print(f"{device}, copy {speed / 1e6:.2f} TB/s")
    rows = []
    for number in options.case or CASES:
        rows.append(measure(cupy, clock, number, speed, options.compile))
        print(shown(rows[-1]), flush=True)
        cupy.get_default_memory_pool().free_all_blocks()
    if options.save:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        found = {"date": now, "device": device, "copy TB/s": round(speed / 1e6, 3), "rows": rows}
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
