"""What ties a leaf to the Reducer that averages its gradient."""

from __future__ import annotations

import weakref
from typing import Any

from minipaddle.imperative.grad_node import AccumulationNode


class LeafHook:
    """The reduce hook of one leaf. It does not keep the Reducer alive, so that no cycle forms."""

    __slots__ = ("index", "reducer")

    def __init__(self, reducer: weakref.ref[Any], index: int) -> None:
        self.reducer = reducer
        self.index = index

    def __call__(self) -> None:
        """Tells the Reducer, if it lives, that the gradient is final."""
        reducer = self.reducer()
        if reducer is not None:
            reducer.mark_var_ready(self.index)


def owner_of(node: AccumulationNode) -> Any:
    """The living Reducer that averages the gradient of this leaf."""
    owner = getattr(node.reduce_hook, "reducer", None)
    return None if owner is None else owner()
