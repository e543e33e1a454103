"""Names of a namespace with their signatures, as text: the form in which both sides are compared.

Run as a program it lists the installed Paddle; paddle-3.3.1.txt is its output.
"""

import ast
import importlib
import inspect
from collections.abc import Iterator
from enum import EnumType
from types import ModuleType
from typing import Any

# Compared namespaces; one that begins with a capital letter is a class, whose members are meant.
NAMESPACES = (
    "",  # the package itself
    "Tensor",
    "nn",
    "nn.Layer",
    "nn.functional",
    "nn.initializer",
    "optimizer",
    "optimizer.Optimizer",
    "optimizer.lr",
    "autograd",
    "linalg",
    "distributed",
    "device",
    "io",
    "utils",
)


def namespace(root: ModuleType, path: str) -> Any:
    """The module or class at ``path`` below ``root``, or None."""
    found: Any = root
    for part in path.split(".") if path else ():
        found = getattr(found, part, None)
    return found


def public(owner: Any) -> list[str]:
    """What ``owner`` offers by name: its ``__all__``, or for a class all members; no modules."""
    names = getattr(owner, "__all__", dir(owner) if isinstance(owner, type) else ())
    there = {n for n in names if n[0] != "_" and hasattr(owner, n)}
    return sorted({n for n in there if not isinstance(getattr(owner, n), ModuleType)})


def signature(item: Any) -> str:
    """``(x, axis=None, *, out=None)``, without annotations; empty if there is none."""
    if isinstance(item, EnumType):
        return ""
    try:
        found = inspect.signature(item)
    except (TypeError, ValueError):
        return ""
    parts = [
        p.replace(annotation=p.empty, default=p.default if p.default is p.empty else _Text(p))
        for p in found.parameters.values()
    ]
    return str(found.replace(parameters=parts, return_annotation=found.empty))


class _Text:
    """A default as its literal; what has none is written ``...``."""

    def __init__(self, parameter: inspect.Parameter) -> None:
        value = parameter.default
        self.text = repr(value)
        try:
            ast.literal_eval(self.text)
        except (ValueError, SyntaxError):
            self.text = "..."

    def __repr__(self) -> str:
        return self.text


def listing(root: ModuleType) -> Iterator[str]:
    """Lines: ``[namespace]``, its names with signatures; ``~`` before one that is not announced."""
    for path in NAMESPACES:
        owner = namespace(root, path)
        announced = public(owner)
        yield f"[{path}]"
        for name in sorted({n for n in dir(owner) if not n.startswith("_")} | set(announced)):
            item = getattr(owner, name, None)
            if not isinstance(item, ModuleType):
                yield ("" if name in announced else "~") + name + signature(item)


if __name__ == "__main__":
    paddle = importlib.import_module("paddle")
    print("\n".join([f"# Public names of PaddlePaddle {paddle.__version__}", *listing(paddle)]))
