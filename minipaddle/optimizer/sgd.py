"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import get_op
from minipaddle.optimizer.optimizer import Optimizer, Stretch


class SGD(Optimizer):
    """``p -= learning_rate * grad``; of a sparse gradient only the rows that it has.

    Args:
        learning_rate: Step size, a float.
        parameters: Tensors to train, or groups; see ``Optimizer``.
        name: Unused; for Paddle's signature.

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
        self, learning_rate: float = 0.001, parameters: Any = None, *, name: str | None = None
    ) -> None:
        super().__init__(learning_rate, parameters, name)
        self._op, self._sparse_op = get_op("sgd_"), get_op("sgd_rows_")

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """See ``Optimizer``."""
        place, rows = stretch.slots[0].node.place, stretch.rows
        if rows is not None:
            param = stretch.slots[0].param.data
            self._sparse_op.kernels[place](param, rows.rows, rows.value, rate)
            return
        kernel = self._op.kernels[place]
        kernel([slot.param.data for slot in stretch.slots], stretch.grad, rate)
