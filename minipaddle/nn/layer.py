"""Layer: a part of a model, with parameters, buffers and sublayers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Self

from minipaddle.imperative.tensor import Parameter, Tensor
from minipaddle.nn.layer_conversion import LayerConversion
from minipaddle.nn.layer_state import HookRemoveHelper, add_hook

# What a hook of forward is called with besides what all are: its keyword arguments, and whether
# a failed forward calls it too.
Hook = tuple[Callable[..., Any], bool, bool]


class Layer(LayerConversion):
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

    _forward_pre_hooks: OrderedDict[int, Hook]
    _forward_post_hooks: OrderedDict[int, Hook]

    def __init__(self, name_scope: str | None = None, dtype: Any = None) -> None:
        super().__init__(name_scope, dtype)
        self.__dict__["_forward_pre_hooks"] = OrderedDict[int, Hook]()
        self.__dict__["_forward_post_hooks"] = OrderedDict[int, Hook]()

    # ---- calling ----

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Computes the layer's output; every subclass defines its own."""
        raise NotImplementedError(f"{type(self).__name__} must define forward()")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """Runs ``forward`` between the hooks."""
        if not (self._forward_pre_hooks or self._forward_post_hooks):
            return self.forward(*inputs, **kwargs)
        output, called = None, set[int]()
        try:
            inputs, kwargs = self._run_pre_hooks(inputs, kwargs)
            output = self.forward(*inputs, **kwargs)
            for number, (hook, with_kwargs, _) in list(self._forward_post_hooks.items()):
                called.add(number)
                given = (inputs, kwargs, output) if with_kwargs else (inputs, output)
                changed = hook(self, *given)
                output = output if changed is None else changed
        except Exception as error:
            self._run_remaining(called, (inputs, kwargs, output), error)
            raise
        return output

    def _run_pre_hooks(
        self, inputs: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for hook, with_kwargs, _ in list(self._forward_pre_hooks.values()):
            changed = hook(self, inputs, kwargs) if with_kwargs else hook(self, inputs)
            if changed is None:
                continue
            if not with_kwargs:
                inputs = changed if isinstance(changed, tuple) else (changed,)
            elif isinstance(changed, tuple) and len(changed) == 2:
                inputs, kwargs = changed
            else:
                raise RuntimeError(
                    "a forward pre-hook with keyword arguments must return None or a pair, new "
                    f"inputs and new keyword arguments; got {changed!r}"
                )
        return inputs, kwargs

    def _run_remaining(self, called: set[int], given: tuple[Any, ...], error: Exception) -> None:
        """Calls the hooks that a failed forward calls too; what they raise becomes a note."""
        inputs, kwargs, output = given
        for number, (hook, with_kwargs, always) in list(self._forward_post_hooks.items()):
            if always and number not in called:
                try:
                    hook(self, *((inputs, kwargs, output) if with_kwargs else (inputs, output)))
                except Exception as second:
                    error.add_note(f"a forward hook failed after it: {second!r}")

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemoveHelper:
        """Has ``hook(layer, inputs)`` called before forward.

        Args:
            hook: It may return other inputs: a tuple, or one input.
            prepend: Call it before the hooks that are there, not after them.
            with_kwargs: Call ``hook(layer, inputs, kwargs)``, which may return a pair of both.

        Returns:
            A handle whose ``remove()`` takes the hook away.
        """
        return add_hook(self._forward_pre_hooks, (hook, with_kwargs, False), prepend)

    def register_forward_post_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookRemoveHelper:
        """Has ``hook(layer, inputs, output)`` called after forward.

        Args:
            hook: It may return another output.
            prepend: Call it before the hooks that are there, not after them.
            with_kwargs: Call ``hook(layer, inputs, kwargs, output)``.
            always_call: Call it also if forward, or a hook before it, has raised.

        Returns:
            A handle whose ``remove()`` takes the hook away.
        """
        return add_hook(self._forward_post_hooks, (hook, with_kwargs, always_call), prepend)

    register_forward_hook = register_forward_post_hook

    # ---- walking ----

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Layer] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Layer]]:
        """All layers below this one, with dotted names, parents first.

        Args:
            prefix: Put before the names.
            include_self: This layer too, under the prefix.
            layers_set: Layers to leave out, with what is below them; those given are added to it.
            remove_duplicate: Give a layer that is in several places once, under its first name.
        """
        seen: set[Any] = set() if layers_set is None else layers_set
        return self._walk(prefix, include_self, seen, remove_duplicate)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """All layers below this one, each once, parents first."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The layers directly below this one, each once, with their names."""
        seen: set[Layer] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in seen:
                seen.add(layer)
                yield name, layer

    def children(self) -> Iterator[Layer]:
        """The layers directly below this one, each once."""
        return (layer for _, layer in self.named_children())

    def named_modules(
        self,
        memo: set[Layer] | None = None,
        prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Layer]]:
        """``named_sublayers`` with this layer itself; PyTorch's name for it."""
        return self.named_sublayers(prefix, True, memo, remove_duplicate)

    def modules(self) -> Iterator[Layer]:
        """This layer and all below it, each once; PyTorch's name for ``sublayers``."""
        return (layer for _, layer in self.named_modules())

    def get_sublayer(self, target: str) -> Layer:
        """The layer at a dotted name; this layer for an empty one.

        Raises:
            AttributeError: There is nothing of this name, or no layer.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            found = getattr(found, name)
            if not isinstance(found, Layer):
                raise AttributeError(f"{name!r} of {target!r} is no Layer, it is {found!r}")
        return found

    get_submodule = get_sublayer

    def set_sublayer(self, target: str, layer: Layer, strict: bool = False) -> None:
        """Puts a layer at a dotted name.

        Args:
            target: The name.
            layer: What goes there.
            strict: Refuse a name that is not there yet.

        Raises:
            AttributeError: There is no layer above the name, something else at it, or nothing and
                ``strict`` is True.
            ValueError: The name is empty, or ``layer`` is no Layer.
        """
        above, _, name = target.rpartition(".")
        if not name or not isinstance(layer, Layer):
            raise ValueError(f"set_sublayer needs a name and a Layer; got {target!r}, {layer!r}")
        owner = self.get_sublayer(above)
        if strict or hasattr(owner, name):
            owner.get_sublayer(name)
        setattr(owner, name, layer)

    set_submodule = set_sublayer

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted name.

        Raises:
            AttributeError: There is nothing of this name, or no parameter.
        """
        above, _, name = target.rpartition(".")
        found = getattr(self.get_sublayer(above), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"{target!r} is no Parameter, it is {found!r}")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted name.

        Raises:
            AttributeError: There is nothing of this name, or no buffer.
        """
        above, _, name = target.rpartition(".")
        owner = self.get_sublayer(above)
        found: Any = getattr(owner, name)
        if name not in owner._buffers:
            raise AttributeError(f"{target!r} is no buffer, it is {found!r}")
        return found

    # ---- what is done to all ----

    def apply(self, fn: Callable[[Layer], Any]) -> Self:
        """Calls ``fn`` on every layer below this one, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Puts this layer and all below it in training mode, or in evaluation mode.

        Raises:
            ValueError: ``mode`` is no bool.
        """
        if not isinstance(mode, bool):
            raise ValueError(f"mode must be a bool; got {mode!r}")
        for layer in self.sublayers(include_self=True):
            layer.training = mode
        return self

    def eval(self) -> Self:
        """Puts this layer and all below it in evaluation mode."""
        return self.train(False)

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Clears the gradients of the trained parameters, as ``Tensor.clear_gradient`` does."""
        for parameter in self.parameters():
            if parameter.trainable:
                parameter.clear_gradient(set_to_zero)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """``clear_gradients(not set_to_none)``: PyTorch's name for it."""
        self.clear_gradients(not set_to_none)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Says of all parameters whether they are trained."""
        for parameter in self.parameters():
            parameter.trainable = requires_grad
        return self

    def extra_repr(self) -> str:
        """What ``repr`` shows of this layer besides its sublayers."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {layer!r}" for name, layer in self._sub_layers.items()]
        inner = "".join("\n  " + line.replace("\n", "\n  ") for line in lines)
        return f"{type(self).__name__}({self.extra_repr()}{inner}" + ("\n)" if inner else ")")
