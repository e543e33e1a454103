"""Paddle's switch between static graphs and running at once, of which only the latter exists."""

from __future__ import annotations

from typing import NoReturn

from minipaddle.device.backend import Place, set_device


def in_dynamic_mode() -> bool:
    """Whether ops run at once: always.

    Returns:
        True.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.in_dynamic_mode()
        True
    """
    return True


def disable_static(place: str | Place | None = None) -> None:
    """Has ops run at once, as they do here in any case.

    Args:
        place: Device to go on with, as ``set_device`` takes it; None leaves it.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.disable_static()
    """
    if place is not None:
        set_device(place)


def enable_static() -> NoReturn:
    """Refuses: minipaddle has no static graphs.

    Raises:
        RuntimeError: Always.

    Example:
        >>> import minipaddle as paddle
        >>> try:
        ...     paddle.enable_static()
        ... except RuntimeError as error:
        ...     print(error)
        minipaddle has no static graphs; leave out enable_static(): ops run at once
    """
    raise RuntimeError(
        "minipaddle has no static graphs; leave out enable_static(): ops run at once"
    )
