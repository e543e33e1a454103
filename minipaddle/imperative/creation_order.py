"""FLAGS_sort_sum_gradient: a tensor's gradients are summed in the order of the ops that used it.

Backward then runs, of all nodes that are ready, the one that was recorded last. All that must run
before a node was recorded after it, so the gradients of a tensor come from its newest user first.
"""

from __future__ import annotations

import heapq
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from minipaddle.device.flags import FlagValue, define_effect, define_flag
from minipaddle.imperative.grad_node import GradNode, OutputNode, watch_everywhere

_numbers: weakref.WeakKeyDictionary[GradNode, int] = weakref.WeakKeyDictionary()
_next = itertools.count(1)


def results(value: Any) -> Iterator[Any]:
    """The single results of an op: a tensor, or each of a tuple or list."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from results(item)
    elif value is not None:
        yield value


def recorded_nodes(value: Any) -> Iterator[GradNode]:
    """The nodes that a recorded op made for its results, and the one that a list of them shares."""
    for result in results(value):
        edge = getattr(result, "edge", None)
        if isinstance(edge, GradNode):
            yield edge
        if isinstance(edge, OutputNode):
            (origin,) = edge.edges
            assert isinstance(origin, GradNode)
            yield origin


def number_nodes(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """A watcher that numbers the nodes of recorded ops as they are made."""
    value = call(*args)
    for node in recorded_nodes(value):
        _numbers.setdefault(node, next(_next))
    return value


class NewestFirst(list[Any]):
    """Nodes that are ready, of which ``pop`` takes the one recorded last; leaves come first."""

    def append(self, node: Any) -> None:
        """Adds a node."""
        age = -_numbers.get(node, 0) if isinstance(node, GradNode) else -next(_next)
        heapq.heappush(self, (age, next(_next), node))

    def pop(self, *_: Any) -> Any:
        """Takes out the newest."""
        return heapq.heappop(self)[2]


def ready_list() -> list[Any]:
    """Where backward keeps the nodes that are ready."""
    return NewestFirst() if _sorting else []


_sorting = False


def _sort(value: FlagValue) -> None:
    global _sorting
    _sorting = bool(value)
    watch_everywhere(number_nodes, _sorting)


define_flag(
    "FLAGS_sort_sum_gradient",
    False,
    "Sum the gradients of a tensor in the order of the ops that used it, newest first.",
)
define_effect("FLAGS_sort_sum_gradient", _sort)
