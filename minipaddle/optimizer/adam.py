"""Adam."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import get_op
from minipaddle.optimizer.optimizer import Optimizer, Stretch


class Adam(Optimizer):
    """Step over a running mean of the gradient, divided by the root of one of its square.

    Args:
        learning_rate: Step size, a float.
        beta1: Decay of the mean, in [0, 1).
        beta2: Decay of the mean square, in [0, 1).
        epsilon: Added to the root after its bias correction; not negative.
        parameters: Tensors to train, or groups; see ``Optimizer``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: A beta is outside [0, 1), or epsilon is negative.

    References:
        Kingma and Ba (2015), Adam: a method for stochastic optimization, algorithm 1.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> adam = paddle.optimizer.Adam(learning_rate=0.1, parameters=[w])
        >>> (w * 2).sum().backward()
        >>> adam.step()
        >>> round(w.item(), 6)
        0.9
    """

    accumulators = ("moment1", "moment2")

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        *,
        name: str | None = None,
    ) -> None:
        for argument, value in (("beta1", beta1), ("beta2", beta2)):
            if not 0 <= value < 1:
                raise ValueError(f"{argument} must lie in [0, 1); got {value}")
        if not epsilon >= 0:
            raise ValueError(f"epsilon must not be negative; got {epsilon}")
        super().__init__(learning_rate, parameters, name)
        self._op = get_op("adam_")
        self._settings = (float(beta1), float(beta2), float(epsilon))

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """See ``Optimizer``."""
        kernel = self._op.kernels[stretch.slots[0].node.place]
        params = [slot.param.data for slot in stretch.slots]
        kernel(params, stretch.grad, *stretch.state, rate, *self._settings, step)
