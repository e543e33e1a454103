"""What is called when the outermost backward of a thread ends, well or not."""

from __future__ import annotations

from collections.abc import Callable

from minipaddle.imperative.grad_node import Callback, grad_state


def queue_callback(callback: Callback, number: int = 0) -> None:
    """Has ``callback(error)`` called when the outermost backward of this thread ends.

    ``error`` is None after a good end, else the exception on its way to the caller. All callbacks
    are called, the smallest ``number`` first, also if one of them raises.

    Raises:
        RuntimeError: No backward is under way in this thread.
    """
    if not grad_state.depth:
        raise RuntimeError("queue_callback is for hooks: no backward is under way in this thread")
    grad_state.callbacks.append((number, callback))


_failure_watchers: list[Callable[[BaseException], None]] = []


def watch_failures(watcher: Callable[[BaseException], None]) -> None:
    """Has ``watcher(error)`` called, in its thread, whenever an outermost backward raises."""
    _failure_watchers.append(watcher)


def end_run(recording: bool, error: BaseException | None) -> None:
    """Leaves a run; ``recording`` is what held before it, ``error`` what ended it."""
    state = grad_state
    state.recording = recording
    state.depth -= 1
    if state.depth:
        return
    if error is not None:
        for watcher in _failure_watchers:
            watcher(error)
    if not state.callbacks:
        return
    callbacks, state.callbacks = sorted(state.callbacks, key=lambda entry: entry[0]), []
    raised: BaseException | None = None
    for _, callback in callbacks:
        try:
            callback(error or raised)
        except BaseException as failure:
            raised = raised or failure
    if raised is not None and error is None:
        try:
            raise raised
        finally:
            del raised  # an exception that its own frame holds would be a reference cycle
