"""Functors of a .cu file beside the YAML file of ops from outside: their kernels on GPUs.

Names say what belongs together: of the op ``soft_clip`` the functor is ``SoftClip``, and that of
its gradient ``SoftClipGrad``; with several inputs there is one for each, ``SoftClipGradX``. CuPy is
imported when a GPU is used, not before.
"""

from __future__ import annotations

import functools
import importlib
import re
from pathlib import Path

from minipaddle.ops.op import COMPOSITE, Kernel, Op, kernel
from minipaddle.ops.schema import SchemaError

_KIND = "gpu"
_MODULE = "minipaddle.ops.kernels.gpu.outside"
_OPERANDS = {"Tensor", "Tensor|Scalar"}
_NUMBERS = {"float", "int", "bool", "Scalar"}


def register_functors(file: Path, declared: list[Op]) -> None:
    """Registers the functors of ``NAME.cu`` for the ops of ``NAME.yaml``, if there is such a file.

    Args:
        file: The YAML file.
        declared: Its ops, with the kernels and formulas of the Python file.

    Raises:
        SchemaError: The file lacks a functor that is needed, or an op has one that cannot be
            applied element by element.
    """
    code = file.with_suffix(".cu")
    if not code.is_file():
        return
    there = set(re.findall(r"\b(?:struct|class)\s+(\w+)", code.read_text("utf-8")))
    plans = [(op, *_functors(file, op, there)) for op in declared]
    if not any(functor or gradients for _op, functor, gradients in plans):
        raise _error(file, declared[0], "op", _absent(code, _camel(declared[0].name)))
    for op, functor, gradients in plans:
        if functor or gradients:
            _register(code, op, functor, gradients)


def _functors(file: Path, op: Op, there: set[str]) -> tuple[str, list[str]]:
    """The functor of an op, or "", and those of its gradients, if there are any."""
    code, functor, gradients = file.with_suffix(".cu"), _camel(op.name), _gradient_names(op)
    if functor not in there:
        if not {_KIND, COMPOSITE} & set(op.kernels.registered):
            raise _error(file, op, "op", _absent(code, functor))
        functor = ""
    elif _KIND in op.kernels.registered:
        raise _error(file, op, "op", f"has a kernel for {_KIND} and the functor {functor} beside")
    missing = [name for name in gradients if name not in there]
    if missing and len(missing) < len(gradients):
        raise _error(file, op, "backward", _absent(code, missing[0]))
    gradients = [] if missing else gradients
    if (functor or gradients) and (why := _why_not(op, bool(gradients))):
        raise _error(file, op, "args", f"a functor works element by element: {why}")
    return functor, gradients


def _why_not(op: Op, with_gradient: bool) -> str:
    """Why an op is none of element by element; "" if it is one."""
    for param in op.params:
        if param.type not in (_OPERANDS if param.is_tensor else _NUMBERS):
            return f"it cannot take {param.type} {param.name}"
    if op.list_output or op.hidden or len(op.outputs) > 1 or op.view:
        return "it gives one tensor, which is no view"
    if op.optional:
        return f"{op.optional[0]} cannot be None"
    if with_gradient and op.backward and any(s.shape_only for s in op.backward.saved):
        return "its gradient keeps whole tensors, not their shapes"
    return ""


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _gradient_names(op: Op) -> list[str]:
    if op.backward is None:
        return []
    stem = _camel(op.name) + "Grad"
    return [stem] if len(op.inputs) == 1 else [stem + _camel(name) for name in op.inputs]


def _absent(code: Path, functor: str) -> str:
    return f"{code.name} has no functor for it: template <class C> struct {functor}"


def _error(file: Path, op: Op, key: str, why: str) -> SchemaError:
    return SchemaError(f"{file.name}: op {op.name!r}, key {key!r}: {why}")


def _register(code: Path, op: Op, functor: str, gradients: list[str]) -> None:
    if functor:
        kernel(op.name, _KIND)(_later("function", functor, code))
    if gradients and op.backward is not None:
        run = _later("gradient", gradients, code, len(op.backward.saved))
        kernel(op.backward.name, _KIND)(run)


def _later(make: str, *args: object) -> Kernel:
    """What ``make`` of the module ``gpu.outside`` gives, made at the first call."""

    @functools.cache
    def made() -> Kernel:
        found: Kernel = getattr(importlib.import_module(_MODULE), make)(*args)
        return found

    # Of a partial no argument names are asked: they are those that the op declares.
    return functools.partial(lambda *values: made()(*values))
