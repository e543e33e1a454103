"""Losses as layers."""

from __future__ import annotations

from minipaddle.imperative.functions import loss
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer


class MSELoss(Layer):
    """Squared error, averaged, summed or as it is.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.MSELoss()(paddle.to_tensor([1.0]), paddle.to_tensor([3.0])).item()
        4.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}")
        self.reduction = reduction

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """See ``nn.functional.mse_loss``."""
        return loss.mse_loss(input, label, self.reduction)
