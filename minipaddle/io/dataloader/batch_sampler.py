"""Batch samplers: which samples form a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from itertools import islice
from typing import Any

import numpy as np

from minipaddle.device.parallel_env import ParallelEnv
from minipaddle.io.dataloader.dataset import IterableDataset
from minipaddle.io.dataloader.epochs import Epochs, State, Walk, batches, check_state
from minipaddle.io.dataloader.sampler import (
    RandomSampler,
    Sampler,
    SequenceSampler,
    check_bool,
    check_count,
)


class BatchSampler(Sampler):
    """Lists of numbers of samples, one for each batch.

    Args:
        dataset: Data set with a length; excludes ``sampler``.
        sampler: Gives the numbers; excludes ``dataset`` and ``shuffle``.
        shuffle: Whether the samples of ``dataset`` come in random order.
        batch_size: Samples in a batch.
        drop_last: Whether a last batch that is not full is left out.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: Arguments exclude each other, or ``batch_size`` is not positive.

    Example:
        >>> import minipaddle as paddle
        >>> list(paddle.io.BatchSampler("abcde", batch_size=2))
        [[0, 1], [2, 3], [4]]
    """

    sampler: Any = None
    _given = _skip = 0  # batches of a sampler that keeps no state itself

    def __init__(
        self,
        dataset: Sized | None = None,
        sampler: Iterable[int] | None = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset)
        check_bool("shuffle", shuffle)
        check_bool("drop_last", drop_last)
        check_count("batch_size", batch_size)
        if (dataset is None) == (sampler is None):
            raise ValueError("BatchSampler needs one of dataset and sampler, and not both")
        if sampler is not None and shuffle:
            raise ValueError("shuffle must be False where sampler is given, which sets the order")
        if isinstance(dataset, IterableDataset):
            raise TypeError("dataset of BatchSampler must not be an IterableDataset")
        if dataset is not None:
            self.sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        elif isinstance(sampler, Iterable):
            self.sampler = sampler
        else:
            raise TypeError(f"sampler must be a Sampler or iterable; got {sampler!r}")
        self.batch_size, self.shuffle, self.drop_last = batch_size, shuffle, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        """Starts the next pass, or goes on with the one of a loaded state."""
        found = batches(iter(self.sampler), self.batch_size, self.drop_last)
        self._given, self._skip = self._skip, 0
        return self._count(found) if sampler_state(self.sampler) is None else found

    def _count(self, found: Iterator[list[int]]) -> Iterator[list[int]]:
        for batch in islice(found, self._given, None):
            self._given += 1
            yield batch
        self._given = 0

    def __len__(self) -> int:
        """The number of batches in a pass."""
        extra = 0 if self.drop_last else self.batch_size - 1
        return (len(self.sampler) + extra) // self.batch_size

    def state_dict(self) -> State:
        """Where the next batch stands, as plain values that can be pickled.

        Of a sampler without ``state_dict`` it holds only how many batches it has given.
        """
        inner = sampler_state(self.sampler)
        return {"sampler": inner, "batches": self._given if inner is None else 0}

    def set_state_dict(self, state: State) -> None:
        """Goes on at the next ``iter()`` exactly where ``state`` was taken.

        Raises:
            ValueError: ``state`` does not belong to such a batch sampler.
        """
        check_state(state, {"sampler", "batches"})
        if (state["sampler"] is None) != (sampler_state(self.sampler) is None):
            raise ValueError("state is of a batch sampler whose sampler is of another kind")
        if state["sampler"] is not None:
            self.sampler.set_state_dict(state["sampler"])
        self._skip = self._given = state["batches"]

    def load_state_dict(self, state: State) -> None:
        """As ``set_state_dict``."""
        self.set_state_dict(state)


def sampler_state(sampler: Any) -> Any:
    """The state of a sampler; None if it keeps none."""
    return sampler.state_dict() if hasattr(sampler, "state_dict") else None


class DistributedBatchSampler(BatchSampler):
    """The batches of this process, where the processes of a job share a data set.

    Samples from the start are repeated until each process has equally many. Batches are dealt out
    in turn; what is left for less than a batch each is shared evenly. The order of a shuffled pass
    depends on its number alone, so it is the same on all processes.

    Args:
        dataset: Data set with a length.
        batch_size: Samples in a batch of one process.
        num_replicas: Number of processes; that of this job by default.
        rank: Number of this process; its rank in the job by default.
        shuffle: Whether the samples come in random order, another one in each pass.
        drop_last: Whether a last batch that is not full is left out.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: A number is out of range.

    Example:
        >>> import minipaddle as paddle
        >>> sampler = paddle.io.DistributedBatchSampler(range(5), 2, num_replicas=2, rank=1)
        >>> list(sampler)
        [[2, 3], [0]]
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset, None, False, batch_size, drop_last)
        check_bool("shuffle", shuffle)
        env = ParallelEnv()
        self.dataset, self.shuffle = dataset, shuffle
        self.nranks = env.world_size if num_replicas is None else num_replicas
        self.local_rank = env.rank if rank is None else rank
        check_count("num_replicas", self.nranks)
        if isinstance(self.local_rank, bool) or not isinstance(self.local_rank, int):
            raise TypeError(f"rank must be an int; got {rank!r}")
        if not 0 <= self.local_rank < self.nranks:
            raise ValueError(f"rank must be in [0, {self.nranks}); got {self.local_rank}")
        self.epoch = 0
        self.num_samples = -(-len(dataset) // self.nranks)
        self.total_size = self.num_samples * self.nranks
        self._epochs = Epochs(seeded=False)

    def __iter__(self) -> Iterator[list[int]]:
        """Starts the next pass, or goes on with the one of a loaded state."""
        if self._epochs.number != self.epoch:  # assigned, not by set_epoch
            self.set_epoch(self.epoch)
        self._epochs.begin()
        self._epochs.number = self.epoch
        walk = Walk(self._epochs, self._own(self._order()))
        self.epoch += self.shuffle
        return self._deal(walk)

    def _deal(self, walk: Walk) -> Iterator[list[int]]:
        yield from batches(walk, self.batch_size, self.drop_last)
        if not self.shuffle:
            self._epochs.number = self.epoch

    def __len__(self) -> int:
        """The number of batches of this process in a pass."""
        extra = 0 if self.drop_last else self.batch_size - 1
        return (self.num_samples + extra) // self.batch_size

    def set_epoch(self, epoch: int) -> None:
        """Sets the number of the next pass, which its random order depends on.

        After a state was loaded, the number of the interrupted pass leaves it as it is, and any
        other starts that pass from its beginning.

        Args:
            epoch: The number, from 0.
        """
        if isinstance(epoch, bool) or not isinstance(epoch, (int, np.integer)) or epoch < 0:
            raise ValueError(f"epoch must be an int >= 0; got {epoch!r}")
        if epoch != self._epochs.number:
            self._epochs.set_state_dict({"epoch": epoch, "position": 0})
        self.epoch = int(epoch)

    def state_dict(self) -> State:
        """Where the next batch stands; the same on all processes of a job."""
        shape = {name: getattr(self, name) for name in ("batch_size", "nranks", "num_samples")}
        return {**self._epochs.state_dict(), **shape}

    def set_state_dict(self, state: State) -> None:
        """Goes on at the next ``iter()`` exactly where ``state`` was taken.

        Raises:
            ValueError: ``state`` is of a sampler with other batches.
        """
        check_state(state, {"batch_size", "nranks", "num_samples"})
        for name in ("batch_size", "nranks", "num_samples"):
            if state[name] != getattr(self, name):
                raise ValueError(
                    f"state is of a DistributedBatchSampler with {name}={state[name]}; this one "
                    f"has {getattr(self, name)}"
                )
        self._epochs.set_state_dict(state)
        self.epoch = state["epoch"]

    def _order(self) -> np.ndarray:
        length = len(self.dataset)
        # Paddle's own generator and order of steps, so that a pass has the same order there.
        order = np.resize(np.arange(length), self.total_size)
        if self.shuffle:
            numbers: list[int] = order.tolist()
            np.random.RandomState(self.epoch).shuffle(numbers)
            order = np.array(numbers)
        return order

    def _own(self, order: np.ndarray) -> np.ndarray:
        """What of a pass is this process's."""
        rest = self.total_size % (self.batch_size * self.nranks)
        dealt = order[: self.total_size - rest].reshape(-1, self.nranks, self.batch_size)
        shared = order[self.total_size - rest :].reshape(self.nranks, -1)
        return np.concatenate([dealt[:, self.local_rank].ravel(), shared[self.local_rank]])
