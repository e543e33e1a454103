"""``python -m benchmarks.soak``: nothing grows over many steps, nothing is left by many spawns.

1. LinearNet for 1,200 steps with the garbage collector off: resident memory grows by at most 1 MB
   from step 200 on, and the collector then finds nothing.
2. Jobs of two processes that end normally, by an exception in a rank, by SIGKILL of a rank, and by
   SIGINT or SIGKILL of the parent: afterwards the same processes, descriptors, temporary files and
   files in /dev/shm are there as before.
3. Every fault of ``benchmarks/faults.py`` many times, on idle and on busy cores: each time what it
   should come to, no hang, and nothing left.
4. 1,000 steps under random delays on one to four ranks, dense and sparse, with and without unused
   parameters: replicas with the same bits, and the bits of the run without delays.
"""

import argparse
import contextlib
import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

import minipaddle as paddle
from benchmarks import faults
from benchmarks.workloads.minipaddle_ import build_net, training
from minipaddle import distributed as dist

ROOT = Path(__file__).resolve().parent.parent
GROWTH_BYTES = 1 << 20
WARM_STEPS = 200
MARK = "MINIPADDLE_SOAK"  # in the environment of every process of a run
END_SECONDS = 30.0


def train(steps: int = 3) -> None:
    """A few data-parallel steps on the rank that calls it."""
    dist.init_parallel_env()
    step = training(paddle.DataParallel(build_net()), dist.get_rank())
    for _ in range(steps):
        step()


def train_and_raise() -> None:
    train()
    if dist.get_rank() == 1:
        raise ValueError("on purpose")
    train_for_ever()


def train_and_die() -> None:
    train()
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    train_for_ever()


def train_and_wait() -> None:
    train()
    os.write(1, b"ready\n")  # in one piece: print may write line and line end apart
    train_for_ever()


def train_for_ever() -> None:
    """Work until the job is ended from outside."""
    step = training(paddle.DataParallel(build_net()), dist.get_rank())
    while True:
        step()


def run_job(entry: Callable[[], None], fails: bool) -> None:
    """Spawn two ranks; check that the caller hears of a failure."""
    try:
        dist.spawn(entry, nprocs=2)
    except Exception as error:
        if not fails:
            raise
        assert "1" in str(error), f"the error does not name rank 1: {error}"
    else:
        assert not fails, f"{entry.__name__} failed unheard"


def end_parent(how: signal.Signals) -> None:
    """Run a job in a process of its own and signal that process once both ranks train."""
    command = [sys.executable, "-m", "benchmarks.soak", "--victim"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        try:
            for _ in range(2):
                line = parent.stdout.readline()
                assert line == "ready\n", f"the job did not start: {line!r}"
            parent.send_signal(how)
            parent.wait(END_SECONDS)
        finally:
            parent.kill()


def marked_processes(mark: str) -> set[int]:
    """Processes other than this one that a run started, however deep."""
    found = set()
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found.add(process.pid)
        except psutil.Error:  # ended meanwhile, or not ours to look at
            continue
    return found


def snapshot(mark: str) -> dict[str, set[Any]]:
    """What a job must leave as it was."""
    folder = "/proc/self/fd"
    links = {fd: os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder) if alive(folder, fd)}
    shared = Path("/dev/shm")
    return {
        "processes": marked_processes(mark),
        "descriptors": {(fd, link) for fd, link in links.items() if link != folder},
        "temporary files": set(os.listdir(tempfile.gettempdir())),
        # multiprocessing's semaphores are other programs': minipaddle makes none.
        "/dev/shm": {str(p) for p in shared.glob("*") if not p.name.startswith("sem.mp-")},
    }


def alive(folder: str, fd: str) -> bool:
    """Whether a listed descriptor is still open: the one that listed the folder is not."""
    return os.path.islink(f"{folder}/{fd}")


def left_over(before: dict[str, set[Any]], mark: str) -> dict[str, set[Any]]:
    """What is there and was not before, once what is ending has had its time to end."""
    deadline = time.monotonic() + END_SECONDS
    while True:
        now = snapshot(mark)
        extra = {kind: now[kind] - before[kind] for kind in before if now[kind] - before[kind]}
        if not extra or time.monotonic() > deadline:
            return extra
        time.sleep(0.1)


def resident_bytes() -> int:
    return psutil.Process().memory_info().rss


def soak_steps(steps: int) -> bool:
    """Train with the collector off; whether memory stayed and no cycle was made."""
    run = training(build_net(), 0)
    gc.collect()
    gc.disable()
    for _ in range(WARM_STEPS):
        run()
    start = resident_bytes()
    for _ in range(steps - WARM_STEPS):
        run()
    growth, cycles = resident_bytes() - start, gc.collect()
    gc.enable()
    print(f"steps {WARM_STEPS} to {steps}: {growth / 1024:.0f} kB more, {cycles} objects in cycles")
    return growth <= GROWTH_BYTES and cycles == 0


def soak_spawn(cycles: int) -> bool:
    """Run every kind of job several times; whether all left nothing."""
    mark = os.environ[MARK] = f"{os.getpid()}-{time.time_ns()}"
    jobs: dict[str, Callable[[], None]] = {
        "normal end": lambda: run_job(train, fails=False),
        "exception in rank 1": lambda: run_job(train_and_raise, fails=True),
        "SIGKILL of rank 1": lambda: run_job(train_and_die, fails=True),
        "SIGINT of the parent": lambda: end_parent(signal.SIGINT),
        "SIGKILL of the parent": lambda: end_parent(signal.SIGKILL),
    }
    jobs["normal end"]()  # starts what a Python process keeps: multiprocessing's resource tracker
    clean = True
    for name, job in jobs.items():
        before = snapshot(mark)
        for _ in range(cycles):
            job()
        extra = left_over(before, mark)
        clean &= not extra
        print(f"{cycles} x {name}: {extra or 'nothing left'}")
    return clean


def soak_faults(rounds: int) -> bool:
    """Run every fault ``rounds`` times on idle and on busy cores; whether all went well."""
    mark = os.environ[MARK] = f"{os.getpid()}-{time.time_ns()}"
    faults.FAULTS["two jobs side by side"]()  # as above
    clean = True
    for cores, load in (("idle", contextlib.nullcontext), ("busy", faults.busy_cores)):
        with load():
            for name, fault in faults.FAULTS.items():
                before, failed = snapshot(mark), []
                for _ in range(rounds):
                    try:
                        fault()
                    except Exception as error:
                        failed.append(error)
                extra = left_over(before, mark)
                clean &= not extra and not failed
                print(f"{rounds} x {name}, {cores} cores: {failed or extra or 'as it should'}")
    return clean


def soak_delays(steps: int) -> bool:
    """Train under random delays; whether no bit depends on them."""
    clean = True
    for world_size in range(1, 5):
        begin = time.monotonic()
        try:
            faults.check_delays(world_size, steps)
        except AssertionError as error:
            print(f"delays, {world_size} rank(s): {error}")
            clean = False
        else:
            print(f"{steps} steps under delays, {world_size} rank(s): the same bits "
                  f"({time.monotonic() - begin:.0f} s)")  # fmt: skip
    return clean


def main() -> int:
    """Run all parts; 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--cycles", type=int, default=5, help="jobs of each kind")
    parser.add_argument("--rounds", type=int, default=20, help="times of every fault")
    parser.add_argument("--delayed-steps", type=int, default=1000, help="steps under delays")
    parser.add_argument("--victim", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.victim:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
        dist.spawn(train_and_wait, nprocs=2)
        return 0
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        # Only our own jobs write here, whatever else the machine is doing.
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        passed = [
            soak_steps(options.steps),
            soak_spawn(options.cycles),
            soak_faults(options.rounds),
            soak_delays(options.delayed_steps),
        ]
    print("soak passed" if all(passed) else "soak FAILED")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
