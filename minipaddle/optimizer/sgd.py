"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from minipaddle.nn.clip import ClipGradBase
from minipaddle.ops.op import get_op
from minipaddle.optimizer.layout import Stretch
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.optimizer import Optimizer


class SGD(Optimizer):
    """``p -= learning_rate * grad``; of a sparse gradient only the rows that it has.

    Args:
        learning_rate: Step size: a float or an LRScheduler.
        parameters: Tensors to train, or groups; see ``Optimizer``.
        weight_decay: Penalty; see ``Optimizer``.
        grad_clip: Limit on the gradients; see ``Optimizer``.
        multi_precision: Keep the values of half-precision parameters in float32 too, and update
            those.
        name: Goes into the names of the accumulators in the state.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> sgd = paddle.optimizer.SGD(learning_rate=0.1, parameters=[w])
        >>> (w * 2).sum().backward()
        >>> sgd.step()
        >>> round(w.item(), 6)
        0.8
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate, parameters, weight_decay, grad_clip, name,
            multi_precision=multi_precision,
        )  # fmt: skip
        self._op, self._sparse_op = get_op("sgd_"), get_op("sgd_rows_")

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """See ``Optimizer``."""
        rows = stretch.sparse
        if rows is None:
            self.run(self._op, stretch, rate)
            return
        kernel, param = self._sparse_op.kernels[stretch.place], stretch.slots[0].param.data
        kernel(param, rows.rows, rows.value, rate, *stretch.treatment[:3])
