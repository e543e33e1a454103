"""Differentiation as users ask for it: ``backward``, ``grad``, and when ops are recorded."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from minipaddle.imperative.engine import run_backward
from minipaddle.imperative.grad_node import Edge, grad_state
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import namespace

_GENERATOR = 0x20  # inspect.CO_GENERATOR; importing inspect would cost more than all of this

F = TypeVar("F", bound=Callable[..., Any])


class set_grad_enabled:
    """Switches recording on or off, in this thread, as a context manager or a decorator.

    Args:
        mode: Whether ops are recorded for backward.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> with paddle.set_grad_enabled(False):
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.before: list[bool] = []

    def __enter__(self) -> None:
        """Switches, and remembers how it was."""
        self.before.append(grad_state.recording)
        grad_state.recording = self.mode

    def __exit__(self, *exc_info: object) -> None:
        """Switches back."""
        grad_state.recording = self.before.pop()

    def __call__(self, function: F) -> F:
        """``function``, run with recording switched; of a generator, every step of it."""
        code = getattr(function, "__code__", None)  # a Layer or a partial has none
        if code is not None and code.co_flags & _GENERATOR:

            @functools.wraps(function)
            def _steps(*args: Any, **kwargs: Any) -> Any:
                generator = function(*args, **kwargs)
                advance, argument = generator.send, None
                while True:
                    with set_grad_enabled(self.mode):
                        try:
                            value = advance(argument)
                        except StopIteration as stop:
                            return stop.value
                    try:
                        advance, argument = generator.send, (yield value)
                    except GeneratorExit:
                        generator.close()
                        raise
                    except BaseException as error:
                        advance, argument = generator.throw, error

            return _steps  # type: ignore[return-value]

        @functools.wraps(function)
        def _switched(*args: Any, **kwargs: Any) -> Any:
            with set_grad_enabled(self.mode):
                return function(*args, **kwargs)

        return _switched  # type: ignore[return-value]


class no_grad(set_grad_enabled):
    """Stops recording in this thread: a context manager, or a decorator with or without brackets.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> with paddle.no_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    mode_inside = False

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """A context manager; with a function, as in ``@no_grad``, the wrapped function."""
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()  # type: ignore[misc]
        return made(function)

    def __init__(self) -> None:
        super().__init__(self.mode_inside)


class enable_grad(no_grad):
    """Records in this thread also inside ``no_grad``.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> with paddle.no_grad(), paddle.enable_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        False
    """

    mode_inside = True


def is_grad_enabled() -> bool:
    """Whether this thread records ops for backward.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.is_grad_enabled()
        True
    """
    return grad_state.recording


class intercept:
    """Has ``function(op, call, args)`` called in place of every op on tensors of this thread.

    It returns ``call(*args)`` or what shall stand for it. In backward ``op`` is the Backward of the
    op whose gradient is computed. Creation and the optimizers' updates take no part. Inside another
    ``intercept`` the inner function comes first, and its ``call`` goes to the outer one.

    Example:
        >>> import minipaddle as paddle
        >>> seen = []
        >>> def look(op, call, args):
        ...     seen.append(op.name)
        ...     return call(*args)
        >>> with paddle.autograd.intercept(look):
        ...     y = paddle.ones([2]) + 1
        >>> seen
        ['add']
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __enter__(self) -> None:
        """Puts the function in front of those that are there."""
        grad_state.watch(self.function)

    def __exit__(self, *exc_info: object) -> None:
        """Takes it away."""
        grad_state.unwatch(self.function)


def _seed(tensor: Tensor, gradient: Tensor | None, what: str, as_tensor: bool) -> Any:
    """The gradient to start with at ``tensor``, that given or ones: a tensor, or its array."""
    if gradient is None:
        ones = namespace(tensor.place).full(tensor.data.shape, 1, tensor.data.dtype)
        return Tensor(ones, tensor.place) if as_tensor else ones
    if not isinstance(gradient, Tensor):
        raise TypeError(f"{what} must be a Tensor or None; got {type(gradient).__name__}")
    for field, a, b in (
        ("shape", gradient.data.shape, tensor.data.shape),
        ("dtype", gradient.data.dtype, tensor.data.dtype),
        ("place", gradient.place, tensor.place),
    ):
        if a != b:
            found, wanted = getattr(gradient, field), getattr(tensor, field)
            raise ValueError(f"{what} must have the {field} of its tensor, {wanted}; got {found}")
    return gradient if as_tensor else gradient.data


def _differentiable(
    value: Any, name: str, blocked: list[Tensor]
) -> tuple[list[Tensor], list[Edge]]:
    """``value`` as a list of distinct tensors that a gradient flows to, and their edges."""
    tensors = _as_list(value, name)
    _check_distinct(tensors, name)
    edges: list[Edge] = []
    for i, tensor in enumerate(tensors):
        if tensor.edge is None:
            raise ValueError(
                f"{name}[{i}] has no gradient: its stop_gradient is True (a result of paddle.grad "
                "has one if that was called with create_graph=True)"
            )
        if any(tensor is other for other in blocked):
            raise ValueError(f"{name}[{i}] is also in no_grad_vars")
        edges.append(tensor.edge)
    return tensors, edges


def _distinct(gradients: list[Any], seeds: list[Tensor]) -> list[Any]:
    """The gradients, copied where one tensor stands for several of them or is the user's own."""
    seen = {id(seed) for seed in seeds}
    result = []
    for gradient in gradients:
        if gradient is not None and id(gradient) in seen:
            gradient = FUNCTIONS["assign"](gradient)
        seen.add(id(gradient))
        result.append(gradient)
    return result


def _as_list(value: Any, name: str) -> list[Any]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    for item in values:
        if not isinstance(item, Tensor):
            raise TypeError(f"{name} must be Tensors; got {type(item).__name__}")
    return values


def _listed(gradient: Any) -> Any:
    return gradient if isinstance(gradient, (list, tuple)) else [gradient]


def _roots(
    tensors: list[Tensor], gradients: Any, name: str, as_tensors: bool
) -> list[tuple[Edge | None, Any]]:
    """The edges to start at, each with its gradient."""
    given = [None] * len(tensors) if gradients is None else _listed(gradients)
    if len(given) != len(tensors):
        raise ValueError(f"{name} has {len(given)} entries for {len(tensors)} tensors")
    return [(t.edge, _seed(t, g, name, as_tensors)) for t, g in zip(tensors, given, strict=True)]


def _check_distinct(tensors: list[Tensor], name: str) -> None:
    if not tensors:
        raise ValueError(f"{name} must not be empty")
    if len({id(t) for t in tensors}) != len(tensors):
        raise ValueError(f"{name} names a tensor twice")


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> None:
    """Adds the gradients of ``tensors`` to the ``grad`` of every leaf they were computed from.

    Args:
        tensors: One tensor, or several without repetition; one may have been computed from another.
        grad_tensors: Gradient to start with for each, None meaning ones; of the tensor's shape.
        retain_graph: Keep the saved values, so that backward can run again.
        create_graph: Record the run, so that the gradients can be differentiated.

    Raises:
        RuntimeError: The graph has run before, or a saved value was overwritten since.
        TypeError: Something is not a Tensor.
        ValueError: A tensor is named twice, or counts, shapes or dtypes do not match.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.backward([x * 2, x * 3])
        >>> x.grad.tolist()
        [5.0, 5.0]
    """
    if isinstance(tensors, Tensor):
        tensors, grad_tensors = [tensors], _listed(grad_tensors)
    else:
        tensors = _as_list(tensors, "tensors")
        _check_distinct(tensors, "tensors")
    starts = _roots(tensors, grad_tensors, "grad_tensors", create_graph)
    roots = [(edge, seed) for edge, seed in starts if edge is not None]
    if not roots:
        warnings.warn(
            f"backward does nothing: no gradient flows from {tensors[0].name}, its stop_gradient "
            "is True; set stop_gradient=False on an input, and compute outside no_grad()",
            stacklevel=3,
        )
        return
    run_backward(roots, retain_graph or create_graph, create_graph)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Tensor | Sequence[Tensor] | None = None,
) -> list[Tensor | None]:
    """Gradients of ``outputs`` with respect to ``inputs``; no tensor's ``grad`` changes.

    Args:
        outputs: Tensors to differentiate.
        inputs: Tensors to differentiate by; leaves or not.
        grad_outputs: Gradient to start with for each output, None meaning ones.
        retain_graph: Keep the saved values; by default as ``create_graph`` says.
        create_graph: Record the run, so that the results can be differentiated.
        only_inputs: Must be True.
        allow_unused: Give None for an input that the outputs do not depend on.
        no_grad_vars: Tensors that no gradient passes.

    Returns:
        One gradient per input, of its shape.

    Raises:
        RuntimeError: An input is not reached and ``allow_unused`` is False, or see ``backward``.
        ValueError: A list is empty or names a tensor twice, or counts, shapes or dtypes differ.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> (first,) = paddle.grad(x * x * x, x, create_graph=True)
        >>> paddle.grad(first, x)[0].tolist()
        [18.0]
    """
    if not only_inputs:
        raise ValueError("only_inputs must be True; call backward() to fill every leaf's grad")
    blocked = [] if no_grad_vars is None else _as_list(no_grad_vars, "no_grad_vars")
    outputs, _ = _differentiable(outputs, "outputs", blocked)
    inputs, targets = _differentiable(inputs, "inputs", blocked)
    roots: Any = _roots(outputs, grad_outputs, "grad_outputs", create_graph)
    found = run_backward(
        roots,
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        targets,
        [t.edge for t in blocked if t.edge is not None],
    )
    missing = [i for i, target in enumerate(targets) if target not in found]
    if missing and not allow_unused:
        raise RuntimeError(
            f"the outputs do not depend on inputs[{missing[0]}]; with allow_unused=True its "
            "gradient is None"
        )
    gradients = [found.get(target) for target in targets]
    if create_graph:
        return _distinct(gradients, [seed for _, seed in roots])
    # A copy: the run may have handed one array to two inputs, or a view that cannot be written.
    return [
        None if g is None else Tensor(namespace(t.place).assign(g), t.place)
        for g, t in zip(gradients, inputs, strict=True)
    ]
