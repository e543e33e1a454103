"""A program that ends with an exception tells the other processes of its job why."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import TracebackType


@cache
def tell_of_crashes(abort: Callable[[BaseException], None]) -> None:
    """Has ``abort(exception)`` called with what nobody has caught, after it was printed.

    Without it the others would wait, or only learn that this process is gone.
    """
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        abort(error)

    sys.excepthook = hook
