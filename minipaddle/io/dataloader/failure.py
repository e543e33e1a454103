"""Errors on their way from a worker process to the caller."""

from __future__ import annotations

import pickle
import traceback
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, NamedTuple

_OURS = Path(__file__).parent
_DEPTH = 3  # how deep what cannot be pickled is looked for


class Failure(NamedTuple):
    """An exception that a worker has met.

    Attributes:
        pickled: The exception; None if it cannot be made again elsewhere.
        summary: Its type and text in one line.
        text: Its traceback.
    """

    pickled: bytes | None
    summary: str
    text: str


def failure_of(error: BaseException) -> Failure:
    """What can be told of an exception in another process."""
    frames = error.__traceback__
    while frames is not None and Path(frames.tb_frame.f_code.co_filename).parent == _OURS:
        frames = frames.tb_next  # our own frames say nothing to the user
    shown = traceback.format_exception(type(error), error, frames or error.__traceback__)
    text = "".join(shown)
    summary = traceback.format_exception_only(error)[-1].strip()
    try:
        pickled = pickle.dumps(error)
        again = pickle.loads(pickled)
        same = type(again) is type(error) and str(again) == str(error)
        # Only an error is raised again: sys.exit() of a worker must not end the caller.
        return Failure(pickled if same and isinstance(error, Exception) else None, summary, text)
    except Exception:  # an exception class may do anything here
        return Failure(None, summary, text)


def rebuilt(failure: Failure, where: str) -> Exception:
    """The exception again, with a note of where it was raised.

    Args:
        failure: What a worker has told.
        where: Worker, batch and samples, as in ``"DataLoader worker 0, batch 3"``.

    Returns:
        An exception of the original type, or a RuntimeError where that cannot be made here.
    """
    note = f"Raised in {where}:\n\n{failure.text}"
    try:
        error: Exception = pickle.loads(failure.pickled or b"")
    except Exception:
        return RuntimeError(f"{failure.summary}\n{note}")
    error.add_note(note)
    return error


def unpicklable(parts: dict[str, Any], error: BaseException) -> TypeError | None:
    """An error that says what cannot be sent to the workers, and what to do.

    Args:
        parts: What is sent, under the names that the user knows it by.
        error: What pickling all of it has raised.

    Returns:
        The error; None if no part can be blamed.
    """
    for name, part in parts.items():
        reason = _reason(part)
        if reason is not None:
            path, culprit, reason = _culprit(name, part, reason, _DEPTH)
            return TypeError(
                f"{path} ({type(culprit).__name__}) cannot be pickled to be sent to the worker "
                f"processes: {reason}. Functions and classes must stand at the top level of a "
                "module; open files, connections and locks where they are first used, in "
                "__getitem__ or worker_init_fn; or load in this process with num_workers=0"
            )
    return None


def _reason(part: Any) -> BaseException | None:
    try:
        ForkingPickler.dumps(part)
    except Exception as error:
        return error
    return None


def _culprit(path: str, part: Any, why: Any, depth: int) -> tuple[str, Any, Any]:
    inside: dict[str, Any] = {}
    if isinstance(part, dict):
        inside = {f"{path}[{key!r}]": value for key, value in part.items()}
    elif isinstance(part, (list, tuple)):
        inside = {f"{path}[{i}]": value for i, value in enumerate(part)}
    elif hasattr(part, "__dict__") and not isinstance(part, type):
        inside = {f"{path}.{key}": value for key, value in vars(part).items()}
    for where, value in inside.items() if depth else ():
        reason = _reason(value)
        if reason is not None:
            return _culprit(where, value, reason, depth - 1)
    return path, part, why
