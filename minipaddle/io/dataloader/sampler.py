"""Samplers: in which order the samples of a data set are taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from itertools import islice
from typing import Any

import numpy as np

from minipaddle.imperative.tensor import Tensor
from minipaddle.io.dataloader.epochs import Epochs, State, Walk, check_state


class Sampler:
    """Numbers of samples in some order: a subclass defines ``__iter__``, if it can ``__len__``.

    A subclass with random numbers of its own that is to be resumed within a pass also defines
    ``state_dict()`` and ``set_state_dict(state)``.

    Args:
        data_source: What is sampled.

    Example:
        >>> import minipaddle as paddle
        >>> class Backwards(paddle.io.Sampler):
        ...     def __iter__(self):
        ...         return iter(range(len(self.data_source) - 1, -1, -1))
        >>> list(paddle.io.BatchSampler(sampler=Backwards("abc"), batch_size=2))
        [[2, 1], [0]]
    """

    def __init__(self, data_source: Sized | None = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        """An iterator over the numbers."""
        raise NotImplementedError(f"{type(self).__name__} must define __iter__(self)")


class EpochSampler(Sampler):
    """A sampler whose passes can be resumed: a subclass says in which order a pass goes."""

    _seeded = True

    def __init__(self, data_source: Sized | None = None) -> None:
        super().__init__(data_source)
        self._epochs = Epochs(self._seeded)

    def __iter__(self) -> Iterator[int]:
        """Starts the next pass, or goes on with the one of a loaded state."""
        self._epochs.begin()
        return Walk(self._epochs, self._order(self._epochs.generator()))

    def __len__(self) -> int:
        """How many numbers a pass has."""
        raise NotImplementedError

    def _order(self, generator: np.random.Generator) -> Sequence[int] | np.ndarray:
        raise NotImplementedError

    def state_dict(self) -> State:
        """Where the next number stands, as plain Python values that can be pickled."""
        return {**self._epochs.state_dict(), "length": len(self)}

    def set_state_dict(self, state: State) -> None:
        """Goes on at the next ``iter()`` exactly where ``state`` was taken.

        Raises:
            ValueError: ``state`` is of no such sampler, or of one of another length.
        """
        check_state(state, {"length"})
        if state["length"] != len(self):
            raise ValueError(
                f"state is of a sampler with {state['length']} samples; this one has {len(self)}"
            )
        self._epochs.set_state_dict(state)

    def load_state_dict(self, state: State) -> None:
        """As ``set_state_dict``."""
        self.set_state_dict(state)


class SequenceSampler(EpochSampler):
    """Every sample, in order.

    Args:
        data_source: Data set with a length.

    Example:
        >>> import minipaddle as paddle
        >>> list(paddle.io.SequenceSampler("abc"))
        [0, 1, 2]
    """

    data_source: Sized
    _seeded = False

    def __len__(self) -> int:
        """The length of the data set."""
        return len(self.data_source)

    def _order(self, generator: np.random.Generator) -> Sequence[int]:
        return range(len(self))


class RandomSampler(EpochSampler):
    """Samples in random order; ``paddle.seed`` makes it repeat.

    Args:
        data_source: Data set with a length.
        replacement: Whether a sample may come more than once.
        num_samples: How many a pass has; the length of the data set by default.
        generator: An iterator that gives the numbers instead.

    Raises:
        TypeError: ``replacement`` is no bool, ``num_samples`` no int, ``generator`` no iterator.
        ValueError: ``num_samples`` is not positive, or without replacement exceeds the length.

    Example:
        >>> import minipaddle as paddle
        >>> sorted(paddle.io.RandomSampler("abcd"))
        [0, 1, 2, 3]
    """

    data_source: Sized

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Iterator[int] | None = None,
    ) -> None:
        super().__init__(data_source)
        check_bool("replacement", replacement)
        if generator is not None and not hasattr(generator, "__next__"):
            raise TypeError(
                "generator must be an iterator that gives numbers of samples; got "
                f"{type(generator).__name__}; paddle.seed fixes the order without one"
            )
        self.replacement, self.generator = replacement, generator
        self._num_samples = num_samples
        self._drawn = 0  # numbers taken out of generator, in all passes
        check_count("num_samples", self.num_samples)
        if not replacement and self.num_samples > len(data_source):
            raise ValueError(
                f"num_samples must not exceed the length of data_source, {len(data_source)}, "
                f"without replacement; got {num_samples}"
            )

    @property
    def num_samples(self) -> int:
        """How many numbers a pass has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __len__(self) -> int:
        """As num_samples."""
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        """Starts the next pass, or goes on with the one of a loaded state."""
        if self.generator is None:
            return super().__iter__()
        return self._draw(self.generator, self._epochs.begin())

    def _draw(self, generator: Iterator[int], start: int) -> Iterator[int]:
        for number in islice(generator, self.num_samples - start):
            self._drawn += 1
            self._epochs.position += 1
            yield number
        self._epochs.finish()

    def _order(self, generator: np.random.Generator) -> np.ndarray:
        length = len(self.data_source)
        if self.replacement:
            return generator.integers(length, size=self.num_samples)
        return generator.permutation(length)[: self.num_samples]

    def state_dict(self) -> State:
        """As of every sampler here; with ``generator`` also how much was drawn from it."""
        return {**super().state_dict(), "drawn": self._drawn}

    def set_state_dict(self, state: State) -> None:
        """As of every sampler here; a ``generator`` must stand at its start, and is run forward."""
        super().set_state_dict(state)
        if self.generator is not None:
            check_state(state, {"drawn"})
            for _ in islice(self.generator, state["drawn"] - self._drawn):
                self._drawn += 1


class WeightedRandomSampler(EpochSampler):
    """Samples with chances in proportion to weights.

    Args:
        weights: Weights >= 0, shape [n], or [m, n] for m draws of each pass behind one another.
        num_samples: How many numbers are drawn with each row of weights.
        replacement: Whether a sample may come more than once in a row.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: A weight is negative or not finite, all are zero, or fewer are positive than are
            to be drawn without replacement.

    Example:
        >>> import minipaddle as paddle
        >>> list(paddle.io.WeightedRandomSampler([0.0, 2.0, 0.0], 3))
        [1, 1, 1]
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        super().__init__()
        check_count("num_samples", num_samples)
        check_bool("replacement", replacement)
        self.weights, self.num_samples, self.replacement = weights, num_samples, replacement
        values = weights.numpy() if isinstance(weights, Tensor) else np.asarray(weights)
        if values.ndim not in (1, 2) or not values.size or values.dtype.kind not in "buif":
            raise ValueError(f"weights must be numbers of shape [n] or [m, n]; got {weights!r}")
        table = np.atleast_2d(values).astype(np.float64)
        if not np.isfinite(table).all() or (table < 0).any():
            raise ValueError("weights must be finite and not negative")
        fewest = int((table > 0).sum(axis=1).min())
        if fewest < (1 if replacement else num_samples):
            raise ValueError(
                f"weights must have a positive value for each of {num_samples} samples drawn "
                f"without replacement, and at least one; a row has {fewest}"
            )
        self._chances = table / table.sum(axis=1, keepdims=True)

    def __len__(self) -> int:
        """How many numbers a pass has."""
        return self.num_samples * len(self._chances)

    def _order(self, generator: np.random.Generator) -> np.ndarray:
        length = self._chances.shape[1]
        draws = [
            generator.choice(length, self.num_samples, self.replacement, chances)
            for chances in self._chances
        ]
        return np.concatenate(draws)


class SubsetRandomSampler(EpochSampler):
    """Given numbers in random order.

    Args:
        indices: Numbers of samples.

    Raises:
        ValueError: There is none.

    Example:
        >>> import minipaddle as paddle
        >>> sorted(paddle.io.SubsetRandomSampler([7, 3, 5]))
        [3, 5, 7]
    """

    def __init__(self, indices: Sequence[int]) -> None:
        super().__init__()
        if len(indices) == 0:
            raise ValueError("indices of SubsetRandomSampler must not be empty")
        self.indices = indices

    def __len__(self) -> int:
        """How many numbers there are."""
        return len(self.indices)

    def _order(self, generator: np.random.Generator) -> Sequence[int]:
        return [self.indices[i] for i in generator.permutation(len(self.indices)).tolist()]


def check_count(name: str, value: Any) -> None:
    """Refuses what is no positive int.

    Raises:
        TypeError: It is no int.
        ValueError: It is not positive.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a positive int; got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be a positive int; got {value}")


def check_bool(name: str, value: Any) -> None:
    """Refuses what is no bool.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool; got {value!r}")
