"""What a layer holds: parameters, buffers and sublayers, entered by assignment or by name."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterator
from typing import Any, TypeVar

from minipaddle.device.dtype import DType, as_dtype, is_float
from minipaddle.imperative.functions import creation
from minipaddle.imperative.tensor import Parameter, Tensor
from minipaddle.nn.initializer import Initializer, ParamAttr, default_for
from minipaddle.nn.parameter import make_parameter

_instances: Counter[str] = Counter()
_Sublayer = TypeVar("_Sublayer", bound="LayerAttributes")


def snake_case(name: str) -> str:
    """A class name as Paddle writes it in names: ``MSELoss`` -> ``mse_loss``.

    Args:
        name: Words that begin with capitals.
    """
    return re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


class LayerAttributes:
    """The part of ``Layer`` that knows which of its attributes are parameters, buffers and layers.

    Args:
        name_scope: First part of the names of parameters; the class name in snake case by default.
        dtype: Element type of parameters made without one; the default float type by default.
    """

    training: bool
    _full_name: str
    _dtype: DType
    _parameters: OrderedDict[str, Parameter | None]
    _sub_layers: OrderedDict[str, Any]
    _buffers: OrderedDict[str, Tensor | None]
    _non_persistable_buffers: set[str]

    def __init__(self, name_scope: str | None = None, dtype: Any = None) -> None:
        scope = name_scope or snake_case(type(self).__name__)
        fields = self.__dict__
        fields["_full_name"] = f"{scope}_{_instances[scope]}"
        _instances[scope] += 1
        fields["_dtype"] = as_dtype(dtype)
        fields["training"] = True
        # Registered values also lie in __dict__, where Python finds them without our help.
        fields["_parameters"] = OrderedDict[str, Parameter | None]()
        fields["_sub_layers"] = OrderedDict[str, Any]()
        fields["_buffers"] = OrderedDict[str, Tensor | None]()
        fields["_non_persistable_buffers"] = set[str]()

    def full_name(self) -> str:
        """Name of this instance, such as ``linear_0``; parameters are named after it."""
        return self._full_name

    # ---- attributes ----

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        if "_parameters" not in self.__dict__:
            raise AttributeError(
                f"{kind} has no attribute {name!r}; its __init__ must call super().__init__()"
            )
        raise AttributeError(f"{kind} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        if "_parameters" not in fields:
            if isinstance(value, (Tensor, LayerAttributes)):
                raise ValueError(
                    f"call super().__init__() before {type(self).__name__}.{name} is assigned"
                )
            object.__setattr__(self, name, value)
            return
        registry = self._registry_of(value)
        owner = next((r for r in self._registries() if name in r), None)
        if owner is not None and registry is not owner and value is not None:
            if owner is not self._buffers:
                kind = "parameter" if owner is self._parameters else "sublayer"
                raise TypeError(
                    f"{name} is a {kind} of {self.full_name()}; it can be replaced by another one "
                    f"or None, not by {type(value).__name__}"
                )
            del owner[name]
            self._non_persistable_buffers.discard(name)
            owner = None
        target = registry if registry is not None else owner
        if target is not None:
            if target is self._buffers and name not in target:
                self._non_persistable_buffers.add(name)
            target[name] = value
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for registry in self._registries():
            registry.pop(name, None)
        self._non_persistable_buffers.discard(name)
        object.__delattr__(self, name)

    def _registries(self) -> tuple[dict[str, Any], ...]:
        return self._parameters, self._sub_layers, self._buffers

    def _registry_of(self, value: Any) -> dict[str, Any] | None:
        if isinstance(value, Parameter):
            return self._parameters
        if isinstance(value, LayerAttributes):
            return self._sub_layers
        return self._buffers if isinstance(value, Tensor) else None

    # ---- registering by name ----

    def _register(self, where: str, name: str, value: Any, kind: type) -> Any:
        if where not in self.__dict__:
            raise RuntimeError("call super().__init__() before anything is registered")
        registry: dict[str, Any] = self.__dict__[where]
        if not isinstance(name, str):
            raise TypeError(f"the name must be a str; got {type(name).__name__}")
        if not name or "." in name:
            raise KeyError(f"the name must not be empty or contain a dot; got {name!r}")
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"{self.full_name()} has an attribute {name!r} already")
        if value is not None and not isinstance(value, kind):
            wanted = "Layer" if kind is LayerAttributes else kind.__name__
            raise TypeError(f"{name} must be a {wanted}; got {type(value).__name__}")
        registry[name] = value
        object.__setattr__(self, name, value)
        return value

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Enters a parameter under ``name``.

        Args:
            name: Attribute name.
            parameter: The parameter, or None.

        Raises:
            TypeError: The name is no str, or the value no Parameter.
            KeyError: The name is empty, has a dot or is taken.
        """
        found: Parameter | None = self._register("_parameters", name, parameter, Parameter)
        return found

    register_parameter = add_parameter

    def add_sublayer(self, name: str, sublayer: _Sublayer) -> _Sublayer:
        """Enters a layer under ``name``; errors as ``add_parameter``."""
        found: _Sublayer = self._register("_sub_layers", name, sublayer, LayerAttributes)
        return found

    add_module = register_module = add_sublayer

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Enters a tensor that is part of the state but not trained; errors as ``add_parameter``.

        Args:
            name: Attribute name.
            tensor: The tensor, or None.
            persistable: Whether ``state_dict`` contains it.
        """
        self._register("_buffers", name, tensor, Tensor)
        (self._non_persistable_buffers.discard if persistable else
         self._non_persistable_buffers.add)(name)  # fmt: skip

    def create_parameter(
        self,
        shape: list[int],
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
    ) -> Parameter | None:
        """Makes a parameter with first values; assign it to an attribute to enter it.

        Args:
            shape: Lengths of its axes.
            attr: ParamAttr, Initializer, name, None, or False for no parameter.
            dtype: Float element type; the layer's by default.
            is_bias: Zeros by default; otherwise Xavier-uniform by default.
            default_initializer: Used if ``attr`` gives none, and ``set_global_initializer`` none.

        Returns:
            The parameter, or None for ``attr=False``.

        Raises:
            TypeError: The dtype is not a float type.
            ValueError: The name that ``attr`` gives is taken.
        """
        if attr is False:
            return None
        element = self._dtype if dtype is None else as_dtype(dtype)
        if not is_float(element):
            raise TypeError(f"a parameter must be of a float dtype; got {element.name}")
        stem = f"{self._full_name}.{'b' if is_bias else 'w'}"
        first = default_for(is_bias, default_initializer)
        return make_parameter(list(shape), element, ParamAttr.of(attr), first, stem)

    def create_tensor(
        self, name: str | None = None, persistable: bool | None = None, dtype: Any = None
    ) -> Tensor:
        """Makes a 0-d tensor of 0 that is named after this layer; assign it to enter it.

        Args:
            name: Second part of its name.
            persistable: Unused; for Paddle's signature.
            dtype: Its element type; the layer's by default.
        """
        element = self._dtype if dtype is None else as_dtype(dtype)
        made = creation.zeros([], element)
        if name is not None:
            made.name = f"{self._full_name}.{name}"
        return made

    create_variable = create_tensor

    # ---- walking ----

    def _walk(
        self, prefix: str, include_self: bool, seen: set[Any], once: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This layer and those below it; ``seen`` are left out, with ``once`` also next time."""
        if self in seen:
            return
        if once:
            seen.add(self)
        else:
            seen = seen | {self}  # a layer inside of itself must end
        if include_self:
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None:
                yield from layer._walk(f"{prefix}.{name}" if prefix else name, True, seen, once)

    def _named(
        self, registry: str, prefix: str, include_sublayers: bool, once: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        layers = self._walk(prefix, True, set(), once) if include_sublayers else [(prefix, self)]
        for path, layer in layers:
            for name, value in getattr(layer, registry).items():
                if value is not None and id(value) not in seen:
                    if once:
                        seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters with dotted names.

        Args:
            prefix: Put before the names.
            include_sublayers: Also those of layers below.
            remove_duplicate: Give one that is in several places once, under its first name.
        """
        return self._named("_parameters", prefix, include_sublayers, remove_duplicate)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """All parameters, each once."""
        return [p for _, p in self.named_parameters("", include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers with dotted names; arguments as of ``named_parameters``."""
        return self._named("_buffers", prefix, include_sublayers, remove_duplicate)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """All buffers, each once."""
        return [b for _, b in self.named_buffers("", include_sublayers)]
