"""The recorded graph: GradNode for an op, AccumulationNode for the gradient of a leaf.

An edge is the node that a gradient goes to. Edges lead from an op to the producers of its inputs,
and nodes hold arrays, never tensors, so a dropped graph is freed at once by reference counting.
"""

from __future__ import annotations

import enum
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from minipaddle.device.backend import Array, Place
from minipaddle.device.dtype import DType
from minipaddle.imperative.flat_buffer import FlatBuffer
from minipaddle.imperative.selected_rows import SelectedRows, as_array
from minipaddle.ops.op import Namespace, Op, namespace

Hook = Callable[[Any], Any]
Callback = Callable[[BaseException | None], None]
Watcher = Callable[[Any, Callable[..., Any], tuple[Any, ...]], Any]


class GradState(threading.local):
    """What the calling thread records and who looks on; a thread starts with recording on.

    Attributes:
        recording: Whether ops are recorded for backward.
        watchers: Functions ``f(op, call, args)``, called in place of every op; each calls
            ``call(*args)``, which is the one before it in the list, and the first calls the op.
        interceptor: All of them in one, or None.
        node: While an interceptor runs in backward, the node it runs for.
        depth: How many ``run_backward`` calls are under way.
        callbacks: To be called, once, when the outermost of them ends, by number.
    """

    def __init__(self) -> None:
        self.recording = True
        self.watchers: list[Watcher] = []
        self.interceptor: Watcher | None = None
        self.node: GradNode | None = None
        for watcher in _everywhere:
            self.watch(watcher)
        self.depth = 0
        self.callbacks: list[tuple[int, Callback]] = []

    def watch(self, watcher: Watcher) -> None:
        """Puts a watcher in front of those that are there."""
        self.watchers.append(watcher)
        self.interceptor = _chained(self.watchers)

    def unwatch(self, watcher: Watcher) -> None:
        """Takes a watcher away, the one that came last if it is there twice."""
        at = max((i for i, w in enumerate(self.watchers) if w is watcher), default=None)
        if at is not None:
            del self.watchers[at]
        self.interceptor = _chained(self.watchers)


def _chained(watchers: list[Watcher]) -> Watcher | None:
    chain: Watcher | None = None
    for watcher in watchers:
        chain = watcher if chain is None else _before(watcher, chain)
    return chain


def _before(inner: Watcher, outer: Watcher) -> Watcher:
    def both(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return inner(op, lambda *inner_args: outer(op, call, inner_args), args)

    return both


# What a thread watches with from its start on.
_everywhere: list[Watcher] = []
grad_state = GradState()


def watch_everywhere(watcher: Watcher, on: bool) -> None:
    """Has a watcher, or has it no more, in this thread and in those that will be started."""
    if on == (watcher in _everywhere):
        return
    if on:
        _everywhere.append(watcher)
        grad_state.watch(watcher)
    else:
        _everywhere.remove(watcher)
        grad_state.unwatch(watcher)


# Stands for the saved values of a node that has run with retain_graph=False.
FREED: Any = object()
# Stands for them where a write made a result something that its op has no gradient for.
LOST: Any = object()
# A version cell that nobody writes: [number of writes, views that share the memory; see view.py].
UNCHANGED: list[Any] = [0, 0]


class GradNode:
    """One recorded op.

    Attributes:
        op: The op.
        place: Where it ran.
        shape: Shape of the result, and so of its gradient.
        dtype: Element type of the result, and so of its gradient.
        saved: The values that ops.yaml names, in its order, or FREED.
        versions: Version cell and number of writes at saving, for each saved tensor, one by one.
        attributes: Attribute values that the gradient takes.
        edges: One per tensor input; None where no gradient flows.
        hooks: Functions that see, and may replace, the gradient of the result, by number; or None.
        retained: Where the result keeps its own gradient, after ``retain_grads()``; or None.
    """

    __slots__ = (
        "__weakref__",
        "attributes",
        "dtype",
        "edges",
        "hooks",
        "op",
        "place",
        "retained",
        "saved",
        "shape",
        "versions",
    )

    def __init__(
        self,
        op: Op,
        place: Place,
        out: Array,
        saved: Any,
        versions: tuple[Any, ...],
        attributes: tuple[Any, ...],
        edges: tuple[Edge | None, ...],
    ) -> None:  # one argument a slot: this runs once per recorded op
        self.op = op
        self.place = place
        self.shape = out.shape
        self.dtype = out.dtype
        self.saved = saved
        self.versions = versions
        self.attributes = attributes
        self.edges = edges
        self.hooks: dict[int, Hook] | None = None
        self.retained: AccumulationNode | None = None

    def __repr__(self) -> str:
        return f"GradNode({self.op.name})"


class ListNode(GradNode):
    """One recorded op with a list of results, each of which has an OutputNode for its edge.

    Attributes:
        results: Shape and dtype of each result.
    """

    __slots__ = ("results",)

    def __init__(
        self,
        op: Op,
        place: Place,
        outs: Sequence[Array],
        saved: Any,
        versions: tuple[Any, ...],
        attributes: tuple[Any, ...],
        edges: tuple[Edge | None, ...],
    ) -> None:
        super().__init__(op, place, outs[0], saved, versions, attributes, edges)
        self.results = tuple([(out.shape, out.dtype) for out in outs])


class OutputNode(GradNode):
    """One result of a ListNode: hands its gradient to that node.

    Attributes:
        index: Which of the results.
    """

    __slots__ = ("index",)

    def __init__(self, node: ListNode, index: int, out: Array) -> None:
        super().__init__(node.op, node.place, out, (), (), (), (node,))
        self.index = index


class GradStatus(enum.Enum):
    """What a leaf's gradient holds."""

    NONE = enum.auto()  # nothing; ``grad`` is None
    EMPTY = enum.auto()  # memory whose content counts as zero; the next gradient overwrites it
    FULL = enum.auto()  # a gradient; the next one is added


NONE, EMPTY, FULL = GradStatus


class AccumulationNode:
    """The end of the graph at a leaf: takes in its gradients and keeps their sum.

    The sum lives in ``home``, memory that belongs to this leaf or to a FlatBuffer. A gradient with
    a graph of its own, or one set by the user, is kept as the ordinary tensor ``replaced``, and so
    is the SelectedRows of a gradient that is sparse.

    Attributes:
        status: NONE, EMPTY or FULL.
        home: The leaf's gradient memory, once there is any.
        flat: The FlatBuffer that ``home`` is a view of, or None.
        flat_index: Which of its views.
        replaced: The tensor, or SelectedRows, that stands in for ``home``, or None.
        cached: Weak reference to the tensor over ``home`` that ``grad`` last returned, or None.
        version: Version cell of ``home``.
        hooks: Functions that see, and may replace, each backward's summed gradient, by number.
        reduce_hook: Called when a backward's gradient is final and in place.
        name: Name of the leaf, for messages.
        lock: Held while backward writes ``home``, so that backwards of several threads may meet at
            a leaf. Reading or clearing ``grad`` meanwhile is not covered.
    """

    __slots__ = (
        "__weakref__",
        "cached",
        "dtype",
        "flat",
        "flat_index",
        "home",
        "hooks",
        "lock",
        "name",
        "place",
        "reduce_hook",
        "replaced",
        "shape",
        "status",
        "version",
    )

    edges: tuple[()] = ()
    saved = versions = edges

    def __init__(self, place: Place, shape: tuple[int, ...], dtype: DType, name: str) -> None:
        self.place = place
        self.shape = shape
        self.dtype = dtype
        self.name = name
        self.status = NONE
        self.home: Array | None = None
        self.flat: FlatBuffer | None = None
        self.flat_index = 0
        self.replaced: Any = None
        self.cached: weakref.ref[Any] | None = None
        self.version = [0, 0]
        self.lock = threading.RLock()
        self.hooks: dict[int, Hook] | None = None
        self.reduce_hook: Callable[[], None] | None = None

    @property
    def kernels(self) -> Namespace:
        """The kernels of this leaf's place."""
        return namespace(self.place)

    def claim(self) -> Array | None:
        """``home``, if a gradient may be written there straight away, else None.

        Whoever gets it holds ``lock`` and releases it when the gradient is in.
        """
        if self.lock.acquire(False):
            free = self.status is not FULL and self.replaced is None and not self.hooks
            if free and self.home is not None:
                return self.home
            self.lock.release()
        return None

    def settle(self, gradient: Array) -> None:
        """Takes in the gradient of a leaf that was claimed."""
        if gradient is self.home:
            self.status = FULL
            self.version[0] += 1
        else:
            self.store(gradient)

    def notify(self) -> None:
        """Tells the reducer that this backward's gradient is final and in place."""
        if self.reduce_hook is not None:
            self.reduce_hook()

    def store(self, gradient: Array) -> None:
        """Adds one backward's gradient."""
        with self.lock:
            if self.replaced is not None or gradient.__class__ is SelectedRows:
                self._store_beside_home(gradient)
            elif self.status is FULL:
                self.kernels.add_(self.home, gradient)
            elif self.home is None:
                self.home = self.kernels.assign(gradient)
            elif gradient is not self.home:
                self.kernels.copy_(self.home, gradient)
            self.status = FULL
            self.version[0] += 1

    def _store_beside_home(self, gradient: Any) -> None:
        """Adds a gradient where it is sparse, or where what is there is not in ``home``."""
        held, full = self.replaced, self.status is FULL
        sparse = gradient.__class__ is SelectedRows
        if sparse and not full:
            self.replaced = gradient
        elif held is None:
            self.kernels.add_(self.home, gradient.data)
        elif held.__class__ is not SelectedRows:
            total = self.kernels.add(held.data, as_array(gradient))
            self.replaced = type(held)(total, self.place)
        elif sparse:
            self.replaced = held.joined(gradient)
        else:
            self.replaced, self.status = None, EMPTY
            self.store(gradient)
            if full:
                self.kernels.add_(self.home, held.data)

    def read(self) -> Array:
        """The gradient's array; an EMPTY one is filled with zeros first."""
        if self.replaced is not None:
            return self.replaced.data
        if self.status is EMPTY:
            self.kernels.copy_(self.home, 0.0)
        return self.home

    def shown(self) -> Any:
        """The tensor over ``home`` that somebody still holds, or None."""
        return None if self.cached is None else self.cached()

    def show(self, tensor: Any) -> None:
        """Remembers, weakly, the tensor over ``home`` that the user was given."""
        self.cached = weakref.ref(tensor)

    def _let_go(self) -> None:
        """Leaves the present gradient to the user who still holds it."""
        shown = self.shown()
        self.cached = None
        if shown is None:
            return
        if self.flat is None:  # the memory goes with it, and so does the record of its writes
            self.home, self.version = None, [0, 0]
        else:
            shown.data, shown.version = self.kernels.assign(self.home), [0, 0]
            self.version[0] += 1

    def replace(self, tensor: Any) -> None:
        """Lets an ordinary tensor stand for the gradient; None forgets the gradient."""
        self._let_go()
        self.replaced = tensor
        self.status = NONE if tensor is None else FULL

    def clear(self, set_to_zero: bool) -> None:
        """EMPTY (reads as zeros, keeps its memory) or NONE."""
        held, self.replaced = self.replaced, None
        if set_to_zero and held.__class__ is SelectedRows:
            self.replaced, self.status = held.cleared(), EMPTY
            return
        if not set_to_zero or self.status is NONE:
            self._let_go()
            self.status = NONE
            return
        self.version[0] += 1
        if self.shown() is None and self.home is not None:
            self.status = EMPTY
        else:  # whoever holds the tensor sees the zeros now, and may write to it
            if self.home is None:
                self.home = self.kernels.full(self.shape, 0.0, self.dtype)
            self.kernels.copy_(self.home, 0.0)
            self.status = FULL

    def rehome(self) -> None:
        """Copies a gradient that was replaced by an ordinary tensor back into ``home``."""
        self.kernels.copy_(self.home, self.replaced.data)
        self.replaced = None
        self.version[0] += 1

    def move_home(self, flat: FlatBuffer, index: int) -> None:
        """Makes view ``index`` of ``flat`` this leaf's gradient memory; keeps the value.

        The tensor that ``grad`` has returned before follows.
        """
        home = flat.views[index]
        if self.status is FULL:
            self.kernels.copy_(home, self.read())
        self.home, self.flat, self.flat_index = home, flat, index
        self.replaced = None
        shown = self.shown()
        if shown is not None:
            shown.data = home


Edge = GradNode | AccumulationNode
