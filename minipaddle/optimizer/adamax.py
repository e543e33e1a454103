"""Adamax."""

from __future__ import annotations

from typing import Any, ClassVar

from minipaddle.nn.clip import ClipGradBase
from minipaddle.ops.op import get_op
from minipaddle.optimizer.layout import Stretch
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.settings import Group, betas, not_negative


class Adamax(Optimizer):
    """Step over a running mean of the gradient, divided by the largest of its fading values.

    Args:
        learning_rate: Step size: a float or an LRScheduler.
        beta1: Decay of the mean, in [0, 1).
        beta2: Decay of the largest value, in [0, 1).
        epsilon: Added to the faded largest value; not negative.
        parameters: Tensors to train, or groups; see ``Optimizer``.
        weight_decay: Penalty; see ``Optimizer``.
        grad_clip: Limit on the gradients; see ``Optimizer``.
        name: Goes into the names of the accumulators in the state.

    Raises:
        ValueError: A beta is outside [0, 1), or epsilon is negative.

    References:
        Kingma and Ba (2015), Adam: a method for stochastic optimization, algorithm 2.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> adamax = paddle.optimizer.Adamax(learning_rate=0.1, parameters=[w])
        >>> (w * 2).sum().backward()
        >>> adamax.step()
        >>> round(w.item(), 6)
        0.9
    """

    accumulators = ("moment", "inf_norm")
    powers: ClassVar = {"beta1_pow_acc": "beta1"}

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        options = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, options=options)
        self._op = get_op("adamax_")

    def check(self, group: Group) -> None:
        """See ``Optimizer``."""
        betas(group)
        not_negative(group, "epsilon")

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """See ``Optimizer``."""
        self.run(self._op, stretch, rate, *stretch.settings.options, step)
