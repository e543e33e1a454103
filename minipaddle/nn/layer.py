"""Layer: a part of a model, with parameters, buffers and sublayers."""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from minipaddle.device.dtype import DType, as_dtype
from minipaddle.imperative.tensor import Parameter, Tensor
from minipaddle.nn.initializer import Constant, Initializer, ParamAttr, XavierUniform
from minipaddle.nn.parameter import make_parameter

_instances: Counter[str] = Counter()
_hook_numbers = itertools.count()


class LayerHookHandle:
    """What the ``register_forward_..._hook`` methods return; ``remove`` takes the hook away."""

    def __init__(self, hooks: dict[int, Any], number: int) -> None:
        self._hooks = hooks
        self._number = number

    def remove(self) -> None:
        """Takes the hook away; a second call does nothing."""
        self._hooks.pop(self._number, None)


class Layer:
    """Base of models and their parts: assign parameters and layers as attributes, write forward.

    A Parameter, Layer or Tensor given to an attribute is entered as parameter, sublayer or buffer,
    and is found by ``parameters()``, ``sublayers()``, ``buffers()`` and ``state_dict()``.

    Args:
        name_scope: First part of the names of parameters; the class name in snake case by default.
        dtype: Element type of parameters made without one; the default float type by default.

    Example:
        >>> import minipaddle as paddle
        >>> class Net(paddle.nn.Layer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.inner = paddle.nn.Linear(3, 1)
        ...     def forward(self, x):
        ...         return self.inner(x)
        >>> Net()(paddle.ones([2, 3])).shape
        [2, 1]
    """

    training: bool
    _full_name: str
    _dtype: DType
    _parameters: OrderedDict[str, Parameter | None]
    _sub_layers: OrderedDict[str, Layer | None]
    _buffers: OrderedDict[str, Tensor | None]
    _non_persistable_buffers: set[str]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_post_hooks: OrderedDict[int, Callable[..., Any]]

    def __init__(self, name_scope: str | None = None, dtype: Any = None) -> None:
        scope = name_scope or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()
        fields = self.__dict__
        fields["_full_name"] = f"{scope}_{_instances[scope]}"
        _instances[scope] += 1
        fields["_dtype"] = as_dtype(dtype)
        fields["training"] = True
        # Registered values also lie in __dict__, where Python finds them without our help.
        fields["_parameters"] = OrderedDict[str, Parameter | None]()
        fields["_sub_layers"] = OrderedDict[str, Layer | None]()
        fields["_buffers"] = OrderedDict[str, Tensor | None]()
        fields["_non_persistable_buffers"] = set[str]()
        fields["_forward_pre_hooks"] = OrderedDict[int, Callable[..., Any]]()
        fields["_forward_post_hooks"] = OrderedDict[int, Callable[..., Any]]()

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Computes the layer's output; every subclass defines its own."""
        raise NotImplementedError(f"{type(self).__name__} must define forward()")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """Runs ``forward`` between the hooks."""
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                changed = hook(self, inputs)
                if changed is not None:
                    inputs = changed if isinstance(changed, tuple) else (changed,)
        output = self.forward(*inputs, **kwargs)
        if self._forward_post_hooks:
            for hook in list(self._forward_post_hooks.values()):
                changed = hook(self, inputs, output)
                if changed is not None:
                    output = changed
        return output

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
            if isinstance(value, (Tensor, Layer)):
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
        if isinstance(value, Layer):
            return self._sub_layers
        return self._buffers if isinstance(value, Tensor) else None

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
            raise TypeError(f"{name} must be a {kind.__name__}; got {type(value).__name__}")
        registry[name] = value
        object.__setattr__(self, name, value)
        return value

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Enters a parameter under ``name``.

        Raises:
            TypeError: The name is no str, or the value no Parameter.
            KeyError: The name is empty, has a dot or is taken.
        """
        found: Parameter | None = self._register("_parameters", name, parameter, Parameter)
        return found

    def add_sublayer(self, name: str, sublayer: Layer) -> Layer:
        """Enters a layer under ``name``; errors as ``add_parameter``."""
        found: Layer = self._register("_sub_layers", name, sublayer, Layer)
        return found

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
            default_initializer: Used if ``attr`` gives none.

        Returns:
            The parameter, or None for ``attr=False``.

        Raises:
            ValueError: The name that ``attr`` gives is taken.
        """
        if attr is False:
            return None
        if default_initializer is None:
            default_initializer = Constant(0.0) if is_bias else XavierUniform()
        element = self._dtype if dtype is None else as_dtype(dtype)
        stem = f"{self._full_name}.{'b' if is_bias else 'w'}"
        return make_parameter(shape, element, ParamAttr.of(attr), default_initializer, stem)

    # ---- walking ----

    def named_sublayers(
        self, prefix: str = "", include_self: bool = False
    ) -> Iterator[tuple[str, Layer]]:
        """All layers below this one, each once, with dotted names, parents first."""
        yield from self._walk(prefix, include_self, set())

    def _walk(self, prefix: str, include_self: bool, seen: set[int]) -> Iterator[tuple[str, Layer]]:
        if id(self) in seen:
            return
        seen.add(id(self))
        if include_self:
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None:
                yield from layer._walk(f"{prefix}.{name}" if prefix else name, True, seen)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """All layers below this one, each once, parents first."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def children(self) -> Iterator[Layer]:
        """The layers directly below this one."""
        return (layer for layer in self._sub_layers.values() if layer is not None)

    def _named(
        self, registry: str, prefix: str, include_sublayers: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        layers = self.named_sublayers(prefix, True) if include_sublayers else [(prefix, self)]
        for path, layer in layers:
            for name, value in getattr(layer, registry).items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, each once, with dotted names."""
        return self._named("_parameters", prefix, include_sublayers)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """All parameters, each once."""
        return [p for _, p in self.named_parameters("", include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers, each once, with dotted names."""
        return self._named("_buffers", prefix, include_sublayers)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """All buffers, each once."""
        return [b for _, b in self.named_buffers("", include_sublayers)]

    def apply(self, fn: Callable[[Layer], Any]) -> Layer:
        """Calls ``fn`` on every layer below this one, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> None:
        """Puts this layer and all below it in training mode, or in evaluation mode."""
        for layer in self.sublayers(include_self=True):
            layer.training = mode

    def eval(self) -> None:
        """Puts this layer and all below it in evaluation mode."""
        self.train(False)

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Clears the gradients of the trained parameters, as ``Tensor.clear_gradient`` does."""
        for parameter in self.parameters():
            if parameter.trainable:
                parameter.clear_gradient(set_to_zero)

    # ---- hooks ----

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> LayerHookHandle:
        """Has ``hook(layer, inputs)`` called before forward; it may return other inputs."""
        return self._add_hook(self._forward_pre_hooks, hook)

    def register_forward_post_hook(self, hook: Callable[..., Any]) -> LayerHookHandle:
        """Has ``hook(layer, inputs, output)`` called after forward; may return another output."""
        return self._add_hook(self._forward_post_hooks, hook)

    def _add_hook(self, hooks: dict[int, Any], hook: Callable[..., Any]) -> LayerHookHandle:
        number = next(_hook_numbers)
        hooks[number] = hook
        return LayerHookHandle(hooks, number)

    # ---- state ----

    def state_dict(
        self, include_sublayers: bool = True, use_structured_name: bool = True
    ) -> OrderedDict[str, Tensor]:
        """Parameters, then buffers, under dotted names; the tensors themselves, not copies.

        Args:
            include_sublayers: Also those of layers below.
            use_structured_name: False keys parameters by their own ``name``.
        """
        state = OrderedDict[str, Tensor]()
        for name, parameter in self.named_parameters("", include_sublayers):
            state[name if use_structured_name else parameter.name] = parameter
        hidden = {
            id(layer._buffers[name])
            for layer in self.sublayers(include_self=True)
            for name in layer._non_persistable_buffers
        }
        for name, buffer in self.named_buffers("", include_sublayers):
            if id(buffer) not in hidden:
                state[name if use_structured_name else buffer.name] = buffer
        return state

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Copies values into this layer's state; a name or shape that does not fit is a warning.

        Args:
            state_dict: Names to tensors or arrays, as ``state_dict`` gives them.
            use_structured_name: As in ``state_dict``.

        Returns:
            Names missing from ``state_dict``, and names in it that this layer does not have.
        """
        own = self.state_dict(use_structured_name=use_structured_name)
        for name, value in state_dict.items():
            if name in own and not hasattr(value, "shape"):
                kind = type(value).__name__
                raise TypeError(f"state_dict[{name!r}] must be a Tensor or an array; got {kind}")
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        for name in missing:
            warnings.warn(f"{name} is not in the given state; it keeps its value", stacklevel=2)
        for name, tensor in own.items():
            if name not in state_dict:
                continue
            shape = list(state_dict[name].shape)
            if shape != tensor.shape:
                warnings.warn(
                    f"{name} has shape {tensor.shape} but the given state {shape}; it keeps its "
                    "value",
                    stacklevel=2,
                )
                missing.append(name)
                continue
            tensor.set_value(state_dict[name])
        return missing, unexpected

    set_dict = set_state_dict
    load_dict = set_state_dict

    def extra_repr(self) -> str:
        """What ``repr`` shows of this layer besides its sublayers."""
        return ""

    def __repr__(self) -> str:
        lines = [self.extra_repr()] if self.extra_repr() else []
        for name, layer in self._sub_layers.items():
            lines.append(f"({name}): " + repr(layer).replace("\n", "\n  "))
        if not self._sub_layers:
            return f"{type(self).__name__}({', '.join(lines)})"
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"
