"""One pass of a loader: with workers or without, and how far it has come."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from minipaddle.device.backend import Place
from minipaddle.io.dataloader.collate import to_tensors
from minipaddle.io.dataloader.epochs import Epochs, State
from minipaddle.io.dataloader.fetcher import END, Fetcher, Recipe
from minipaddle.io.dataloader.pool import WorkerPool


class Progress:
    """How far a pass has come; only what the user was given counts.

    Args:
        epochs: The passes of the loader; ``begin`` was called.
        sampler: State of the sampler at the start of this pass.
        given: As the attribute.
        turn: As the attribute.

    Attributes:
        given: Number of batches given; of an iterable data set, by each worker.
        turn: The worker whose batch is next, of an iterable data set.
        finished: Whether the pass has come to its end.
    """

    def __init__(self, epochs: Epochs, sampler: Any, given: list[int], turn: int) -> None:
        self._epochs, self._pass = epochs, epochs.passes
        self._start = {**epochs.state_dict(), "sampler": sampler}
        self.given, self.turn, self.finished = given, turn, False

    def finish(self) -> None:
        """The pass is over: the next batch is the first of another."""
        if not self.finished and self._epochs.passes == self._pass:
            self._epochs.finish()
        self.finished = True

    def state_dict(self) -> State:
        """Where the next batch stands."""
        return {**self._start, "given": list(self.given), "turn": self.turn}


class LocalPass:
    """Iterates over the batches of a pass, made in this process.

    Args:
        recipe: What they are made from.
        indices: The samples of each batch; of an iterable data set, None again and again.
        progress: Where to count.
        place: Where the tensors are made.
    """

    def __init__(
        self, recipe: Recipe, indices: Iterator[Any], progress: Progress, place: Place
    ) -> None:
        self._fetcher = Fetcher(recipe, progress.given[0])
        self._indices = enumerate(indices, progress.given[0] + 1)
        self._progress, self._place = progress, place

    def __iter__(self) -> LocalPass:
        return self

    def __next__(self) -> Any:
        for count, indices in self._indices:
            batch = self._fetcher.fetch(indices)
            if batch is END:
                break
            batch = to_tensors(batch, self._place, self._fetcher.own)
            self._progress.given[0] = count
            return batch
        self._indices = enumerate(())
        self._progress.finish()
        raise StopIteration


class WorkerPass:
    """Iterates over the batches of a pass, made by workers, in the order of the sampler.

    An iterable data set's batches are taken from each worker in turn; one that has no more is
    passed over from then on.

    Args:
        pool: The workers; the pass was started.
        indices: As of LocalPass; None for an iterable data set.
        progress: Where to count.
        place: Where the tensors are made.
        ahead: How many batches each worker is asked for before they are needed.
        keep: Whether the workers live on after the pass.
    """

    def __init__(
        self,
        pool: WorkerPool,
        indices: Iterator[Any] | None,
        progress: Progress,
        place: Place,
        ahead: int,
        keep: bool,
    ) -> None:
        self._pool, self._number, self._keep = pool, pool.number, keep
        self._progress, self._place = progress, place
        self._indices = None if indices is None else enumerate(indices, progress.given[0])
        self._ring = deque(range(len(pool)))  # workers that may have more
        self._ring.rotate(-progress.turn)
        self._count = sum(progress.given)
        self._expected: deque[tuple[int, int]] = deque()  # number and worker of each batch
        self._error: Exception | None = None  # of the sampler; comes after the batches before it
        self._workers = len(pool)
        for _ in range(ahead * len(pool)):
            self._request()

    def _request(self) -> None:
        indices = None
        if self._indices is None:
            if not self._ring:
                return
            worker, index = self._ring[0], self._count
            self._ring.rotate(-1)
            self._count += 1
        else:
            try:
                index, indices = next(self._indices)
            except StopIteration:
                return
            except Exception as error:
                self._error, self._indices = error, enumerate(())
                return
            worker = index % self._workers  # after resuming too, for the sake of its random numbers
        self._expected.append((index, worker))
        self._pool.request(worker, index, indices)

    def __iter__(self) -> WorkerPass:
        return self

    def __next__(self) -> Any:
        if self._pool.number != self._number:
            raise RuntimeError(
                "this iterator's persistent workers serve a later iterator of the DataLoader"
            )
        while self._expected:
            index, worker = self._expected[0]
            try:
                batch = self._pool.receive(worker)
            finally:
                if self._pool.alive:
                    self._expected.popleft()
                    self._request()
            if batch is not END:
                self._count_given(index, worker)
                return to_tensors(batch, self._place, True)
            if worker in self._ring:
                self._ring.remove(worker)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        self._progress.finish()
        if not self._keep:
            self._pool.close()
        raise StopIteration

    def _count_given(self, index: int, worker: int) -> None:
        progress = self._progress
        if self._indices is not None:
            progress.given[0] = index + 1
            return
        progress.given[worker] += 1
        progress.turn = self._expected[0][1] if self._expected else 0
