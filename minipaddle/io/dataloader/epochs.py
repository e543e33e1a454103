"""Which pass over the data this is, how far it has come, and the seed that its order is drawn from.

The order of pass e is a function of a seed and e. The seed is drawn once, from the CPU's generator,
and again after ``paddle.seed``. So two numbers restore this pass and all that follow, whatever else
draws random numbers in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from minipaddle.device.backend import get_place, seedings

State = dict[str, Any]


class Epochs:
    """The passes over one source of samples.

    Args:
        seeded: Whether the passes need random numbers.

    Attributes:
        number: Of this pass, or of the next if none is under way.
        position: How much of it was handed out.
        passes: How many were begun; tells an iterator whether it is still the latest.
    """

    def __init__(self, seeded: bool) -> None:
        self.number = self.position = self.passes = 0
        self._seeded = seeded
        self._seed: int | None = None
        self._begun = False
        self._seedings: int | None = None  # None: a loaded state holds whatever was seeded since

    def begin(self) -> int:
        """Starts the next pass; returns the position where it starts, 0 but for a loaded state."""
        if self._begun:
            self.finish()
        self._settle()
        self._seedings = seedings()
        self._begun = True
        self.passes += 1
        return self.position

    def finish(self) -> None:
        """Ends the pass under way."""
        self.number += 1
        self.position = 0
        self._begun = False

    def generator(self) -> np.random.Generator:
        """Random numbers of this pass."""
        return np.random.default_rng([self._seed or 0, self.number])

    def state_dict(self) -> State:
        """Where the next sample stands, as plain Python values."""
        if not self._begun:
            self._settle()
        state = {"epoch": self.number, "position": self.position}
        return {**state, "seed": self._seed} if self._seeded else state

    def set_state_dict(self, state: State) -> None:
        """Goes on from a value of ``state_dict`` at the next ``begin``.

        Raises:
            ValueError: It is none.
        """
        names = {"epoch", "position"} | ({"seed"} if self._seeded else set())
        check_state(state, names)
        self.number, self.position = state["epoch"], state["position"]
        self._seed = state.get("seed")
        self._begun, self._seedings = False, None

    def _settle(self) -> None:
        stale = self._seedings is not None and self._seedings != seedings()
        if self._seeded and (self._seed is None or stale):
            self._seed = int(get_place("cpu").generator.bits.integers(1 << 63))
            self.number = self.position = 0
            self._seedings = seedings()


def check_state(state: Any, names: set[str]) -> None:
    """Refuses what is no state with these names.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(state, dict) or not names <= set(state):
        shown = sorted(state) if isinstance(state, dict) else type(state).__name__
        raise ValueError(f"state must be what state_dict() returned, with {sorted(names)}; "
                         f"got {shown}")  # fmt: skip


class Walk:
    """Iterates over the rest of one pass and counts what it hands out.

    Args:
        epochs: Where to count; ``begin`` was called.
        order: The numbers of the samples of the whole pass.
    """

    def __init__(self, epochs: Epochs, order: Sequence[int] | np.ndarray) -> None:
        self._epochs, self._order = epochs, order
        self._pass, self._next = epochs.passes, epochs.position

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        found = self.take(1)
        if not found:
            raise StopIteration
        return found[0]

    def take(self, count: int) -> list[int]:
        """Up to ``count`` numbers; an empty list ends the pass."""
        found = self._order[self._next : self._next + count]
        self._next += len(found)
        if self._pass == self._epochs.passes:
            if len(found):
                self._epochs.position = self._next
            else:
                self._epochs.finish()
                self._pass = -1
        return found.tolist() if isinstance(found, np.ndarray) else list(found)


def batches(indices: Iterator[Any], size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Cuts what an iterator gives into lists of ``size``."""
    while True:
        found = indices.take(size) if isinstance(indices, Walk) else list(islice(indices, size))
        if not found:
            return
        if len(found) == size or not drop_last:
            yield found
