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

from minipaddle.device.dtype import BOOLS, FLOATS, INTS, as_dtype
from minipaddle.imperative.grad_node import UNCHANGED, GradNode, ListNode, OutputNode, grad_state
from minipaddle.imperative.operand import (
    FUNCTIONS,
    NUMBERS,
    check_name,
    coerce,
    differs,
    explain,
    int_list,
)
from minipaddle.imperative.tensor import Tensor
from minipaddle.imperative.view import check_inplace, follow_parent, follow_write
from minipaddle.ops.op import REQUIRED, Op, Param, get_op

P = ParamSpec("P")
R = TypeVar("R")

_CONVERSIONS = {
    "int[]": "if {0}.__class__ is not tuple: {0} = int_list({0!r}, {0})",
    "DataType": "if {0} is not None: {0} = as_dtype({0})",
}

# When an array is of no dtype that the op takes, by the op's class of dtypes.
_REFUSED = {
    "float": "dtype not in FLOATS",
    "int": "dtype.kind not in 'iu'",
    "numeric": "dtype is BOOL",
    "integral": "dtype.kind not in 'biu'",
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
    except (AttributeError, IndexError, TypeError, ValueError):  # an ndarray has ``data`` too
        {operands} = coerce(op, ({operands}), {inplace})
        place = {first}.place
        {reads}
    {conversions}
    {call}
"""

_PLAIN = """\
try:
        {results} = kernels[place]({arguments})
        {wrap}
    except (ValueError, TypeError, IndexError, ZeroDivisionError) as error:
        raise explain(op, error, ({operands})) from error
    {share}
    if {wants_grad} and grad_state.recording{float_result}:
        {record}
        {join}
    return {returned}"""

_INPLACE = """\
if {check}:
        check_inplace(op, {first}, ({operands}))
    edges = ({edges})
    recording = {wants_grad} and grad_state.recording
    if recording:
        {versions_of_inputs}
    try:
        kernels[place]({arguments})
    except (ValueError, TypeError, IndexError) as error:
        raise explain(op, error, ({operands})) from error
    {first}.version[0] += 1
    if recording:
        {record}
        {first}.edge = node
    if {first}.version[1] and grad_state.recording: follow_write({first})
    return {first}"""


class _Source:
    """The text of one bound function, put together from the op's declaration."""

    def __init__(self, op: Op, inplace: bool) -> None:
        self.op = op
        self.inplace = inplace
        self.name = op.name + "_" if inplace else op.name
        self.tensors = [p for p in op.params if p.is_tensor]
        self.first = self.tensors[0].name
        self.inputs = [p for p in self.tensors if p.is_input]
        self.numbers = {p.name for p in op.params if p.type == "Tensor|Scalar"}

    def text(self, intercepted: bool) -> str:
        op = self.op
        given = [p for p in op.params if p.type != "Generator"]
        intercept = (
            f"if grad_state.interceptor is not None: return grad_state.interceptor("
            f"op, straight, ({', '.join(p.name for p in given)},))"
        )
        lines = [_CONVERSIONS[p.type].format(p.name) for p in op.params if p.type in _CONVERSIONS]
        operands = _tuple(p.name for p in self.tensors)
        call = (_INPLACE if self.inplace else _PLAIN).format(
            results=", ".join(f"{name}_" for name in op.outputs),
            arguments=", ".join(map(_argument, op.params)),
            wrap=self.wrap(),
            operands=operands,
            wants_grad=self.wants_grad(),
            record=self.record(),
            join=self.join(),
            returned=", ".join(name for name in op.outputs if name not in op.hidden),
            first=self.first,
            edges=self.edges(),
            float_result=self.float_result(),
            share=self.share(),
            check=self.inplace_check(),
            versions_of_inputs=self.versions_of_inputs(),
        )
        first = f"{self.first}[0]" if op.list_input else self.first
        return _BODY.format(
            name=self.name,
            signature=", ".join([*map(_parameter, given), "name=None"]),
            intercept=intercept if intercepted else "",
            first=first,
            reads="\n        ".join(self.read(p) for p in self.tensors),
            mismatch=self.mismatch(),
            inplace=self.inplace,
            operands=operands,
            conversions="\n    ".join(lines),
            call=call,
        )

    def wrap(self) -> str:
        """Puts the arrays of the results into tensors."""
        if self.op.list_output:
            return "out = [Tensor(array, place) for array in out_]"
        shown = [name for name in self.op.outputs if name not in self.op.hidden]
        return "; ".join(f"{name} = Tensor({name}_, place)" for name in shown)

    def share(self) -> str:
        """Ties a result that shares memory to the tensor that it is a view of."""
        if not self.op.view:
            return ""
        if self.op.list_output:
            return (
                f"for part in out:\n        if place.backend.is_view(part.data, {self.first}_): "
                f"follow_parent(part, {self.first}, None, ())"
            )
        attributes = _tuple(self.op.attributes)
        return (
            f"if place.backend.is_view(out_, {self.first}_): "
            f"follow_parent(out, {self.first}, op, ({attributes}))"
        )

    def join(self) -> str:
        """Ties the results to the node that was recorded for them."""
        if self.op.list_output:
            return "for i, part in enumerate(out): part.edge = OutputNode(node, i, part.data)"
        return "out.edge = node"

    def read(self, param: Param) -> str:
        """Takes the array out of an operand; a number is put into a tensor for the call."""
        name = param.name
        if self.op.list_input:
            return f"{name}_ = [item.data for item in {name}]"
        if name in self.numbers and name != self.first:
            # A number beside floats needs no thought.
            return (
                f"if {name}.__class__ in NUMBERS and {self.lead()}_.dtype in FLOATS: "
                f"{name} = Tensor({name}, place)\n        {name}_ = {name}.data"
            )
        if name in self.op.optional:
            return f"{name}_ = None if {name} is None else {name}.data"
        return f"{name}_ = {name}.data"

    def lead(self) -> str:
        """The operand whose dtype the other inputs must have."""
        return self.inputs[0].name if self.inputs else self.first

    def edge(self, name: str) -> str:
        if name in self.op.optional:
            return f"None if {name} is None else {name}.edge"
        return f"{name}.edge"

    def edges(self) -> str:
        if self.op.list_input:
            return f"*[item.edge for item in {self.first}],"
        return _tuple(self.edge(p.name) for p in self.inputs)

    def mismatch(self) -> str:
        """When the operands are not arrays of one place and of dtypes that the op takes."""
        lead = self.lead()
        if self.op.list_input:
            return f"differs({self.first}, {self.first}_)" + self.dtype_mismatch(f"{lead}_[0]")
        tests = []
        for param in self.tensors:
            name = param.name
            test = [] if name == self.first else [f"{name}.place is not place"]
            if param.own_dtypes is not None:
                if param.own_dtypes != "any":
                    test.append(f"{name}_.dtype not in {param.own_dtypes.upper()}S")
            elif name != lead:
                test.append(f"{name}_.dtype is not {lead}_.dtype")
            if not test:
                continue
            text = " or ".join(test)
            if name in self.numbers and name != self.first:
                text = f"({name}_.__class__ not in NUMBERS and ({text}))"
            tests.append(f"({name} is not None and ({text}))" if name in self.op.optional else text)
        text = " or ".join(tests) or f"{self.first}_ is None"
        return text + (self.dtype_mismatch(f"{lead}_") if self.inputs else "")

    def dtype_mismatch(self, array: str) -> str:
        refused = _REFUSED.get(self.op.dtypes)
        return f" or {array}.{refused}" if refused else ""

    def wants_grad(self) -> str:
        if self.op.backward is None:
            return "False"
        if self.op.list_input:
            return f"any([item.edge is not None for item in {self.first}])"
        return "(" + " or ".join(f"({self.edge(p.name)}) is not None" for p in self.inputs) + ")"

    def float_result(self) -> str:
        """No gradient flows through an empty list, or an int that an op with a dtype made."""
        if self.op.list_output:
            return " and out"
        converts = any(p.type == "DataType" for p in self.op.params)
        return " and out_.dtype in FLOATS" if converts else ""

    def inplace_check(self) -> str:
        shapes = []
        if self.op.broadcasts:
            names = [p.name for p in self.tensors[1:]]
            shapes = [f"getattr({n}_, 'shape', ()) != {self.first}_.shape" for n in names]
        return " or ".join([f"{self.first}.edge is not None", f"{self.first}.version[1]", *shapes])

    def record(self) -> str:
        backward = self.op.backward
        if backward is None:
            return "node = None"
        saved = [self.saved_value(s) for s in backward.saved]
        edges = "edges" if self.inplace else f"({self.edges()})"
        out = f"{self.first}_" if self.inplace else "out_"
        kind = "ListNode" if self.op.list_output else "GradNode"
        return (
            f"node = {kind}(op, place, {out}, ({_tuple(saved)}), {self.versions()}, "
            f"({_tuple(backward.attributes)}), {edges})"
        )

    def saved_value(self, saved: Any) -> str:
        if saved.is_output and self.inplace:
            return f"{self.first}_"
        value = f"{saved.name}_"
        if saved.shape_only and self.op.list_input:
            value = f"tuple([array.shape for array in {saved.name}_])"
        elif saved.shape_only:
            number = saved.name in self.numbers
            value = f"getattr({value}, 'shape', ())" if number else f"{value}.shape"
        if saved.only_for is not None:
            return f"({value} if ({self.edge(saved.only_for)}) is not None else None)"
        return value

    def version_cells(self, outputs: bool) -> list[str]:
        """Expressions for the version cells of saved inputs, or of the saved output."""
        cells = []
        for saved in self.op.backward.saved if self.op.backward else ():
            if saved.shape_only or saved.is_output != outputs:
                continue
            if saved.name in self.op.hidden:
                cells.append("UNCHANGED")
            elif saved.is_output:
                cells.append(f"{self.first}.version" if self.inplace else f"{saved.name}.version")
            elif saved.only_for is not None:
                wanted = f"({self.edge(saved.only_for)}) is not None"
                cells.append(f"({saved.name}.version if {wanted} else UNCHANGED)")
            elif saved.name in self.op.optional:
                cells.append(f"(UNCHANGED if {saved.name} is None else {saved.name}.version)")
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


def _argument(param: Param) -> str:
    """An argument as the kernel takes it."""
    if param.type == "Generator":
        return "place.generator"
    return f"{param.name}_" if param.is_tensor else param.name


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
        "BOOLS": BOOLS,
        "FLOATS": FLOATS,
        "INTS": INTS,
        "NUMBERS": NUMBERS,
        "GradNode": GradNode,
        "ListNode": ListNode,
        "OutputNode": OutputNode,
        "Tensor": Tensor,
        "UNCHANGED": UNCHANGED,
        "as_dtype": as_dtype,
        "check_inplace": check_inplace,
        "check_name": check_name,
        "coerce": coerce,
        "differs": differs,
        "explain": explain,
        "follow_parent": follow_parent,
        "follow_write": follow_write,
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
    given = [p for p in op.params if p.type != "Generator"]  # dispatch adds the place's own
    expected = (*(p.name for p in given), "name")
    expected_defaults = (*(p.default for p in given if p.default is not REQUIRED), None)
    if names != expected or defaults != expected_defaults:
        raise TypeError(
            f"{code.co_filename}:{code.co_firstlineno}: {declaration.__name__} must take "
            f"{expected} with defaults {expected_defaults}, as ops.yaml declares"
        )
