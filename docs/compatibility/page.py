"""Compares minipaddle with the listed names of Paddle and writes the page about it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

import minipaddle
from docs.compatibility.signatures import NAMESPACES, namespace, public, signature

HERE = Path(__file__).parent
VERSION = "3.3.1"
# Arguments that are left out of the comparison, the last three where they go by keyword only; the
# page says so once.
UNCOMPARED = {"name", "out"}
UNCOMPARED_KEYWORDS = {"device", "requires_grad", "pin_memory"}
# Namespaces that may share a function, and so an entry of differences.yaml.
SHARING = {"", "Tensor", "linalg", "nn.functional"}

INTRODUCTION = f"""# Compatibility with Paddle {VERSION}

Written by `make docs` from the package, a list of Paddle's public names and signatures
([paddle-{VERSION}.txt](compatibility/paddle-{VERSION}.txt)) and the differences in behaviour that
are known ([differences.yaml](compatibility/differences.yaml)); do not edit.

**Same** names have Paddle's arguments, order and defaults. **Differs** says how, from signatures
and differences.yaml. **Absent** names raise AttributeError. **Only here** are names that Paddle
lacks. Not counted as differences:

- `name=` is taken and ignored; `out=` is taken by no function, `device=`, `requires_grad=` and
  `pin_memory=`, which Paddle takes for PyTorch's sake, by none that creates tensors.
- Modules, and the names in them that the tables do not cover.
- An argument more, after Paddle's or with a default.
- Float-only functions refuse ints, most of which Paddle converts. Ops with several operands promote
  ints beside floats, which Paddle refuses.
- Tensors of complex numbers, sparse tensors and static graphs do not exist here.
"""


@dataclass
class Comparison:
    """What became of the names of one namespace."""

    path: str
    same: list[str] = field(default_factory=list)
    differs: dict[str, str] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    only_here: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Its name to users."""
        return f"paddle.{self.path}".rstrip(".")


def paddle_names() -> dict[str, dict[str, str]]:
    """Namespace -> name -> signature; ``~`` stands before a name that Paddle does not announce."""
    found: dict[str, dict[str, str]] = {}
    for line in (HERE / f"paddle-{VERSION}.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            names = found.setdefault(line[1:-1], {})
        elif not line.startswith("#"):
            name, bracket, rest = line.partition("(")
            names[name] = bracket + rest
    return found


def differences() -> dict[str, str]:
    """The hand-written ones: path below ``paddle`` -> how it behaves here."""
    found: dict[str, str] = yaml.safe_load((HERE / "differences.yaml").read_text("utf-8"))
    return found


def parameters(text: str) -> dict[str, tuple[str, str | None]]:
    """Name -> kind (``?`` by position, ``*`` by keyword, ``*a``, ``**k``) and default, as text."""
    a = ast.parse(f"def f{text}: ...").body[0].args  # type: ignore[attr-defined]
    plain = [*a.posonlyargs, *a.args]
    defaults = [None] * (len(plain) - len(a.defaults)) + a.defaults
    pairs = [("?", p, d) for p, d in zip(plain, defaults, strict=True)]
    pairs += [("*a", a.vararg, None)] if a.vararg else []
    pairs += [("*", p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    pairs += [("**k", a.kwarg, None)] if a.kwarg else []
    return {p.arg: (kind, None if d is None else ast.unparse(d)) for kind, p, d in pairs}


def compare_signatures(ours: str, theirs: str, method: bool) -> list[str]:
    """How a call written for ``theirs`` may fail or mean another thing with ``ours``."""
    if not ours or not theirs:
        return []
    here, there = (_compared(text, method) for text in (ours, theirs))
    if any(kind == "*a" for table in (here, there) for kind, _ in table.values()):
        return []
    rest = any(kind == "**k" for kind, _ in here.values())
    there = {n: p for n, p in there.items() if p[0] != "**k"}
    here = {n: p for n, p in here.items() if p[0] != "**k"}
    missing = [n for n in there if n not in here and not rest]
    added = [n for n in here if n not in there]
    notes = []
    for old, new in zip(there, here, strict=False):
        if old in missing and new in added and here[new][0] == there[old][0] == "?":
            notes.append(f"`{old}` is called `{new}`")
            missing.remove(old)
            added.remove(new)
    if missing:
        notes.append("no " + ", ".join(f"`{n}`" for n in missing))
    needed = [n for n in added if here[n][1] is None]
    if needed:
        notes.append("also needs " + ", ".join(f"`{n}`" for n in needed))
    common = [n for n in there if n in here]
    if common != [n for n in here if n in there]:
        notes.append("order " + ", ".join(f"`{n}`" for n in here))
    return notes + [note for n in common for note in _default_notes(n, here[n], there[n])]


def _compared(text: str, method: bool) -> dict[str, tuple[str, str | None]]:
    table = parameters(text)
    first = next(iter(table), "") if method else ""
    keywords = {n for n in UNCOMPARED_KEYWORDS if table.get(n, ("",))[0] == "*"}
    return {n: p for n, p in table.items() if n not in {first, *UNCOMPARED, *keywords}}


def _default_notes(
    name: str, here: tuple[str, str | None], there: tuple[str, str | None]
) -> list[str]:
    notes = [f"`{name}` by keyword only"] if (here[0], there[0]) == ("*", "?") else []
    if there[1] in (None, "...") or here[1] == "...":
        return notes
    if here[1] is None:
        return [*notes, f"`{name}` has no default (Paddle: {there[1]})"]
    if here[1].strip("()[]") != there[1].strip("()[]") and (
        ast.literal_eval(here[1]) != ast.literal_eval(there[1])
    ):
        notes.append(f"`{name}` is {here[1]} by default (Paddle: {there[1]})")
    return notes


def compare(root: ModuleType = minipaddle) -> list[Comparison]:
    """Every namespace of Paddle, beside that of ``root``."""
    listed, known = paddle_names(), differences()
    return [_compare_namespace(path, namespace(root, path), listed[path], known)
            for path in NAMESPACES]  # fmt: skip


def _compare_namespace(
    path: str, owner: Any, listed: dict[str, str], known: dict[str, str]
) -> Comparison:
    found = Comparison(path)
    for name in sorted({*public(owner), *(n for n in listed if n[0] != "~")}):
        theirs = listed.get(name, listed.get("~" + name))
        if theirs is None:
            found.only_here.append(name)
        elif not hasattr(owner, name) or isinstance(getattr(owner, name), ModuleType):
            # Paddle's is no module; ours of that name is there once something has imported it.
            found.absent.append(name)
        else:
            ours = signature(getattr(owner, name))
            notes = compare_signatures(ours, theirs, isinstance(owner, type))
            behaviour = known.get(f"{path}.{name}".lstrip("."))
            if behaviour is None and path in SHARING:
                behaviour = known.get(name)
            notes += [behaviour] if behaviour else []
            if notes:
                found.differs[name] = "; ".join(notes)
            else:
                found.same.append(name)
    return found


def page() -> str:
    """The text of docs/compatibility.md."""
    found = compare()
    functions = found[0]
    lines = [INTRODUCTION, "| namespace | same | differs | absent | only here |", "|---" * 5 + "|"]
    counts = [(len(c.same), len(c.differs), len(c.absent), len(c.only_here)) for c in found]
    for title, row in zip([f"`{c.title}`" for c in found], counts, strict=True):
        lines.append(f"| {title} | " + " | ".join(map(str, row)) + " |")
    total = [str(sum(column)) for column in zip(*counts, strict=True)]
    lines += ["| all | " + " | ".join(total) + " |", ""]
    for comparison in found:
        lines += _section(comparison, {} if comparison is functions else functions.differs)
    return "\n".join(lines).rstrip() + "\n"


def _section(found: Comparison, functions: dict[str, str]) -> list[str]:
    lines = [f"## {found.title}", ""]
    as_function = [n for n, how in found.differs.items() if functions.get(n) == how]
    own = {n: how for n, how in found.differs.items() if n not in as_function}
    if found.same:
        lines += [f"**Same** ({len(found.same)}): {_names(found.same)}.", ""]
    if own:
        lines += ["| differs | how |", "|---|---|"]
        lines += [f"| `{name}` | {how} |" for name, how in own.items()] + [""]
    if as_function:
        lines += [f"**Differs** as `paddle.NAME` ({len(as_function)}): {_names(as_function)}.", ""]
    if found.absent:
        lines += [f"**Absent** ({len(found.absent)}): {_names(found.absent)}.", ""]
    if found.only_here:
        lines += [f"**Only here** ({len(found.only_here)}): {_names(found.only_here)}.", ""]
    return lines


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
