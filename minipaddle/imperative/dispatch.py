"""From tensors to kernels: ``bound`` turns a declared op into the function that users call.

The function is written once, at its first call, from the op's declaration, as namedtuple writes
its classes: no inspection, no YAML and no string work is left for the call. It reads the arrays,
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
from minipaddle.imperative.bound_source import Source
from minipaddle.imperative.grad_node import UNCHANGED, GradNode, ListNode, OutputNode, grad_state
from minipaddle.imperative.operand import (
    FUNCTIONS,
    KERNEL_ERRORS,
    NUMBERS,
    check_name,
    coerce,
    differs,
    explain,
    int_list,
)
from minipaddle.imperative.tensor import Tensor
from minipaddle.imperative.view import check_inplace, follow_parent, follow_write
from minipaddle.ops.op import REQUIRED, Op, get_op

P = ParamSpec("P")
R = TypeVar("R")


# What the text of every bound function may name, beside its op and kernels.
_SCOPE = {
    "BOOL": as_dtype("bool"),
    "BOOLS": BOOLS,
    "FLOATS": FLOATS,
    "INTS": INTS,
    "KERNEL_ERRORS": KERNEL_ERRORS,
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


def _first_call(*args: Any, **kwargs: Any) -> Any:
    return write_and_call(args, kwargs)  # type: ignore[name-defined]  # noqa: F821 - in the scope


def _written_late(op: Op, inplace: bool, straight: Any) -> Any:
    """A function whose code is written and compiled at its first call.

    Most programs call a few of the ops, and to compile all of them would take longer than to
    import everything else.
    """
    scope = {
        **_SCOPE,
        "op": op,
        "kernels": op.inplace_kernels if inplace else op.kernels,
        "straight": straight,
    }
    source = Source(op, inplace)
    function = FunctionType(_first_call.__code__, scope, source.name)

    def write_and_call(args: Any, kwargs: Any) -> Any:
        text = source.text(straight is not None)
        file = f"<bound {source.name}{'' if straight is not None else ' straight'}>"
        made: dict[str, Any] = {}
        exec(compile(text, file, "exec"), scope, made)
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        function.__defaults__ = made[source.name].__defaults__
        function.__code__ = made[source.name].__code__
        return function(*args, **kwargs)

    scope["write_and_call"] = write_and_call
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
    function = _written_late(op, inplace, _written_late(op, inplace, None))
    for attribute in ("__module__", "__qualname__", "__doc__", "__annotations__"):
        setattr(function, attribute, getattr(declaration, attribute))
    function.__wrapped__ = declaration  # inspect finds the signature there
    FUNCTIONS[name] = function
    return function  # type: ignore[no-any-return]


def bound_inplace(function: Callable[P, R]) -> Callable[P, R]:
    """Makes the in-place form of the op that ``function``, made by ``bound``, carries out."""
    plain: Any = function.__wrapped__  # type: ignore[attr-defined]
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
