"""Names in the state of an optimizer, which are Paddle's, and whose state is whose.

An accumulator is called ``<parameter>_<accumulator>_<number>``, and that of a master weight
``<parameter>_fp32_master_<number>_<accumulator>_<number>``. The powers of Adam's betas are entries
of this form too. ``master_weights`` and ``LR_Scheduler`` are maps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from minipaddle.imperative.tensor import Tensor, to_tensor

MASTERS, SCHEDULER = "master_weights", "LR_Scheduler"


def key(param: str, accumulator: str, master: bool) -> str:
    """What an accumulator is called in a state."""
    return f"{param}_fp32_master_0_{accumulator}_0" if master else f"{param}_{accumulator}_0"


class SavedState:
    """A state dictionary taken apart.

    Attributes:
        values: Accumulator -> name of a parameter -> its value there.
        masters: Name of a parameter -> its value in float32.
    """

    def __init__(self, state: Mapping[str, Any], accumulators: Sequence[str]) -> None:
        self.masters: Mapping[str, Any] = state.get(MASTERS) or {}
        self.values: dict[str, dict[str, Any]] = {}
        for accumulator in accumulators:
            found = self.values[accumulator] = dict[str, Any]()
            form = re.compile(rf"(.+?)(_fp32_master_\d+)?_{re.escape(accumulator)}_\d+")
            for name, value in state.items():
                match = form.fullmatch(name)
                if match is not None:
                    found.setdefault(match[1], value)

    @property
    def names(self) -> list[str]:
        """The parameters that the state is of, in its order."""
        every = [name for found in self.values.values() for name in found]
        return list(dict.fromkeys([*every, *self.masters]))

    def owners(self, params: Sequence[Tensor]) -> dict[str, str]:
        """Name of a parameter -> the name that its state has here.

        These are the same where each parameter finds its own. Else, as when a model is made a
        second time in one process and its layers are numbered on, the n-th parameter has the n-th
        state; of parameters that are frozen a state may have nothing.

        Raises:
            ValueError: There is a state, but for none of the parameters, and of another number.
        """
        saved = self.names
        trained = [param for param in params if not param.stop_gradient]
        by_name = {param.name: param.name for param in params if param.name in saved}
        if all(param.name in by_name for param in trained):
            return by_name
        for candidates in (params, trained):
            if len(candidates) == len(saved):
                return {param.name: name for param, name in zip(candidates, saved, strict=True)}
        if saved and not by_name:
            raise ValueError(
                f"the state is of {len(saved)} parameters ({_some(saved)}) and fits neither by "
                f"name nor by number to the {len(params)} here ({_some([p.name for p in params])})"
            )
        return by_name

    def check(self, params: Sequence[Tensor], owners: Mapping[str, str], scalars: set[str]) -> None:
        """Refuses accumulators, other than ``scalars``, of another shape than their parameter."""
        for param in params:
            name = owners.get(param.name)
            tables = {k: v for k, v in self.values.items() if k not in scalars}
            for accumulator, table in {**tables, MASTERS: self.masters}.items():
                value = table.get(name)  # type: ignore[arg-type]
                if value is not None and list(value.shape) != param.shape:
                    raise ValueError(
                        f"{accumulator} of {name} must have shape {param.shape}, as {param.name}; "
                        f"got {list(value.shape)}"
                    )


def steps_done(powers: Mapping[float, Any]) -> int:
    """How many steps lie behind, from powers of numbers.

    Args:
        powers: Number, in [0, 1) -> its power, which is one more than the steps.
    """
    for base, value in sorted(powers.items()):  # the smaller, the more exact, until it underflows
        power = float(to_tensor(value).item())
        if base > 0 and power > 1e-37:
            return max(0, round(math.log(power) / math.log(base)) - 1)
    # From here on the corrections by 1 - base ** step are 1, whatever the number.
    return max((math.ceil(-90 / math.log(base)) for base in powers if base > 0), default=1)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
