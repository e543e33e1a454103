"""The text of CUDA files, as a compiler without a file system gets it. Knows no device."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from minipaddle.device.dtype import as_dtype

OPTIONS = ("--std=c++17",)

# Dtypes whose name in element.cuh is another.
_NAMES = {"bool": "bool", "float32": "float", "float64": "double", "int64": "i64"}


@functools.cache
def source_text(path: Path) -> str:
    """The file with the text of the headers beside it in the place of ``#include "..."``.

    A header is taken in once. So CuPy's cache, which looks at the text alone, notices when a header
    has changed.
    """
    return "\n".join(_lines(path, set()))


def _lines(path: Path, taken: set[Path]) -> list[str]:
    taken.add(path)
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith('#include "'):
            header = _find(line.split('"')[1], path)
            if header not in taken:
                lines += _lines(header, taken)
        elif line != "#pragma once":
            lines.append(line)
    return lines


def _find(name: str, path: Path) -> Path:
    """The header ``name``: beside the file that wants it, else among this package's own."""
    beside = path.parent / name
    found = beside if beside.exists() else Path(__file__).parent / name
    if not found.exists():
        raise FileNotFoundError(f"{path} includes {name!r}, which is neither beside it nor here")
    return found


def type_name(dtype: Any) -> str:
    """The name that a dtype has in element.cuh.

    Raises:
        TypeError: It has none.
    """
    name = as_dtype(dtype).name
    if name.startswith("complex"):
        raise TypeError(f"kernels for a GPU take no {name}; move the tensor with cpu()")
    return _NAMES.get(name, name)
