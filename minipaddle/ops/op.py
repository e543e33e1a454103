"""Op: one declared operation; KernelTable: the function that carries it out on a place.

An op is made by ``schema.load`` from ops.yaml. Kernels and formulas register themselves on it by
decorators, and are resolved for a place at first use:

1. the kernel registered for the place's kind of device;
2. else the ``composite`` kernel, written with the same place's kernels of other ops;
3. else an error that shows the registration to write.

A gradient is resolved the same way, with the formula in the part of the composite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from minipaddle.device.backend import Array, Place

COMPOSITE = "composite"
REQUIRED = object()

Kernel = Callable[..., Any]


class Param(NamedTuple):
    """One declared argument of an op."""

    name: str
    type: str
    default: Any = REQUIRED

    @property
    def is_tensor(self) -> bool:
        """Whether the argument is an operand rather than an attribute."""
        return self.type.startswith("Tensor")


class Saved(NamedTuple):
    """One value kept for a gradient: an input or the output, whole or only its shape.

    Attributes:
        name: The input's or output's name.
        shape_only: Keep ``shape`` and let the array go.
        only_for: Name of the input whose wanting a gradient is the reason to keep this one.
        is_output: The value is the op's result.
    """

    name: str
    shape_only: bool = False
    only_for: str | None = None
    is_output: bool = False

    @property
    def argument(self) -> str:
        """The name under which formula and gradient kernel take the value."""
        return f"{self.name}_shape" if self.shape_only else self.name


class Gradient(NamedTuple):
    """A gradient resolved for one place, as the engine calls it.

    A fused one is called ``function(*saved, *out_grads, *attributes, wanted, into)``, any other
    ``function(F, *saved, *out_grads, *attributes)``; both return one gradient per tensor input.
    """

    fused: bool
    function: Kernel
    namespace: Namespace


class GradientTable(dict[Place, Gradient]):
    """Place -> Gradient of one op, filled at first use."""

    def __init__(self, backward: Backward) -> None:
        super().__init__()
        self.backward = backward

    def __missing__(self, place: Place) -> Gradient:
        fused = self.backward.fused.get(place.backend.name)
        function = fused or self.backward.formula
        if function is None:
            raise TypeError(f"{self.backward.name} has no formula; write one under ops/formulas/")
        gradient = self[place] = Gradient(fused is not None, function, namespace(place))
        return gradient


@dataclass(eq=False)
class Backward:
    """How an op is differentiated: what is kept, and the rule that uses it.

    Attributes:
        name: ``lerp_grad`` for the op ``lerp``.
        saved: What a recorded call keeps.
        attributes: Names of the attributes passed on to the rule.
        gradients: Names of the results, one per tensor input, in the inputs' order.
        formula: The rule over a namespace F: runs on arrays and on tensors.
        fused: Kind of device -> gradient kernel, the same rule in one go.
    """

    name: str
    saved: tuple[Saved, ...]
    attributes: tuple[str, ...]
    gradients: tuple[str, ...]
    formula: Kernel | None = None
    fused: dict[str, Kernel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table = GradientTable(self)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Argument names of formula and fused kernel, without F, ``wanted`` and ``into``."""
        return (*(s.argument for s in self.saved), "out_grad", *self.attributes)


class KernelTable(dict[Place, Kernel]):
    """Place -> kernel of one op, filled at first use: ``op.kernels[place](*arrays)``."""

    def __init__(self, op_name: str) -> None:
        super().__init__()
        self.op_name = op_name
        self.registered: dict[str, Kernel] = {}

    def __missing__(self, place: Place) -> Kernel:
        kind = place.backend.name
        found = self.registered.get(kind)
        if found is None and COMPOSITE in self.registered:
            found = _bind_namespace(self.registered[COMPOSITE], namespace(place))
        if found is None:
            have = ", ".join(sorted(self.registered)) or "none"
            raise TypeError(
                f"op {self.op_name!r} has no kernel for {kind} (registered: {have}); add one: "
                f'@kernel("{self.op_name}", "{kind}")'
            )
        if not OPS[self.op_name].operands:
            found = _on_device(found, place)
        self[place] = found
        return found


def _on_device(create: Kernel, place: Place) -> Kernel:
    """A kernel without operands that tell the device: it makes its arrays on ``place``."""

    def kernel_of_place(*args: Any) -> Any:
        place.backend.set_device(place.index)
        return create(*args)

    return kernel_of_place


def _bind_namespace(composite: Kernel, functions: Namespace) -> Kernel:
    def kernel_of_place(*args: Any) -> Any:
        return composite(functions, *args)

    return kernel_of_place


class InplaceTable(dict[Place, Kernel]):
    """Place -> kernel that writes an op's result into its first operand, and returns that.

    Without a kernel of its own, the op is computed as usual and copied in.
    """

    def __init__(self, op: Op) -> None:
        super().__init__()
        self.op = op
        self.registered: dict[str, Kernel] = {}

    def __missing__(self, place: Place) -> Kernel:
        found = self.registered.get(place.backend.name)
        if found is None:
            compute, write = self.op.kernels[place], namespace(place).copy_

            def found(x: Array, *args: Any) -> Array:
                write(x, compute(x, *args))
                return x

        self[place] = found
        return found


@dataclass(eq=False)
class Op:
    """One operation: name, signature, kernels and gradient.

    Attributes:
        name: The name in ops.yaml.
        params: Arguments in the order in which kernels take them: operands, then attributes.
        inplace: The form ``name_`` exists and writes into the first operand.
        view: The result may share memory with the first operand.
        optional: Names of operands that may be None.
        dtypes: ``float``, ``int``, ``numeric``, ``integral`` or ``any``.
        promoted: Operands of different dtypes are brought to the wider one.
        api: Where users find the op, relative to the package.
        backward: The gradient, or None.
    """

    name: str
    params: tuple[Param, ...]
    inplace: bool = False
    view: bool = False
    optional: tuple[str, ...] = ()
    dtypes: str = "any"
    promoted: bool = False
    api: tuple[str, ...] = ()
    backward: Backward | None = None

    def __post_init__(self) -> None:
        self.kernels = KernelTable(self.name)
        self.inplace_kernels = InplaceTable(self)

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the tensor arguments."""
        return tuple(p.name for p in self.params if p.is_tensor)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the arguments that are not tensors."""
        return tuple(p.name for p in self.params if not p.is_tensor)

    def __repr__(self) -> str:
        return f"Op({self.name})"


OPS: dict[str, Op] = {}


def get_op(name: str) -> Op:
    """The declared op called ``name``.

    Raises:
        ValueError: ops.yaml declares no such op.
    """
    try:
        return OPS[name]
    except KeyError:
        raise ValueError(f"no op named {name!r} is declared") from None


class Namespace:
    """The kernels of one place by op name: the F that formulas and composites are written over."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def forget(self) -> None:
        """Looks every kernel up again at its next use."""
        self.__dict__ = {"_place": self._place}

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in OPS and name.endswith("_"):
            found = get_op(name[:-1]).inplace_kernels[self._place]
        else:
            found = get_op(name).kernels[self._place]
        setattr(self, name, found)  # the next look-up finds it without coming here
        return found


_namespaces: dict[Place, Namespace] = {}


def namespace(place: Place) -> Namespace:
    """The Namespace of ``place``."""
    found = _namespaces.get(place)
    if found is None:
        found = _namespaces[place] = Namespace(place)
    return found


def _check_arguments(function: Kernel, expected: tuple[str, ...], what: str) -> None:
    """Refuses a kernel whose argument names are not those of the declaration.

    Built-in functions (ufuncs) carry no names and are trusted.
    """
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    if code is None:
        return
    found = code.co_varnames[: code.co_argcount]
    if found != expected:
        raise TypeError(
            f"{code.co_filename}:{code.co_firstlineno}: {what} must take ({', '.join(expected)}) "
            f"as ops.yaml declares; it takes ({', '.join(found)})"
        )


def kernel(name: str, backend: str) -> Callable[[Kernel], Kernel]:
    """Registers a function as the kernel of op ``name`` on devices of kind ``backend``.

    ``NAME_`` is the in-place form and ``NAME_grad`` the fused gradient, which takes two more
    arguments: ``wanted`` (one bool per gradient: is it asked for?) and ``into`` (None, or one array
    or None per gradient: where to write it; the array written is also the one returned).

    Args:
        name: A name declared in ops.yaml.
        backend: A kind of device, or ``"composite"`` for one written over a namespace F.

    Raises:
        TypeError: The function's arguments are not those declared.
        ValueError: The name is not declared, or the pair is registered already.
    """

    def register(function: Kernel) -> Kernel:
        table, expected = _registration_target(name)
        first = ("F",) if backend == COMPOSITE else ()
        _check_arguments(function, (*first, *expected), f"kernel {name!r} for {backend}")
        if backend in table:
            raise ValueError(f"op {name!r} has a kernel for {backend} already")
        table[backend] = function
        _forget_resolved()
        return function

    return register


def _forget_resolved() -> None:
    """Lets every place look its kernels up again, now that there is another one."""
    for op in OPS.values():
        op.kernels.clear()
        op.inplace_kernels.clear()
        if op.backward is not None:
            op.backward.table.clear()
    for functions in _namespaces.values():
        functions.forget()


def _registration_target(name: str) -> tuple[dict[str, Kernel], tuple[str, ...]]:
    """The table that kernel ``name`` goes into and the argument names it must have."""
    if name in OPS:
        op = OPS[name]
        return op.kernels.registered, tuple(p.name for p in op.params)
    op_name = name.removesuffix("_grad")
    if op_name in OPS and (backward := OPS[op_name].backward) is not None and op_name != name:
        return backward.fused, (*backward.arguments, "wanted", "into")
    op_name = name.removesuffix("_")
    if op_name in OPS and OPS[op_name].inplace:
        op = OPS[op_name]
        return op.inplace_kernels.registered, tuple(p.name for p in op.params)
    raise ValueError(f"kernel {name!r} belongs to no op declared in ops.yaml")


def formula(function: Kernel) -> Kernel:
    """Registers ``NAME_grad(F, ...)`` as the gradient rule of op NAME.

    Raises:
        TypeError: The function's arguments are not those declared under ``backward``.
        ValueError: No op declares such a gradient, or it has a formula already.
    """
    name = function.__name__
    op = OPS.get(name.removesuffix("_grad"))
    if op is None or op.backward is None or op.backward.name != name:
        raise ValueError(f"formula {name!r} is the gradient of no op declared in ops.yaml")
    if op.backward.formula is not None:
        raise ValueError(f"op {op.name!r} has a formula already")
    _check_arguments(function, ("F", *op.backward.arguments), f"formula {name!r}")
    op.backward.formula = function
    return function


__all__ = [
    "OPS",
    "Array",
    "Backward",
    "Gradient",
    "KernelTable",
    "Namespace",
    "Op",
    "Param",
    "Saved",
    "formula",
    "get_op",
    "kernel",
    "namespace",
]
