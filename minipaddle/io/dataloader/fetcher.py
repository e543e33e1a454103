"""Making one batch out of a data set, in whichever process."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

from minipaddle.io.dataloader.collate import default_collate_fn, default_convert_fn
from minipaddle.io.dataloader.dataset import IterableDataset, rows


class _End:
    """Instead of a batch: an iterable data set has no more."""

    def __reduce__(self) -> str:
        return "END"  # the same object in every process


END = _End()


class Recipe(NamedTuple):
    """What a batch is made from; travels to the worker processes.

    Attributes:
        dataset: The data set.
        collate_fn: Joins samples, or converts one where there is no batch size.
        batched: Whether samples are joined to batches.
        batch_size: Samples in a batch of an iterable data set.
        drop_last: Whether an iterable data set's last batch is left out if it is not full.
        worker_init_fn: Called in each worker with its number.
    """

    dataset: Any
    collate_fn: Callable[[Any], Any] | None
    batched: bool
    batch_size: int
    drop_last: bool
    worker_init_fn: Callable[[int], Any] | None

    @property
    def iterable(self) -> bool:
        """Whether the samples have no numbers."""
        return isinstance(self.dataset, IterableDataset)


class Fetcher:
    """Makes the batches of one pass.

    Args:
        recipe: What from.
        skip: How many batches of an iterable data set to leave out at the start.

    Attributes:
        own: Whether nobody else holds the arrays that a batch consists of.
    """

    def __init__(self, recipe: Recipe, skip: int = 0) -> None:
        self._dataset = recipe.dataset
        self._recipe = recipe
        plain = default_collate_fn if recipe.batched else default_convert_fn
        self._collate: Callable[[Any], Any] = recipe.collate_fn or plain
        self.own = recipe.batched and self._collate is default_collate_fn
        if recipe.iterable:
            self._samples = iter(self._dataset)
            for _ in islice(self._samples, skip * (recipe.batch_size if recipe.batched else 1)):
                pass

    def fetch(self, indices: Any) -> Any:
        """The batch with these samples; END where an iterable data set has no more.

        Raises:
            Exception: What the data set or collate_fn has raised.
        """
        try:
            return self._next() if self._recipe.iterable else self._batch(indices)
        except StopIteration as error:  # would end the loop of the user without a word
            raise RuntimeError("the data set or collate_fn has raised StopIteration") from error

    def _batch(self, indices: Any) -> Any:
        dataset = self._dataset
        if not self._recipe.batched:
            return self._collate(dataset[indices])
        if self.own:
            gathered = rows(dataset, indices)
            if gathered is not None:
                return gathered
        return self._collate([dataset[i] for i in indices])

    def _next(self) -> Any:
        if not self._recipe.batched:
            sample = next(self._samples, END)
            return END if sample is END else self._collate(sample)
        wanted = self._recipe.batch_size
        samples = list(islice(self._samples, wanted))
        if not samples or (self._recipe.drop_last and len(samples) < wanted):
            return END
        return self._collate(samples)
