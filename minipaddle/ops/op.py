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
from minipaddle.ops.declaration import REQUIRED, Param, Saved
from minipaddle.ops.loading import load_kernels

COMPOSITE = "composite"

Kernel = Callable[..., Any]


class Gradient(NamedTuple):
    """A gradient resolved for one place, as the engine calls it.

    A fused one is called ``function(*saved, out_grad, *attributes, wanted, into)``, any other
    ``function(F, *saved, out_grad, *attributes)``; both return one gradient per input. Where the
    result is a list, ``out_grad`` is one too.
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
        load_kernels(place.backend.name)
        fused = self.backward.fused.get(place.backend.name)
        function = fused or self.backward.formula
        if function is None:
            raise TypeError(f"{self.backward.name} has no formula; write one under ops/formulas/")
        _resolved[0] = True
        gradient = self[place] = Gradient(fused is not None, function, namespace(place))
        return gradient


@dataclass(eq=False)
class Backward:
    """How an op is differentiated: what is kept, and the rule that uses it.

    Attributes:
        name: ``lerp_grad`` for the op ``lerp``.
        saved: What a recorded call keeps.
        attributes: Names of the attributes passed on to the rule.
        gradients: Names of the results, one per input, in the inputs' order; for a list of inputs
            one name that stands for as many results as there are items.
        formula: The rule over a namespace F: runs on arrays and on tensors.
        fused: Kind of device -> gradient kernel, the same rule in one go.
        takes_none: Of a list of results, those that were not used send None, not zeros.
    """

    name: str
    saved: tuple[Saved, ...]
    attributes: tuple[str, ...]
    gradients: tuple[str, ...]
    formula: Kernel | None = None
    fused: dict[str, Kernel] = field(default_factory=dict)
    takes_none: bool = False

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
        load_kernels(place.backend.name)
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
        _resolved[0] = True
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
        load_kernels(place.backend.name)
        found = self.registered.get(place.backend.name)
        if found is None:
            compute, write = self.op.kernels[place], namespace(place).copy_

            def found(x: Array, *args: Any) -> Array:
                write(x, compute(x, *args))
                return x

        _resolved[0] = True
        self[place] = found
        return found


@dataclass(eq=False)
class Op:
    """One operation: name, signature, kernels and gradient.

    Attributes:
        name: The name in ops.yaml.
        params: Arguments in the order in which kernels take them: operands, then attributes.
        outputs: Names of the results. A gradient flows through the first alone.
        hidden: Names of results that are kept for the gradient and not given to the user.
        list_output: The only result is a list of tensors, each with a gradient.
        inplace: The form ``name_`` exists and writes into the first operand.
        view: The result may share memory with the first operand.
        optional: Names of operands that may be None.
        dtypes: ``float``, ``int``, ``numeric``, ``integral`` or ``any``.
        promoted: Operands of different dtypes are brought to the wider one.
        api: Where users find the op, relative to the package.
        backward: The gradient, or None.
        put_back: Of an op that makes views, the rule ``NAME_put_back(F, x, out, attributes...)``:
            what x becomes when its view has become ``out``.
    """

    name: str
    params: tuple[Param, ...]
    outputs: tuple[str, ...] = ("out",)
    hidden: tuple[str, ...] = ()
    list_output: bool = False
    inplace: bool = False
    view: bool = False
    optional: tuple[str, ...] = ()
    dtypes: str = "any"
    promoted: bool = False
    api: tuple[str, ...] = ()
    backward: Backward | None = None
    put_back: Kernel | None = None

    def __post_init__(self) -> None:
        self.kernels = KernelTable(self.name)
        self.inplace_kernels = InplaceTable(self)

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the tensor arguments."""
        return tuple(p.name for p in self.params if p.is_tensor)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the operands that a gradient can flow to."""
        return tuple(p.name for p in self.params if p.is_input)

    @property
    def list_input(self) -> bool:
        """Whether the only operand is a list of tensors."""
        return [p.type for p in self.params if p.is_tensor] == ["Tensor[]"]

    @property
    def broadcasts(self) -> bool:
        """Whether all operands broadcast to the shape of the result."""
        return all(p.type != "Index" and p.own_dtypes is None for p in self.params)

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


# Whether any kernel or gradient has been looked up for a place yet.
_resolved = [False]


def _forget_resolved() -> None:
    """Lets every place look its kernels up again, now that there is another one."""
    if not _resolved[0]:  # while the package is imported
        return
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
    """Registers ``NAME_grad(F, ...)`` as the gradient rule of op NAME, or ``NAME_put_back``.

    Raises:
        TypeError: The function's arguments are not those declared under ``backward``.
        ValueError: No op declares such a gradient or view, or it has the formula already.
    """
    name = function.__name__
    op = OPS.get(name.removesuffix("_put_back"))
    if op is not None and op.view:
        _check_arguments(function, ("F", "x", "out", *op.attributes), f"formula {name!r}")
        op.put_back = function
        return function
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
    "REQUIRED",
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
