"""What one node of a backward needs: its saved values, its hooks, and gradients that fit."""

from __future__ import annotations

import weakref
from typing import Any

from minipaddle.imperative.grad_node import FREED, LOST, Edge, GradNode, ListNode
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import namespace

# Where ops were called from, while anomaly mode is on.
forward_lines: weakref.WeakKeyDictionary[GradNode, str] = weakref.WeakKeyDictionary()


def check_runnable(node: GradNode) -> None:
    """Refuses a node whose saved values are gone or were overwritten.

    Raises:
        RuntimeError: The graph has run before, or an in-place write changed a saved value.
    """
    if node.saved is FREED:
        raise RuntimeError(
            f"backward has already run through this graph, and what {node.op.name} had saved is "
            "freed; call the first backward with retain_graph=True to run it again"
        )
    if node.saved is LOST:
        raise RuntimeError(
            f"{node.op.name} returned its argument or a view of it, and that memory was then "
            "written in place while recording: no gradient is known for what it holds now; return "
            f"a clone() from {node.op.name}.forward, or write to a clone()"
        )
    versions = node.versions
    for i in range(0, len(versions), 2):
        if versions[i][0] != versions[i + 1]:
            raise RuntimeError(
                f"a tensor that the gradient of {node.op.name} needs was changed in place: it was "
                f"saved at version {versions[i + 1]} and is at version {versions[i][0]} now; "
                f"change it after backward, or give {node.op.name} a copy{_called(node)}"
            )


def _called(node: GradNode) -> str:
    line = forward_lines.get(node)
    return "" if line is None else f"; {node.op.name} was called {line}"


def completed(node: ListNode, gradients: list[Any], as_tensors: bool) -> list[Any]:
    """The gradients of all results of ``node``, with zeros for those that none came to."""
    found = list(gradients)
    for i, (shape, dtype) in enumerate(node.results):
        if found[i] is None:
            zeros = namespace(node.place).full(shape, 0, dtype)
            found[i] = Tensor(zeros, node.place) if as_tensors else zeros
    return found


def fit_gradient(F: Any, gradient: Any, shape: tuple[int, ...], edge: Edge) -> Any:
    """``gradient`` summed over the axes that were broadcast, in the shape and dtype of ``edge``."""
    wanted = edge.shape
    if shape != wanted:
        extra = len(shape) - len(wanted)
        axes = [i for i in range(len(shape)) if i < extra or wanted[i - extra] == 1 != shape[i]]
        if axes:
            gradient = F.sum(gradient, tuple(axes), None, True)
        gradient = F.reshape(gradient, wanted)
    if gradient.dtype != edge.dtype:
        gradient = F.cast(gradient, edge.dtype)
    return gradient


def call_hooks(node: Edge, gradient: Tensor) -> Tensor:
    """Runs a node's hooks in order; each may replace the gradient.

    Raises:
        TypeError: A hook returned something else than a Tensor or None.
        ValueError: The replacement has another shape.
    """
    for hook in list((node.hooks or {}).values()):
        result = hook(gradient)
        if result is None:
            continue
        if not isinstance(result, Tensor):
            kind = type(result).__name__
            raise TypeError(f"a gradient hook must return a Tensor or None; got {kind}")
        if result.data.dtype != node.dtype or result.place is not node.place:
            raise TypeError(
                f"a gradient hook must keep dtype {node.dtype.name} and place {node.place}; it "
                f"returned {result.dtype.name} on {result.place}"
            )
        if result.data.shape != node.shape:
            raise ValueError(
                f"a gradient hook must keep the shape {list(node.shape)}; it returned one of shape "
                f"{result.shape}"
            )
        gradient = result
    return gradient


def saved_tensors(node: GradNode) -> list[Any]:
    """A node's saved values as a formula over tensors takes them, joined to their graph again."""
    op = node.op
    assert op.backward is not None
    cells = iter(node.versions[::2])
    values: list[Any] = []
    for plan, value in zip(op.backward.saved, node.saved, strict=True):
        cell = None if plan.shape_only else next(cells)
        if plan.shape_only or value is None or isinstance(value, (bool, int, float)):
            values.append(value)
            continue
        tensor = Tensor(value, node.place, _edge_of(node, plan.name))
        if cell is not None:
            tensor.version = cell
        values.append(tensor)
    return values


def _edge_of(node: GradNode, name: str) -> Edge | None:
    """Where the gradient of a saved value goes: nowhere for indices, masks and further results."""
    if name == node.op.outputs[0]:
        return node
    inputs = node.op.inputs
    return node.edges[inputs.index(name)] if name in inputs else None
