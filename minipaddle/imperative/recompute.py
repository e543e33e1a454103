"""recompute: a part of a model that keeps its inputs alone and runs again in backward.

The call is one ListNode. Its edges lead to the inputs and to every parameter that the part uses, so
that a parameter used in several parts, or outside too, is complete when the last use is done; the
run in backward adds nothing to ``grad`` itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from minipaddle.device.backend import made_places
from minipaddle.device.rng_state import fork_rng
from minipaddle.imperative.autograd import enable_grad
from minipaddle.imperative.engine import run_backward
from minipaddle.imperative.grad_node import AccumulationNode, Edge, ListNode, OutputNode, grad_state
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import Backward, Namespace, Op, Saved


def recompute(
    function: Callable[..., Any],
    *args: Any,
    preserve_rng_state: bool = True,
    use_reentrant: bool = True,
    **kwargs: Any,
) -> Any:
    """Calls ``function`` without keeping what its gradient needs; backward calls it again.

    It saves memory for time: of the part only arguments and results are kept.

    Args:
        function: A layer or a function of tensors; it is called twice, with the same values.
        *args: Its arguments; tensors may lie in lists, tuples and dicts.
        preserve_rng_state: Whether random numbers, as of dropout, are the same in both calls.
        use_reentrant: For Paddle's signature; the result is the same.
        **kwargs: Its keyword arguments.

    Returns:
        What ``function`` returned.

    Raises:
        RuntimeError: In backward: an argument was overwritten since, or gradients of gradients
            were asked for.

    Example:
        >>> import minipaddle as paddle
        >>> part = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.ReLU())
        >>> y = paddle.distributed.fleet.utils.recompute(part, paddle.ones([1, 2]))
        >>> y.sum().backward()
        >>> part[0].bias.grad.shape
        [2]
    """
    if not grad_state.recording:
        return function(*args, **kwargs)
    call = _Call(function, args, kwargs, preserve_rng_state)
    _, outputs = call.run()
    made = [t for t in _tensors(outputs) if t.edge is not None]
    inputs = [t for t in _tensors((args, kwargs)) if t.edge is not None]
    if made:
        parameters = _leaves_below([t.edge for t in made], call.own)
        call.parameters = parameters
        edges: tuple[Edge, ...] = (*(t.edge for t in inputs if t.edge is not None), *parameters)
        arrays = [t.data for t in made]
        given = list(_tensors((args, kwargs)))
        versions = tuple(item for t in given for item in (t.version, t.version[0]))
        node = ListNode(_OP, made[0].place, arrays, (call,), versions, (), edges)
        places = {id(t): i for i, t in enumerate(made)}
        outputs = _mapped(outputs, lambda t: _result(t, node, places.get(id(t))))
    call.own = set()
    return outputs


class _Call:
    """A function, its arguments, and the random states with which it was called first."""

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any, preserve_rng_state: bool
    ) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.parameters: list[AccumulationNode] = []
        self.own: set[Any] = set()
        places = made_places() if preserve_rng_state else []
        self.states = [(place, place.generator.get_state()) for place in places]

    def run(self) -> tuple[list[Any], Any]:
        """Calls the function on leaves that stand for its tensors; they come first."""
        leaves: list[Tensor] = []

        def cut(tensor: Tensor) -> Tensor:
            leaf = Tensor(tensor.data, tensor.place)
            leaf.version = tensor.version
            if tensor.edge is not None:
                leaf.stop_gradient = False
                leaves.append(leaf)
            return leaf

        args, kwargs = _mapped(self.args, cut), _mapped(self.kwargs, cut)
        self.own = {leaf.leaf for leaf in leaves}
        with enable_grad():
            return [leaf.leaf for leaf in leaves], self.function(*args, **kwargs)

    def run_again(self) -> tuple[list[Any], Any]:
        with fork_rng() if self.states else contextlib.nullcontext():
            for place, state in self.states:
                place.generator.set_state(state)
            return self.run()


def _rule(F: Any, call: _Call, out_grad: list[Any]) -> list[Any]:
    if not isinstance(F, Namespace):
        raise RuntimeError(
            "the gradient of recompute cannot be differentiated again: call the function itself "
            "where create_graph=True is needed"
        )
    leaves, outputs = call.run_again()
    made = [t for t in _tensors(outputs) if t.edge is not None]
    roots = [(t.edge, g) for t, g in zip(made, out_grad, strict=True) if g is not None]
    targets = [*leaves, *call.parameters]
    found = run_backward(roots, targets=targets)  # type: ignore[arg-type]
    return [found.get(node) for node in targets]


_SAVED = (Saved("call", shape_only=True),)
_OP = Op(
    "recompute", (), backward=Backward("recompute_grad", _SAVED, (), (), _rule, takes_none=True)
)


def _leaves_below(edges: list[Any], own: set[Any]) -> list[AccumulationNode]:
    """The leaves that a graph reaches, without those that stand for arguments."""
    walk = list(dict.fromkeys(edges))
    met = set(walk)
    for node in walk:  # it grows
        for edge in node.edges:
            if edge is not None and edge not in met:
                met.add(edge)
                walk.append(edge)
    return [n for n in walk if n.__class__ is AccumulationNode and n not in own]


def _result(tensor: Tensor, node: ListNode, index: int | None) -> Tensor:
    edge = None if index is None else OutputNode(node, index, tensor.data)
    return Tensor(tensor.data, tensor.place, edge)


def _mapped(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """``value`` with its tensors changed, also those in lists, tuples and dicts."""
    if isinstance(value, Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(_mapped(item, change) for item in value)
    if type(value) is dict:
        return {key: _mapped(item, change) for key, item in value.items()}
    return value


def _tensors(value: Any) -> Iterator[Tensor]:
    found: list[Tensor] = []
    _mapped(value, lambda t: found.append(t) or t)  # type: ignore[func-returns-value]
    return iter(found)
