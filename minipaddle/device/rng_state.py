"""Random state of the devices: saved, restored, and left as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minipaddle.device.backend import (
    Place,
    current_place,
    get_backend,
    get_place,
    known_backends,
    made_places,
)

State = dict[str, Any]


def _places(device: str | Place | None) -> list[Place]:
    """Every device of the kind of ``device``."""
    backend = (current_place() if device is None else get_place(device)).backend
    return [get_place(f"{backend.name}:{i}") for i in range(backend.device_count())]


def get_rng_state(device: str | Place | None = None) -> list[State]:
    """The random states of all devices of one kind.

    Args:
        device: A device of that kind; the current one by default.

    Returns:
        A state for each device, made of plain Python values that can be pickled.

    Example:
        >>> import minipaddle as paddle
        >>> state = paddle.get_rng_state()
        >>> first = paddle.rand([3]).tolist()
        >>> paddle.set_rng_state(state)
        >>> paddle.rand([3]).tolist() == first
        True
    """
    return [place.generator.get_state() for place in _places(device)]


def set_rng_state(state_list: list[State], device: str | Place | None = None) -> None:
    """Has all devices of one kind go on from states of ``get_rng_state``, to the bit.

    Args:
        state_list: A state for each device.
        device: A device of that kind; the current one by default.

    Raises:
        ValueError: There are more states or fewer, or one is no such state; then nothing changes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.set_rng_state(paddle.get_rng_state("cpu"), "cpu")
    """
    _restore(_places(device), state_list)


def _restore(places: list[Place], state_list: list[State]) -> None:
    if len(state_list) != len(places):
        raise ValueError(
            f"state_list must have a state for each of {len(places)} devices; got {len(state_list)}"
        )
    pairs = list(zip(places, state_list, strict=True))
    for place, state in pairs:  # refuses a wrong one before anything has changed
        place.backend.generator(place.index).set_state(state)
    for place, state in pairs:
        place.generator.set_state(state)


def get_cuda_rng_state() -> list[State]:
    """The random states of all GPUs; an empty list where there is none.

    Returns:
        As ``get_rng_state("gpu")``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.set_cuda_rng_state(paddle.get_cuda_rng_state())
    """
    return [place.generator.get_state() for place in _gpus()]


def set_cuda_rng_state(state_list: list[State]) -> None:
    """Has all GPUs go on from states of ``get_cuda_rng_state``.

    Args:
        state_list: A state for each GPU.

    Raises:
        ValueError: There are more states or fewer, or one is no such state.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.set_cuda_rng_state(paddle.get_cuda_rng_state())
    """
    _restore(_gpus(), state_list)


def _gpus() -> list[Place]:
    found = "gpu" in known_backends() and get_backend("gpu").device_count()
    return _places("gpu:0") if found else []


@contextmanager
def fork_rng() -> Iterator[None]:
    """What is drawn inside leaves the random states of all places in use as they were before.

    Example:
        >>> import minipaddle as paddle
        >>> _ = paddle.seed(1)
        >>> with paddle.device.fork_rng():
        ...     inside = paddle.rand([2]).tolist()
        >>> paddle.rand([2]).tolist() == inside
        True
    """
    current_place()  # it is in use too
    states = [(place, place.generator.get_state()) for place in made_places()]
    try:
        yield
    finally:
        for place, state in states:
            place.generator.set_state(state)
