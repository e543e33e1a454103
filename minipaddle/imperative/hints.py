"""What PyTorch's names are called here: said in the error of a name that is not there.

A name is looked up here after everything else has failed, so the tables cost nothing before.
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


def explain_missing(self: Tensor, name: str) -> NoReturn:
    """``Tensor.__getattr__``: raises the error of a name that Tensor does not have."""
    kind = type(self)
    advice = hint(METHODS, name, kind, "x")
    text = f"{kind.__name__!r} object has no attribute {name!r}" + (f"; {advice}" if advice else "")
    raise AttributeError(text, name=name, obj=self)
