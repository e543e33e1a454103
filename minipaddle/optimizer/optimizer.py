"""Optimizer: parameters with their gradients and state, updated in long stretches."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

from minipaddle.device.dtype import FLOAT32, compute_dtype, is_half
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.nn.clip import ClipGradBase
from minipaddle.ops.op import Op, namespace
from minipaddle.optimizer.layout import (
    MOVED,
    Slot,
    Stretch,
    by_home,
    house_gradients,
    stretches_of,
    zeros_like,
)
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.saved_state import MASTERS, SCHEDULER, SavedState, key, steps_done
from minipaddle.optimizer.settings import (
    Group,
    Settings,
    checked_clip,
    checked_rate,
    groups_of,
    settings_of,
)


class Optimizer:
    """Base of optimizers: a subclass names its accumulators and calls its update op.

    In a step each gradient is first clipped, then a penalty's gradient is added, then the parameter
    is updated. All three happen in the update op: ``grad`` keeps its value.

    Args:
        learning_rate: Step size: a float or an LRScheduler.
        parameters: Tensors to train; or a list of dicts, each with the key ``params`` and, if
            wanted, ``learning_rate``, a factor on the global rate, ``weight_decay``, ``grad_clip``
            and further options of the kind of optimizer.
        weight_decay: Penalty on the size of parameters: a number, which is the coefficient of an
            L2Decay, an L1Decay or an L2Decay. A parameter's own regularizer goes before it.
        grad_clip: Limit on the gradients, such as ClipGradByGlobalNorm. It is applied to each group
            by itself, and not to parameters with ``need_clip = False``.
        name: Goes into the names of the accumulators in the state.
        options: What groups may set beside these, with its default.
        multi_precision: Keep the values of half-precision parameters in float32 too, and update
            those.

    Raises:
        AttributeError: ``parameters`` is None.
        TypeError: An argument is of the wrong type.
        ValueError: A parameter is named twice, or a group has an unknown key.
    """

    accumulators: tuple[str, ...] = ()
    # Accumulator that holds a power of an option -> that option.
    powers: ClassVar[Mapping[str, str]] = {}
    # Whether the accumulators of half-precision parameters are in float32: squares of gradients are
    # soon too small for a half type.
    wide_state = True

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        multi_precision: bool = False,
    ) -> None:
        self._learning_rate = checked_rate(learning_rate)
        defaults = {"weight_decay": weight_decay, "grad_clip": checked_clip(grad_clip)}
        self._groups = groups_of(parameters, {**defaults, **(options or {})})
        for group in self._groups:
            self.check(group)
        self._owners = [(param, group) for group in self._groups for param in group.params]
        self._params = [param for param, _ in self._owners]
        clips = [(group, group.clip) for group in self._groups if group.clip is not None]
        self._measured = [(group, clip) for group, clip in clips if clip.measures]
        self._prefix = "" if name is None else f"{name}_"
        self._multi_precision = bool(multi_precision)
        self._slots: list[Slot] | None = None
        self._modes: list[int] = []
        self._stretches: list[Stretch] = []

    # ---- what a subclass may define ----

    def check(self, group: Group) -> None:
        """Refuses options of a group that are out of range."""

    def settings(self, param: Tensor, group: Group) -> Settings:
        """How a parameter is updated; asked when the parameters are laid out."""
        return settings_of(param, group, tuple(group.options.values()), group.decay)

    def first_value(self, accumulator: str, group: Group) -> float:
        """What an accumulator is filled with at first."""
        return 0.0

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """Updates one stretch with its op.

        Args:
            stretch: Parameters, gradient and state.
            rate: Learning rate of its parameters.
            step: Number of this update, from 1.
        """
        raise TypeError(f"{type(self).__name__} does not define update()")

    # ---- learning rate ----

    def get_lr(self) -> float:
        """The learning rate; with a scheduler, that of its present epoch."""
        rate = self._learning_rate
        return rate if isinstance(rate, float) else rate()

    def set_lr(self, value: float) -> None:
        """Sets the learning rate.

        Raises:
            TypeError: ``value`` is no number.
            RuntimeError: A scheduler sets the rate.
        """
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"value must be a number; got {value!r}")
        if isinstance(self._learning_rate, LRScheduler):
            kind = type(self._learning_rate).__name__
            raise RuntimeError(
                f"{kind} sets the learning rate; use set_lr_scheduler() to have another one do so"
            )
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Has a scheduler set the learning rate from now on.

        Raises:
            TypeError: ``scheduler`` is no LRScheduler.
        """
        if not isinstance(scheduler, LRScheduler):
            raise TypeError(f"scheduler must be an LRScheduler; got {type(scheduler).__name__}")
        self._learning_rate = scheduler

    # ---- steps ----

    def step(self) -> None:
        """Updates every parameter that has a gradient."""
        slots = self._slots
        if slots is None:
            slots = self._lay_out()
        modes = [slot.mode() for slot in slots]
        if MOVED in modes:
            slots = self._lay_out()
            modes = [slot.mode() for slot in slots]
        if modes != self._modes or not self._stretches:
            self._modes = modes
            self._stretches = stretches_of(slots, modes)
        if self._multi_precision:
            for slot in slots:
                slot.follow_writes()
        if self._measured:
            self._clip()
        rate = self.get_lr()
        for stretch in self._stretches:
            self.update(stretch, rate * stretch.settings.factor, stretch.slots[0].step + 1)
            for slot in stretch.slots:
                slot.updated()

    def _clip(self) -> None:
        """Finds the factors of the gradients that are clipped by a norm, group by group."""
        for group, clip in self._measured:
            limited = [s for s in self._stretches if s.settings.limited is group]
            factors = clip.factors([stretch.square() for stretch in limited])
            for stretch, factor in zip(limited, factors, strict=True):
                stretch.scaled(factor)

    def run(self, op: Op, stretch: Stretch, *numbers: Any) -> None:
        """Calls an update op on a stretch; the numbers stand between its arrays and treatment."""
        params = [slot.param.data for slot in stretch.slots]
        arrays = (stretch.grad, stretch.master, *stretch.state)
        op.kernels[stretch.place](params, *arrays, *numbers, *stretch.treatment)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clears the gradients of all parameters, as ``Tensor.clear_gradient`` does."""
        for param in self._params:
            if param.leaf is not None:
                param.leaf.clear(set_to_zero)

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """``clear_grad`` in PyTorch's words."""
        self.clear_grad(not set_to_none)

    def minimize(self, loss: Tensor) -> None:
        """``step()``; as in Paddle's dygraph mode, ``loss.backward()`` is called before."""
        self.step()

    # ---- state ----

    def state_dict(self) -> dict[str, Any]:
        """The state in Paddle's form: copies of the accumulators, under names of the parameters.

        Beside them stand ``master_weights``, with multi_precision, and ``LR_Scheduler``. A
        parameter that was never updated has no entry.
        """
        state: dict[str, Any] = {}
        slots = {id(slot.param): slot for slot in self._slots or ()}
        updated = [slots[id(p)] for p in self._params if id(p) in slots and slots[id(p)].step]
        for i, name in enumerate(self.accumulators):
            for slot in updated:
                view, place = slot.views()[i], slot.node.place
                state[self._key(slot, name)] = Tensor(namespace(place).assign(view), place)
        for name, option in self.powers.items():
            for slot in updated:
                power = self._option(slot.param, option) ** (slot.step + 1)
                dtype = compute_dtype(slot.node.dtype)
                state[self._key(slot, name)] = to_tensor([power], dtype, slot.node.place)
        masters = {slot.param.name: _master_of(slot) for slot in updated if slot.master is not None}
        if masters:
            state[MASTERS] = masters
        if isinstance(self._learning_rate, LRScheduler):
            state[SCHEDULER] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes over a state that ``state_dict`` gave, here or in Paddle.

        Its entries go to the parameters of the same names; where these are not the same, to the
        parameters in their order. A parameter without any is a warning.

        Raises:
            ValueError: An accumulator has another shape than its parameter; or the state fits the
                parameters neither by name nor by number; or it has no state of the scheduler.
        """
        accumulators = [self._prefix + name for name in (*self.accumulators, *self.powers)]
        saved = SavedState(state_dict, accumulators)
        owners = saved.owners(self._params)
        saved.check(self._params, owners, {self._prefix + name for name in self.powers})
        self._set_scheduler_state(state_dict.get(SCHEDULER))
        self._warn_of_lacking(saved, owners, state_dict)
        self._lay_out()
        for slot in self._slots or ():
            if slot.param.name in owners:
                self._load(slot, saved, owners[slot.param.name])
        self._modes = []

    load_state_dict = set_state_dict

    def _set_scheduler_state(self, state: Any) -> None:
        if isinstance(self._learning_rate, LRScheduler):
            if state is None:
                kind = type(self._learning_rate).__name__
                raise ValueError(f"the state has no {SCHEDULER!r}, which {kind} needs to go on")
            self._learning_rate.set_state_dict(state)
        elif state is not None:
            warnings.warn(
                f"the state has an {SCHEDULER!r}, but the learning rate here is a number; it stays "
                f"{self._learning_rate}",
                stacklevel=3,
            )

    def _warn_of_lacking(
        self, saved: SavedState, owners: Mapping[str, str], state: Mapping[str, Any]
    ) -> None:
        tables = saved.values.values()
        lacking = [
            param.name
            for param in self._params
            if not param.stop_gradient
            and any(owners.get(param.name) not in table for table in tables)
        ]
        if lacking:
            warnings.warn(
                f"the given state lacks entries of {', '.join(lacking)}; these keep theirs. It "
                f"has {', '.join(list(state)[:6]) or 'no entries'}",
                stacklevel=3,
            )

    def _load(self, slot: Slot, saved: SavedState, owner: str) -> None:
        for name, view in zip(self.accumulators, slot.views(), strict=True):
            _fill(slot, view, saved.values[self._prefix + name].get(owner))
        if slot.master is not None:
            _fill(slot, slot.master.views[slot.state_index], saved.masters.get(owner))
        powers = {
            self._option(slot.param, option): saved.values[self._prefix + name][owner]
            for name, option in self.powers.items()
            if owner in saved.values[self._prefix + name]
        }
        slot.step = steps_done(powers) if powers else max(slot.step, 1)

    def _key(self, slot: Slot, accumulator: str) -> str:
        return key(slot.param.name, self._prefix + accumulator, slot.master is not None)

    def _option(self, param: Tensor, name: str) -> float:
        return float(next(g.options[name] for p, g in self._owners if p is param))

    # ---- layout ----

    def _lay_out(self) -> list[Slot]:
        """Gives gradients and state their places; keeps their values."""
        before = {id(slot.param): slot for slot in self._slots or ()}
        groups = {id(param): group for param, group in self._owners}
        slots = []
        for param, group in self._owners:
            old = before.get(id(param))
            slots.append(Slot(param, self.settings(param, group), old.step if old else 0))
        house_gradients([slot.node for slot in slots])
        runs = by_home(slots)
        for neighbours in runs:
            node = neighbours[0].node
            dtype = compute_dtype(node.dtype) if self.wide_state else node.dtype
            state = tuple(zeros_like(neighbours, dtype) for _ in self.accumulators)
            wide = self._multi_precision and is_half(node.dtype)
            master = zeros_like(neighbours, FLOAT32) if wide else None
            for i, slot in enumerate(neighbours):
                slot.state, slot.master, slot.state_index = state, master, i
                self._restore(slot, before.get(id(slot.param)), groups[id(slot.param)])
        self._slots = [slot for neighbours in runs for slot in neighbours]
        self._modes = []
        return self._slots

    def _restore(self, slot: Slot, before: Slot | None, group: Group) -> None:
        """Fills a slot's new state from its old one, if there is one."""
        copy = slot.node.kernels.copy_
        if before is not None:
            for view, old in zip(slot.views(), before.views(), strict=True):
                copy(view, old)
        else:
            for name, view in zip(self.accumulators, slot.views(), strict=True):
                copy(view, self.first_value(name, group))
        if slot.master is not None:
            old = before.master.views[before.state_index] if before and before.master else None
            copy(slot.master.views[slot.state_index], slot.param.data if old is None else old)


def _master_of(slot: Slot) -> Tensor:
    assert slot.master is not None
    place = slot.node.place
    made = Tensor(namespace(place).assign(slot.master.views[slot.state_index]), place)
    made.name = f"{slot.param.name}_fp32_master_0"
    return made


def _fill(slot: Slot, view: Any, value: Any) -> None:
    """Writes a value of a saved state, if there is one, into the memory of its accumulator."""
    if value is not None:
        slot.node.kernels.copy_(view, to_tensor(value, place=slot.node.place).data)
