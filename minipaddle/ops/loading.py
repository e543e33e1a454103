"""Kernels of a kind of device that are imported when the first of them is needed."""

from __future__ import annotations

import importlib

_waiting: dict[str, str] = {}


def register_later(backend: str, module: str) -> None:
    """Has ``module``, which registers kernels, imported when a kernel of ``backend`` is needed."""
    _waiting[backend] = module


def load_kernels(backend: str) -> None:
    """Imports what is waiting for this kind of device; after an error it goes on waiting."""
    module = _waiting.get(backend)
    if module is not None:
        importlib.import_module(module)
        _waiting.pop(backend, None)
