"""``python -m tools.public_names`` writes the lists of op names that the package exports.

They follow from ``api`` in ops.yaml and from ``API`` in the modules of functions that are made of
ops: imports and ``__all__`` of minipaddle, nn.functional and linalg, and the methods of Tensor that
type checkers are told of. ``--check`` only says whether the lists are up to date.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from minipaddle.imperative import functions
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS

PACKAGE = Path(__file__).resolve().parent.parent / "minipaddle"
FILES = {"": "__init__.py", "nn.functional": "nn/functional.py", "linalg": "linalg.py"}
METHODS = "imperative/declared_methods.py"
SOURCE = "minipaddle.imperative.functions"
NOTE = "# One name a line would make pages of them; python -m tools.public_names writes this.\n"

# Public name -> the module that defines it, and its name there.
Names = dict[str, tuple[str, str]]


def modules() -> Iterator[ModuleType]:
    """The modules of functions."""
    return (m for m in vars(functions).values() if isinstance(m, ModuleType))


def defining_module(name: str) -> str:
    """The module whose function of this name is a plain one, such as ``full``."""
    return next(m.__name__ for m in modules() if callable(vars(m).get(name)))


def collect() -> dict[str, Names]:
    """The names by owner: "" for the package, "Tensor", and the namespaces."""
    found: dict[str, Names] = {owner: {} for owner in (*FILES, "Tensor")}
    for op in OPS.values():
        for path in op.api:
            owner, _, name = path.rpartition(".")
            function = FUNCTIONS.get(op.name)
            source = defining_module(name) if function is None else function.__module__
            found[owner][name] = source, name if function is None else op.name
            if op.inplace and f"{op.name}_" in FUNCTIONS:
                found[owner][f"{name}_"] = source, f"{op.name}_"
    for module in modules():
        for path in getattr(module, "API", ()):
            owner, _, name = path.rpartition(".")
            found[owner][name] = module.__name__, name
    return found


def packed(items: list[str]) -> str:
    """Items with commas between them, as many to a line as fit."""
    glued = [item.replace(" ", "\x00") for item in items]  # "a as b" stays on one line
    text = textwrap.fill(
        ", ".join(glued) + ",", 99, initial_indent="    ", subsequent_indent="    "
    )
    return text.replace("\x00", " ")


def imports(names: Names) -> str:
    """Import statements, one for each module."""
    by_module: dict[str, list[str]] = {}
    for name, (module, source) in sorted(names.items()):
        alias = name if name == source else f"{source} as {name}"
        by_module.setdefault(module, []).append(alias)
    lines = []
    for module, listed in sorted(by_module.items()):
        line = f"from {module} import " + ", ".join(listed)
        lines.append(line if len(line) < 100 else f"from {module} import (\n{packed(listed)}\n)")
    return "\n".join(lines)


def with_names(text: str, names: Names) -> str:
    """A module's text with the imports and ``__all__`` that export ``names``."""
    lines, replaced, first = text.split("\n"), set(), None
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(SOURCE):
            replaced.update(alias.asname or alias.name for alias in node.names)
            first = node.lineno - 1
            del lines[first : node.end_lineno]
    assert first is not None, "there is nothing to replace"
    lines.insert(first, "@imports@")
    text = re.sub(r"# One name a line[^\n]*\n|# fmt: (off|on)\n?", "", "\n".join(lines))
    text = text.replace("@imports@", f"{NOTE}# fmt: off\n{imports(names)}\n# fmt: on")
    match = re.search(r"__all__ = (\[[^\]]*\])", text)
    assert match is not None
    every = sorted(set(ast.literal_eval(match[1])) - replaced | set(names))
    listed = packed([f'"{name}"' for name in every])
    exported = f"# fmt: off\n__all__ = [\n{listed}\n]\n# fmt: on"
    return text[: match.start()] + exported + text[match.end() :].rstrip("\n") + "\n"


def with_methods(text: str, names: Names) -> str:
    """The text of declared_methods.py with a line for each method."""
    have = dict(re.findall(r"^    (\w+): (.*)$", text, re.M))
    have = {**dict.fromkeys(names, "ClassVar[Callable[..., Tensor]]"), **have}
    head = text[: text.index("    __slots__ = ()")] + "    __slots__ = ()\n\n"
    order = sorted(have, key=lambda name: (name.startswith("__"), name))
    return head + "".join(f"    {name}: {have[name]}\n" for name in order)


def main() -> int:
    """Writes the files, or with ``--check`` compares them; 1 if any differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    found = collect()
    stale = []
    for owner, file in {**FILES, "Tensor": METHODS}.items():
        path = PACKAGE / file
        text = path.read_text(encoding="utf-8")
        write = with_methods if owner == "Tensor" else with_names
        new = write(text, found[owner])
        if new != text:
            stale.append(file)
            if not check:
                path.write_text(new, encoding="utf-8")
    print(", ".join(stale) or "nothing", "out of date" if check else "rewritten")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
