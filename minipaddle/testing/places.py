"""The places that tests run on where nobody names any."""

from __future__ import annotations

from minipaddle.device.backend import Place, get_backend, get_place, known_backends


def present_places() -> list[Place]:
    """The host, and the selected device of every other registered kind that has one here."""
    host = get_place("cpu")
    kinds = [kind for kind in known_backends() if get_backend(kind) is not host.backend]
    return [host, *(get_place(kind) for kind in kinds if get_backend(kind).device_count())]
