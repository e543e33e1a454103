"""Which GPU is meant where any device but a GPU would be a mistake."""

from __future__ import annotations

from typing import Any

from minipaddle.device.backend import Place, current_place, get_place


def gpu_place(device: Any = None) -> Place:
    """The GPU that a user means.

    Args:
        device: Its number, ``"gpu:0"`` or its Place; by default the one that ``set_device`` has
            chosen, else the first.

    Raises:
        TypeError: ``device`` is none of these.
        ValueError: There is no such GPU; the text says why, or it names another kind of device.
    """
    if device is None:
        place = current_place()
        return place if place.backend.name == "gpu" else get_place("gpu")
    if isinstance(device, int) and not isinstance(device, bool):
        return get_place(f"gpu:{device}")
    if not isinstance(device, (str, Place)):
        raise TypeError(f"device must be an int, 'gpu:0' or a Place; got {device!r}")
    place = get_place(device)
    if place.backend.name != "gpu":
        raise ValueError(f"device must be a GPU, as 0 or 'gpu:0'; got {device!r}")
    return place
