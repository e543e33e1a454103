"""PyLayer: an op whose forward and backward a user writes on tensors, in Python.

One call of ``apply`` is one ListNode, whose rule runs the user's ``backward``. The context is what
the node saves. It keeps inputs as the tensors they are, which lie upstream, and results as arrays:
a node that held its own result would be a reference cycle.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, ClassVar

from minipaddle.imperative.autograd import no_grad
from minipaddle.imperative.grad_node import AccumulationNode, ListNode, OutputNode, grad_state
from minipaddle.imperative.gradient import completed
from minipaddle.imperative.tensor import Tensor
from minipaddle.imperative.view import follow_parent
from minipaddle.ops.op import Backward, Namespace, Op, Saved


class PyLayerContext:
    """What ``forward`` hands to ``backward``; any attribute may be set on it.

    Example:
        >>> import minipaddle as paddle
        >>> class Cube(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x * x
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (x,) = ctx.saved_tensor()
        ...         return grad * x * x * 3.0
        >>> x = paddle.to_tensor([2.0], stop_gradient=False)
        >>> Cube.apply(x).backward()
        >>> x.grad.tolist()
        [12.0]
    """

    def __init__(self) -> None:
        self._saved: list[Any] = []  # tensors; of a result, (array, place, version, its index)
        self._constants: set[int] = set()  # id of the results without a gradient
        self._node: weakref.ref[ListNode] | None = None
        self._shapes: list[tuple[int, ...]] = []  # of the inputs
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps inputs, results or other tensors for ``backward``; call it once.

        Raises:
            RuntimeError: It was called before.
            TypeError: Something is neither a Tensor nor None.
        """
        if self._saved:
            raise RuntimeError("save_for_backward can be called once; give it all tensors at once")
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                kind = type(tensor).__name__
                raise TypeError(
                    f"save_for_backward takes Tensors; got {kind}; set ctx.name = value"
                )
        self._saved = list(tensors)

    def saved_tensor(self) -> tuple[Any, ...]:
        """What ``save_for_backward`` was given."""
        return tuple(self._restored(value) for value in self._saved)

    def mark_not_differentiable(self, *tensors: Tensor) -> None:
        """Declares that no gradient flows through these results."""
        self._constants.update(map(id, tensors))

    def set_materialize_grads(self, value: bool) -> None:
        """Whether ``backward`` gets zeros (the default) or None for a result that was not used."""
        self._materialize = bool(value)

    def _restored(self, value: Any) -> Any:
        if not isinstance(value, tuple):
            return value
        array, place, version, index = value
        node = self._node() if self._node is not None else None
        edge = None if node is None or index is None else OutputNode(node, index, array)
        tensor = Tensor(array, place, edge)
        tensor.version = version
        return tensor

    def _versions(self) -> tuple[Any, ...]:
        """The cells and counts that the node compares before it runs."""
        cells = [t.version for t in self._saved if t is not None]
        return tuple(item for cell in cells for item in (cell, cell[0]))

    def _let_go_of_results(self, results: list[Tensor], indices: dict[int, int]) -> None:
        made = set(map(id, results))
        self._saved = [
            (t.data, t.place, t.version, indices.get(id(t))) if id(t) in made else t
            for t in self._saved
        ]
        self._constants.clear()


class PyLayer:
    """A differentiable function of one's own: subclass it with ``forward`` and ``backward``.

    ``forward(ctx, *args, **kwargs)`` returns a Tensor or a tuple; it is not recorded. ``backward(
    ctx, *grads)`` gets one gradient per Tensor result and returns one, or None, per Tensor among
    the arguments of ``apply``, lists included. It may be differentiated again if it is written with
    ops. See ``PyLayerContext`` for an example.
    """

    _op: ClassVar[Op]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._op = _op(cls)

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """Computes the results; write it in the subclass."""
        raise TypeError("a PyLayer needs a static method forward(ctx, *args)")

    @staticmethod
    def backward(ctx: PyLayerContext, *grads: Any) -> Any:
        """Computes the gradients; write it in the subclass."""
        raise TypeError("a PyLayer needs a static method backward(ctx, *grads)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs ``forward`` and records the call.

        Returns:
            What ``forward`` returned; its tensors have a gradient if any argument has.
        """
        if grad_state.interceptor is not None:
            return grad_state.interceptor(cls._op, lambda *a: cls._apply(*a, **kwargs), args)
        return cls._apply(*args, **kwargs)

    @classmethod
    def _apply(cls, *args: Any, **kwargs: Any) -> Any:
        context = PyLayerContext()
        with no_grad():
            returned = cls.forward(context, *args, **kwargs)
        inputs = list(_tensors((*args, *kwargs.values())))
        if not grad_state.recording or all(t.edge is None for t in inputs):
            return returned
        met = set(map(id, inputs))
        items = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        for i, item in enumerate(items):
            if not isinstance(item, Tensor):
                continue
            # An argument, and a leaf from elsewhere, keeps the edge it has.
            if id(item) in met or item.edge.__class__ is AccumulationNode:
                items[i] = _alias(item)
            met.add(id(item))
        results = [t for t in items if isinstance(t, Tensor) and id(t) not in context._constants]
        results = [t for t in results if t.data.dtype.kind not in "biu"]
        if results:
            _record(cls, context, inputs, results)
        if not isinstance(returned, (list, tuple)):
            return items[0]
        return type(returned)(items)


def _record(
    cls: type[PyLayer], context: PyLayerContext, inputs: list[Tensor], results: list[Tensor]
) -> None:
    """Makes one node of the call and ties the results to it."""
    edges = tuple(t.edge for t in inputs)
    versions = context._versions()
    context._let_go_of_results(results, {id(t): i for i, t in enumerate(results)})
    arrays = [t.data for t in results]
    node = ListNode(cls._op, inputs[0].place, arrays, (context,), versions, (), edges)
    context._node = weakref.ref(node)
    context._shapes = [t.data.shape for t in inputs]
    for i, tensor in enumerate(results):
        tensor.edge = OutputNode(node, i, tensor.data)
        if tensor.origin is not None:  # a view: its gradient is backward's, whatever made it
            tensor.origin = (tensor.origin[0], None, (), None)


def _op(cls: type[PyLayer]) -> Op:
    """The op that stands for a PyLayer in the graph; it has a rule and no kernels."""

    def rule(F: Any, context: PyLayerContext, out_grad: list[Any]) -> list[Any]:
        return _run_backward(cls, context, out_grad, isinstance(F, Namespace))

    saved = (Saved("context", shape_only=True),)
    name = cls.__name__
    return Op(name, (), backward=Backward(f"{name}_grad", saved, (), (), rule, takes_none=True))


def _run_backward(
    cls: type[PyLayer], context: PyLayerContext, out_grad: list[Any], on_arrays: bool
) -> list[Any]:
    node = context._node() if context._node is not None else None
    assert node is not None
    if context._materialize:
        out_grad = completed(node, out_grad, not on_arrays)
    grads = [Tensor(g, node.place) if on_arrays and g is not None else g for g in out_grad]
    returned = cls.backward(context, *grads)
    found = list(returned) if isinstance(returned, (list, tuple)) else [returned]
    if len(found) != len(context._shapes):
        raise ValueError(
            f"{cls.__name__}.backward must return one gradient per Tensor argument of apply, "
            f"{len(context._shapes)}; it returned {len(found)}"
        )
    for i, (gradient, shape) in enumerate(zip(found, context._shapes, strict=True)):
        _check_gradient(cls, i, gradient, shape)
    return [g.data if on_arrays and g is not None else g for g in found]


def _check_gradient(cls: type[PyLayer], i: int, gradient: Any, shape: tuple[int, ...]) -> None:
    if gradient is None:
        return
    if not isinstance(gradient, Tensor):
        kind = type(gradient).__name__
        raise TypeError(
            f"{cls.__name__}.backward must return Tensors or None; result {i} is {kind}"
        )
    if gradient.data.shape != shape:
        raise ValueError(
            f"{cls.__name__}.backward: result {i} must have the shape of its argument, "
            f"{list(shape)}; got {gradient.shape}"
        )


def _alias(tensor: Tensor) -> Tensor:
    alias = Tensor(tensor.data, tensor.place)
    follow_parent(alias, tensor, None)
    return alias


def _tensors(values: Any) -> Iterator[Tensor]:
    """The tensors among arguments, and in lists, tuples and dicts of them, in order."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, dict):
            yield from _tensors(value.values())
