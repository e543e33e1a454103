"""Flags, and the environment variables that say which devices a process may use.

With its neighbours in this folder the only reader of ``FLAGS_*`` and ``*_VISIBLE_DEVICES``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

FlagValue = bool | int | float | str

RING_BOUNDS = (1, 8)
PG_TIMEOUT_VARIABLE = "PADDLE_PG_TIMEOUT"
PG_TIMEOUT_DEFAULT_MS = 1_800_000
# Words with which CUDA_VISIBLE_DEVICES says "none".
_HIDES_ALL = ("-1", "NoDevFiles")
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


@dataclass(frozen=True)
class _Flag:
    """One flag: its type is the type of ``default``; ``bounds`` are both allowed."""

    name: str
    default: FlagValue
    doc: str
    bounds: tuple[int, int] | None = None


_lock = threading.Lock()
_flags: dict[str, _Flag] = {}
_set_values: dict[str, FlagValue] = {}
_device_variables: dict[str, tuple[str, str]] = {}
_effects: dict[str, Callable[[FlagValue], None]] = {}


def define_flag(
    name: str, default: FlagValue, doc: str, bounds: tuple[int, int] | None = None
) -> None:
    """Makes a flag known to get_flags and set_flags; the same definition may come twice.

    Args:
        name: ``FLAGS_`` and lower-case words.
        default: Value without variable and set_flags; its type is the flag's type.
        doc: One sentence on what the flag does.
        bounds: Smallest and largest value of an int flag.

    Raises:
        ValueError: The name has no ``FLAGS_`` in front, or is defined with another default.
    """
    if not name.startswith("FLAGS_"):
        raise ValueError(f"a flag's name must begin with FLAGS_; got {name!r}")
    flag = _Flag(name, default, doc, bounds)
    with _lock:
        known = _flags.setdefault(name, flag)
    if (known.default, known.bounds) != (default, bounds):
        raise ValueError(f"flag {name} is defined already, with default {known.default!r}")


def define_device_variables(kind: str, visible: str | None, selected: str | None) -> None:
    """Tells which variables list the devices of a kind, and defines the flag among them.

    Args:
        kind: Name of the backend, as in ``"xpu"``.
        visible: Variable with the ids that a process may use, None for the usual name.
        selected: Flag that picks among them, None for the usual name.
    """
    usual_visible, usual_selected = device_variables(kind)
    names = (visible or usual_visible, selected or usual_selected)
    if names[1].startswith("FLAGS_"):
        define_flag(names[1], "", f"Ids of the {kind}s to use, as in {names[0]}.")
    _device_variables[kind] = names


def device_kinds() -> list[str]:
    """The kinds of device whose variables are known: gpu, xpu and those of plug-ins."""
    return list(_device_variables)


def device_variables(kind: str) -> tuple[str, str]:
    """The variable with the visible ids of ``kind`` and its selecting flag."""
    if kind in _device_variables:
        return _device_variables[kind]
    return f"{kind.upper()}_VISIBLE_DEVICES", f"FLAGS_selected_{kind}s"


def _refuse(flag: _Flag, source: str, value: object) -> ValueError:
    kind = type(flag.default).__name__
    wanted = f"an {kind}" if kind == "int" else f"a {kind}"
    if flag.bounds is not None:
        wanted += " in {}..{}".format(*flag.bounds)
    return ValueError(f"{source} must be {wanted}; got {value!r}")


def _parse(flag: _Flag, source: str, value: object) -> FlagValue:
    """``value`` (text or typed) as the flag's type; ``source`` is what an error names."""
    kind = type(flag.default)
    text = str(value).strip()
    try:
        if not isinstance(value, (bool, int, float, str)):
            raise ValueError
        if kind is str:
            if isinstance(value, (bool, float)):
                raise ValueError
            return text
        if kind is bool:
            if text.lower() not in _TRUE + _FALSE:
                raise ValueError
            return text.lower() in _TRUE
        if isinstance(value, bool):
            raise ValueError
        if kind is float:
            return float(text)
        number = int(text)
        if flag.bounds is not None and not flag.bounds[0] <= number <= flag.bounds[1]:
            raise ValueError
        return number
    except ValueError:
        raise _refuse(flag, source, value) from None


def _find(name: object) -> _Flag:
    if not isinstance(name, str):
        raise TypeError(f"the name of a flag must be a str; got {name!r}")
    if name not in _flags:
        import difflib

        close = difflib.get_close_matches(name, _flags, n=3) or sorted(_flags)
        raise ValueError(f"there is no flag {name!r}; did you mean {', '.join(close)}?")
    return _flags[name]


def get_flag(name: str) -> FlagValue:
    """The value of one flag: from set_flags, else from the environment, else its default.

    Raises:
        ValueError: The flag is unknown, or its variable holds no value of its type.
    """
    flag = _find(name)
    if name in _set_values:
        return _set_values[name]
    text = os.environ.get(name)
    if text is None:
        return flag.default
    return _parse(flag, f"the environment variable {name}", text)


def get_flags(flags: str | Sequence[str]) -> dict[str, FlagValue]:
    """The values of flags.

    Args:
        flags: One name, or a list or tuple of names.

    Returns:
        Name to value.

    Raises:
        TypeError: ``flags`` is not a str, list or tuple.
        ValueError: A flag is unknown (the text names those with a like name), or its environment
            variable holds no value of its type.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.set_flags({"FLAGS_nccl_nrings": 2})
        >>> paddle.get_flags(["FLAGS_nccl_nrings"])
        {'FLAGS_nccl_nrings': 2}
        >>> paddle.set_flags({"FLAGS_nccl_nrings": 1})
    """
    if isinstance(flags, str):
        flags = [flags]
    elif not isinstance(flags, (list, tuple)):
        raise TypeError(f"flags must be a str, a list or a tuple; got {type(flags).__name__}")
    return {name: get_flag(name) for name in flags}


def set_flags(flags: Mapping[str, FlagValue]) -> None:
    """Sets flags of this process; they win over its environment variables from then on.

    Args:
        flags: Name to value. Text is read as in an environment variable.

    Raises:
        TypeError: ``flags`` is not a dict.
        ValueError: A flag is unknown or a value does not fit; then none of them is set.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.set_flags({"FLAGS_nccl_nrings": 2})
        >>> paddle.get_flags("FLAGS_nccl_nrings")
        {'FLAGS_nccl_nrings': 2}
        >>> paddle.set_flags({"FLAGS_nccl_nrings": 1})
    """
    if not isinstance(flags, dict):
        raise TypeError(f"flags must be a dict of name to value; got {type(flags).__name__}")
    parsed = {name: _parse(_find(name), name, value) for name, value in flags.items()}
    _set_values.update(parsed)
    _take_effect(parsed)


def define_effect(name: str, effect: Callable[[FlagValue], None]) -> None:
    """Has ``effect(value)`` called with a flag's value now and each time it is set."""
    _effects[name] = effect
    _take_effect([name])


def _take_effect(names: Iterable[str]) -> None:
    for name in names:
        if name in _effects:
            _effects[name](get_flag(name))


def flag_environ() -> dict[str, str]:
    """The flags that set_flags has set, as the variables that say the same to another process."""
    return {
        name: str(int(value)) if isinstance(value, bool) else str(value)
        for name, value in list(_set_values.items())
    }


def selection_environ() -> dict[str, str]:
    """The environment with what set_flags has set on top: what device selection reads."""
    return {**os.environ, **flag_environ()}


def selected_flag_names() -> list[str]:
    """All flags that select devices: FLAGS_selected_devices, FLAGS_selected_gpus and so on."""
    return [name for name in list(_flags) if name.startswith("FLAGS_selected_")]


def apply_environ(variables: Mapping[str, str]) -> None:
    """Makes ``variables`` the environment of this process; a flag among them is no longer set."""
    os.environ.update(variables)
    for name in variables:
        _set_values.pop(name, None)
    _take_effect(variables)


def parse_ids(value: object, source: str) -> list[str]:
    """Splits ``"4, 10"`` into ``["4", "10"]``; ids stay text, exactly as they are written.

    Args:
        value: Text with commas, an int, or a list or tuple of them.
        source: What an error names, as in ``"gpus"``.

    Raises:
        TypeError: ``value`` is of another type.
        ValueError: No id at all, an empty one, or one that comes twice.
    """
    items = list(value) if isinstance(value, (list, tuple)) else str(value).split(",")
    parts = items if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(part, (str, int)) and not isinstance(part, bool) for part in parts):
        raise TypeError(f"{source} must be text such as '4,5'; got {value!r}")
    ids = [str(item).strip() for item in items]
    if not ids or not all(ids) or any("," in one for one in ids):
        raise ValueError(f"{source} must be ids with one comma between them; got {value!r}")
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise ValueError(f"{source} names {', '.join(twice)} more than once; got {value!r}")
    return ids


def visible_ids(
    variable: str, environ: Mapping[str, str], device_count: int | None = None
) -> list[str] | None:
    """The ids that a process may use; an id's position is the index of its Place.

    Args:
        variable: A ``*_VISIBLE_DEVICES``.
        environ: Where to look it up.
        device_count: Devices of the machine, for when the variable is not set; None if unknown.

    Returns:
        The ids, or None when there is neither the variable nor a count.

    Raises:
        ValueError: The variable holds an empty or a repeated id.
    """
    text = environ.get(variable)
    if text is None:
        return None if device_count is None else [str(i) for i in range(device_count)]
    text = text.strip()
    if not text or text.split(",")[0].strip() in _HIDES_ALL:
        return []
    return parse_ids(text, variable)


def device_index(device_id: str, variable: str, environ: Mapping[str, str]) -> int:
    """The index of the Place whose id is ``device_id``: its position among the visible ids.

    Raises:
        ValueError: The id is not visible; without the variable, it is not a number.
    """
    visible = visible_ids(variable, environ)
    if visible is None:
        if not device_id.isdecimal():
            raise ValueError(f"device id {device_id!r} needs {variable} to say where it stands")
        return int(device_id)
    if device_id not in visible:
        listed = ",".join(visible)
        raise ValueError(f"device id {device_id!r} is not in {variable} ({listed})")
    return visible.index(device_id)


def selected_index(kind: str) -> int:
    """The index of the first device that the kind's selecting flag names; 0 if it names none.

    Raises:
        ValueError: The id that the flag names is not visible.
    """
    if kind not in _device_variables:
        return 0
    visible, selected = _device_variables[kind]
    text = str(get_flag(selected)).strip()
    return device_index(parse_ids(text, selected)[0], visible, os.environ) if text else 0


def pg_timeout_seconds() -> float:
    """How long a process waits for its peers: PADDLE_PG_TIMEOUT (in ms), by default 1,800 s.

    Raises:
        ValueError: The variable does not hold a positive number.
    """
    text = os.environ.get(PG_TIMEOUT_VARIABLE, str(PG_TIMEOUT_DEFAULT_MS))
    try:
        milliseconds = float(text)
    except ValueError:
        milliseconds = 0.0
    if not 0 < milliseconds < float("inf"):
        raise ValueError(
            f"the environment variable {PG_TIMEOUT_VARIABLE} must be a positive number of "
            f"milliseconds; got {text!r}"
        )
    return milliseconds / 1000


define_flag("FLAGS_selected_devices", "", "Ids of the devices to use, whatever their kind.")
define_device_variables("gpu", "CUDA_VISIBLE_DEVICES", None)
define_device_variables("xpu", None, None)
define_flag("FLAGS_allow_tf32_cublas", False, "Let float32 products round operands to TF32.")
define_flag(
    "FLAGS_comm_wait_warning", 30.0, "Seconds of waiting for a rank after which a line says so."
)
define_flag("FLAGS_nccl_nrings", 1, "Number of communication rings of a group.", RING_BOUNDS)
