"""The text of the functions that ``bound`` makes: two templates, plain and in place.

``dispatch`` compiles it; ``linecache`` shows it in tracebacks as ``<bound add>``.
"""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import REQUIRED, Op, Param

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
    except KERNEL_ERRORS as error:
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
    except KERNEL_ERRORS as error:
        raise explain(op, error, ({operands})) from error
    {first}.version[0] += 1
    if recording:
        {record}
        {first}.edge = node
    if {first}.version[1] and grad_state.recording: follow_write({first})
    return {first}"""


class Source:
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
        """The function's text; ``intercepted`` asks the thread's interceptor first."""
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
        attributes = _tuple(self.op.attributes)
        if self.op.list_output:
            return (
                "for i, part in enumerate(out):\n"
                f"        if place.backend.is_view(part.data, {self.first}_): "
                f"follow_parent(part, {self.first}, op, ({attributes}), i)"
            )
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
        """Where the gradient of an operand goes."""
        if name in self.op.optional:
            return f"None if {name} is None else {name}.edge"
        return f"{name}.edge"

    def edges(self) -> str:
        """The edges of all inputs, for a node."""
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
        """When an array is of no dtype that the op takes."""
        refused = _REFUSED.get(self.op.dtypes)
        return f" or {array}.{refused}" if refused else ""

    def wants_grad(self) -> str:
        """Whether a gradient flows to any input."""
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
        """When an in-place call has to be looked at closely."""
        shapes = []
        if self.op.broadcasts:
            names = [p.name for p in self.tensors[1:]]
            shapes = [f"getattr({n}_, 'shape', ()) != {self.first}_.shape" for n in names]
        return " or ".join([f"{self.first}.edge is not None", f"{self.first}.version[1]", *shapes])

    def record(self) -> str:
        """Makes the node of the call."""
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
        """A value that the node keeps."""
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
            elif saved.name in self.op.optional:
                cells.append(f"(UNCHANGED if {saved.name} is None else {saved.name}.version)")
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
        """Counts the writes to saved inputs, before an in-place form writes."""
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
