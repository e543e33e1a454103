"""Rates that a user's function gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minipaddle.optimizer.lr.scheduler import LRScheduler


class LambdaDecay(LRScheduler):
    """``learning_rate * lr_lambda(epoch)``.

    Args:
        learning_rate: Rate that the factor is on.
        lr_lambda: Function from the number of an epoch to a factor.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: ``lr_lambda`` cannot be called.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.LambdaDecay(1.0, lambda epoch: 0.5**epoch)
        >>> scheduler.step()
        >>> scheduler()
        0.5
    """

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.lr_lambda = _checked_function(lr_lambda)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """``lr_lambda(epoch)`` times as much as in the epoch before.

    Args:
        learning_rate: Rate of epoch 0.
        lr_lambda: Function from the number of an epoch, from 1 on, to a factor.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: ``lr_lambda`` cannot be called.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.MultiplicativeDecay(1.0, lambda epoch: 0.5)
        >>> scheduler.step(2)
        >>> scheduler()
        0.25
    """

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.lr_lambda = _checked_function(lr_lambda)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        factors = (self.lr_lambda(epoch) for epoch in range(1, self.last_epoch + 1))
        return self.base_lr * math.prod(factors)


def _checked_function(function: Any) -> Any:
    if not callable(function):
        raise TypeError(f"lr_lambda must be a function of the epoch; got {function!r}")
    return function
