"""Optimizer: parameters with their gradients and state, updated in long stretches.

At the first step gradients and state are laid out in FlatBuffers: a gradient stays where a Reducer
has put it, one without such a home gets one here, and state follows the gradients' order. Then
neighbours with equal settings are updated by one kernel call.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from minipaddle.device.backend import Array
from minipaddle.device.dtype import as_dtype, is_half
from minipaddle.imperative.flat_buffer import FlatBuffer, offsets_of
from minipaddle.imperative.grad_node import EMPTY, NONE, AccumulationNode
from minipaddle.imperative.selected_rows import SelectedRows
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.op import namespace

# How a slot takes part in a step.
_ABSENT, _IN_STRETCH, _ALONE, _MOVED = range(4)


class Slot:
    """One parameter in the layout.

    Attributes:
        param: The parameter.
        node: Where its gradient is kept.
        factor: What the global learning rate is multiplied by.
        flat: The FlatBuffer that the gradient was in at layout; ``index`` is its view there.
        state: One FlatBuffer per accumulator; ``state_index`` is the view in each of them.
        step: How often it was updated.
    """

    __slots__ = ("factor", "flat", "index", "node", "param", "state", "state_index", "step")

    def __init__(self, param: Tensor, factor: float, step: int) -> None:
        self.param = param
        self.node: AccumulationNode = param.leaf_node()
        self.factor = factor
        self.step = step
        self.flat: FlatBuffer | None = None
        self.index = 0
        self.state: tuple[FlatBuffer, ...] = ()
        self.state_index = 0

    def mode(self) -> int:
        """How the parameter takes part in the coming step."""
        node = self.node
        if self.param.leaf is not node or node.flat is not self.flat:
            return _MOVED
        if node.status is NONE or self.param.edge is None:
            return _ABSENT
        if node.replaced is not None:
            return _ALONE
        if node.flat is None:  # was sparse when gradients were laid out
            return _MOVED
        if node.status is EMPTY:
            node.read()
        return _IN_STRETCH

    def follows(self, other: Slot) -> bool:
        """Whether gradient and state lie right behind the other's, with equal settings."""
        return (
            self.flat is other.flat
            and self.index == other.index + 1
            and self.state_index == other.state_index + 1
            and self.factor == other.factor
            and (self.step == other.step or not self.state)  # without state the number is not used
        )


class Stretch:
    """Neighbouring slots that one kernel call updates.

    Attributes:
        slots: The slots, in the order of their gradients.
        state: For each accumulator its 1-D part.
    """

    __slots__ = ("_grad", "slots", "state")

    def __init__(self, slots: list[Slot]) -> None:
        first, last = slots[0], slots[-1]
        self.slots = slots
        self.state = tuple(s.stretch(first.state_index, last.state_index + 1) for s in first.state)
        self._grad: Array | None = None
        if first.flat is not None and first.node.replaced is None:
            self._grad = first.flat.stretch(first.index, last.index + 1)

    @property
    def rows(self) -> SelectedRows | None:
        """The gradient, each row of it once, if it is sparse; the stretch is then one slot."""
        held = self.slots[0].node.replaced
        return held.merge() if held.__class__ is SelectedRows else None

    @property
    def grad(self) -> Array:
        """The gradients of all slots, 1-D."""
        if self._grad is not None:
            return self._grad
        node = self.slots[0].node
        return namespace(node.place).reshape(node.read(), (-1,))


class Optimizer:
    """Base of optimizers: a subclass names its accumulators and calls its update op.

    Args:
        learning_rate: Step size, a float.
        parameters: Tensors to train; or a list of dicts, each with the key ``params`` and, if
            wanted, ``learning_rate``, a factor on the global rate.
        name: Unused; for Paddle's signature.

    Raises:
        AttributeError: ``parameters`` is None.
        TypeError: ``learning_rate`` is no float, or ``parameters`` no list of tensors.
        ValueError: A parameter is named twice.
    """

    accumulators: tuple[str, ...] = ()

    def __init__(self, learning_rate: float, parameters: Any, name: str | None = None) -> None:
        self._rate = _checked_rate(learning_rate)
        self._params = _params_and_factors(parameters)
        self._slots: list[Slot] | None = None
        self._modes: list[int] = []
        self._stretches: list[Stretch] = []
        self._loaded: Mapping[str, Any] = {}

    def get_lr(self) -> float:
        """The learning rate."""
        return self._rate

    def set_lr(self, value: float) -> None:
        """Sets the learning rate.

        Raises:
            TypeError: ``value`` is no number.
        """
        self._rate = _checked_rate(float(value) if type(value) is int else value)

    def step(self) -> None:
        """Updates every parameter that has a gradient."""
        slots = self._slots
        if slots is None:
            slots = self._lay_out()
        modes = [slot.mode() for slot in slots]
        if _MOVED in modes:
            slots = self._lay_out()
            modes = [slot.mode() for slot in slots]
        if modes != self._modes or not self._stretches:
            self._modes = modes
            self._stretches = _stretches(slots, modes)
        for stretch in self._stretches:
            first = stretch.slots[0]
            self.update(stretch, self._rate * first.factor, first.step + 1)
            for slot in stretch.slots:
                slot.step += 1
                slot.param.version[0] += 1

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """Updates one stretch with its op.

        Args:
            stretch: Parameters, gradient and state.
            rate: Learning rate of its parameters.
            step: Number of this update, from 1.
        """
        raise TypeError(f"{type(self).__name__} does not define update()")

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clears the gradients of all parameters, as ``Tensor.clear_gradient`` does."""
        for param, _ in self._params:
            if param.leaf is not None:
                param.leaf.clear(set_to_zero)

    clear_gradients = clear_grad

    def minimize(self, loss: Tensor) -> None:
        """``step()``; as in Paddle's dygraph mode, ``loss.backward()`` is called before."""
        self.step()

    def state_dict(self) -> dict[str, Any]:
        """Accumulators under ``<parameter>_<accumulator>_0``, and each parameter's step number."""
        state: dict[str, Any] = {}
        for slot in self._slots or ():
            for name, flat in zip(self.accumulators, slot.state, strict=True):
                array = flat.views[slot.state_index]
                copied = namespace(flat.place).assign(array)
                state[f"{slot.param.name}_{name}_0"] = Tensor(copied, flat.place)
            state[f"{slot.param.name}_step_0"] = slot.step
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes over a state that ``state_dict`` gave; a parameter without any is a warning.

        Raises:
            ValueError: An accumulator has another shape than its parameter.
        """
        for param, _ in self._params:
            for name in self.accumulators:
                value = state_dict.get(f"{param.name}_{name}_0")
                if value is not None and list(value.shape) != param.shape:
                    raise ValueError(
                        f"{param.name}_{name}_0 must have shape {param.shape}; got "
                        f"{list(value.shape)}"
                    )
        lacking = [p.name for p, _ in self._params if f"{p.name}_step_0" not in state_dict]
        if lacking:
            warnings.warn(
                f"the given state has nothing for {', '.join(lacking)}; they keep theirs. It has "
                f"{', '.join(list(state_dict)[:6]) or 'no entries'}",
                stacklevel=2,
            )
        self._loaded = dict(state_dict)
        self._lay_out()

    # ---- layout ----

    def _lay_out(self) -> list[Slot]:
        """Gives gradients and state their places; keeps their values."""
        before = {id(slot.param): slot for slot in self._slots or ()}
        slots = [Slot(p, f, before[id(p)].step if id(p) in before else 0) for p, f in self._params]
        _house_gradients([slot.node for slot in slots])
        by_flat: dict[int, list[Slot]] = {}
        for slot in slots:
            slot.flat, slot.index = slot.node.flat, slot.node.flat_index
            by_flat.setdefault(id(slot.flat or slot), []).append(slot)
        for neighbours in by_flat.values():
            neighbours.sort(key=lambda slot: slot.index)
            state = tuple(_zeros_like_slots(neighbours) for _ in self.accumulators)
            for i, slot in enumerate(neighbours):
                slot.state, slot.state_index = state, i
                self._restore(slot, before.get(id(slot.param)))
        self._slots = [slot for neighbours in by_flat.values() for slot in neighbours]
        self._modes, self._loaded = [], {}
        return self._slots

    def _restore(self, slot: Slot, before: Slot | None) -> None:
        """Fills a slot's new state from a loaded state, else from its old one."""
        loaded, name = self._loaded, slot.param.name
        slot.step = int(loaded.get(f"{name}_step_0", slot.step))
        for i, accumulator in enumerate(self.accumulators):
            view = slot.state[i].views[slot.state_index]
            value = loaded.get(f"{name}_{accumulator}_0")
            if value is not None:
                tensor = to_tensor(value, place=slot.node.place)
                slot.node.kernels.copy_(view, tensor.data)
            elif before is not None:
                slot.node.kernels.copy_(view, before.state[i].views[before.state_index])


def _checked_rate(rate: Any) -> float:
    if isinstance(rate, bool) or not isinstance(rate, float):
        raise TypeError(f"learning_rate must be a float; got {rate!r}")
    return rate


def _params_and_factors(parameters: Any) -> list[tuple[Tensor, float]]:
    if parameters is None:
        raise AttributeError("parameters must be given, such as model.parameters(); got None")
    if isinstance(parameters, (Tensor, dict, set)):
        kind = type(parameters).__name__
        raise TypeError(f"parameters must be a list of tensors or of dicts; got a {kind}")
    groups = list(parameters)
    if not groups:
        raise ValueError("parameters must not be empty")
    if not groups or not isinstance(groups[0], dict):
        groups = [{"params": groups}]
    pairs: list[tuple[Tensor, float]] = []
    for group in groups:
        _check_group(group)
        params = group["params"]
        if isinstance(params, set):
            raise TypeError("params must be a list, which has an order; got a set")
        for param in [params] if isinstance(params, Tensor) else params:
            if not isinstance(param, Tensor):
                raise TypeError(f"parameters must be tensors; got {type(param).__name__}")
            own = getattr(param, "optimize_attr", {}).get("learning_rate", 1.0)
            pairs.append((param, own * group.get("learning_rate", 1.0)))
    if len({id(p) for p, _ in pairs}) != len(pairs):
        raise ValueError("parameters names a parameter twice")
    names = [p.name for p, _ in pairs]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two parameters are named {twice!r}; their state could not be told apart")
    return pairs


def _check_group(group: Any) -> None:
    if not isinstance(group, dict):
        raise TypeError(f"parameters must be all tensors or all dicts; got {type(group).__name__}")
    if "params" not in group:
        raise ValueError(f"a group needs the key 'params'; got {sorted(group)}")
    unknown = sorted(set(group) - {"params", "learning_rate"})
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r} in a group; known: params, learning_rate")
    factor = group.get("learning_rate", 1.0)
    if not isinstance(factor, (int, float)):
        raise TypeError(f"a group's learning_rate must be a number; got {factor!r}")


def _house_gradients(nodes: Iterable[AccumulationNode]) -> None:
    """Gives every gradient that has no home in a FlatBuffer one, by place and dtype.

    A sparse one has and needs none.
    """
    homeless: dict[tuple[Any, Any], list[AccumulationNode]] = {}
    for node in nodes:
        if node.flat is None and node.replaced.__class__ is not SelectedRows:
            homeless.setdefault((node.place, node.dtype), []).append(node)
    for (place, dtype), group in homeless.items():
        shapes = [node.shape for node in group]
        array = namespace(place).full((offsets_of(shapes)[-1],), 0.0, dtype)
        flat = FlatBuffer(place, array, shapes)
        for index, node in enumerate(group):
            node.move_home(flat, index)


def _zeros_like_slots(slots: list[Slot]) -> FlatBuffer:
    node = slots[0].node
    shapes = [slot.node.shape for slot in slots]
    # Squares of gradients are soon too small for a half type.
    dtype = as_dtype("float32") if is_half(node.dtype) else node.dtype
    array = namespace(node.place).full((offsets_of(shapes)[-1],), 0.0, dtype)
    return FlatBuffer(node.place, array, shapes)


def _stretches(slots: list[Slot], modes: list[int]) -> list[Stretch]:
    """Cuts the layout into maximal stretches of slots that take part together."""
    runs: list[list[Slot]] = []
    open_run = False
    for slot, mode in zip(slots, modes, strict=True):
        if mode == _ABSENT:
            open_run = False
        elif mode == _IN_STRETCH and open_run and slot.follows(runs[-1][-1]):
            runs[-1].append(slot)
        else:
            runs.append([slot])
            open_run = mode == _IN_STRETCH
    return [Stretch(run) for run in runs]
