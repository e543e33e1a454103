"""Where gradients and state lie: slots for parameters, and stretches that are updated in one go.

A gradient stays where a Reducer has put it, one without such a home gets one here, and state
follows the gradients' order. Then neighbours with equal settings are one stretch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minipaddle.device.backend import Array, Place
from minipaddle.device.dtype import DType
from minipaddle.imperative.flat_buffer import FlatBuffer, offsets_of
from minipaddle.imperative.functions.comparison import equal_all
from minipaddle.imperative.functions.elementwise import cast
from minipaddle.imperative.grad_node import EMPTY, NONE, AccumulationNode
from minipaddle.imperative.selected_rows import SelectedRows
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import namespace
from minipaddle.optimizer.settings import Settings

# How a slot takes part in a step.
ABSENT, IN_STRETCH, ALONE, MOVED = range(4)


class Slot:
    """One parameter in the layout.

    Attributes:
        param: The parameter.
        node: Where its gradient is kept.
        settings: How it is updated.
        flat: The FlatBuffer that the gradient was in at layout; ``index`` is its view there.
        state: One FlatBuffer per accumulator; ``state_index`` is the view in each of them.
        master: The FlatBuffer of its values in float32, laid out as the state is, or None.
        step: How often it was updated.
        version: Number of writes to the parameter that its master weights know of.
    """

    __slots__ = (
        "flat", "index", "master", "node", "param", "settings", "state", "state_index", "step",
        "version",
    )  # fmt: skip

    def __init__(self, param: Tensor, settings: Settings, step: int) -> None:
        self.param = param
        self.node: AccumulationNode = param.leaf_node()
        self.settings = settings
        self.step = step
        self.flat: FlatBuffer | None = None
        self.index = 0
        self.state: tuple[FlatBuffer, ...] = ()
        self.master: FlatBuffer | None = None
        self.state_index = 0
        self.version = -1

    def mode(self) -> int:
        """How the parameter takes part in the coming step."""
        node = self.node
        if self.param.leaf is not node or node.flat is not self.flat:
            return MOVED
        if node.status is NONE or self.param.edge is None:
            return ABSENT
        if node.replaced is not None:
            return ALONE
        if node.flat is None:  # was sparse when gradients were laid out
            return MOVED
        if node.status is EMPTY:
            node.read()
        return IN_STRETCH

    def follows(self, other: Slot) -> bool:
        """Whether gradient and state lie right behind the other's, with equal settings."""
        return (
            self.flat is other.flat
            and self.index == other.index + 1
            and self.state_index == other.state_index + 1
            and self.master is other.master
            and self.settings == other.settings
            and not self.settings.apart
            and (self.step == other.step or not self.state)  # without state the number is not used
        )

    def views(self) -> list[Array]:
        """The parameter's own part of each accumulator, in its shape."""
        return [flat.views[self.state_index] for flat in self.state]

    def follow_writes(self) -> None:
        """Takes a parameter that somebody has written to into the master weights.

        They stay where the parameter is what they round to, as after both were loaded.
        """
        if self.master is None or self.version == self.param.version[0]:
            return
        view, place = self.master.views[self.state_index], self.node.place
        rounded = cast(Tensor(view, place), self.node.dtype)
        if not equal_all(rounded, self.param.detach()).item():
            self.node.kernels.copy_(view, self.param.data)

    def updated(self) -> None:
        """Counts one update."""
        self.step += 1
        version = self.param.version
        version[0] += 1
        self.version = version[0]


class Stretch:
    """Neighbouring slots that one kernel call updates.

    Attributes:
        slots: The slots, in the order of their gradients.
        place: The device they lie on.
        settings: How they are updated.
        state: For each accumulator its 1-D part.
        master: The 1-D part of the values in float32, or None.
        treatment: That of the settings, in it what clipping has found in this step.
    """

    __slots__ = ("_grad", "master", "place", "settings", "slots", "state", "treatment")

    def __init__(self, slots: list[Slot]) -> None:
        first, last = slots[0], slots[-1]
        self.slots = slots
        self.place: Place = first.node.place
        self.settings = first.settings
        self.treatment = first.settings.treatment
        ends = first.state_index, last.state_index + 1
        self.state = tuple(flat.stretch(*ends) for flat in first.state)
        self.master = None if first.master is None else first.master.stretch(*ends)
        self._grad: Array | None = None
        if first.flat is not None and first.node.replaced is None:
            self._grad = first.flat.stretch(first.index, last.index + 1)

    @property
    def rows(self) -> SelectedRows | None:
        """The gradient, each row of it once, if it is sparse; the stretch is then one slot."""
        held = self.slots[0].node.replaced
        return held.merge() if held.__class__ is SelectedRows else None

    @property
    def sparse(self) -> SelectedRows | None:
        """``rows``, if an update may leave the other rows alone."""
        if self.slots[0].node.replaced is None or self.master is not None:
            return None
        return None if any(self.treatment[3:]) else self.rows  # a penalty is on all rows

    @property
    def grad(self) -> Array:
        """The gradients of all slots, 1-D."""
        if self._grad is not None:
            return self._grad
        node = self.slots[0].node
        return namespace(self.place).reshape(node.read(), (-1,))

    def square(self) -> float:
        """The sum of the squares of the gradient."""
        rows = self.rows
        array = namespace(self.place).squared_norm(self.grad if rows is None else rows.value)
        return float(self.place.backend.to_host(array))

    def scaled(self, factor: float) -> None:
        """Has the gradient multiplied by ``factor`` in this step."""
        scale, *rest = self.settings.treatment
        self.treatment = (scale * factor, *rest)  # type: ignore[assignment]


def house_gradients(nodes: Iterable[AccumulationNode]) -> None:
    """Gives every gradient that has no home in a FlatBuffer one, by place and dtype.

    A sparse one has and needs none.
    """
    homeless: dict[tuple[Any, Any], list[AccumulationNode]] = {}
    for node in nodes:
        if node.flat is None and node.replaced.__class__ is not SelectedRows:
            homeless.setdefault((node.place, node.dtype), []).append(node)
    for (place, dtype), group in homeless.items():
        flat = _zeros(place, dtype, [node.shape for node in group])
        for index, node in enumerate(group):
            node.move_home(flat, index)


def by_home(slots: list[Slot]) -> list[list[Slot]]:
    """The slots by the FlatBuffer of their gradients, in the order in which these lie there."""
    by_flat: dict[int, list[Slot]] = {}
    for slot in slots:
        slot.flat, slot.index = slot.node.flat, slot.node.flat_index
        by_flat.setdefault(id(slot.flat or slot), []).append(slot)
    for neighbours in by_flat.values():
        neighbours.sort(key=lambda slot: slot.index)
    return list(by_flat.values())


def zeros_like(slots: list[Slot], dtype: DType) -> FlatBuffer:
    """A FlatBuffer of zeros with a view for each slot."""
    return _zeros(slots[0].node.place, dtype, [slot.node.shape for slot in slots])


def _zeros(place: Place, dtype: DType, shapes: list[tuple[int, ...]]) -> FlatBuffer:
    array = namespace(place).full((offsets_of(shapes)[-1],), 0.0, dtype)
    return FlatBuffer(place, array, shapes)


def stretches_of(slots: list[Slot], modes: list[int]) -> list[Stretch]:
    """Cuts the layout into maximal stretches of slots that take part together."""
    runs: list[list[Slot]] = []
    open_run = False
    for slot, mode in zip(slots, modes, strict=True):
        if mode == ABSENT:
            open_run = False
        elif mode == IN_STRETCH and open_run and slot.follows(runs[-1][-1]):
            runs[-1].append(slot)
        else:
            runs.append([slot])
            open_run = mode == IN_STRETCH
    return [Stretch(run) for run in runs]
