"""Tensors as text, laid out as Paddle does, and how many digits and elements it shows."""

from __future__ import annotations

import operator
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from minipaddle.device.backend import Array, Place
from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.op import namespace

_INDENT = " " * len("Tensor(")
_ALL_DIGITS = 1e16  # from here on a float64 has no digits behind the point


@dataclass
class _Options:
    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_options = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """Sets how tensors are shown; None leaves a setting as it is.

    Args:
        precision: Digits behind the point of floats; 8 at first.
        threshold: A tensor of more elements is summarised; 1000 at first.
        edgeitems: How many elements a summary shows at each end of an axis; 3 at first.
        sci_mode: Whether floats are shown as 1.5e-07. At first they are where some would else be
            too long, or show less than three digits.
        linewidth: Characters a line; 80 at first.

    Raises:
        TypeError: ``sci_mode`` is no bool, or another setting no int.
        ValueError: A setting is too small.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.set_printoptions(precision=2)
        >>> paddle.to_tensor([0.125, 1.0])
        Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=True,
               [0.12, 1.  ])
        >>> paddle.set_printoptions(precision=8)
    """
    numbers = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems,
               "linewidth": linewidth}  # fmt: skip
    smallest = {"edgeitems": 1, "linewidth": 1}
    given = {name: _count(name, value, smallest.get(name, 0))
             for name, value in numbers.items() if value is not None}  # fmt: skip
    if sci_mode is not None and not isinstance(sci_mode, bool):
        raise TypeError(f"sci_mode must be a bool; got {type(sci_mode).__name__}")
    for name, number in given.items():
        setattr(_options, name, number)
    if sci_mode is not None:
        _options.sci_mode = sci_mode


def _count(name: str, value: Any, smallest: int) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int; got {type(value).__name__}") from None
    if count < smallest:
        raise ValueError(f"{name} must be at least {smallest}; got {count}")
    return count


def describe(data: Array, place: Place, stop_gradient: bool) -> str:
    """What ``repr`` says of a tensor."""
    head = (
        f"Tensor(shape={list(data.shape)}, dtype={data.dtype.name}, place={place!r}, "
        f"stop_gradient={stop_gradient},"
    )
    return f"{head}\n{_INDENT}{_body(data, place)})"


def _body(data: Array, place: Place) -> str:
    """The elements, or those at the edges; only what is shown is copied from the device."""
    summarised = data.size > _options.threshold
    host = _edges(data, place, 0) if summarised else place.backend.to_host(data)
    host = host.astype(compute_dtype(host.dtype), copy=False)
    scientific = _is_scientific(host)
    texts = [_text(value, scientific) for value in host.ravel()]
    signed = any(text.startswith("-") for text in texts)
    width = max(map(len, texts), default=0)

    def padded(value: Any) -> str:
        text = _text(value, scientific)
        space = " " if signed and text[0] != "-" and len(text) < width else ""
        return (space + text).ljust(width)

    return np.array2string(
        host,
        max_line_width=_options.linewidth,
        separator=", ",
        prefix=_INDENT,
        suffix=")",
        threshold=0 if summarised else sys.maxsize,
        edgeitems=_options.edgeitems,
        formatter={"all": padded},
    )


def _is_scientific(host: np.ndarray[Any, Any]) -> bool:
    if _options.sci_mode is not None or host.dtype.kind not in "fc":
        return bool(_options.sci_mode)
    sizes = np.abs(host[np.isfinite(host) & (host != 0)])
    if host.dtype.kind == "c" or not sizes.size:
        return False
    return bool(sizes.max() >= _ALL_DIGITS or sizes.min() < 10 ** (-0.75 * _options.precision))


def _text(value: Any, scientific: bool) -> str:
    """One element; a whole float ends in its point, as in Paddle."""
    kind, precision = value.dtype.kind, _options.precision
    if kind == "c":
        real, imag = _text(value.real, scientific), _text(value.imag, scientific)
        return f"({real}{'' if imag[0] == '-' else '+'}{imag}j)"
    if kind != "f" or not np.isfinite(value):
        return str(value)
    if scientific:
        return f"{value:.{precision}e}"
    return f"{value:.0f}." if value == np.ceil(value) else f"{value:.{precision}f}"


def _edges(data: Array, place: Place, axis: int) -> np.ndarray[Any, Any]:
    """The edges of each axis; one element more between them makes NumPy put dots there."""
    if axis == len(data.shape):
        host: np.ndarray[Any, Any] = place.backend.to_host(data)
        return host
    edge = _options.edgeitems
    if data.shape[axis] <= 2 * edge:
        return _edges(data, place, axis + 1)
    parts = (slice(edge), slice(-1, None), slice(-edge, None))
    before = (slice(None),) * axis
    getitem = namespace(place).getitem
    shown = [_edges(getitem(data, (*before, part)), place, axis + 1) for part in parts]
    return np.concatenate(shown, axis)
