"""Data sets: what has samples by number, and what gives them one after another."""

from __future__ import annotations

import bisect
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from minipaddle.device.backend import get_place
from minipaddle.device.generator import Generator
from minipaddle.imperative.tensor import Tensor


class Dataset:
    """Samples by number: a subclass defines ``__getitem__`` and ``__len__``.

    Example:
        >>> import minipaddle as paddle
        >>> class Squares(paddle.io.Dataset):
        ...     def __getitem__(self, idx):
        ...         return idx * idx
        ...     def __len__(self):
        ...         return 4
        >>> [batch.tolist() for batch in paddle.io.DataLoader(Squares(), batch_size=2)]
        [[0, 1], [4, 9]]
    """

    def __getitem__(self, idx: Any) -> Any:
        """The sample with number ``idx``."""
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(self, idx)")

    def __len__(self) -> int:
        """The number of samples."""
        raise NotImplementedError(f"{type(self).__name__} must define __len__(self)")


class IterableDataset(Dataset):
    """Samples one after another, as from a stream: a subclass defines ``__iter__``.

    In a worker process ``get_worker_info()`` tells which part of the samples is this worker's.

    Example:
        >>> import minipaddle as paddle
        >>> class Count(paddle.io.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(5))
        >>> [batch.tolist() for batch in paddle.io.DataLoader(Count(), batch_size=2)]
        [[0, 1], [2, 3], [4]]
    """

    def __iter__(self) -> Iterator[Any]:
        """An iterator over the samples."""
        raise NotImplementedError(f"{type(self).__name__} must define __iter__(self)")

    def __getitem__(self, idx: Any) -> Any:
        """Refused: there are no numbers."""
        raise RuntimeError(f"{type(self).__name__} is an IterableDataset: it has no sample {idx!r}")

    def __len__(self) -> int:
        """Refused: the length is unknown."""
        # list() asks for the length and lets only this type of error pass.
        raise TypeError(f"{type(self).__name__} is an IterableDataset: its length is not known")


class TensorDataset(Dataset):
    """The rows of some tensors: sample i is the tuple of their i-th rows.

    Args:
        tensors: Tensors or NumPy arrays with the same length of the first axis.

    Raises:
        TypeError: One is neither.
        ValueError: There is none, or the lengths differ.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.ones([6, 2]), paddle.arange(6)
        >>> data = paddle.io.TensorDataset([x, y])
        >>> len(data), data[1][0].tolist()
        (6, [1.0, 1.0])
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        if isinstance(tensors, (Tensor, np.ndarray)) or not isinstance(tensors, Iterable):
            raise TypeError(
                "tensors must be a list of tensors; got one "
                f"{type(tensors).__name__}; write TensorDataset([x])"
            )
        self.tensors = list(tensors)
        for i, tensor in enumerate(self.tensors):
            if not isinstance(tensor, (Tensor, np.ndarray)):
                raise TypeError(f"tensors[{i}] must be a Tensor; got {type(tensor).__name__}")
        shapes = [list(tensor.shape) for tensor in self.tensors]
        if not shapes or not all(shapes) or len({shape[0] for shape in shapes}) != 1:
            raise ValueError(
                "tensors must be at least one tensor, all with the same length of the first axis; "
                f"got shapes {shapes}"
            )

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        """The rows with number ``index``."""
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        """The number of rows."""
        return int(self.tensors[0].shape[0])


class ComposeDataset(Dataset):
    """Joins the fields of data sets of one length: sample i has the fields of all samples i.

    Args:
        datasets: Data sets with ``__getitem__``.

    Raises:
        TypeError: One is no Dataset, or an IterableDataset.
        ValueError: There is none, or the lengths differ.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.io.TensorDataset([paddle.arange(3)])
        >>> [field.item() for field in paddle.io.ComposeDataset([x, x])[2]]
        [2, 2]
    """

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets = _checked("ComposeDataset", datasets, iterable=False)
        lengths = [len(dataset) for dataset in self.datasets]
        if len(set(lengths)) != 1:
            raise ValueError(f"datasets of ComposeDataset must have one length; got {lengths}")

    def __len__(self) -> int:
        """The length of each."""
        return len(self.datasets[0])

    def __getitem__(self, idx: Any) -> tuple[Any, ...]:
        """The fields of the samples with number ``idx``."""
        fields: list[Any] = []
        for dataset in self.datasets:
            sample = dataset[idx]
            fields += sample if isinstance(sample, (list, tuple)) else [sample]
        return tuple(fields)


class ChainDataset(IterableDataset):
    """The samples of some iterable data sets, one data set after another.

    Args:
        datasets: IterableDatasets.

    Raises:
        TypeError: One is no IterableDataset.
        ValueError: There is none.

    Example:
        >>> import minipaddle as paddle
        >>> class Count(paddle.io.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> list(paddle.io.ChainDataset([Count(), Count()]))
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Sequence[IterableDataset]) -> None:
        self.datasets = _checked("ChainDataset", datasets, iterable=True)

    def __iter__(self) -> Iterator[Any]:
        """Iterates over each in turn."""
        for dataset in self.datasets:
            yield from dataset


class ConcatDataset(Dataset):
    """Data sets with ``__getitem__`` behind one another: numbers go on from one to the next.

    Args:
        datasets: The data sets.

    Raises:
        TypeError: One is an IterableDataset.
        ValueError: There is none.

    Example:
        >>> import minipaddle as paddle
        >>> data = paddle.io.ConcatDataset([[1, 2], [3]])
        >>> len(data), data[2], data[-3]
        (3, 3, 1)
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("datasets of ConcatDataset must not be empty")
        for i, dataset in enumerate(self.datasets):
            if isinstance(dataset, IterableDataset):
                raise TypeError(f"datasets[{i}] of ConcatDataset must not be an IterableDataset")
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        """The sum of the lengths."""
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        """The sample with number ``idx``; negative numbers count from the end."""
        number = idx + len(self) if idx < 0 else idx
        if not 0 <= number < len(self):
            raise IndexError(f"idx must be in [-{len(self)}, {len(self)}); got {idx}")
        which = bisect.bisect_right(self.cumulative_sizes, number)
        return self.datasets[which][number - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """Some samples of a data set.

    Args:
        dataset: The data set.
        indices: Their numbers, in the order wanted.

    Example:
        >>> import minipaddle as paddle
        >>> list(paddle.io.Subset("abc", [2, 0]))
        ['c', 'a']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: int) -> Any:
        """The sample whose number stands at ``idx``."""
        return self.dataset[self.indices[idx]]

    def __len__(self) -> int:
        """How many samples there are."""
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset]:
    """Splits a data set at random into parts without common samples.

    Args:
        dataset: Data set with a length.
        lengths: Length of each part; or fractions whose sum is 1, of which what rounding leaves
            over goes to the first parts, one sample each.
        generator: Where the random numbers come from; the CPU's generator by default.

    Returns:
        The parts.

    Raises:
        ValueError: The lengths do not add up to that of ``dataset``, or one is negative.

    Example:
        >>> import minipaddle as paddle
        >>> _ = paddle.seed(1)
        >>> train, test = paddle.io.random_split(range(10), [0.75, 0.25])
        >>> len(train), len(test), sorted([*train, *test]) == list(range(10))
        (8, 2, True)
    """
    total = len(dataset)
    counts = list(lengths)
    if any(count < 0 for count in counts):
        raise ValueError(f"lengths must not be negative; got {counts}")
    if counts and math.isclose(sum(counts), 1) and sum(counts) <= 1 and counts != [total]:
        counts = [math.floor(total * fraction) for fraction in counts]
        for i in range(int(total - sum(counts))):
            counts[i % len(counts)] += 1
        if 0 in counts:
            warnings.warn(f"random_split makes an empty part: {counts}", stacklevel=2)
    if sum(counts) != total:
        raise ValueError(f"lengths must add up to len(dataset), {total}; got {lengths}")
    if any(count != int(count) for count in counts):
        raise ValueError(f"lengths must be ints, or fractions whose sum is 1; got {lengths}")
    source = get_place("cpu").generator if generator is None else generator
    order = source.bits.permutation(total).tolist()
    ends = list(accumulate(int(count) for count in counts))
    return [Subset(dataset, order[a:b]) for a, b in zip([0, *ends], ends, strict=False)]


def rows(dataset: Any, indices: list[int]) -> list[np.ndarray] | None:
    """A batch of a TensorDataset, or of a part of one, gathered in one go.

    Returns:
        An array for each tensor; None if the samples have to be asked for one by one.
    """
    while type(dataset) is Subset:
        indices = [dataset.indices[i] for i in indices]
        dataset = dataset.dataset
    if type(dataset) is not TensorDataset:
        return None
    arrays = [t.data if isinstance(t, Tensor) else t for t in dataset.tensors]
    if not all(isinstance(array, np.ndarray) for array in arrays):
        return None  # on another device
    return [array.take(indices, axis=0) for array in arrays]


def _checked(owner: str, datasets: Iterable[Any], iterable: bool) -> list[Any]:
    found = list(datasets)
    if not found:
        raise ValueError(f"datasets of {owner} must not be empty")
    wanted = "an IterableDataset" if iterable else "a Dataset that is no IterableDataset"
    for i, dataset in enumerate(found):
        if not isinstance(dataset, Dataset) or isinstance(dataset, IterableDataset) != iterable:
            raise TypeError(
                f"datasets[{i}] of {owner} must be {wanted}; got {type(dataset).__name__}"
            )
    return found
