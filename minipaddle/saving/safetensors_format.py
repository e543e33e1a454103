"""safetensors files, by the package of that name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from minipaddle.imperative.tensor import Tensor
from minipaddle.saving.errors import CheckpointError
from minipaddle.saving.paddle_format import host_array
from minipaddle.saving.values import tensor_of


def _package() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise ImportError(
            "safetensors files need the package safetensors: pip install 'minipaddle[safetensors]'"
        ) from None
    return safetensors


def encode(obj: Any) -> bytes:
    """The content of a file with the given tensors.

    Args:
        obj: Names to tensors or arrays.

    Raises:
        ImportError: The package is missing; the text names the command that installs it.
        TypeError: ``obj`` has something else.
    """
    if not isinstance(obj, Mapping):
        raise TypeError(
            f"save: a safetensors file holds a dict of tensors; obj is a {type(obj).__name__}"
        )
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name, value in obj.items():
        if not isinstance(name, str) or not isinstance(value, Tensor | np.ndarray):
            raise TypeError(
                f"save: a safetensors file holds tensors under names, and nothing else; "
                f"obj[{name!r}] is a {type(value).__name__}; a .pdparams file takes it"
            )
        array = host_array(value) if isinstance(value, Tensor) else value
        # The package writes the memory as it lies, whatever the strides (its issue 825).
        arrays[name] = array if array.flags.c_contiguous else array.copy(order="C")
    try:
        content: bytes = _package().numpy.save(arrays)
    except _package().SafetensorError as error:
        raise TypeError(f"save: a safetensors file cannot hold that: {error}") from None
    return content


def decode(path: str, return_numpy: bool) -> dict[str, Any]:
    """The tensors of a file by name.

    Args:
        path: The file.
        return_numpy: Arrays take the place of tensors.

    Raises:
        CheckpointError: The file is damaged.
        ImportError: The package is missing; the text names the command that installs it.
    """
    package = _package()
    try:
        arrays = package.numpy.load_file(path)
    except package.SafetensorError as error:
        raise CheckpointError(f"it is damaged or cut short: {error}") from None
    if return_numpy:
        return dict(arrays)
    return {name: tensor_of(array) for name, array in arrays.items()}
