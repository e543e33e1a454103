"""Paddle's layout of a pickle, both ways.

A state_dict is a dict of arrays, with the names of its tensors in a table of its own. In anything
else a tensor is a tuple of its name and its array. bfloat16 is written as uint16. Protocols 2 and 3
hold no large strings, so a large array of a state_dict is cut into slices.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

import numpy as np

from minipaddle.imperative.tensor import Tensor
from minipaddle.saving.errors import CheckpointError
from minipaddle.saving.pickled import StoredArray
from minipaddle.saving.source import Source
from minipaddle.saving.values import Tensors, Values, has_named_arrays

NAME_TABLE = "StructuredToParameterName@@"
SLICES = "UnpackBigParamInfor@@"
SLICE_BYTES = 2**30 - 1


def is_state_dict(obj: Any) -> bool:
    """Whether Paddle writes ``obj`` as a state_dict: tensors, and dicts without any in them."""
    if not isinstance(obj, dict):
        return False
    return all(
        isinstance(value, Tensor) or (isinstance(value, dict) and not _holds_tensors(value))
        for value in obj.values()
    )


def _holds_tensors(obj: Any) -> bool:
    waiting, seen = [obj], set[int]()
    while waiting:
        item = waiting.pop()
        if isinstance(item, Tensor):
            return True
        if type(item) in (dict, OrderedDict, list, tuple) and id(item) not in seen:
            seen.add(id(item))
            waiting.extend(item.values() if isinstance(item, dict) else item)
    return False


def host_array(tensor: Tensor) -> np.ndarray[Any, Any]:
    """A tensor's values on the CPU, in its own memory if that is there."""
    data = tensor.data
    return data if isinstance(data, np.ndarray) else tensor.numpy()


def with_table(state: dict[Any, Any], protocol: int) -> dict[Any, Any]:
    """A state_dict as Paddle writes it: arrays, the table of names, and slices where it must."""
    written: dict[Any, Any] = {}
    sliced: dict[Any, Any] = {}
    parts: dict[str, Any] = {}
    for key, value in state.items():
        array = host_array(value) if isinstance(value, Tensor) else None
        if array is not None and protocol < 4 and array.nbytes > SLICE_BYTES:
            flat, count = array.reshape(-1), SLICE_BYTES // array.dtype.itemsize
            pieces = {
                f"{key}@@.{i}": flat[i * count : (i + 1) * count]
                for i in range(math.ceil(flat.size / count))
            }
            sliced[key] = {"OriginShape": array.shape, "slices": list(pieces)}
            parts.update(pieces)
        else:
            written[key] = value if array is None else array
    written[NAME_TABLE] = {k: v.name for k, v in state.items() if isinstance(v, Tensor)}
    return written | parts | ({SLICES: sliced} if sliced else {})


def restored(raw: Any, source: Source, return_numpy: bool, keep_name_table: bool) -> Any:
    """What a pickle of Paddle's describes, with tensors where Paddle had them.

    Args:
        raw: What the pickle describes.
        source: Where its arrays are.
        return_numpy: Arrays take the place of tensors.
        keep_name_table: A state_dict keeps its table of names.

    Raises:
        CheckpointError: The table or the slices do not fit the rest.
    """
    if type(raw) is dict and SLICES in raw:
        _join_slices(raw, source)
    if type(raw) is not dict or NAME_TABLE not in raw:
        wanted = Tensors.NAMED if has_named_arrays(raw) else Tensors.ALL
        return Values(source, return_numpy, wanted).of(raw)
    names = raw.pop(NAME_TABLE)
    if type(names) is not dict or not all(isinstance(n, str) for n in names.values()):
        raise CheckpointError("it is damaged: its table of names is none")
    values = Values(source, return_numpy, Tensors.NONE)
    tensors = {
        key: values.tensor(values.array(raw[key]), name)
        for key, name in names.items()
        if isinstance(raw[key], StoredArray | np.ndarray)
    }
    state = {key: tensors[key] if key in tensors else values.of(raw[key]) for key in raw}
    return state | {NAME_TABLE: names} if keep_name_table else state


def _join_slices(raw: dict[Any, Any], source: Source) -> None:
    """Puts the arrays that were cut into slices together again, in ``raw``."""
    sliced = raw.pop(SLICES)
    for key, told in sliced.items():
        arrays = [raw.pop(part).read(source) for part in told["slices"]]
        source.budget.spend_memory(sum(array.nbytes for array in arrays))
        raw[key] = np.concatenate(arrays).reshape(told["OriginShape"])
