"""Adagrad."""

from __future__ import annotations

from typing import Any

from minipaddle.nn.clip import ClipGradBase
from minipaddle.ops.op import get_op
from minipaddle.optimizer.layout import Stretch
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.settings import Group, not_negative


class Adagrad(Optimizer):
    """Step over the gradient, divided by the root of the sum of all its squares so far.

    Args:
        learning_rate: Step size: a float or an LRScheduler.
        epsilon: Added to the root; not negative.
        parameters: Tensors to train, or groups; see ``Optimizer``.
        weight_decay: Penalty; see ``Optimizer``.
        grad_clip: Limit on the gradients; see ``Optimizer``.
        name: Goes into the names of the accumulators in the state.
        initial_accumulator_value: What the sum begins with.

    Raises:
        ValueError: ``epsilon`` or ``initial_accumulator_value`` is negative.

    References:
        Duchi, Hazan and Singer (2011), Adaptive subgradient methods for online learning and
        stochastic optimization, figure 1, with diagonal matrices.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> adagrad = paddle.optimizer.Adagrad(learning_rate=0.1, parameters=[w])
        >>> (w * 2).sum().backward()
        >>> adagrad.step()
        >>> round(w.item(), 6)
        0.9
    """

    accumulators = ("moment",)

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        epsilon: float = 1.0e-6,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        options = {"epsilon": epsilon, "initial_accumulator_value": initial_accumulator_value}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, options=options)
        self._op = get_op("adagrad_")

    def check(self, group: Group) -> None:
        """See ``Optimizer``."""
        not_negative(group, "epsilon", "initial_accumulator_value")

    def first_value(self, accumulator: str, group: Group) -> float:
        """See ``Optimizer``."""
        return float(group.options["initial_accumulator_value"])

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """See ``Optimizer``."""
        self.run(self._op, stretch, rate, float(stretch.settings.options[0]))
