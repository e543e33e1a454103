"""save and load."""

from __future__ import annotations

import os
import struct
from io import BytesIO
from typing import Any, BinaryIO

from minipaddle.saving import safetensors_format, torch_format
from minipaddle.saving.atomic import write_file
from minipaddle.saving.errors import CheckpointError
from minipaddle.saving.file_kind import HEAD_BYTES, Kind, kind_of
from minipaddle.saving.paddle_format import is_state_dict, restored, with_table
from minipaddle.saving.pickle_reader import PickleReader
from minipaddle.saving.pickle_writer import PickleWriter
from minipaddle.saving.source import Budget, Source
from minipaddle.saving.values import Tensors, Values

SAFETENSORS_SUFFIX = ".safetensors"
TORCH_SUFFIXES = (".pt", ".pth", ".bin")
# What a reader meets in a file whose parts do not fit together.
_DAMAGE = (ArithmeticError, AttributeError, EOFError, LookupError, RecursionError, TypeError,
           ValueError, struct.error)  # fmt: skip


def save(
    obj: Any, path: str | os.PathLike[str] | BytesIO, protocol: int = 4, **configs: Any
) -> None:
    """Writes tensors and plain values to a file that ``load``, here and in Paddle, reads.

    A file is replaced in one go when the new content is on the disk: whatever happens, the path
    holds the old checkpoint or the new one. A path that ends in ``.safetensors`` gets that format,
    which holds a dict of tensors and nothing else.

    Args:
        obj: A state_dict of a layer or an optimizer; or tensors, NumPy arrays, numbers, text and
            None, in dict, OrderedDict, list, tuple and set.
        path: The file; missing folders are made. Or a BytesIO.
        protocol: Version of the pickle format, 2 to 4.
        **configs: ``safetensors=True`` for that format under another suffix.

    Raises:
        ImportError: The package safetensors is needed; the text says how to install it.
        OSError: The file cannot be written.
        TypeError: ``obj`` has something that cannot be saved; the text says where.
        ValueError: ``path`` ends in a folder, ``protocol`` is unknown, ``obj`` has a layer or an
            optimizer instead of its state, or contains itself.

    Example:
        >>> import io
        >>> import minipaddle as paddle
        >>> file = io.BytesIO()
        >>> paddle.save({"weight": paddle.ones([2]), "epoch": 3}, file)
        >>> _ = file.seek(0)
        >>> paddle.load(file)["epoch"]
        3
    """
    _check_configs("save", configs, {"safetensors"})
    if not isinstance(protocol, int) or not 2 <= protocol <= 4:
        raise ValueError(f"save: protocol must be 2, 3 or 4; got {protocol!r}")
    if isinstance(path, BytesIO):
        path.writelines(_pieces(obj, protocol))
        return
    name = _name(path, "save")
    if not os.path.basename(name):
        raise ValueError(f"save: path must end in the name of a file; got {name!r}")
    if configs.get("safetensors", name.endswith(SAFETENSORS_SUFFIX)):
        write_file(name, [safetensors_format.encode(obj)])
    else:
        write_file(name, _pieces(obj, protocol))


def _pieces(obj: Any, protocol: int) -> list[bytes | memoryview]:
    written = with_table(obj, protocol) if is_state_dict(obj) else obj
    return PickleWriter(protocol).dump(written)


def load(path: str | os.PathLike[str] | BytesIO, **configs: Any) -> Any:
    """Reads what ``save``, here or in Paddle, has written. No code of the file is run.

    Also read: files of the safetensors format that end in ``.safetensors``, and PyTorch's that end
    in ``.pt``, ``.pth`` or ``.bin``. PyTorch keeps the weight of a Linear transposed.

    Args:
        path: The file, or a BytesIO, which is read from its position on.
        **configs: ``return_numpy=True`` for NumPy arrays in place of tensors;
            ``keep_name_table=True`` keeps the table of the tensors' names in a state_dict;
            ``safetensors=True`` for that format under another suffix.

    Returns:
        The value that was saved. Its tensors lie on the current device, and their stop_gradient is
        True. Arrays of a dtype that tensors do not have, such as uint32, stay arrays.

    Raises:
        CheckpointError: The file is no checkpoint, is damaged, or asks for what is not allowed. It
            is a ValueError, and nothing was loaded.
        ImportError: A package is needed; the text says how to install it.
        ValueError: There is no such file, or an unknown option.

    Example:
        >>> import io
        >>> import minipaddle as paddle
        >>> file = io.BytesIO()
        >>> paddle.save(paddle.nn.Linear(2, 1).state_dict(), file)
        >>> _ = file.seek(0)
        >>> sorted(paddle.load(file))
        ['bias', 'weight']
    """
    _check_configs("load", configs, {"return_numpy", "keep_name_table", "safetensors"})
    if isinstance(path, BytesIO):
        start = path.tell()
        try:
            return _load(path, "<BytesIO>", configs)
        except BaseException:
            path.seek(start)
            raise
    name = _name(path, "load")
    if not os.path.isfile(name):
        raise CheckpointError(f"{name}: {_missing(name)}")
    with open(name, "rb") as file:
        return _load(file, name, configs)


def _check_configs(function: str, configs: dict[str, Any], known: set[str]) -> None:
    for key, value in configs.items():
        if key not in known:
            raise ValueError(
                f"{function}: {key} is no option; the options are {', '.join(sorted(known))}"
            )
        if not isinstance(value, bool):
            raise ValueError(f"{function}: {key} must be True or False; got {value!r}")


def _name(path: Any, function: str) -> str:
    if not isinstance(path, str | os.PathLike):
        raise ValueError(
            f"{function}: path must be the name of a file or a BytesIO; got {type(path).__name__}"
        )
    return os.fspath(path)


def _missing(name: str) -> str:
    if os.path.isdir(name):
        return "it is a folder; give the file in it"
    if os.path.exists(name):
        return "it is no file but a device or a pipe; read it into a BytesIO first"
    complete = [name + end for end in (".pdparams", ".pdopt") if os.path.isfile(name + end)]
    hint = f"; {complete[0]} does: give the whole name" if complete else ""
    return f"there is no such file{hint}"


def _load(file: BinaryIO, name: str, configs: dict[str, bool]) -> Any:
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    kind = kind_of(file.read(HEAD_BYTES), size)
    try:
        _check_suffix(kind, name, configs.get("safetensors"))
        if kind is Kind.SAFETENSORS:
            return safetensors_format.decode(name, configs.get("return_numpy", False))
        return _unpickled(file, Source(file, start, start + size, Budget(size)), kind, configs)
    except CheckpointError as error:
        raise CheckpointError(f"{name}: {error}") from error.__cause__
    except _DAMAGE as error:
        raise CheckpointError(f"{name}: it is damaged: {error}") from error


def _unpickled(file: BinaryIO, source: Source, kind: Kind | str, configs: dict[str, bool]) -> Any:
    return_numpy = configs.get("return_numpy", False)
    if kind is Kind.PICKLE:
        raw = PickleReader(source).load()
        end = source.position
        value = restored(raw, source, return_numpy, configs.get("keep_name_table", False))
        file.seek(end)
        return value
    if kind is Kind.TORCH_ZIP:
        raw, source = torch_format.read_zip(file, source.budget)
    else:
        raw = torch_format.read_legacy(source)
    return Values(source, return_numpy, Tensors.NONE).of(raw)


def _check_suffix(kind: Kind | str, name: str, safetensors: bool | None) -> None:
    """Refuses what is no checkpoint, and a format that the name does not tell of."""
    if isinstance(kind, str):
        raise CheckpointError(f"it is {kind}")
    wanted = name.endswith(SAFETENSORS_SUFFIX) if safetensors is None else safetensors
    in_memory = name == "<BytesIO>"
    if wanted != (kind is Kind.SAFETENSORS) or (in_memory and kind is Kind.SAFETENSORS):
        advice = "without" if wanted else "with"
        raise CheckpointError(
            f"it is {kind.value}; load it from a file {advice} the suffix {SAFETENSORS_SUFFIX}"
        )
    torch = kind in (Kind.TORCH_ZIP, Kind.TORCH_LEGACY)
    if torch and not in_memory and not name.endswith(TORCH_SUFFIXES):
        raise CheckpointError(
            f"it is {kind.value}; what PyTorch has saved is read under a name that ends in "
            f"{' or '.join(TORCH_SUFFIXES)}, and its Linear weights are transposed"
        )
