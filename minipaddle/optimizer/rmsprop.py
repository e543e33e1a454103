"""RMSProp."""

from __future__ import annotations

from typing import Any

from minipaddle.nn.clip import ClipGradBase
from minipaddle.ops.op import get_op
from minipaddle.optimizer.layout import Stretch
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.settings import Group, not_negative


class RMSProp(Optimizer):
    """Step over the gradient, divided by the root of a running mean of its square.

    ``m = momentum * m + learning_rate * grad / sqrt(mean_square + epsilon)`` and ``p -= m``:
    epsilon stands inside the root, and the rate inside the momentum.

    Args:
        learning_rate: Step size: a float or an LRScheduler.
        rho: Decay of the mean; not negative.
        epsilon: Added to the mean; not negative.
        momentum: What is kept of the step before; not negative.
        centered: Divide by the root of the variance: take the square of a running mean of the
            gradient from the mean square.
        parameters: Tensors to train, or groups; see ``Optimizer``.
        weight_decay: Penalty; see ``Optimizer``.
        grad_clip: Limit on the gradients; see ``Optimizer``.
        name: Goes into the names of the accumulators in the state.

    Raises:
        ValueError: ``rho``, ``epsilon`` or ``momentum`` is negative.

    References:
        Hinton (2012), Neural networks for machine learning, lecture 6e; centered: Graves (2013),
        Generating sequences with recurrent neural networks, equations 38 to 41.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> rmsprop = paddle.optimizer.RMSProp(learning_rate=0.1, rho=0.75, parameters=[w])
        >>> (w * 2).sum().backward()
        >>> rmsprop.step()
        >>> round(w.item(), 6)
        0.8
    """

    accumulators = ("momentum", "mean_square", "mean_grad")

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        rho: float = 0.95,
        epsilon: float = 1.0e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        options = {"rho": rho, "epsilon": epsilon, "momentum": momentum, "centered": centered}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, options=options)
        self._op = get_op("rmsprop_")

    def check(self, group: Group) -> None:
        """See ``Optimizer``."""
        not_negative(group, "rho", "epsilon", "momentum")

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """See ``Optimizer``."""
        self.run(self._op, stretch, rate, *stretch.settings.options)
