"""From samples to a batch, and from a batch of arrays to one of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from minipaddle.device.backend import Place, get_place
from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.functions.joining import stack
from minipaddle.imperative.tensor import Tensor, to_tensor


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """Stacks samples field by field.

    Args:
        batch: Samples of one structure. Arrays, tensors and numbers are stacked along a new first
            axis; text stays a list; dicts and lists are gone through.

    Returns:
        The batch: an array, a Tensor, a list or a dict.

    Raises:
        TypeError: A sample holds something else.
        ValueError: The samples differ in structure or shape.

    Example:
        >>> from minipaddle.io.dataloader.collate import default_collate_fn
        >>> default_collate_fn([{"x": 1, "name": "a"}, {"x": 2, "name": "b"}])
        {'x': array([1, 2]), 'name': ['a', 'b']}
    """
    first = batch[0]
    if isinstance(first, np.ndarray):
        return _stack(batch)
    if isinstance(first, Tensor):
        return stack(list(batch), axis=0)
    if isinstance(first, Number):
        return np.array(batch)
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        _check_alike(batch, Mapping, lambda sample: set(sample), "keys")
        return {key: default_collate_fn([sample[key] for sample in batch]) for key in first}
    if isinstance(first, Sequence):
        _check_alike(batch, Sequence, len, "numbers of fields")
        return [default_collate_fn(fields) for fields in zip(*batch, strict=True)]
    raise TypeError(
        "a sample must be made of tensors, arrays, numbers, text, lists and dicts, or collate_fn "
        f"be given; got {type(first).__name__}"
    )


def _stack(batch: Sequence[np.ndarray]) -> np.ndarray:
    shape = batch[0].shape
    for i, array in enumerate(batch):
        if not isinstance(array, np.ndarray) or array.shape != shape:
            raise ValueError(
                "the samples of a batch must have one shape, or collate_fn be given; sample 0 has "
                f"{list(shape)}, sample {i} {list(np.shape(array))}"
            )
    if not shape:
        return np.stack(batch)
    # Joining what is there takes a third of the time of stacking views with a new axis.
    return np.concatenate(batch).reshape(len(batch), *shape)


def _check_alike(batch: Sequence[Any], kind: type, measure: Any, what: str) -> None:
    wanted = measure(batch[0])
    for i, sample in enumerate(batch):
        if not isinstance(sample, kind) or measure(sample) != wanted:
            raise ValueError(
                f"the samples of a batch must have the same {what}; sample {i} differs from "
                "sample 0"
            )


def default_convert_fn(batch: Any) -> Any:
    """What the loader does to a sample where ``batch_size`` is None: structures become plain.

    Args:
        batch: A sample.

    Returns:
        The sample with dicts for mappings and lists for sequences.

    Example:
        >>> from minipaddle.io.dataloader.collate import default_convert_fn
        >>> default_convert_fn((1, "a"))
        [1, 'a']
    """
    if isinstance(batch, (str, bytes)):
        return batch
    if isinstance(batch, Mapping):
        return {key: default_convert_fn(value) for key, value in batch.items()}
    if isinstance(batch, Sequence):
        return [default_convert_fn(value) for value in batch]
    return batch


def to_host(data: Any) -> Any:
    """The batch with an array for each tensor, so that it can leave a worker process."""
    if isinstance(data, Tensor):
        return data.data if isinstance(data.data, np.ndarray) else data.numpy()
    if isinstance(data, Mapping):
        return {key: to_host(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [to_host(value) for value in data]
    return data


def to_tensors(data: Any, place: Place, own: bool) -> Any:
    """The batch with a tensor for each array.

    Args:
        data: Array, Tensor, list, dict or anything else, which stays as it is.
        place: Where the tensors are made.
        own: Whether nobody else holds the arrays, so that tensors may be made on their memory.
    """
    if isinstance(data, np.ndarray):
        known_kind = data.dtype.kind in "biufcV"
        if not (own and known_kind and data.flags.writeable and place is get_place("cpu")):
            return to_tensor(data, place=place)
        known = as_dtype(data.dtype)
        return Tensor(data if data.dtype is known else data.astype(known, copy=False), place)
    if isinstance(data, Tensor):
        return data.detach() if data.place is place else to_tensor(data, place=place)
    if isinstance(data, Mapping):
        return {key: to_tensors(value, place, own) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [to_tensors(value, place, own) for value in data]
    return data
