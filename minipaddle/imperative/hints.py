"""What PyTorch's names are called here: said in the error of a name that is not there.

The tables cost nothing as long as a program uses names that exist.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from minipaddle.imperative.tensor import Tensor

# PyTorch's name -> how Paddle writes it. A name that exists is never looked up; a hint at
# something that does not exist is not given.
METHODS = {
    "clamp": "clip(min, max)",
    "clamp_": "clip_(min, max)",
    "device": "place",
    "div": "divide(y)",
    "div_": "divide_(y)",
    "eq": "equal(y)",
    "ge": "greater_equal(y)",
    "gt": "greater_than(y)",
    "is_cuda": "place",
    "le": "less_equal(y)",
    "lt": "less_than(y)",
    "mul": "multiply(y)",
    "mul_": "multiply_(y)",
    "ne": "not_equal(y)",
    "permute": "transpose(perm)",
    "repeat": "tile(repeat_times)",
    "requires_grad": "stop_gradient, its negation",
    "requires_grad_": "stop_gradient = False",
    "retain_grad": "retain_grads()",
    "scatter_": "put_along_axis_(indices, values, axis)",
    "sub": "subtract(y)",
    "sub_": "subtract_(y)",
    "swapaxes": "transpose(perm)",
    "type": "astype(dtype)",
    "type_as": "astype(dtype)",
    "view": "reshape(shape)",
    "view_as": "reshape(shape)",
}
FUNCTIONS = {
    "as_tensor": "to_tensor(data)",
    "cat": "concat(x, axis)",
    "clamp": "clip(x, min, max)",
    "div": "divide(x, y)",
    "eq": "equal(x, y)",
    "ge": "greater_equal(x, y)",
    "gt": "greater_than(x, y)",
    "le": "less_equal(x, y)",
    "lt": "less_than(x, y)",
    "manual_seed": "seed(value)",
    "mul": "multiply(x, y)",
    "ne": "not_equal(x, y)",
    "optim": "optimizer",
    "permute": "transpose(x, perm)",
    "set_default_device": "set_device(device)",
    "sub": "subtract(x, y)",
    "tensor": "to_tensor(data)",
}


def hint(table: dict[str, str], name: str, owner: Any, prefix: str) -> str | None:
    """Paddle's word for PyTorch's ``name``, as a sentence, or None if ``owner`` has none."""
    instead = table.get(name)
    if instead is None or not hasattr(owner, re.findall(r"\w+", instead)[0]):
        return None
    return f"PyTorch's {name} is written {prefix}.{instead} in Paddle"


class Missing:
    """A name of PyTorch's tensors: to read it is an error, as of any missing name, with a hint.

    ``Tensor.__getattr__`` could say the same of all names at once, but in a class that has one
    Python reads every attribute at several times the cost.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Tensor | None, kind: type[Tensor]) -> NoReturn:
        advice = hint(METHODS, self.name, kind, "x")
        text = f"{kind.__name__!r} object has no attribute {self.name!r}"
        raise AttributeError(f"{text}; {advice}" if advice else text, name=self.name, obj=tensor)


def names_of(self: Tensor) -> list[str]:
    """``Tensor.__dir__``: the names that are there."""
    return [name for name in object.__dir__(self) if name not in METHODS or hasattr(self, name)]
