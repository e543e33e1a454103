"""Sweep: how long an allreduce takes, by size, alone and while the processes compute."""

from __future__ import annotations

import itertools
import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from minipaddle.device.backend import current_place
from minipaddle.device.parallel_env import trainer_count, trainer_rank
from minipaddle.distributed.group import init_parallel_env, members_of
from minipaddle.distributed.process_group.base import ProcessGroup
from minipaddle.distributed.spawn import spawn
from minipaddle.ops.op import namespace

SIZES = (*(4096 << shift for shift in range(0, 13, 2)), 32 << 20)  # 4 KB to 32 MB
# Buckets of one size are used in turn, so that large ones come from memory, as in training.
_BUFFERS, _BUFFER_BYTES = 16, 96 << 20
_ROUNDS, _SLICE_SECONDS = 7, 0.06


@dataclass(frozen=True)
class Row:
    """The allreduce of one size.

    Attributes:
        bytes: Its size.
        seconds: How long it takes.
        busy_seconds: How long it takes while the same processes compute.
        slowdown: How many times as long computing takes meanwhile.
    """

    bytes: int
    seconds: float
    busy_seconds: float
    slowdown: float

    @property
    def stretch(self) -> float:
        """How many times as long it takes while the processes compute."""
        return self.busy_seconds / self.seconds


class Sweep:
    """What was measured between some processes.

    Args:
        nprocs: How many there were.
        rows: By size; at least two.

    Raises:
        ValueError: These cannot be measurements.
    """

    def __init__(self, nprocs: int, rows: Sequence[Row]) -> None:
        sizes = sorted(row.bytes for row in rows)
        if nprocs < 2 or len(sizes) < 2 or len(set(sizes)) < len(sizes):
            raise ValueError(
                "a sweep needs at least 2 processes and 2 sizes, each once; got "
                f"nprocs={nprocs} and sizes {sizes}"
            )
        self.nprocs = nprocs
        self.rows = sorted(rows, key=lambda row: row.bytes)
        for row in self.rows:
            sound = row.bytes > 0 and 0 < row.seconds <= row.busy_seconds < math.inf
            if not (sound and 1 <= row.slowdown < math.inf):
                raise ValueError(
                    "a row of a sweep needs bytes > 0, 0 < seconds <= busy_seconds and "
                    f"slowdown >= 1, all finite; got {row}"
                )

    @classmethod
    def load(cls, path: str | Path) -> Sweep:
        """Reads a file that ``save`` has written.

        ``busy_seconds`` and ``slowdown`` may be missing, for a network that needs no processor.

        Raises:
            ValueError: It is none.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            rows = [
                Row(**{"busy_seconds": r["seconds"], "slowdown": 1.0, **r})
                for r in content["allreduce"]
            ]
            return cls(content["nprocs"], rows)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path} is no sweep ({type(error).__name__}: {error}); make one with "
                "python -m minipaddle.distributed.plan --measure FILE --nprocs N"
            ) from None

    def save(self, path: str | Path) -> None:
        """Writes a JSON file."""
        content = {"nprocs": self.nprocs, "allreduce": [asdict(row) for row in self.rows]}
        Path(path).write_text(json.dumps(content, indent=1), encoding="utf-8")


def measure(nprocs: int = 2, sizes: Sequence[int] = SIZES) -> Sweep | None:
    """Times allreduces of resident buckets, as training uses them.

    In a process of a job that was started already, that job is measured and ``nprocs`` ignored.

    Args:
        nprocs: How many processes are started for it.
        sizes: Bytes of the buckets.

    Returns:
        The sweep; None on other ranks than 0 of a job.

    Raises:
        ValueError: There are fewer than two.
    """
    if trainer_count() > 1:
        measured = _measure_here(sizes)
        return measured if trainer_rank() == 0 else None
    if nprocs < 2:
        raise ValueError(f"nprocs must be at least 2; got {nprocs}")
    sweep: Sweep = spawn(_measure_here, (tuple(sizes),), nprocs=nprocs).return_queues[0].get()
    return sweep


def _measure_here(sizes: Sequence[int]) -> Sweep:
    world = members_of(init_parallel_env())
    assert world is not None
    group = world.new_group(range(world.world_size), 1)
    assert group is not None
    sweeping = Sweeping(group, sizes)
    for _ in range(_ROUNDS):
        sweeping.round()
    group.destroy()
    return sweeping.result()


class Sweeping:
    """A sweep in the making: each round times every size, so that a disturbance meets all alike.

    Every rank makes one and goes through as many rounds.

    Args:
        group: The processes.
        sizes: Bytes of the buckets.
    """

    def __init__(self, group: ProcessGroup, sizes: Sequence[int]) -> None:
        self._group = group
        self._sizes = sizes
        self._compute = _computation()
        self._buckets = [self._make(nbytes) for nbytes in sizes]
        pilots = [_reducing(group, buckets, 1 + len(buckets)) for buckets in self._buckets]
        calls = [max(2, int(_SLICE_SECONDS / pilot)) for pilot in pilots]
        self._calls: list[int] = group.broadcast_object(calls, 0)
        self._computing: list[float] = []
        self._times: list[list[tuple[float, float, float]]] = [[] for _ in sizes]

    def _make(self, nbytes: int) -> list[Any]:
        count = max(1, min(_BUFFERS, _BUFFER_BYTES // nbytes))
        return [self._group.empty(max(1, nbytes // 4), np.float32) for _ in range(count)]

    def round(self) -> None:
        """Times each size once alone and once beside a computation."""
        self._computing.append(_computing(self._group, self._compute))
        for buckets, calls, times in zip(self._buckets, self._calls, self._times, strict=True):
            alone = _reducing(self._group, buckets, calls)
            times.append((alone, *_both(self._group, buckets, calls, self._compute)))

    def result(self, typical: Callable[[Iterable[float]], float] = statistics.median) -> Sweep:
        """The times that are typical of the rounds."""
        alone = typical(self._computing)
        rows = []
        for nbytes, times in zip(self._sizes, self._times, strict=True):
            seconds, busy, computing = map(typical, zip(*times, strict=True))
            rows.append(Row(nbytes, seconds, max(seconds, busy), max(1.0, computing / alone)))
        return Sweep(self._group.world_size, rows)


def _reducing(group: ProcessGroup, buffers: Sequence[Any], calls: int) -> float:
    """Seconds of an allreduce, of ``calls`` one after another."""
    place = current_place()
    place.backend.set_device(place.index)
    group.barrier()
    begin = time.perf_counter()
    for buffer, _ in zip(itertools.cycle(buffers), range(calls), strict=False):
        group.wait_comm(group.allreduce_mean(buffer, 0, group.wait_compute(0)))
    place.backend.synchronize(place.index)
    return (time.perf_counter() - begin) / calls


def _computing(group: ProcessGroup, compute: Callable[[], Any]) -> float:
    """Seconds of one computation, while all ranks compute."""
    group.barrier()
    begin = now = time.perf_counter()
    calls = 0
    while now < begin + _SLICE_SECONDS:
        compute()
        calls, now = calls + 1, time.perf_counter()
    return (now - begin) / calls


def _both(
    group: ProcessGroup, buffers: Sequence[Any], calls: int, compute: Callable[[], Any]
) -> tuple[float, float]:
    """Seconds of an allreduce and of a computation, at the same time in two threads."""
    with ThreadPoolExecutor(1) as pool:
        reducing = pool.submit(_reducing, group, buffers, calls)
        begin, computed = time.perf_counter(), 0
        while not reducing.done():
            compute()
            computed += 1
        took = time.perf_counter() - begin
        return reducing.result(), took / max(1, computed)


def _computation() -> Callable[[], Any]:
    """A product as in a layer's backward, of about a millisecond."""
    place = current_place()
    F = namespace(place)
    x, weight = F.full((32, 1024), 0.5, np.float32), F.full((1024, 1024), 0.5, np.float32)

    def compute() -> None:
        F.matmul(x, weight)
        place.backend.synchronize(place.index)

    return compute
