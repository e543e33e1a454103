"""What a kind of device can do (Backend), and one device of a kind (Place)."""

from __future__ import annotations

import importlib
import os
import re
import threading
from collections.abc import Callable
from typing import Any

from minipaddle.device.flags import define_device_variables, selected_index
from minipaddle.device.generator import Generator

PLUGINS_ENV = "MINIPADDLE_PLUGINS"
ENTRY_POINT_GROUP = "minipaddle.backends"

# An array of any backend: it has shape, dtype, size and nbytes, and nothing else is asked of it.
Array = Any


class Backend:
    """The contract of a kind of device; a plug-in subclasses it and registers an instance.

    Members with a body here are right for a device that computes at once, as a CPU does. The words
    of options and messages ("gpus") follow from the name.

    Attributes:
        name: The kind, as in ``"cpu"`` or ``"gpu:0"``: lower-case letters.
        xp: Module whose functions make and change arrays of this kind, or None for opaque arrays.
        visible_devices_env: Variable that lists the ids a process may use, or None.
        selected_devices_env: Flag that picks among those for this process, or None.
        dlpack_type: DLPack's number for this kind, or None where memory cannot be shared; with a
            number come ``to_dlpack`` and ``from_dlpack``.
    """

    name: str = ""
    xp: Any = None
    visible_devices_env: str | None = None
    selected_devices_env: str | None = None
    dlpack_type: int | None = None

    def device_count(self) -> int:
        """How many devices of this kind this process can use."""
        raise TypeError(f"backend {self.name!r} does not define device_count()")

    def absence(self) -> str:
        """Why ``device_count()`` is 0, in words that may follow a colon; empty if unknown."""
        return ""

    def set_device(self, index: int) -> None:
        """Makes device ``index`` the one that the calling thread's kernels run on."""

    def synchronize(self, index: int) -> None:
        """Waits until device ``index`` has finished all that was given to it."""

    def to_host(self, array: Array) -> Any:
        """Copies ``array`` into a new NumPy array."""
        raise TypeError(f"backend {self.name!r} does not define to_host()")

    def from_host(self, array: Any, index: int) -> Array:
        """Copies a NumPy array into a new array on device ``index``."""
        raise TypeError(f"backend {self.name!r} does not define from_host()")

    def to_dlpack(self, array: Array, **options: Any) -> Any:
        """A DLPack capsule over ``array``; ``options`` are those of ``Tensor.__dlpack__``."""
        raise TypeError(f"backend {self.name!r} does not define to_dlpack()")

    def from_dlpack(self, capsule: Any, copy: bool) -> Array:
        """An array over a capsule's memory, or over a copy of it."""
        raise TypeError(f"backend {self.name!r} does not define from_dlpack()")

    def dlpack_stream(self, index: int) -> int | None:
        """What ``from_dlpack`` tells a producer: the stream that may use the memory at once."""
        return None

    def out_of_memory(self, index: int, error: MemoryError, doing: str) -> MemoryError:
        """What is raised for a MemoryError of a kernel; ``doing`` says what needed the memory."""
        return MemoryError(f"{doing}: {error}")

    def stream(self, index: int) -> Any:
        """A queue of work on device ``index``; None where kernels run at once."""
        return None

    def event(self, index: int) -> Any:
        """A mark in a stream that another stream can wait for; None where kernels run at once."""
        return None

    def is_view(self, array: Any, of: Any) -> bool:
        """Whether ``array``, just made from ``of`` by a kernel of views, shares its memory."""
        base = array.base
        return base is of or (base is not None and base is of.base)

    def generator(self, index: int) -> Generator:
        """A new random generator for device ``index``."""
        return Generator()


class Place:
    """One device: ``Place(cpu)`` or ``Place(gpu:1)``. Interned, so ``is`` compares places."""

    __slots__ = ("__weakref__", "_generator", "backend", "index")

    def __init__(self, backend: Backend, index: int) -> None:
        self.backend = backend
        self.index = index
        self._generator: Generator | None = None

    @property
    def generator(self) -> Generator:
        """The random generator of this place, made at first use."""
        if self._generator is None:
            self._generator = self.backend.generator(self.index)
            if _seed is not None:
                self._generator.manual_seed(_seed)
        return self._generator

    def __str__(self) -> str:
        return "cpu" if self.backend.name == "cpu" else f"{self.backend.name}:{self.index}"

    def __repr__(self) -> str:
        return f"Place({self})"

    def __reduce__(self) -> tuple[Callable[[str], Place], tuple[str]]:
        return get_place, (str(self),)


_lock = threading.RLock()
_backends: dict[str, Backend] = {}
_places: dict[tuple[str, int], Place] = {}
_plugins_loaded = False
_current: Place | None = None
_seed: int | None = None
_seedings = 0


def register_backend(backend: Backend) -> Backend:
    """Makes a kind of device known under ``backend.name``.

    Raises:
        ValueError: The name is not made of lower-case letters, or is taken.
    """
    if not re.fullmatch(r"[a-z]+", backend.name):
        raise ValueError(f"a backend's name must be lower-case letters; got {backend.name!r}")
    if backend.name in _backends:
        raise ValueError(f"a backend named {backend.name!r} is registered already")
    _backends[backend.name] = backend
    if backend.name != "cpu":
        define_device_variables(
            backend.name, backend.visible_devices_env, backend.selected_devices_env
        )
    return backend


def _load_plugins() -> None:
    """Imports the modules named in MINIPADDLE_PLUGINS, once."""
    global _plugins_loaded
    with _lock:
        if _plugins_loaded:
            return
        _plugins_loaded = True  # also for what the plug-ins themselves look up
        try:
            for module in filter(None, os.environ.get(PLUGINS_ENV, "").split(",")):
                importlib.import_module(module.strip())
        except BaseException:
            _plugins_loaded = False
            raise


def known_backends() -> list[str]:
    """Names of all kinds of device that are registered, plug-ins included."""
    _load_plugins()
    return sorted(_backends)


def get_backend(name: str) -> Backend:
    """The backend called ``name``; an unknown name is looked for among installed plug-ins.

    Raises:
        ValueError: No such kind of device; the text lists those that are known.
    """
    _load_plugins()
    if name not in _backends:
        from importlib.metadata import entry_points  # 20 ms, and hardly anybody comes here

        for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
            point.load()
    if name not in _backends:
        known = ", ".join(sorted(_backends))
        raise ValueError(
            f"there is no device of kind {name!r} here; known kinds: {known}. A plug-in is found "
            f"by the variable {PLUGINS_ENV}=module or the entry-point group {ENTRY_POINT_GROUP}"
        )
    return _backends[name]


def get_place(device: str | Place) -> Place:
    """The place that ``"cpu"``, ``"gpu"`` or ``"gpu:1"`` names.

    Without a number it is the first device that FLAGS_selected_gpus names, else device 0;
    ``"cuda:1"`` is ``"gpu:1"``.

    Raises:
        TypeError: ``device`` is neither a string nor a Place.
        ValueError: The text names no device, or the device is not there.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.device.get_place("cpu")
        Place(cpu)
    """
    if isinstance(device, Place):
        return device
    if not isinstance(device, str):
        raise TypeError(f"device must be a str such as 'cpu' or 'gpu:0'; got {device!r}")
    match = re.fullmatch(r"([a-z]+)(?::(\d+))?", device)
    if match is None:
        raise ValueError(f"device must look like 'cpu', 'gpu' or 'gpu:0'; got {device!r}")
    kind = "gpu" if match[1] == "cuda" else match[1]
    index = int(match[2]) if match[2] is not None else selected_index(kind)
    found = _places.get((kind, index))
    return found if found is not None else _new_place(kind, index)


def _new_place(kind: str, index: int) -> Place:
    backend = get_backend(kind)
    count = backend.device_count()
    if index >= count:
        why = "" if count else f": {backend.absence()}".removesuffix(": ")
        raise ValueError(
            f"there is no device {kind}:{index}; this process sees {count} {kind}(s){why}"
        )
    with _lock:
        return _places.setdefault((kind, index), Place(backend, index))


def made_places() -> list[Place]:
    """The places that this process has named so far."""
    return list(_places.values())


def current_place() -> Place:
    """The place where new tensors are made."""
    return _current if _current is not None else get_place("cpu")


def chosen_place() -> Place | None:
    """The place that ``set_device`` has chosen, or None if it was never called."""
    return _current


def set_device(device: str | Place) -> Place:
    """Chooses the place where new tensors are made.

    Args:
        device: ``"cpu"``, ``"gpu"``, ``"gpu:1"`` or the name of a plug-in device.

    Returns:
        The place.

    Raises:
        ValueError: There is no such device; the present choice stays.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.set_device("cpu")
        Place(cpu)
    """
    global _current
    place = get_place(device)
    place.backend.set_device(place.index)
    _current = place
    return place


def get_device() -> str:
    """The place where new tensors are made, as ``"cpu"`` or ``"gpu:0"``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.get_device()
        'cpu'
    """
    return str(current_place())


def synchronize(device: str | Place | None = None) -> None:
    """Waits until a device has done all that was given to it; the CPU always has.

    Args:
        device: As for ``get_place``; by default the place where new tensors are made.

    Raises:
        TypeError: ``device`` is neither a string nor a Place.
        ValueError: There is no such device.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.device.synchronize()
    """
    place = current_place() if device is None else get_place(device)
    place.backend.synchronize(place.index)


def seed(seed: int) -> Generator:
    """Restarts the random sequence of every place, also of those first used later.

    A process that was never given a seed has sequences of its own, a spawned rank too: seed each
    by its rank, or all alike. A forked process goes on with a copy of its parent's sequences and
    draws the same numbers, until it calls ``seed``.

    Args:
        seed: A non-negative int.

    Returns:
        The generator of the current place.

    Example:
        >>> import minipaddle as paddle
        >>> _ = paddle.seed(7)
        >>> first = paddle.randn([2]).numpy()
        >>> _ = paddle.seed(7)
        >>> bool((first == paddle.randn([2]).numpy()).all())
        True
    """
    global _seed, _seedings
    Generator().manual_seed(seed)  # refuses a bad value before anything has changed
    _seed = int(seed)
    _seedings += 1
    for place in made_places():
        place.generator.manual_seed(_seed)
    return current_place().generator


def seedings() -> int:
    """How often ``seed`` was called: what draws from a seed of its own then starts again."""
    return _seedings
