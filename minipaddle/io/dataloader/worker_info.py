"""Which worker process of a DataLoader this process is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker process knows of itself.

    Attributes:
        id: Its number, from 0.
        num_workers: How many there are.
        dataset: Its copy of the data set.
        seed: What its random numbers of this pass were seeded with.
    """

    id: int
    num_workers: int
    dataset: Any
    seed: int


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """What this process is to a DataLoader.

    Returns:
        Id, num_workers, dataset and seed in a worker process; None in any other.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.io.get_worker_info() is None
        True
    """
    return _info


def set_worker_info(info: WorkerInfo) -> None:
    """Says what this process is."""
    global _info
    _info = info
