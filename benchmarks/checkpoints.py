"""Times of saving and loading 210 MB in 100 float32 arrays, beside PyTorch's.

    python -m benchmarks.checkpoints [TORCH_PYTHON]

Each round runs every side in processes of its own; the best of its times counts. minipaddle waits
until the file is on the disk, and PyTorch does so in the line "synced" only. Files are read from
memory, where the system keeps what was just written: "load" is the first call of a process, as in a
program that resumes, and "again" those after it, which may find memory that was used before.
"""

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

ARRAYS, ELEMENTS, ROUNDS, CALLS, SECONDS = 100, 525_000, 5, 5, 300


def best(call: Callable[[], Any], calls: int = CALLS) -> float:
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def measure(side: str, path: str) -> dict[str, float]:
    module = importlib.import_module(side)
    save, load = module.save, lambda: module.load(path)
    if os.path.exists(path):
        return {"load": best(load, 1), "again": best(load)}
    arrays = {f"w{i}": np.full(ELEMENTS, float(i), "float32") for i in range(ARRAYS)}
    tensors = {name: module.from_numpy(array) for name, array in arrays.items()}
    times = {"save": best(lambda: save(tensors, path))}
    synced = best(lambda: (save(tensors, path), sync(path)))
    return {**times, "synced": times["save"] if side == "minipaddle" else synced}


def run(python: str, side: str, folder: str) -> dict[str, float]:
    command = [python, os.path.abspath(__file__), side, os.path.join(folder, side)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if side != "minipaddle":
        environ.pop("PYTHONPATH")
    done = subprocess.run(
        command, env=environ, stdout=subprocess.PIPE, timeout=SECONDS, text=True, check=True
    )
    times: dict[str, float] = json.loads(done.stdout)
    return times


def main(peers: list[str]) -> None:
    sides = [(sys.executable, "minipaddle"), *((python, "torch") for python in peers[:1])]
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for python, side in [*sides, *sides]:  # the first call saves, the second loads
                for what, ms in run(python, side, folder).items():
                    old = found.setdefault(side, {}).get(what, ms)
                    found[side][what] = min(old, ms)
            for _, side in sides:
                os.unlink(os.path.join(folder, side))
    for what in ("save", "synced", "load", "again"):
        times = {side: times[what] for side, times in found.items()}
        line = ", ".join(f"{side} {ms:.0f} ms" for side, ms in times.items())
        ratio = f", ratio {times['minipaddle'] / times['torch']:.2f}" if "torch" in times else ""
        print(f"{what}: {line}{ratio}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], sys.argv[2])))
    else:
        main(sys.argv[1:])
