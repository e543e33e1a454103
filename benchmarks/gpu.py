"""``python -m benchmarks.gpu [--save]``: training steps and single ops on a GPU beside PyTorch's.

Steps are wall time of the whole step, forward, loss, backward, Adam and clearing; of the largest
also what the memory pools take from the device, each in a process of its own. Ops on [16384, 4096]
float32 are GPU time, timed as ``benchmarks.lerp_gpu`` does it, with the share of the copy speed
that the bytes they must move come to. The last row is the wall time of lerp on 16 elements, forward
and backward. Needs PyTorch.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import minipaddle as paddle
from benchmarks.lerp_gpu import Clock, copy_speed
from minipaddle.device.backend import get_backend
from minipaddle.ops.op import OPS, namespace

RESULTS = Path(__file__).parent / "results" / "gpu.json"
RATE = 0.001
# Name, widths of layers, rows of a batch, whether ReLU stands between layers, and steps a slice.
STEPS: dict[str, tuple[list[int], int, bool, int]] = {
    "LinearNet 10-10-1, batch 10": ([10, 10, 1], 10, False, 200),
    "MLP 784-256-256-10, batch 64": ([784, 256, 256, 10], 64, True, 100),
    "MLP 1024-4096-4096-1024, batch 256": ([1024, 4096, 4096, 1024], 256, True, 20),
}
ROWS, COLUMNS = 16384, 4096


def values(sizes: list[int]) -> list[np.ndarray]:
    """Weights [in, out] and biases."""
    rng = np.random.default_rng(1)
    found = []
    for n, m in pairwise(sizes):
        found += [rng.normal(size=(n, m)).astype("float32") / n**0.5, np.zeros(m, "float32")]
    return found


def batch(sizes: list[int], rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return tuple(rng.normal(size=(rows, n)).astype("float32") for n in (sizes[0], sizes[-1]))


def layers(nn: Any, sizes: list[int], activated: bool) -> Any:
    """The net, of either framework's layers."""
    found = []
    for i, (n, m) in enumerate(pairwise(sizes)):
        found += [nn.ReLU()] if activated and i else []
        found.append(nn.Linear(n, m))
    return nn.Sequential(*found)


def our_step(sizes: list[int], rows: int, activated: bool) -> Callable[[], Any]:
    net = layers(paddle.nn, sizes, activated)
    for parameter, value in zip(net.parameters(), values(sizes), strict=True):
        parameter.set_value(value)
    adam, loss_fn = paddle.optimizer.Adam(RATE, parameters=net.parameters()), paddle.nn.MSELoss()
    x, y = (paddle.to_tensor(a) for a in batch(sizes, rows))

    def step() -> Any:
        loss = loss_fn(net(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return step


def torch_step(
    sizes: list[int], rows: int, activated: bool, fused: bool = False
) -> Callable[[], Any]:
    import torch

    net = layers(torch.nn, sizes, activated).cuda()
    with torch.no_grad():
        for parameter, value in zip(net.parameters(), values(sizes), strict=True):
            parameter.copy_(torch.from_numpy(value.T.copy() if value.ndim == 2 else value))
    adam = torch.optim.Adam(net.parameters(), lr=RATE, fused=fused or None)
    loss_fn, (x, y) = torch.nn.MSELoss(), (torch.from_numpy(a).cuda() for a in batch(sizes, rows))

    def step() -> Any:
        loss = loss_fn(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss.detach()

    return step


def fastest(steps: list[Callable[[], Any]], count: int, wait: Callable[[], None]) -> list[float]:
    """Seconds of each step, the fastest of slices that take turns."""
    best = [float("inf")] * len(steps)
    for _ in range(10):
        for i, step in enumerate(steps):
            step()
            wait()
            start = time.perf_counter()
            for _ in range(count):
                step()
            wait()
            best[i] = min(best[i], (time.perf_counter() - start) / count)
    return best


def own_peak(who: str, name: str) -> float:
    """Megabytes that the memory pool of "ours" or "torch" takes for five steps in this process."""
    sizes, rows, activated, _ = STEPS[name]
    step = (our_step if who == "ours" else torch_step)(sizes, rows, activated)
    for _ in range(5):
        step()
    if who == "ours":
        return float(get_backend("gpu").xp.get_default_memory_pool().total_bytes() / 1e6)
    import torch

    return float(torch.cuda.max_memory_reserved() / 1e6)


def peak(who: str, name: str) -> float:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.gpu", "--peak", who, name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return float(done.stdout.split()[-1])


def time_steps(wait: Callable[[], None]) -> list[dict[str, Any]]:
    """A row for each net; the largest one also with products in TF32."""
    import torch

    found = []
    for name, (sizes, rows, activated, count) in STEPS.items():
        for tf32 in (False, True) if "4096" in name else (False,):
            paddle.set_flags({"FLAGS_allow_tf32_cublas": tf32})
            torch.backends.cuda.matmul.allow_tf32 = tf32
            steps = [make(sizes, rows, activated) for make in (our_step, torch_step)]
            losses = [[float(step()) for _ in range(5)] for step in steps]
            steps.append(torch_step(sizes, rows, activated, fused=True))
            ours, eager, fused = (s * 1e6 for s in fastest(steps, count, wait))
            row = {"case": name + (", TF32" if tf32 else ""), "us": ours, "torch us": eager,
                   "torch fused us": fused,
                   "loss difference": float(np.abs(np.subtract(*losses)).max())}  # fmt: skip
            if "4096" in name and not tf32:
                row |= {"MB": peak("ours", name), "torch MB": peak("torch", name)}
            found.append(row)
            print(row, flush=True)
    paddle.set_flags({"FLAGS_allow_tf32_cublas": False})
    return found


def op_calls(cupy: Any) -> dict[str, tuple[int, Callable[[int], Any], Callable[[Any, int], Any]]]:
    """For each op how many arrays it must move, our call and PyTorch's, by number of the inputs."""
    place = paddle.device.get_place("gpu")
    F, rng = namespace(place), cupy.random.RandomState(1)
    xs, gs = ([rng.standard_normal((ROWS, COLUMNS), "float32") for _ in range(3)] for _ in "xg")
    w, b, labels = cupy.ones(COLUMNS, "f"), cupy.zeros(COLUMNS, "f"), rng.randint(0, COLUMNS, ROWS)

    def rule(op: str) -> Any:
        return OPS[op].backward.table[place].function  # type: ignore[union-attr]

    soft, gelu = [F.softmax(x, -1, None) for x in xs], [F.gelu(x, False) for x in xs]
    norm = [F.layer_norm_rows(x, w, b, 1, 1e-5) for x in xs]
    cross = [F.hard_cross_entropy(x, labels, -1, -100, 0.0) for x in xs]
    g1, three = cupy.ones(ROWS, "f"), (True, True, True)
    forward: dict[str, Any] = {
        "softmax": (2, lambda i: F.softmax(xs[i], -1, None), lambda f, x: f.softmax(x, -1)),
        "layer_norm": (
            2, lambda i: F.layer_norm_rows(xs[i], w, b, 1, 1e-5),
            lambda f, x: f.layer_norm(x, (COLUMNS,), *_like(x, w, b)),
        ),
        "gelu": (2, lambda i: F.gelu(xs[i], False), lambda f, x: f.gelu(x)),
        "cross_entropy": (
            1, lambda i: F.hard_cross_entropy(xs[i], labels, -1, -100, 0.0),
            lambda f, x: f.cross_entropy(x, *_like(x, labels), reduction="none"),
        ),
    }  # fmt: skip
    backward: dict[str, Any] = {
        "softmax": (3, lambda i: rule("softmax")(soft[i], gs[i], -1, (True,), None)),
        "layer_norm": (3, lambda i: rule("layer_norm_rows")(
            xs[i], w, b, *norm[i][1:], gs[i], 1, 1e-5, three, None)),
        "gelu": (3, lambda i: rule("gelu")(xs[i], gelu[i], gs[i], False, (True,), None)),
        "cross_entropy": (2, lambda i: rule("hard_cross_entropy")(
            xs[i], labels, cross[i][2], g1, -1, -100, 0.0, (True,), None)),
    }  # fmt: skip
    calls = {
        f"{op} forward": (n, ours, _forward(xs, theirs))
        for op, (n, ours, theirs) in forward.items()
    }
    for op, (n, ours) in backward.items():
        calls[f"{op} backward"] = (n, ours, _backward(xs, gs, g1, forward[op][2], op))
    return calls


def _like(x: Any, *arrays: Any) -> list[Any]:
    import torch

    return [torch.as_tensor(a, device=x.device) for a in arrays]


def _forward(xs: list[Any], theirs: Any) -> Any:
    import torch

    tensors = [torch.as_tensor(x, device="cuda") for x in xs]
    return lambda i: theirs(torch.nn.functional, tensors[i])


def _backward(xs: list[Any], gs: list[Any], g1: Any, theirs: Any, op: str) -> Any:
    import torch

    leaves = [torch.as_tensor(x, device="cuda").detach().requires_grad_() for x in xs]
    outs = [theirs(torch.nn.functional, x) for x in leaves]
    seeds = [torch.as_tensor(g1 if op == "cross_entropy" else g, device="cuda") for g in gs]
    return lambda i: torch.autograd.grad(outs[i], leaves[i], seeds[i], retain_graph=True)


def time_ops(cupy: Any, clock: Clock, speed: float) -> list[dict[str, Any]]:
    found = []
    for name, (arrays, ours, theirs) in op_calls(cupy).items():
        us, torch_us = (
            clock.microseconds([lambda i=i % 3, call=call: call(i) for i in range(9)])
            for call in (ours, theirs)
        )
        share = arrays * ROWS * COLUMNS * 4 / us / speed
        found.append({"case": name, "us": us, "share": share, "torch us": torch_us})
        print(found[-1], flush=True)
    return found


def time_small(wait: Callable[[], None]) -> dict[str, Any]:
    """The step of lerp on 16 elements, forward and backward."""
    import torch

    x, y, g = (paddle.ones([16]) for _ in range(3))
    x.stop_gradient = y.stop_gradient = False
    a, b, c = (torch.ones(16, device="cuda") for _ in range(3))
    a.requires_grad_()
    b.requires_grad_()

    def ours() -> None:
        paddle.lerp(x, y, 0.2).backward(g)
        x.clear_grad()
        y.clear_grad()

    def theirs() -> None:
        torch.lerp(a, b, 0.2).backward(c)
        a.grad = b.grad = None

    us, torch_us = (s * 1e6 for s in fastest([ours, theirs], 500, wait))
    row = {"case": "lerp of 16 elements, forward and backward", "us": us, "torch us": torch_us}
    print(row, flush=True)
    return row


def main() -> None:
    """Measures, prints and perhaps keeps everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--peak", nargs=2, metavar=("WHO", "NET"), help="memory of one alone")
    options = parser.parse_args()
    paddle.set_device("gpu")
    if options.peak:
        print(own_peak(*options.peak))
        return
    cupy = get_backend("gpu").xp
    clock = Clock(cupy)
    speed = copy_speed(cupy, clock)
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    wait = cupy.cuda.Device().synchronize
    small = time_small(wait)
    steps = time_steps(wait)
    found = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"), "device": device,
        "copy TB/s": speed / 1e6, "steps": steps, "small": [small],
        "ops": time_ops(cupy, clock, speed),
    }  # fmt: skip
    if options.save:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
