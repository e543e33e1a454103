"""Ops from outside the tree: ``my_ops.yaml`` declares them, ``my_ops.py`` is their code."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops import schema
from minipaddle.ops.kernels.functor_file import register_functors
from minipaddle.ops.op import OPS, REQUIRED, Op
from minipaddle.ops.schema import SchemaError

_loaded: dict[Path, ModuleType] = {}
_lock = threading.RLock()


def load_op(path: str | os.PathLike[str]) -> ModuleType:
    """Declares the ops of a YAML file, takes their code from the Python file beside it, binds them.

    The YAML is written as ``minipaddle/ops/ops.yaml`` is, without ``api``. ``NAME.py`` beside
    ``NAME.yaml`` holds functions under ``@kernel`` and ``@formula``, and if it likes, signatures
    with docstrings under ``@bound``; an op without one gets its signature from the YAML. Tests of
    the ops come from ``NAME_samples.py``: ``python -m minipaddle.testing NAME.yaml``.

    ``NAME.cu``, if it is there, holds CUDA functors, of which GPUs get their kernels:
    ``template <class C> struct SquaredRelu`` is applied to every element for the op
    ``squared_relu``, ``SquaredReluGrad`` for its gradient (``docs/adding_a_kernel.md``).

    Loading is for the process: one that is spawned loads again. A file that is loaded already is
    not read again. A load that fails leaves none of the file's ops behind.

    Args:
        path: The YAML file.

    Returns:
        A module with each op as a function, and its form in place as ``name_``.

    Raises:
        FileNotFoundError: One of the two files is not there.
        SchemaError: A declaration is wrong, has a name that is taken, or lacks its code or its
            functor. The text names file, op and key. What the Python file itself raises comes
            through.

    Example:
        >>> import pathlib, tempfile
        >>> import minipaddle as paddle
        >>> from minipaddle.utils import load_op
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "twice.yaml").write_text('''
        ... - op: doubled
        ...   args: (Tensor x)
        ...   output: Tensor(out)
        ...   backward: doubled_grad(out_grad) -> (x_grad)
        ... ''')
        >>> _ = (folder / "twice.py").write_text('''
        ... from minipaddle.ops.op import formula, kernel
        ...
        ... @kernel("doubled", "composite")
        ... def doubled(F, x):
        ...     return F.add(x, x)
        ...
        ... @formula
        ... def doubled_grad(F, out_grad):
        ...     return (F.add(out_grad, out_grad),)
        ... ''')
        >>> ops = load_op(folder / "twice.yaml")
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> ops.doubled(x).backward()
        >>> x.grad.tolist()
        [2.0]
    """
    file = Path(path).resolve()
    code = file.with_suffix(".py")
    with _lock:
        if file in _loaded:
            return _loaded[file]
        if not file.is_file():
            raise FileNotFoundError(f"there is no ops file {file}")
        if not code.is_file():
            raise FileNotFoundError(f"{file.name}: its kernels belong beside it, into {code}")
        known, taken = set(FUNCTIONS), _taken()
        declared = schema.load(file)
        try:
            for op in declared:
                _check_declaration(file, op, taken)
            _run(code)
            for op in declared:
                _check_code(file, op)
            register_functors(file, declared)
            _loaded[file] = _namespace(file, declared)
        except BaseException:
            for op in declared:
                del OPS[op.name]
            for name in set(FUNCTIONS) - known:
                del FUNCTIONS[name]
            sys.modules.pop(_module_name(code), None)
            raise
        return _loaded[file]


def _taken() -> dict[str, str]:
    """Every name that means something in ``@kernel``, and the op that it belongs to."""
    return {name: op.name for op in OPS.values() for name in _names(op)}


def _names(op: Op) -> Iterator[str]:
    yield op.name
    if op.inplace:
        yield f"{op.name}_"
    if op.backward is not None:
        yield op.backward.name


def _error(file: Path, op: Op, key: str, why: str) -> SchemaError:
    return SchemaError(f"{file.name}: op {op.name!r}, key {key!r}: {why}")


def _check_declaration(file: Path, op: Op, taken: dict[str, str]) -> None:
    for name, key in zip(_names(op), ("op", "inplace", "backward"), strict=False):
        if name in taken:
            raise _error(file, op, key, f"the name {name!r} belongs to the op {taken[name]!r}")
        taken[name] = op.name
    if op.api:
        raise _error(file, op, "api", "load_op returns the function; leave the key out")
    if op.name.endswith("_") or not op.operands:
        raise _error(file, op, "args", "takes a tensor and returns one; nothing else can be bound")


def _module_name(code: Path) -> str:
    """A name in sys.modules that no import of anything else can meet."""
    return str(code.with_suffix(""))


def _run(code: Path) -> None:
    """Executes the Python file, whose decorators register what it defines."""
    spec = importlib.util.spec_from_file_location(_module_name(code), code)
    assert spec is not None and spec.loader is not None, code
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def _check_code(file: Path, op: Op) -> None:
    code = file.with_suffix(".py").name
    if not op.kernels.registered:
        raise _error(file, op, "op", f'{code} has no kernel for it: @kernel("{op.name}", "cpu")')
    if op.backward is not None and op.backward.formula is None:
        raise _error(file, op, "backward", f"{code} has no @formula {op.backward.name}")


def _namespace(file: Path, declared: list[Op]) -> ModuleType:
    """What the user gets: a function for each op and each form in place."""
    module = ModuleType(file.stem, f"The ops of {file.name}.")
    module.__file__ = str(file)
    for op in declared:
        for name in [op.name, *([f"{op.name}_"] if op.inplace else [])]:
            if name not in FUNCTIONS:
                _bind(file, op, name)
            setattr(module, name, FUNCTIONS[name])
    return module


def _bind(file: Path, op: Op, name: str) -> None:
    """Binds a function whose signature is the declaration's."""
    parts = [p.name if p.default is REQUIRED else f"{p.name}={p.default!r}" for p in op.params]
    doc = f"The op {name} of {file.name}."
    scope: dict[str, object] = {"__name__": _module_name(file)}
    exec(f"def {name}({', '.join([*parts, 'name=None'])}): {doc!r}", scope)
    declaration = scope[name]
    assert callable(declaration)
    bound(declaration)
