"""From tensors to kernels: ``bound`` turns a declared op into the function that users call.

The function is written once, at import, from the op's declaration, as namedtuple writes its
classes: no inspection, no YAML and no string work is left for the call. It reads the arrays,
calls the place's kernel and, where a gradient will flow, records a GradNode with exactly the
values that ops.yaml names. Numbers, arrays, mixed dtypes and mistakes leave the straight path at
the first line that they do not fit, and go through ``coerce``.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from minipaddle.device.dtype import FLOATS, as_dtype
from minipaddle.imperative.grad_node import UNCHANGED, GradNode, grad_state
from minipaddle.imperative.operand import (
    FUNCTIONS,
    NUMBERS,
    check_inplace,
    check_name,
    coerce,
    explain,
    int_list,
)
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import REQUIRED, Op, Param, get_op

P = ParamSpec("P")
R = TypeVar("R")

_CONVERSIONS = {
    "int[]": "if {0}.__class__ is not tuple: {0} = int_list({0!r}, {0})",
    "DataType": "if {0} is not None: {0} = as_dtype({0})",
}

_BODY = """\
def {name}({signature}):
    if name is not None: check_name({name!r}, name)
    {intercept}
    try:
        place = {first}.place
        {reads}
        if {mismatch}:
            raise AttributeError
    except (AttributeError, TypeError, ValueError):  # an ndarray has a ``data`` of its own
        {operands} = coerce(op, ({operands}), {inplace})
        place = {first}.place
        {reads}
    {conversions}
    {call}
"""

_PLAIN = """\
try:
        out = Tensor(kernels[place]({arguments}), place)
    except (ValueError, TypeError, IndexError, ZeroDivisionError) as error:
        raise explain(op, error, ({operands})) from error
    {share}
    if {wants_grad} and grad_state.recording{float_result}:
        {record}
        out.edge = node
        {mark}
    return out"""

_INPLACE = """\
if {check}:
        check_inplace(op, {first}, ({operands}))
    edges = ({edges})
    recording = {wants_grad} and grad_state.recording
    if recording:
        {versions_of_inputs}
    try:
        kernels[place]({arguments})
    except (ValueError, TypeError) as error:
        raise explain(op, error, ({operands})) from error
    {first}.version[0] += 1
    if recording:
        {record}
        {first}.edge = node
    return {first}"""


class _Source:
    """The text of one bound function, put together from the op's declaration."""

    def __init__(self, op: Op, inplace: bool) -> None:
        self.op = op
        self.inplace = inplace
        self.name = op.name + "_" if inplace else op.name
        self.tensors = [p.name for p in op.params if p.is_tensor]
        self.first = self.tensors[0]
        self.numbers = {p.name for p in op.params if p.type == "Tensor|Scalar"}

    def text(self, intercepted: bool) -> str:
        op, names = self.op, self.tensors
        intercept = (
            f"if grad_state.interceptor is not None: return grad_state.interceptor("
            f"op, straight, ({', '.join(p.name for p in op.params)},))"
        )
        lines = [_CONVERSIONS[p.type].format(p.name) for p in op.params if p.type in _CONVERSIONS]
        call = (_INPLACE if self.inplace else _PLAIN).format(
            arguments=", ".join(f"{p.name}_" if p.is_tensor else p.name for p in op.params),
            operands=", ".join(names) + ",",
            wants_grad=self.wants_grad(),
            record=self.record(),
            first=self.first,
            edges=", ".join(self.edge(n) for n in names) + ",",
            float_result=self.float_result(),
            share=f"out.version = {self.first}.version" if op.view else "",
            mark="out.version[1] = 1" if op.view else "",
            check=self.inplace_check(),
            versions_of_inputs=self.versions_of_inputs(),
        )
        return _BODY.format(
            name=self.name,
            signature=", ".join([*map(_parameter, op.params), "name=None"]),
            intercept=intercept if intercepted else "",
            first=self.first,
            reads="\n        ".join(self.read(n) for n in names),
            mismatch=self.mismatch(),
            inplace=self.inplace,
            operands=", ".join(names) + ",",
            conversions="\n    ".join(lines),
            call=call,
        )

    def read(self, name: str) -> str:
        """Takes the array out of an operand; a number is put into a tensor for the call."""
        if name in self.numbers and name != self.first:
            # A number beside floats needs no thought.
            return (
                f"if {name}.__class__ in NUMBERS and {self.first}_.dtype in FLOATS: "
                f"{name} = Tensor({name}, place)\n        {name}_ = {name}.data"
            )
        if name in self.op.optional:
            return f"{name}_ = None if {name} is None else {name}.data"
        return f"{name}_ = {name}.data"

    def edge(self, name: str) -> str:
        if name in self.op.optional:
            return f"None if {name} is None else {name}.edge"
        return f"{name}.edge"

    def mismatch(self) -> str:
        """When the operands are not arrays of one place and one dtype that the op takes."""
        tests = []
        for name in self.tensors[1:]:
            test = f"{name}.place is not place or {name}_.dtype is not {self.first}_.dtype"
            if name in self.numbers:
                test = f"({name}_.__class__ not in NUMBERS and ({test}))"
            tests.append(f"({name} is not None and ({test}))" if name in self.op.optional else test)
        if self.op.dtypes == "numeric":
            tests.append(f"{self.first}_.dtype is BOOL")
        if self.op.dtypes == "float":
            tests.append(f"{self.first}_.dtype not in FLOATS")
        return " or ".join(tests) or f"{self.first}_ is None"

    def wants_grad(self) -> str:
        if self.op.backward is None:
            return "False"
        return "(" + " or ".join(f"({self.edge(n)}) is not None" for n in self.tensors) + ")"

    def float_result(self) -> str:
        """No gradient flows through a result that an op with a dtype made an int."""
        converts = any(p.type == "DataType" for p in self.op.params)
        return " and out.data.dtype in FLOATS" if converts else ""

    def inplace_check(self) -> str:
        shapes = [f"getattr({n}_, 'shape', ()) != {self.first}_.shape" for n in self.tensors[1:]]
        return " or ".join([f"{self.first}.edge is not None", f"{self.first}.version[1]", *shapes])

    def record(self) -> str:
        backward = self.op.backward
        if backward is None:
            return "node = None"
        saved = [self.saved_value(s) for s in backward.saved]
        attributes = backward.attributes
        edges = "edges" if self.inplace else f"({', '.join(map(self.edge, self.tensors))},)"
        out = f"{self.first}_" if self.inplace else "out.data"
        return (
            f"node = GradNode(op, place, {out}, ({_tuple(saved)}), {self.versions()}, "
            f"({_tuple(attributes)}), {edges})"
        )

    def saved_value(self, saved: Any) -> str:
        if saved.is_output:
            return f"{self.first}_" if self.inplace else "out.data"
        value = f"{saved.name}_" + (".shape" if saved.shape_only else "")
        if saved.only_for is not None:
            return f"({value} if ({self.edge(saved.only_for)}) is not None else None)"
        return value

    def version_cells(self, outputs: bool) -> list[str]:
        """Expressions for the version cells of saved inputs, or of the saved output."""
        cells = []
        for saved in self.op.backward.saved if self.op.backward else ():
            if saved.shape_only or saved.is_output != outputs:
                continue
            if saved.is_output:
                cells.append(f"{self.first}.version" if self.inplace else "out.version")
            elif saved.only_for is not None:
                wanted = f"({self.edge(saved.only_for)}) is not None"
                cells.append(f"({saved.name}.version if {wanted} else UNCHANGED)")
            else:
                cells.append(f"{saved.name}.version")
        return cells

    def versions(self) -> str:
        """What the node compares with before it runs: cell and count, cell and count."""
        of_outputs = _pairs(self.version_cells(outputs=True), "w")
        if self.inplace:  # inputs were counted before the write, the output after it
            return f"(*versions, {of_outputs})" if of_outputs else "versions"
        return f"({_pairs(self.version_cells(outputs=False), 'v')}{of_outputs})"

    def versions_of_inputs(self) -> str:
        return f"versions = ({_pairs(self.version_cells(outputs=False), 'v')})"


def _pairs(cells: list[str], letter: str) -> str:
    return "".join(f"({letter}{i} := {c}), {letter}{i}[0], " for i, c in enumerate(cells))


def _tuple(parts: Any) -> str:
    return "".join(f"{part}, " for part in parts)


def _parameter(param: Param) -> str:
    return param.name if param.default is REQUIRED else f"{param.name}={param.default!r}"


def _compile(op: Op, inplace: bool, intercepted: bool, straight: Any) -> Callable[..., Any]:
    source = _Source(op, inplace)
    text = source.text(intercepted)
    file = f"<bound {source.name}{'' if intercepted else ' straight'}>"
    scope = {
        "op": op,
        "kernels": op.inplace_kernels if inplace else op.kernels,
        "straight": straight,
        "BOOL": as_dtype("bool"),
        "FLOATS": FLOATS,
        "NUMBERS": NUMBERS,
        "GradNode": GradNode,
        "Tensor": Tensor,
        "UNCHANGED": UNCHANGED,
        "as_dtype": as_dtype,
        "check_inplace": check_inplace,
        "check_name": check_name,
        "coerce": coerce,
        "explain": explain,
        "grad_state": grad_state,
        "int_list": int_list,
    }
    exec(compile(text, file, "exec"), scope)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    function: Callable[..., Any] = scope[source.name]
    return function


def bound(declaration: Callable[P, R]) -> Callable[P, R]:
    """Makes the function of the op that ``declaration`` is named after.

    Args:
        declaration: A function without a body: it gives signature, annotations and docstring.
            A name that ends in "_" asks for the in-place form.

    Returns:
        The function, under the declaration's name.

    Raises:
        TypeError: The signature is not the one that ops.yaml declares.
        ValueError: No such op is declared.
    """
    name = declaration.__name__
    inplace = name.endswith("_")
    op = get_op(name.removesuffix("_"))
    _check_signature(declaration, op)
    straight = _compile(op, inplace, False, None)
    function = _compile(op, inplace, True, straight)
    for attribute in ("__module__", "__qualname__", "__doc__", "__annotations__"):
        setattr(function, attribute, getattr(declaration, attribute))
    FUNCTIONS[name] = function
    return function


def bound_inplace(function: Callable[P, R]) -> Callable[P, R]:
    """Makes the in-place form of the op that ``function``, made by ``bound``, carries out."""
    plain: Any = function
    name = plain.__name__ + "_"
    declaration = FunctionType(plain.__code__, {}, name, plain.__defaults__)
    declaration.__qualname__ = name
    declaration.__module__, declaration.__annotations__ = plain.__module__, plain.__annotations__
    declaration.__doc__ = (
        f"``{plain.__name__}`` that overwrites ``x``.\n\n"
        "Returns:\n    ``x`` itself.\n\n"
        "Raises:\n    ValueError: Shape or dtype would change, or x is a leaf that wants "
        "a gradient."
    )
    return bound(declaration)


def _check_signature(declaration: Callable[..., Any], op: Op) -> None:
    code = declaration.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = declaration.__defaults__ or ()
    expected = (*(p.name for p in op.params), "name")
    expected_defaults = (*(p.default for p in op.params if p.default is not REQUIRED), None)
    if names != expected or defaults != expected_defaults:
        raise TypeError(
            f"{code.co_filename}:{code.co_firstlineno}: {declaration.__name__} must take "
            f"{expected} with defaults {expected_defaults}, as ops.yaml declares"
        )
