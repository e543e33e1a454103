"""Rates that follow from the number of the epoch by one formula."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from minipaddle.optimizer.lr.scheduler import LRScheduler, checked_between, checked_count


class NoamDecay(LRScheduler):
    """Up for ``warmup_steps`` epochs, then down with the root of the epoch's number.

    The rate is ``learning_rate * d_model**-0.5 * min(epoch**-0.5, epoch * warmup_steps**-1.5)``.

    Args:
        d_model: Width of the model.
        warmup_steps: Epochs in which the rate rises.
        learning_rate: Factor on the whole.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        ValueError: ``d_model`` or ``warmup_steps`` is not positive.

    References:
        Vaswani et al. (2017), Attention is all you need, equation 3.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.NoamDecay(d_model=100, warmup_steps=4)
        >>> for _ in range(4):
        ...     scheduler.step()
        >>> scheduler()
        0.05
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int,
        learning_rate: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        for name, value in (("d_model", d_model), ("warmup_steps", warmup_steps)):
            checked_between(name, value, 0, math.inf)
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        rising = self.warmup_steps**-1.5 * self.last_epoch
        falling = 1.0 if self.last_epoch == 0 else self.last_epoch**-0.5
        return float(self.base_lr * self.d_model**-0.5 * min(falling, rising))


class PiecewiseDecay(LRScheduler):
    """``values[0]`` before epoch ``boundaries[0]``, ``values[1]`` from there on, and so on.

    Args:
        boundaries: Epochs, ascending.
        values: Rates, one more than there are boundaries.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        ValueError: There is no boundary, or there are not enough values.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.PiecewiseDecay([1, 3], [1.0, 0.5, 0.1])
        >>> for _ in range(4):
        ...     print(scheduler(), end=" ")
        ...     scheduler.step()
        1.0 0.5 0.5 0.1
    """

    def __init__(
        self,
        boundaries: Sequence[int],
        values: Sequence[float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not boundaries:
            raise ValueError("boundaries must not be empty")
        if len(values) <= len(boundaries):
            raise ValueError(
                f"values must be {len(boundaries) + 1}, one more than there are boundaries; got "
                f"{len(values)}"
            )
        self.boundaries, self.values = boundaries, values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        before = (i for i, end in enumerate(self.boundaries) if self.last_epoch < end)
        return self.values[next(before, -1)]


class NaturalExpDecay(LRScheduler):
    """``learning_rate * exp(-gamma * epoch)``.

    Args:
        learning_rate: Rate of epoch 0.
        gamma: How fast it falls; positive.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        ValueError: ``gamma`` is not positive.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.NaturalExpDecay(1.0, gamma=0.5)
        >>> scheduler.step()
        >>> round(scheduler(), 4)
        0.6065
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = checked_between("gamma", gamma, 0, math.inf)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """``learning_rate / (1 + gamma * epoch)``.

    Args:
        learning_rate: Rate of epoch 0.
        gamma: How fast it falls.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.InverseTimeDecay(1.0, gamma=1.0)
        >>> scheduler.step()
        >>> scheduler()
        0.5
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """From ``learning_rate`` down to ``end_lr`` in ``decay_steps`` epochs, along a power.

    Args:
        learning_rate: Rate of epoch 0.
        decay_steps: Epochs in which it falls.
        end_lr: Rate to which it falls.
        power: 1 for a line; larger ones fall faster at first.
        cycle: Afterwards, rise to a point of a slower descent that ends one ``decay_steps`` later,
            and so on; otherwise stay at ``end_lr``.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: ``decay_steps`` is no int.
        ValueError: ``decay_steps`` or ``power`` is not positive.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.PolynomialDecay(1.0, decay_steps=4, end_lr=0.0)
        >>> scheduler.step()
        >>> scheduler()
        0.75
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.decay_steps = checked_count("decay_steps", decay_steps)
        self.power = checked_between("power", power, 0, math.inf)
        self.end_lr, self.cycle = end_lr, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        length = self.decay_steps
        if self.cycle:
            length *= max(1, math.ceil(self.last_epoch / self.decay_steps))
        left = 1 - min(self.last_epoch, length) / length
        return float((self.base_lr - self.end_lr) * left**self.power + self.end_lr)


class ExponentialDecay(LRScheduler):
    """``learning_rate * gamma ** epoch``.

    Args:
        learning_rate: Rate of epoch 0.
        gamma: Factor from one epoch to the next, between 0 and 1.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        ValueError: ``gamma`` is not between 0 and 1.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.ExponentialDecay(1.0, gamma=0.5)
        >>> scheduler.step(3)
        >>> scheduler()
        0.125
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = checked_between("gamma", gamma, 0, 1)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        return float(self.base_lr * self.gamma**self.last_epoch)


class MultiStepDecay(LRScheduler):
    """``gamma`` times as much from each milestone on.

    Args:
        learning_rate: Rate of epoch 0.
        milestones: Epochs at which the rate changes, ascending.
        gamma: Factor, below 1.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: ``milestones`` is no list or tuple.
        ValueError: They do not ascend, or ``gamma`` is not below 1.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.MultiStepDecay(1.0, milestones=[1, 3], gamma=0.5)
        >>> for _ in range(4):
        ...     print(scheduler(), end=" ")
        ...     scheduler.step()
        1.0 0.5 0.5 0.25
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(milestones, (list, tuple)):
            kind = type(milestones).__name__
            raise TypeError(f"milestones must be a list or tuple of epochs; got {kind}")
        if any(a >= b for a, b in pairwise(milestones)):
            raise ValueError(f"milestones must ascend; got {milestones}")
        self.milestones = milestones
        self.gamma = checked_between("gamma", gamma, -math.inf, 1)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        return float(self.base_lr * self.gamma ** bisect_right(self.milestones, self.last_epoch))


class StepDecay(LRScheduler):
    """``gamma`` times as much every ``step_size`` epochs.

    Args:
        learning_rate: Rate of epoch 0.
        step_size: Epochs between two changes.
        gamma: Factor, below 1.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: ``step_size`` is no int.
        ValueError: ``step_size`` is not positive, or ``gamma`` not below 1.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.StepDecay(1.0, step_size=2, gamma=0.5)
        >>> for _ in range(4):
        ...     print(scheduler(), end=" ")
        ...     scheduler.step()
        1.0 1.0 0.5 0.5
    """

    def __init__(
        self,
        learning_rate: float,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.step_size = checked_count("step_size", step_size)
        self.gamma = checked_between("gamma", gamma, -math.inf, 1)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        return float(self.base_lr * self.gamma ** (self.last_epoch // self.step_size))
