"""Adadelta."""

from __future__ import annotations

from typing import Any

from minipaddle.nn.clip import ClipGradBase
from minipaddle.ops.op import get_op
from minipaddle.optimizer.layout import Stretch
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.settings import Group, not_negative


class Adadelta(Optimizer):
    """Step over the gradient times the ratio of the roots of two running means of squares.

    They are those of the steps and of the gradients, so that a step has the unit of the parameter.

    Args:
        learning_rate: Factor on the step: a float or an LRScheduler.
        epsilon: Added to both means; not negative.
        rho: Decay of the means; not negative.
        parameters: Tensors to train, or groups; see ``Optimizer``.
        weight_decay: Penalty; see ``Optimizer``.
        grad_clip: Limit on the gradients; see ``Optimizer``.
        name: Goes into the names of the accumulators in the state.

    Raises:
        ValueError: ``epsilon`` or ``rho`` is negative.

    References:
        Zeiler (2012), ADADELTA: an adaptive learning rate method, algorithm 1.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> adadelta = paddle.optimizer.Adadelta(1.0, epsilon=1.0, rho=0.0, parameters=[w])
        >>> (w * 3**0.5).sum().backward()
        >>> adadelta.step()
        >>> round(w.item(), 4)
        0.134
    """

    # Paddle's names begin with an underscore.
    accumulators = ("_avg_squared_grad", "_avg_squared_update")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        epsilon: float = 1.0e-6,
        rho: float = 0.95,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        options = {"rho": rho, "epsilon": epsilon}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, options=options)
        self._op = get_op("adadelta_")

    def check(self, group: Group) -> None:
        """See ``Optimizer``."""
        not_negative(group, "rho", "epsilon")

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """See ``Optimizer``."""
        self.run(self._op, stretch, rate, *stretch.settings.options)
