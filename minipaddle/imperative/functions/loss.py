"""Losses, as users call them."""

from __future__ import annotations

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.tensor import Tensor


@bound
def mse_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """Squared error ``(input - label) ** 2``, averaged, summed or as it is; shapes broadcast.

    Args:
        input: Float tensor.
        label: Tensor of input's dtype.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        TypeError: The dtypes differ or are not float.
        ValueError: The shapes do not broadcast, or ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.functional.mse_loss(x, y).item()
        2.0
    """
