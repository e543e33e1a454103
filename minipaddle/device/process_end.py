"""Waiting for the end of a process that is no child of this one."""

from __future__ import annotations

import os
import select


def wait_for_end(pid: int, sentinel: int) -> None:
    """Returns when a process has ended.

    The end shows at ``sentinel``, but a forked sibling may hold the other end of that; so the
    process itself is watched as well where the system allows it.

    Args:
        pid: Its id.
        sentinel: A descriptor of a pipe or socket whose other end the process holds; what arrives
            there is left unread.
    """
    waiter = select.poll()
    waiter.register(sentinel, 0)  # a hang-up is always reported
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except OSError:
        watched = -1  # a sandbox may not know the call
    if watched >= 0:
        waiter.register(watched, select.POLLIN)
    try:
        waiter.poll()
    finally:
        if watched >= 0:
            os.close(watched)
