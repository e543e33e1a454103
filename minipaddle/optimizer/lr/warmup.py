"""LinearWarmup: a ramp in front of another rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minipaddle.optimizer.lr.scheduler import LRScheduler, checked_count, checked_rate

_INNER = "LinearWarmup_LR"


class LinearWarmup(LRScheduler):
    """From ``start_lr`` evenly up to ``end_lr`` in ``warmup_steps`` epochs, then another rate.

    Args:
        learning_rate: What follows: a number, or a scheduler, whose epoch 0 comes after the ramp.
        warmup_steps: Length of the ramp in epochs.
        start_lr: Rate of epoch 0.
        end_lr: Rate to which the ramp leads; larger than ``start_lr``.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: ``learning_rate`` is neither, or ``warmup_steps`` no int.
        ValueError: ``warmup_steps`` is not positive, or ``end_lr`` not larger than ``start_lr``.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.LinearWarmup(0.5, 4, 0.0, 1.0)
        >>> for _ in range(6):
        ...     print(scheduler(), end=" ")
        ...     scheduler.step()
        0.0 0.25 0.5 0.75 0.5 0.5
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(learning_rate, LRScheduler):
            checked_rate("learning_rate", learning_rate)
        self.learning_rate = learning_rate
        self.warmup_steps = checked_count("warmup_steps", warmup_steps)
        self.start_lr, self.end_lr = start_lr, end_lr
        if not end_lr > start_lr:
            raise ValueError(f"end_lr must be larger than start_lr {start_lr}; got {end_lr}")
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        done = self.last_epoch - self.warmup_steps
        if done < 0:
            part = self.last_epoch / self.warmup_steps
            return self.start_lr + (self.end_lr - self.start_lr) * part
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(done)
            return self.learning_rate()
        return self.learning_rate

    def nested(self) -> tuple[str, ...]:
        """See ``LRScheduler``."""
        return (_INNER,) if isinstance(self.learning_rate, LRScheduler) else ()

    def state_dict(self) -> dict[str, Any]:
        """See ``LRScheduler``; with the state of the scheduler that follows."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state[_INNER] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """See ``LRScheduler``."""
        if isinstance(self.learning_rate, LRScheduler):
            if _INNER not in state_dict:
                raise RuntimeError(f"LinearWarmup needs {_INNER}, the state of what follows")
            self.learning_rate.set_state_dict(state_dict[_INNER])
        super().set_state_dict(state_dict)

    set_dict = set_state_dict
