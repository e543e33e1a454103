"""Uneven inputs: ranks that have no more data take part until the last one is done."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Any

import numpy as np

from minipaddle.distributed.agreement import broadcast_state
from minipaddle.distributed.process_group.base import ProcessGroup
from minipaddle.nn.layer import Layer


class Join:
    """What ``DataParallel.join`` returns; used with ``with``.

    Before each averaged forward the ranks tell each other who goes on. A rank that is done averages
    zeros in the meantime; at the end all take over the state of a rank that was last.
    """

    def __init__(self, model: Any, members: ProcessGroup, by_all: bool, stop_early: bool) -> None:
        self._model = model
        self._layers: Layer = model._layers
        self._members = members
        self._by_all = by_all
        self._stop_early = stop_early
        self._last = 0

    def __enter__(self) -> None:
        """Begins; every rank does so."""
        self._model._begins.append(self._go_on)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Takes part until all are done; an exception ends it on every rank."""
        self._model._begins.remove(self._go_on)
        if error is not None:
            self._members.abort(error)
            return
        # As a forward does: first a Reducer that works, then the announcement.
        while (reducer := self._model._renewed()) and self.announce(False):
            # If it fails the step is void, which the ranks that still have batches report.
            with contextlib.suppress(Exception):
                reducer.take_part()
        self._model._renewed().factor = 1.0
        broadcast_state(self._members, self._layers, self._last)

    def _go_on(self) -> None:
        self.announce(True)

    def announce(self, active: bool) -> bool:
        """Says whether this rank goes on; returns whether any does.

        Raises:
            RuntimeError: A rank is done, and all are to stop then.
        """
        members = self._members
        going_on = np.zeros(members.world_size, np.int32)
        going_on[members.rank] = active
        members.allreduce_max(going_on)
        ranks = np.flatnonzero(going_on).tolist()
        if not ranks:
            return False
        if self._stop_early and len(ranks) < members.world_size:
            done = sorted(set(range(members.world_size)) - set(ranks))
            raise RuntimeError(f"rank {', '.join(map(str, done))} has no more inputs; all stop")
        self._last = ranks[-1]
        if not self._by_all:
            self._model._renewed().factor = members.world_size / len(ranks)
        return True
