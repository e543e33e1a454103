"""Which devices the processes of a job get. Pure: the hardware is never asked from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from minipaddle.device.backend import get_backend, known_backends
from minipaddle.device.flags import (
    device_variables,
    flag_environ,
    parse_ids,
    selected_flag_names,
    selection_environ,
    visible_ids,
)
from minipaddle.device.parallel_env import KIND_OF_COMM

ANY_KIND_OPTION = "selected_devices"
ANY_KIND_FLAG = "FLAGS_selected_devices"
# Old option, and the one that has taken its place.
OLD_OPTIONS = {"selected_gpus": "gpus"}


class Selectable(Protocol):
    """What device selection needs to know of a Backend."""

    @property
    def name(self) -> str:
        """The kind, as in ``"gpu"``."""

    @property
    def visible_devices_env(self) -> str | None:
        """Variable that lists the ids a process may use."""

    @property
    def selected_devices_env(self) -> str | None:
        """Flag that picks among them; None for a kind without ids, as the CPU."""


@dataclass(frozen=True)
class AbsentKind:
    """A kind of device that users may name although this process has no backend for it."""

    name: str

    @property
    def visible_devices_env(self) -> str:
        """Variable that lists the ids a process may use."""
        return device_variables(self.name)[0]

    @property
    def selected_devices_env(self) -> str:
        """Flag that picks among them."""
        return device_variables(self.name)[1]

    def device_count(self) -> int:
        """None is here."""
        return 0


def kinds_with_ids() -> list[str]:
    """Kinds of device that an option can pick: gpu, xpu and those of plug-ins."""
    return sorted({"gpu", "xpu", *known_backends()} - {"cpu"})


def find_kind(name: str) -> Any:
    """The backend of a kind, or its AbsentKind."""
    return get_backend(name) if name in known_backends() else AbsentKind(name)


def present_kinds() -> list[str]:
    """Kinds that have a device here, those with ids first."""
    return [name for name in kinds_with_ids() if find_kind(name).device_count() > 0] + ["cpu"]


def comm_of_kind(kind: str) -> str:
    """The name under which users know the collectives of ``kind``."""
    return next((comm for comm, one in KIND_OF_COMM.items() if one == kind), kind)


def device_options() -> list[str]:
    """Names of the options that pick devices: gpus, xpus, selected_devices and so on."""
    return [f"{kind}s" for kind in kinds_with_ids()] + [ANY_KIND_OPTION, *OLD_OPTIONS]


def _given(options: Mapping[str, Any], name: str) -> bool:
    return options.get(name) is not None


def choose_kind(
    options: Mapping[str, Any],
    environ: Mapping[str, str],
    current: str | None,
    found: Callable[[], Sequence[str]],
) -> str:
    """The kind of device that a job runs on.

    Args:
        options: Options of spawn.
        environ: Environment with the flags on top.
        current: The place that the user has set, as in ``"xpu:0"``; None if none was.
        found: Gives the kinds that this machine has, best first; called if nothing else decides,
            since it wakes the drivers.

    Returns:
        ``"cpu"``, ``"gpu"`` and so on: what an option says, else the place, else the flags, else
        the first that was found.

    Raises:
        ValueError: Options name two kinds, or the backend is unknown.
    """
    claims = {f"{kind}s": kind for kind in kinds_with_ids() if _given(options, f"{kind}s")}
    claims.update({old: new[:-1] for old, new in OLD_OPTIONS.items() if _given(options, old)})
    comm = options.get("backend") or "auto"
    if comm != "auto":
        claims[f"backend={comm!r}"] = kind_of_comm(comm)
    if len(set(claims.values())) > 1:
        raise ValueError(
            f"{' and '.join(claims)} ask for devices of different kinds; a job runs on one kind"
        )
    if claims:
        return next(iter(claims.values()))
    if current is not None:
        return current.partition(":")[0]
    flagged = [k for k in kinds_with_ids() if environ.get(find_kind(k).selected_devices_env or "")]
    if len(flagged) > 1:
        names = " and ".join(str(find_kind(kind).selected_devices_env) for kind in flagged)
        raise ValueError(f"{names} are both set; unset one, or say gpus= or xpus=")
    return (flagged or list(found()) or ["cpu"])[0]


def kind_of_comm(comm: Any) -> str:
    """The kind of device that a ``backend`` option means.

    Raises:
        ValueError: No such backend; the text lists them.
    """
    kinds = {**KIND_OF_COMM, **{name: name for name in known_backends()}}
    if not isinstance(comm, str) or comm not in kinds:
        raise ValueError(f"backend must be one of auto, {', '.join(kinds)}; got {comm!r}")
    return kinds[comm]


class _Listed(NamedTuple):
    """Ids, and the option, flag or variable that lists them."""

    source: str
    ids: list[str]

    def __str__(self) -> str:
        return f"{self.source}={','.join(self.ids)}"


def _from_options(kind: str, options: Mapping[str, Any]) -> _Listed | None:
    word = f"{kind}s"
    names = [word, ANY_KIND_OPTION, *(old for old, new in OLD_OPTIONS.items() if new == word)]
    return _agreed([_Listed(n, parse_ids(options[n], n)) for n in names if _given(options, n)])


def _from_flags(backend: Selectable, environ: Mapping[str, str]) -> _Listed | None:
    names = [ANY_KIND_FLAG, str(backend.selected_devices_env)]
    return _agreed([_Listed(n, parse_ids(environ[n], n)) for n in names if environ.get(n)])


def _agreed(given: list[_Listed]) -> _Listed | None:
    for one, other in pairwise(given):
        if one.ids != other.ids:
            raise ValueError(f"{one} and {other} differ; give one of them")
    return given[0] if given else None


def resolve_devices(
    backend: Selectable,
    nprocs: int,
    options: Mapping[str, Any],
    environ: Mapping[str, str],
    device_count: int | None = None,
) -> list[str]:
    """The id of the device of each process.

    An option (``gpus``, ``xpus``, ``selected_devices``) comes first, then the flags
    (FLAGS_selected_devices or the kind's own), then ``*_VISIBLE_DEVICES``, then all devices.

    Args:
        backend: The kind of device.
        nprocs: Number of processes; -1 for one on each device of the list.
        options: Options of spawn.
        environ: Environment with the flags on top.
        device_count: Devices that the hardware has for this process, None if it is unknown.

    Returns:
        One id a process, written as in ``*_VISIBLE_DEVICES``; empty texts for a kind without ids.

    Raises:
        TypeError: An option has the wrong type.
        ValueError: Ids are malformed, repeated, not visible, not there or not as many as processes.
        RuntimeError: There are fewer devices than processes.

    Example:
        >>> from minipaddle.device.selection import AbsentKind, resolve_devices
        >>> resolve_devices(AbsentKind("xpu"), 2, {}, {"XPU_VISIBLE_DEVICES": "10,11,12"})
        ['10', '11']
    """
    if backend.selected_devices_env is None:
        return _without_ids(backend.name, nprocs, options, environ, device_count)
    kind = backend.name
    asked = _from_options(kind, options)
    if asked is not None and nprocs not in (-1, len(asked.ids)):
        raise ValueError(
            f"{asked} names {len(asked.ids)} {kind}(s) but nprocs is {nprocs}; give as many "
            f"{kind}s as processes"
        )
    asked = asked or _from_flags(backend, environ)
    usable = _usable(backend, environ, device_count, asked)
    if asked is not None and usable is not None:
        _check_usable(kind, asked, usable)
    chosen = asked or usable
    if chosen is None:
        if nprocs == -1:
            raise RuntimeError(f"the number of {kind}s is unknown; give nprocs or {kind}s")
        return [str(index) for index in range(nprocs)]
    if nprocs > len(chosen.ids):
        raise RuntimeError(
            f"nprocs is {nprocs} but there are {len(chosen.ids)} {kind}(s) in {chosen}; lower "
            f"nprocs or check {backend.visible_devices_env}"
        )
    return chosen.ids if nprocs == -1 else chosen.ids[:nprocs]


def _without_ids(
    kind: str,
    nprocs: int,
    options: Mapping[str, Any],
    environ: Mapping[str, str],
    count: int | None,
) -> list[str]:
    """A kind such as the CPU: its processes share the device, and ids mean nothing."""
    asked = {name: options[name] for name in device_options() if _given(options, name)}
    if environ.get(ANY_KIND_FLAG):
        asked[ANY_KIND_FLAG] = environ[ANY_KIND_FLAG]
    for name, ids in asked.items():
        raise ValueError(
            f"{name}={ids!r} picks devices, but there is none to pick: this job would run on the "
            f"{kind}"
        )
    return [""] * (nprocs if nprocs != -1 else count or 1)


def device_environ(backend: Selectable, device_id: str) -> dict[str, str]:
    """The variables that give a started process its device, and all flags that this one has set.

    Flags that select devices and that the process would inherit are emptied.
    """
    names = selected_flag_names()
    inherited = [name for name, value in selection_environ().items() if name in names and value]
    told = {**flag_environ(), **dict.fromkeys(inherited, "")}
    if backend.selected_devices_env is not None:
        told[backend.selected_devices_env] = device_id
    return told


def _usable(
    backend: Selectable,
    environ: Mapping[str, str],
    count: int | None,
    asked: _Listed | None,
) -> _Listed | None:
    """The ids that this process may use and the hardware has; None if nobody knows."""
    kind = backend.name
    variable = backend.visible_devices_env or device_variables(kind)[0]
    visible = visible_ids(variable, environ, count)
    if visible == [] or count == 0:
        why = f" ({variable} is set and hides them)" if variable in environ and not visible else ""
        wish = f", but {asked} asks for one" if asked else ""
        raise ValueError(
            f"no {kind} on this machine that this process can use{why}{wish}; without {kind} "
            "options and flags spawn trains on the CPU"
        )
    if visible is None:
        return None
    # More ids than devices: the last ones name no hardware.
    return _Listed(variable, visible[:count])


def _check_usable(kind: str, asked: _Listed, usable: _Listed) -> None:
    missing = [one for one in asked.ids if one not in usable.ids]
    if missing:
        raise ValueError(
            f"{asked.source} asks for {kind} {', '.join(missing)}, which cannot be found in "
            f"{usable.source} ({','.join(usable.ids)})"
        )
