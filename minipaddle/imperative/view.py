"""Views: tensors that share memory, and what a write to one of them means for the others.

A view knows the tensor it was made from and how. The version cell that all tensors over one memory
share is ``[number of writes, views]``, where ``views`` is 0 or a list of weak references in the
order of creation, parents before children. A recorded write to any of them is put back step by
step into the tensor that owns the memory, and from there every other view is taken anew: no values
move, only the edges that gradients follow.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

from minipaddle.imperative.grad_node import (
    LOST,
    UNCHANGED,
    AccumulationNode,
    Edge,
    GradNode,
    grad_state,
)
from minipaddle.imperative.operand import BOUND, FUNCTIONS, is_number
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import Op

_PRUNE = 64  # references to views that are gone are dropped once in so many


def follow_parent(
    view: Tensor,
    parent: Tensor,
    op: Op | None,
    attributes: tuple[Any, ...] = (),
    index: int | None = None,
) -> None:
    """Makes ``view``, which shares the memory of ``parent``, share its version and its writes.

    ``op`` is what made it, with its attributes, and ``index`` which of a list of results it is.
    None for ``op`` says that it cannot be made anew: a PyLayer handed out its argument.
    """
    cell = view.version = parent.version
    view.origin = (parent, op, attributes, index)
    if not cell[1]:
        cell[1] = []
    views = cell[1]
    views.append(weakref.ref(view))
    if len(views) % _PRUNE == 0:
        views[:] = [reference for reference in views if reference() is not None]


def follow_write(written: Tensor) -> None:
    """Joins the owner and all views of a tensor's memory to the write that was just recorded."""
    line = _line(written)
    views = [view for reference in written.version[1] if (view := reference()) is not None]
    if all(tensor.edge is None for tensor in (*line, *views)):
        return
    for child, parent in itertools.pairwise(line):
        _, op, attributes, _ = child.origin  # type: ignore[misc]
        put_back = op.put_back
        parent.edge = put_back(BOUND, parent, child, *attributes).edge
    current = set(map(id, line))
    made: dict[Any, list[Tensor]] = {}
    for view in views:
        if id(view) in current or view.origin is None or id(view.origin[0]) not in current:
            continue
        view.edge = _edge_anew(view, made)
        current.add(id(view))


def _edge_anew(view: Tensor, made: dict[Any, list[Tensor]]) -> Edge | None:
    """What the edge of a view is after a write; ``made`` keeps lists of views made once."""
    parent, op, attributes, index = view.origin  # type: ignore[misc]
    if op is None:
        node: Any = view.edge
        return GradNode(
            node.op, view.place, view.data, LOST, (UNCHANGED, 0), (), (parent.edge, node)
        )
    if index is None:
        edge: Edge | None = FUNCTIONS[op.name](parent, *attributes).edge
        return edge
    key = (id(parent), op.name, attributes)
    if key not in made:
        made[key] = FUNCTIONS[op.name](parent, *attributes)
    return made[key][index].edge


def _line(tensor: Tensor) -> list[Tensor]:
    """A tensor, the one that it is a view of, and so on to the owner of the memory."""
    line = [tensor]
    while line[-1].origin is not None:
        line.append(line[-1].origin[0])
    return line


def check_inplace(op: Op, x: Tensor, others: tuple[Any, ...]) -> None:
    """Refuses an in-place call that would corrupt a graph or change the shape.

    Raises:
        ValueError: A leaf that wants a gradient or a view of one, one of a list of views, or a
            result larger than ``x``.
    """
    tensors = [t for t in others if isinstance(t, Tensor) and not is_number(t.data)]
    if op.broadcasts:
        shape = np.broadcast_shapes(x.data.shape, *(t.data.shape for t in tensors))
        if shape != x.data.shape:
            raise ValueError(
                f"{op.name}_: the result would have shape {list(shape)}, but x has {x.shape} and "
                "keeps its shape in place"
            )
    if not grad_state.recording:
        return
    line = _line(x)
    for tensor in line:
        if tensor.edge.__class__ is AccumulationNode:
            view = "" if tensor is x else "a view of "
            raise ValueError(
                f"{op.name}_: {view}{tensor.name} is a leaf that wants a gradient and cannot be "
                f"changed in place while recording; use {op.name}, or no_grad()"
            )
    if all(t.edge is None for t in (*line, *tensors)):
        return
    for tensor in line[:-1]:
        maker = tensor.origin[1]  # type: ignore[index]
        if maker is None or maker.put_back is None:
            raise ValueError(
                f"{op.name}_: {tensor.name} {_kind(maker)}, and cannot be changed in place while "
                f"recording; use {op.name}, or a clone()"
            )


def _kind(maker: Op | None) -> str:
    if maker is None:
        return "is what a PyLayer made of its argument, with a gradient of its own"
    if maker.list_output:
        return f"is one of several views made together by {maker.name}"
    return f"is a view made by {maker.name}, which has no rule to put a change back"


def take_shape(x: Tensor, shaped: Tensor) -> Tensor:
    """Makes ``x`` what ``shaped``, a view or a copy of it in another shape, is; gives ``x``.

    What x was lives on in a tensor that nobody sees but x and its views, whose way back to the
    memory leads through it.

    Raises:
        ValueError: x is a leaf that wants a gradient, which has x's shape.
    """
    if x.edge.__class__ is AccumulationNode:
        raise ValueError(
            f"{x.name} is a leaf that wants a gradient and keeps its shape; use the function "
            "without the underscore"
        )
    if shaped is x:
        return x
    before = Tensor(x.data, x.place)
    before.edge, before.version, before.origin = x.edge, x.version, x.origin
    views = [v for reference in x.version[1] or () if (v := reference()) is not None]
    for view in views:
        if view.origin is not None and view.origin[0] is x:
            view.origin = (before, *view.origin[1:])
    if any(view is x for view in views):
        x.version[1][:] = [weakref.ref(before if view is x else view) for view in views]
    x.data, x.edge, x.leaf = shaped.data, shaped.edge, None
    x.version, x.origin = shaped.version, shaped.origin
    if shaped.origin is not None:
        x.version[1].append(weakref.ref(x))
    return x
