"""DataLoader: the batches of a data set, one after another."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any, ClassVar

from minipaddle.device.backend import Place, current_place, get_place
from minipaddle.io.dataloader.batch_sampler import BatchSampler, sampler_state
from minipaddle.io.dataloader.dataset import IterableDataset
from minipaddle.io.dataloader.epochs import Epochs, State, check_state
from minipaddle.io.dataloader.fetcher import Recipe
from minipaddle.io.dataloader.iteration import LocalPass, Progress, WorkerPass
from minipaddle.io.dataloader.pool import WorkerPool
from minipaddle.io.dataloader.sampler import (
    RandomSampler,
    SequenceSampler,
    check_bool,
    check_count,
)


class DataLoader:
    """Iterates over the batches of a data set, as tensors.

    Args:
        dataset: Has ``__getitem__`` and ``__len__``, or is an IterableDataset.
        feed_list: Belongs to static graphs; ignored.
        places: Where the tensors are made; the current device by default. A list of one counts as
            that one.
        return_list: Belongs to static graphs; ignored.
        batch_sampler: Gives the numbers of the samples of each batch; excludes ``batch_size``,
            ``shuffle`` and ``drop_last``.
        batch_size: Samples in a batch; None for samples as they are, not joined to batches.
        shuffle: Whether samples come in random order, another one in each pass.
        drop_last: Whether a last batch that is not full is left out.
        collate_fn: Makes a batch from a list of samples; by default they are stacked field by
            field.
        num_workers: Number of processes that load; 0 to load in this one.
        use_buffer_reader: Ignored: workers load ahead, and a tensor is made when it is asked for.
        reader_buffer_size: As use_buffer_reader.
        prefetch_factor: Batches that each worker loads ahead.
        use_shared_memory: Whether workers hand batches over in shared memory instead of a pipe.
        timeout: Seconds to wait for a batch of a worker; 0 for as long as the worker lives.
        worker_init_fn: Called in each worker with its number.
        persistent_workers: Whether the workers live on from one pass to the next.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: A number is out of range, or arguments exclude each other.

    Example:
        >>> import minipaddle as paddle
        >>> data = paddle.io.TensorDataset([paddle.arange(5), paddle.ones([5, 2])])
        >>> for number, row in paddle.io.DataLoader(data, batch_size=2, drop_last=True):
        ...     print(number.tolist(), row.shape)
        [0, 1] [2, 2]
        [2, 3] [2, 2]
    """

    # What a profiler puts around the batches of a pass.
    watcher: ClassVar[Callable[[Iterator[Any]], Iterator[Any]] | None] = None

    def __init__(
        self,
        dataset: Any,
        feed_list: Sequence[Any] | None = None,
        places: str | Place | Sequence[str | Place] | None = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        _check_numbers(num_workers, prefetch_factor, timeout)
        check_bool("shuffle", shuffle)
        check_bool("drop_last", drop_last)
        check_bool("use_shared_memory", use_shared_memory)
        check_bool("persistent_workers", persistent_workers)
        _check_functions(collate_fn=collate_fn, worker_init_fn=worker_init_fn)
        self._source = _source(dataset, batch_sampler, batch_size, shuffle, drop_last)
        self.dataset, self.collate_fn, self.drop_last = dataset, collate_fn, drop_last
        batched = batch_sampler is not None or batch_size is not None
        self.batch_sampler = self._source if batched else None
        self.batch_size = None if batch_sampler is not None else batch_size
        self.num_workers = _workers(num_workers)
        self.places = _place(places)
        self.prefetch_factor, self.use_shared_memory = prefetch_factor, use_shared_memory
        self.timeout, self.worker_init_fn = timeout, worker_init_fn
        self._recipe = Recipe(
            dataset, collate_fn, batched, self.batch_size or 1, drop_last, worker_init_fn
        )
        self._keep = persistent_workers
        self._pool: WorkerPool | None = None
        self._epochs = Epochs(seeded=True)
        self._progress: Progress | None = None
        self._loaded: State | None = None

    def __len__(self) -> int:
        """The number of batches in a pass.

        Raises:
            TypeError: The length of the data set is not known.
        """
        if self._source is not None:
            return len(self._source)
        length = len(self.dataset)
        if not self._recipe.batched:
            return length
        extra = 0 if self.drop_last else self._recipe.batch_size - 1
        return (length + extra) // self._recipe.batch_size

    def __iter__(self) -> Iterator[Any]:
        """Starts the next pass, or goes on with the one of a loaded state.

        Raises:
            TypeError: The data set cannot be pickled to be sent to the workers.
            RuntimeError: Workers cannot be started.
        """
        batches, watcher = self._begin(), DataLoader.watcher
        return batches if watcher is None else watcher(batches)

    def _begin(self) -> Iterator[Any]:
        pool = self._open_pool()
        loaded, self._loaded = self._loaded, None
        self._epochs.begin()
        indices = None if self._source is None else iter(self._source)
        sampler = sampler_state(self._source)
        given, turn = [0] * self._counters(), 0
        # Other passes of the sampler, as by set_epoch, are not the interrupted one.
        if loaded is not None and pickle.dumps(loaded["sampler"]) == pickle.dumps(sampler):
            given, turn = list(loaded["given"]), loaded["turn"]
        if indices is not None:
            indices = islice(indices, given[0], None)
        self._progress = progress = Progress(self._epochs, sampler, given, turn)
        place = self.places or current_place()
        if pool is None:
            return LocalPass(self._recipe, repeat(None) if indices is None else indices,
                             progress, place)  # fmt: skip
        seed = int(self._epochs.generator().integers(1 << 62))
        pool.start(seed, given if indices is None else [0] * len(pool))
        return WorkerPass(pool, indices, progress, place, self.prefetch_factor, self._keep)

    def __call__(self) -> Iterator[Any]:
        """As ``iter()``."""
        return iter(self)

    def _open_pool(self) -> WorkerPool | None:
        if not self.num_workers:
            return None
        if self._pool is not None and self._pool.alive:
            return self._pool
        pool = WorkerPool(self._recipe, self.num_workers, self.use_shared_memory, self.timeout)
        self._pool = pool if self._keep else None
        return pool

    def _counters(self) -> int:
        return max(1, self.num_workers) if self._recipe.iterable else 1

    def state_dict(self) -> State:
        """Where the next batch stands, as plain values that can be pickled.

        It counts what the user was given, not what workers have loaded ahead. It holds the order of
        this pass and of those to come; of a sampler of the user only what its own ``state_dict``
        tells.

        Returns:
            The state.

        Example:
            >>> import minipaddle as paddle
            >>> make = lambda: paddle.io.DataLoader(range(6), batch_size=2, shuffle=True)
            >>> loader, other = make(), make()
            >>> passing = iter(loader)
            >>> _ = next(passing)
            >>> other.set_state_dict(loader.state_dict())
            >>> [b.tolist() for b in other] == [b.tolist() for b in passing]
            True
        """
        if self._loaded is not None:
            return dict(self._loaded)
        if self._progress is not None and not self._progress.finished:
            return self._progress.state_dict()
        state = {**self._epochs.state_dict(), "sampler": sampler_state(self._source)}
        return {**state, "given": [0] * self._counters(), "turn": 0}

    def set_state_dict(self, state: State) -> None:
        """Goes on at the next ``iter()`` with the batch that would have come next.

        Args:
            state: A value of ``state_dict`` of a loader with the same arguments; ``num_workers``
                may differ unless the data set is iterable.

        Raises:
            ValueError: ``state`` does not belong to such a loader; then nothing changes.
        """
        check_state(state, {"sampler", "given", "turn", "seed", "epoch", "position"})
        if len(state["given"]) != self._counters():
            raise ValueError(
                f"state is of a loader with num_workers={len(state['given'])} of an iterable data "
                f"set; this one has num_workers={self.num_workers}"
            )
        if (state["sampler"] is None) != (sampler_state(self._source) is None):
            raise ValueError("state is of a loader with another kind of sampler")
        if state["sampler"] is not None:
            self._source.set_state_dict(state["sampler"])
        self._epochs.set_state_dict(state)
        self._loaded = dict(state)

    def load_state_dict(self, state: State) -> None:
        """As ``set_state_dict``."""
        self.set_state_dict(state)


def _check_numbers(num_workers: Any, prefetch_factor: Any, timeout: Any) -> None:
    if isinstance(num_workers, bool) or not isinstance(num_workers, int):
        raise TypeError(f"num_workers must be an int >= 0; got {num_workers!r}")
    if num_workers < 0:
        raise ValueError(f"num_workers must be an int >= 0; got {num_workers}")
    check_count("prefetch_factor", prefetch_factor)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout must be a number of seconds >= 0; got {timeout!r}")
    if not 0 <= timeout < float("inf"):
        raise ValueError(f"timeout must be a finite number of seconds >= 0; got {timeout}")


def _check_functions(**functions: Any) -> None:
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise TypeError(f"{name} must be a function; got {function!r}")


def _workers(num_workers: int) -> int:
    if num_workers and not hasattr(os, "fork"):
        warnings.warn("this system has no os.fork: num_workers is taken as 0", stacklevel=3)
        return 0
    return num_workers


def _place(places: Any) -> Place | None:
    if isinstance(places, (list, tuple)):
        if len(places) != 1:
            raise ValueError(f"places must be one device, or a list of one; got {places!r}")
        places = places[0]
    return None if places is None else get_place(places)


def _source(
    dataset: Any, batch_sampler: Any, batch_size: Any, shuffle: bool, drop_last: bool
) -> Any:
    """What gives the numbers of samples; None for an iterable data set."""
    iterable = isinstance(dataset, IterableDataset)
    if not iterable and not hasattr(type(dataset), "__getitem__"):
        raise TypeError(
            "dataset must have __getitem__ and __len__, or be an IterableDataset; got "
            f"{type(dataset).__name__}"
        )
    if iterable and shuffle:
        raise ValueError("shuffle must be False for an IterableDataset, which sets the order")
    if iterable and batch_sampler is not None:
        raise ValueError(
            "batch_sampler must be None for an IterableDataset: samples have no number"
        )
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or drop_last:
            raise ValueError("batch_sampler excludes batch_size, shuffle and drop_last")
        if not hasattr(type(batch_sampler), "__iter__"):
            raise TypeError(f"batch_sampler must be iterable; got {batch_sampler!r}")
        return batch_sampler
    if batch_size is None:
        if drop_last:
            raise ValueError("drop_last must be False where batch_size is None: there is no batch")
    else:
        check_count("batch_size", batch_size)
    if iterable:
        return None
    if batch_size is None:
        return RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
    return BatchSampler(dataset, None, shuffle, batch_size, drop_last)
