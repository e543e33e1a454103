"""A layer's state as a dictionary, and back."""

from __future__ import annotations

import itertools
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer_attributes import LayerAttributes

_hook_numbers = itertools.count()


class HookRemoveHelper:
    """What the ``register_..._hook`` methods return; ``remove`` takes the hook away."""

    def __init__(self, hooks: dict[int, Any], number: int) -> None:
        self._hooks = hooks
        self._number = number

    def remove(self) -> None:
        """Takes the hook away; a second call does nothing."""
        self._hooks.pop(self._number, None)


def add_hook(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False) -> HookRemoveHelper:
    """Enters ``hook`` as the last one, or with ``prepend`` as the first.

    Args:
        hooks: Hooks by number, in the order in which they are called.
        hook: The new one.
        prepend: Where it goes.
    """
    number = next(_hook_numbers)
    hooks[number] = hook
    if prepend:
        hooks.move_to_end(number, last=False)
    return HookRemoveHelper(hooks, number)


class IncompatibleKeys(NamedTuple):
    """What ``load_state_dict`` returns: names that were missing, and names that were not known."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class LayerState(LayerAttributes):
    """The part of ``Layer`` that gives and takes states."""

    _state_dict_hooks: OrderedDict[int, Callable[..., Any]]

    def __init__(self, name_scope: str | None = None, dtype: Any = None) -> None:
        super().__init__(name_scope, dtype)
        self.__dict__["_state_dict_hooks"] = OrderedDict[int, Callable[..., Any]]()

    def state_dict(
        self,
        destination: Any = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> OrderedDict[str, Tensor]:
        """Parameters and persistable buffers under dotted names, layer by layer.

        What is in two places has two names. The tensors are the layer's own, not copies.

        Args:
            destination: A dictionary to put them in; a new one by default.
            include_sublayers: Also those of layers below.
            structured_name_prefix: Put before the names, such as ``"net."``.
            use_hook: Whether the hooks of ``register_state_dict_hook`` are called.
            keep_vars: False gives tensors that share memory but have no gradient.

        Example:
            >>> import minipaddle as paddle
            >>> list(paddle.nn.Linear(2, 1).state_dict())
            ['weight', 'bias']
        """
        return self._state(
            OrderedDict() if destination is None else destination,
            structured_name_prefix,
            (include_sublayers, False, use_hook, keep_vars),
            (),
        )

    def to_static_state_dict(
        self,
        destination: Any = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> OrderedDict[str, Tensor]:
        """As ``state_dict``, with the buffers that are not persistable too."""
        return self._state(
            OrderedDict() if destination is None else destination,
            structured_name_prefix,
            (include_sublayers, True, use_hook, keep_vars),
            (),
        )

    def _state(
        self, state: Any, prefix: str, options: tuple[bool, ...], above: tuple[Any, ...]
    ) -> Any:
        deep, every, use_hook, keep_vars = options
        left_out = () if every else self._non_persistable_buffers
        buffers = {n: b for n, b in self._buffers.items() if n not in left_out}
        for name, tensor in {**self._parameters, **buffers}.items():
            if tensor is not None:
                state[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, layer in self._sub_layers.items() if deep else ():
            if layer is not None and layer not in (*above, self):
                state = layer._state(state, f"{prefix}{name}.", options, (*above, self))
        for hook in list(self._state_dict_hooks.values()) if use_hook else ():
            changed = hook(state)
            state = state if changed is None else changed
        return state

    def register_state_dict_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Has ``hook(state)`` called at the end of ``state_dict``; it may return another one."""
        return add_hook(self._state_dict_hooks, hook)

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Copies values into this layer's state; a name or shape that does not fit is a warning.

        Args:
            state_dict: Names to tensors or arrays, as ``state_dict`` gives them.
            use_structured_name: False takes the ``name`` of each parameter or buffer for its key.

        Returns:
            Names missing from ``state_dict``, and names in it that this layer does not have.

        Raises:
            TypeError: A value that this layer has a place for is no tensor or array; nothing has
                been copied then.
        """
        named = self.state_dict(use_hook=False)
        own = named if use_structured_name else {t.name: t for t in named.values()}
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

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """``set_state_dict``, after which names that do not fit are an error.

        Args:
            state_dict: Names to tensors or arrays.
            strict: False warns of what is missing, as ``set_state_dict`` does, and goes on.
            assign: Unused; for Paddle's signature. Values are copied.

        Returns:
            Names missing from ``state_dict``, and names in it that this layer does not have.

        Raises:
            RuntimeError: There are such names and ``strict`` is True. What fits has been loaded.
        """
        with warnings.catch_warnings():
            if strict:  # the error says it
                warnings.simplefilter("ignore")
            found = IncompatibleKeys(*self.set_state_dict(state_dict))
        complaints = [
            f"{what} in state_dict: {', '.join(map(repr, names))}"
            for what, names in zip(("missing", "unexpected"), found, strict=True)
            if names
        ]
        if strict and complaints:
            raise RuntimeError(f"{type(self).__name__}: {'; '.join(complaints)}")
        return found
