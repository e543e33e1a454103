"""Backward: from a tensor down the recorded graph to the leaves.

A run counts how many edges lead to each node, then runs a node once all its uses have sent their
gradient. There is no recursion, so chains may be as long as memory allows; a leaf is finished the
moment its last use is done. This is the one place that brings a formula's gradient to the shape
and dtype of what it belongs to; a fused kernel may do so itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from minipaddle.device.backend import Array
from minipaddle.imperative.creation_order import ready_list
from minipaddle.imperative.grad_node import (
    FREED,
    FULL,
    AccumulationNode,
    Edge,
    GradNode,
    OutputNode,
    grad_state,
)
from minipaddle.imperative.gradient import (
    call_hooks,
    check_runnable,
    completed,
    fit_gradient,
    saved_tensors,
)
from minipaddle.imperative.operand import BOUND
from minipaddle.imperative.run_end import end_run
from minipaddle.imperative.selected_rows import SelectedRows, added, as_array
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.declaration import Rows
from minipaddle.ops.op import namespace


def run_backward(
    roots: Sequence[tuple[Edge, Any]],
    retain_graph: bool = False,
    create_graph: bool = False,
    targets: Iterable[Edge] | None = None,
    blocked: Iterable[Edge] = (),
) -> dict[Edge, Any]:
    """Sends gradients from ``roots`` through the graph.

    Args:
        roots: Edges to start at, each with its gradient: an array, or with ``create_graph`` a
            tensor.
        retain_graph: Keep the saved values, so that the graph can run again.
        create_graph: Record the run itself, for gradients of gradients.
        targets: Edges whose gradients are wanted; the leaves' ``grad`` is then left alone. None
            accumulates in the leaves.
        blocked: Edges that no gradient passes.

    Returns:
        The gradients of those ``targets`` that were reached.

    Raises:
        RuntimeError: Part of the graph has run before, or a saved value was overwritten since.
    """
    state = grad_state
    recording, state.recording = state.recording, create_graph
    state.depth += 1
    try:
        run = (_RecordedRun if create_graph else _Run)(retain_graph, targets)
        found = run.run(roots, frozenset(blocked))
    except BaseException as error:
        end_run(recording, error)
        raise
    end_run(recording, None)
    return found


def apply_rule(node: GradNode, rule: Callable[..., Any], args: tuple[Any, ...]) -> Sequence[Any]:
    """The gradients of a node's inputs, as its rule gives them; an interceptor runs the rule.

    Raises:
        ValueError: The rule has returned another number of gradients.
    """
    state = grad_state
    if state.interceptor is None:
        gradients = rule(*args)
    else:
        outer, state.node = state.node, node
        try:
            gradients = state.interceptor(node.op.backward, rule, args)
        finally:
            state.node = outer
    if len(gradients) != len(node.edges):
        raise ValueError(
            f"the gradient of {node.op.name} must be {len(node.edges)} values, one an input; got "
            f"{len(gradients)}"
        )
    return gradients  # type: ignore[no-any-return]


class _Run:
    """One walk over the graph, with arrays for gradients."""

    on_tensors = False

    def __init__(self, retain_graph: bool, targets: Iterable[Edge] | None) -> None:
        self.retain_graph = retain_graph
        self.targets = None if targets is None else frozenset(targets)
        self.uses: dict[Any, int] = {}  # node -> edges to it that have not sent their gradient
        self.pending: dict[Any, Any] = {}  # node -> sum of what they have sent
        self.found: dict[Any, Any] = {}
        # Leaves that the node under way writes to straight away, and which of its inputs they are.
        self.claimed: list[tuple[AccumulationNode, int]] = []
        self.hooks_ran = False

    def run(self, roots: Sequence[tuple[Edge, Any]], blocked: frozenset[Edge]) -> dict[Any, Any]:
        starts = list(dict.fromkeys([edge for edge, _ in roots]))
        self.count_uses(starts, blocked)
        for node, gradient in roots:
            self.add(node, gradient)
        ready = ready_list()
        for node in starts:
            if self.uses.get(node) == 0:
                ready.append(node)
        while ready:
            self.run_node(ready.pop(), ready)
        return self.found

    def run_node(self, node: Any, ready: list[Any]) -> None:
        """Runs a node that has all its gradient, and appends those that this makes ready."""
        gradient = self.pending.pop(node, None)
        if gradient is None:  # nothing has come, and nothing goes on
            self.send(node, (None,) * len(node.edges), ready)
            return
        kind = node.__class__
        if kind is AccumulationNode:
            self.finish_leaf(node, gradient)
            return
        if node.hooks or node.retained is not None or self.targets is not None:
            gradient = self.observe(node, gradient)
        if kind is not GradNode:
            if kind is OutputNode:
                self.collect(node, gradient, ready)
                return
            if not node.op.backward.takes_none:
                gradient = completed(node, gradient, self.on_tensors)
        gradients = self.gradients(node, gradient)
        if self.claimed:
            self.settle(gradients)
        self.send(node, gradients, ready)

    def settle(self, gradients: Sequence[Any]) -> None:
        """Finishes the claimed leaves, whose gradients are in place."""
        claimed, self.claimed = self.claimed, []
        try:
            for leaf, i in claimed:
                part = gradients[i]
                leaf.settle(part if part is leaf.home else self.fit(part, leaf))
        finally:  # all let go before anything can wait
            for leaf, _ in claimed:
                leaf.lock.release()
        for leaf, _ in claimed:
            del self.uses[leaf]
            leaf.notify()

    def send(self, node: Any, gradients: Sequence[Any], ready: list[Any]) -> None:
        """Hands the gradients of a node's inputs on."""
        uses, pending = self.uses, self.pending
        edge: Any
        for i, edge in enumerate(node.edges):
            left = uses.get(edge)
            if left is None:
                continue
            uses[edge] = left - 1
            part = gradients[i]
            if part is not None:
                if part.shape != edge.shape or part.dtype is not edge.dtype:
                    part = self.fit(part, edge)
                held = pending.get(edge)
                pending[edge] = part if held is None else self.sum(edge, held, part)
            if left > 1:
                continue
            if edge.__class__ is AccumulationNode and edge in pending:
                self.finish_leaf(edge, pending.pop(edge))
            else:
                ready.append(edge)

    def collect(self, node: OutputNode, gradient: Any, ready: list[Any]) -> None:
        """Puts the gradient of one result into the list that its ListNode waits for."""
        (origin,) = node.edges
        if origin not in self.uses:
            return
        parts = self.pending.setdefault(origin, [None] * len(origin.results))  # type: ignore[union-attr]
        parts[node.index] = gradient
        self.uses[origin] -= 1
        if not self.uses[origin]:
            ready.append(origin)

    def count_uses(self, starts: list[Edge], blocked: frozenset[Edge]) -> None:
        """Counts the edges to every node that takes part; refuses a graph that cannot run."""
        uses = self.uses
        uses.update(dict.fromkeys(blocked, 0))  # as if seen before: the walk stops there
        walk: list[Any] = [node for node in starts if node not in uses]
        uses.update(dict.fromkeys(walk, 0))
        for node in walk:  # it grows
            for edge in node.edges:
                if edge is None:
                    continue
                if edge in uses:
                    uses[edge] += 1
                    continue
                uses[edge] = 1
                if edge.__class__ is not AccumulationNode:
                    walk.append(edge)
        for edge in blocked:
            del uses[edge]
        if self.targets is not None:
            self.keep_paths_to_targets()
            walk = [node for node in walk if node in self.uses]
        for node in walk:
            if node.versions or node.saved is FREED:
                check_runnable(node)

    def keep_paths_to_targets(self) -> None:
        """Drops nodes from which no target is reached, and the edges to and from them."""
        users: dict[Any, list[Any]] = {}
        for node in self.uses:
            for edge in node.edges:
                if edge in self.uses:
                    users.setdefault(edge, []).append(node)
        stack = [node for node in self.targets or () if node in self.uses]
        kept = set(stack)
        while stack:
            for user in users.get(stack.pop(), ()):
                if user not in kept:
                    kept.add(user)
                    stack.append(user)
        self.uses = {node: sum(user in kept for user in users.get(node, ())) for node in kept}

    def add(self, node: Edge, gradient: Any) -> None:
        if node in self.uses:
            held = self.pending.get(node)
            self.pending[node] = gradient if held is None else self.sum(node, held, gradient)

    def sum(self, node: Edge, a: Any, b: Any) -> Any:
        if a.__class__ is SelectedRows or b.__class__ is SelectedRows:
            return added(node.place, a, b)
        return namespace(node.place).add(a, b)

    def gradients(self, node: GradNode, gradient: Any) -> Sequence[Any]:
        """The gradients of a node's inputs, given that of its output."""
        if self.hooks_ran and node.versions:
            check_runnable(node)  # again: a hook may have written to a saved value
        fused, function, F = node.op.backward.table[node.place]  # type: ignore[union-attr]
        if fused:
            args = (*node.saved, gradient, *node.attributes, *self.destinations(node))
        else:
            args = (F, *node.saved, gradient, *node.attributes)
        try:
            result = apply_rule(node, function, args)
        except BaseException as error:
            while self.claimed:
                self.claimed.pop()[0].lock.release()
            if isinstance(error, MemoryError):
                place, doing = node.place, f"the gradient of {node.op.name}"
                raise place.backend.out_of_memory(place.index, error, doing) from error
            raise
        if not self.retain_graph:
            node.saved = FREED
        return result

    def destinations(self, node: GradNode) -> tuple[tuple[bool, ...], Any]:
        """What a fused gradient is told of each input: whether it is wanted, and where.

        Where is the memory of a leaf that is used this once, or None: the kernel makes an array. A
        leaf with hooks gets its gradient after these.
        """
        edges = node.edges
        if len(edges) == 1 and edges[0].__class__ is not AccumulationNode:
            return (True,), None
        uses, claimed = self.uses, self.claimed
        wanted: list[bool] = []
        into: list[Array | None] = []
        for edge in edges:
            count, home = uses.get(edge), None
            wanted.append(count is not None)
            if count == 1 and edge.__class__ is AccumulationNode and self.targets is None:
                home = None if edge in self.pending else edge.claim()
                if home is not None:
                    claimed.append((edge, len(into)))
            into.append(home)
        return tuple(wanted), tuple(into) if claimed else None

    def fit(self, gradient: Any, edge: Edge) -> Any:
        if gradient.__class__ is Rows:  # sparse until the leaf, where it has only that far to go
            gradient = SelectedRows(edge.place, *gradient, edge.shape[0])
            return gradient if edge.__class__ is AccumulationNode else gradient.data
        return fit_gradient(namespace(edge.place), gradient, gradient.shape, edge)

    def observe(self, node: Edge, gradient: Any) -> Any:
        """Shows a node's gradient to its hooks, to ``grad`` of a retained tensor and to targets."""
        gradient = as_array(gradient)
        if node.hooks:
            self.hooks_ran = True
            gradient = self.hooked(node, gradient)
        if self.targets is not None:
            if node in self.targets:
                self.found[node] = gradient
        elif isinstance(node, GradNode) and node.retained is not None:
            self.keep(node.retained, gradient)
        return gradient

    def hooked(self, node: Edge, gradient: Any) -> Any:
        """What a node's hooks make of its gradient."""
        return call_hooks(node, Tensor(gradient, node.place)).data

    def keep(self, leaf: AccumulationNode, gradient: Any) -> None:
        """Adds a gradient to those that ``grad`` shows."""
        leaf.store(gradient)

    def finish_leaf(self, node: AccumulationNode, gradient: Any) -> None:
        if node.hooks or self.targets is not None:
            gradient = self.observe(node, gradient)
        if self.targets is None:
            self.keep(node, gradient)
            node.notify()


class _RecordedRun(_Run):
    """A walk with tensors for gradients, recorded in its turn: ``create_graph=True``."""

    on_tensors = True

    def sum(self, node: Edge, a: Any, b: Any) -> Any:
        return BOUND.add(a, b)

    def fit(self, gradient: Any, edge: Edge) -> Any:
        return fit_gradient(BOUND, gradient, gradient.data.shape, edge)

    def gradients(self, node: GradNode, gradient: Any) -> Sequence[Any]:
        check_runnable(node)
        backward = node.op.backward
        assert backward is not None and backward.formula is not None
        saved = saved_tensors(node)
        args = (BOUND, *saved, gradient, *node.attributes)
        result = apply_rule(node, backward.formula, args)
        if not self.retain_graph:
            node.saved = FREED
        return result

    def hooked(self, node: Edge, gradient: Any) -> Any:
        return call_hooks(node, gradient)

    def keep(self, leaf: AccumulationNode, gradient: Any) -> None:
        if leaf.status is FULL:
            held = leaf.replaced
            if held is None or held.__class__ is SelectedRows:
                held = Tensor(namespace(leaf.place).assign(leaf.read()), leaf.place)
            gradient = BOUND.add(held, gradient)
        else:  # its own tensor: the run may hand the same one to several leaves
            gradient = BOUND.assign(gradient)
        leaf.replace(gradient)
