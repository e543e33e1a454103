"""Gradient descent with momentum."""

from __future__ import annotations

from typing import Any

from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.clip import ClipGradBase
from minipaddle.ops.op import get_op
from minipaddle.optimizer.layout import Stretch
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.settings import Group, Settings, settings_of


class Momentum(Optimizer):
    """``v = momentum * v + grad`` and ``p -= learning_rate * v``.

    Args:
        learning_rate: Step size: a float or an LRScheduler.
        momentum: What is kept of the velocity.
        parameters: Tensors to train, or groups; see ``Optimizer``.
        use_nesterov: Step along ``grad + momentum * v``, the velocity one step ahead.
        weight_decay: Penalty; see ``Optimizer``.
        grad_clip: Limit on the gradients; see ``Optimizer``.
        multi_precision: Keep the values of half-precision parameters in float32 too, and update
            those.
        rescale_grad: Factor on the clipped gradient.
        use_multi_tensor: Unused: parameters are updated in long stretches anyway.
        name: Goes into the names of the accumulators in the state.

    References:
        Sutskever et al. (2013), On the importance of initialization and momentum in deep learning.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> momentum = paddle.optimizer.Momentum(0.25, momentum=0.5, parameters=[w])
        >>> for _ in range(2):
        ...     (w * 2).sum().backward()
        ...     momentum.step()
        ...     momentum.clear_grad()
        ...     print(w.item())
        0.5
        -0.25
    """

    accumulators = ("velocity",)

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        momentum: float = 0.9,
        parameters: Any = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        options = {
            "momentum": momentum, "use_nesterov": use_nesterov, "rescale_grad": rescale_grad,
        }  # fmt: skip
        super().__init__(
            learning_rate, parameters, weight_decay, grad_clip, name,
            options=options, multi_precision=multi_precision,
        )  # fmt: skip
        self._op = get_op("momentum_")

    def settings(self, param: Tensor, group: Group) -> Settings:
        """See ``Optimizer``."""
        momentum, use_nesterov, rescale = group.options.values()
        options = float(momentum), bool(use_nesterov)
        return settings_of(param, group, options, group.decay, scale=float(rescale))

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """See ``Optimizer``."""
        self.run(self._op, stretch, rate, *stretch.settings.options)
