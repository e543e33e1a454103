"""Looking for what went wrong: where NaN and infinity arise, and the line of a failed gradient.

Both are watchers of every op of a thread, and cost nothing while they are off.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.device.dtype import FLOATS
from minipaddle.device.flags import FlagValue, define_effect, define_flag
from minipaddle.imperative.creation_order import recorded_nodes, results
from minipaddle.imperative.grad_node import grad_state, watch_everywhere
from minipaddle.imperative.gradient import forward_lines
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import Op

_PACKAGE = str(Path(__file__).parents[1])


def _content(value: Any, place: Place | None) -> str:
    """What an array or tensor holds that is not finite, in words; "" if there is nothing."""
    if isinstance(value, Tensor):
        value, place = value.data, value.place
    if place is None or getattr(value, "dtype", None) not in FLOATS or not value.size:
        return ""
    host = np.asarray(place.backend.to_host(value)).astype(np.float64)
    nans, infinities = int(np.isnan(host).sum()), int(np.isinf(host).sum())
    if not nans + infinities:
        return ""
    return f"{nans} NaN and {infinities} infinite of {host.size} values"


def _check(op: Any, value: Any, args: tuple[Any, ...], place: Place | None) -> None:
    """Refuses a result that is not finite, with what is known of the operands."""
    for i, result in enumerate(results(value)):
        found = _content(result, place)
        if not found:
            continue
        if isinstance(op, Op):
            what, names = f"the result of {op.name}", [p.name for p in op.params]
        else:
            what = f"{op.gradients[i] if i < len(op.gradients) else 'a result'} of {op.name}"
            names = list(op.arguments)
            args = args if len(args) == len(names) + 2 else args[1:]  # a formula begins with F
        given = [(n, _content(a, place)) for n, a in zip(names, args, strict=False)]
        bad = [f"{name} holds {content}" for name, content in given if content]
        before = "; ".join(bad) if bad else "all of its operands are finite"
        raise FloatingPointError(f"{what} holds {found}; {before}")


def check_nan_inf(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The watcher of FLAGS_check_nan_inf.

    Raises:
        FloatingPointError: A result of an op or of its gradient holds NaN or infinity.
    """
    node = grad_state.node
    value = call(*args)
    _check(op, value, args, None if node is None else node.place)
    return value


def _note_line(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The watcher of anomaly mode."""
    if isinstance(op, Op):
        value = call(*args)
        for made in recorded_nodes(value):
            forward_lines.setdefault(made, _user_line())
        return value
    node = grad_state.node
    try:
        value = call(*args)
        _check(op, value, args, None if node is None else node.place)
    except Exception as error:
        if node is not None and node in forward_lines:
            error.add_note(f"in the gradient of {node.op.name}, computed {forward_lines[node]}")
        raise
    return value


def _user_line() -> str:
    """The line outside this package from which an op was called, as a traceback shows it."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(_PACKAGE) or frame.f_code.co_filename[0] == "<"
    ):
        frame = frame.f_back
    summary = traceback.extract_stack(frame, limit=1)[0]
    return f"at {summary.filename}:{summary.lineno}, in {summary.name}: {summary.line}"


class detect_anomaly:
    """Finds the line of the forward program behind a failed or non-finite gradient.

    Inside, every recorded op remembers the line that called it. An error in backward names that
    line, and a gradient that holds NaN or infinity is an error. Slow; for debugging.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
        >>> try:
        ...     with paddle.autograd.detect_anomaly():
        ...         (x / x).sum().backward()
        ... except FloatingPointError as error:
        ...     print(error)
        x_grad of divide_grad holds 0 NaN and 1 infinite of 2 values; all of its operands are finite
    """

    def __enter__(self) -> None:
        """Begins."""
        grad_state.watch(_note_line)

    def __exit__(self, *exc_info: object) -> None:
        """Ends."""
        grad_state.unwatch(_note_line)


def set_detect_anomaly(mode: bool) -> None:
    """Switches anomaly mode on or off for all threads; see ``detect_anomaly``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.autograd.set_detect_anomaly(True)
        >>> paddle.autograd.set_detect_anomaly(False)
    """
    watch_everywhere(_note_line, mode)


def _check_everywhere(value: FlagValue) -> None:
    watch_everywhere(check_nan_inf, bool(value))


define_flag(
    "FLAGS_check_nan_inf",
    False,
    "Raise FloatingPointError at the first op or gradient whose result holds NaN or infinity.",
)
define_effect("FLAGS_check_nan_inf", _check_everywhere)
