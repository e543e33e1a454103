"""LRScheduler: a learning rate that changes from epoch to epoch."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import Any


class LRScheduler:
    """Base of schedulers: a subclass defines ``get_lr``, the rate of epoch ``last_epoch``.

    An epoch is what is between two calls of ``step``, which comes after the optimizer's: the caller
    decides whether that is a pass over the data or a batch. The constructor makes the first step,
    so that a new scheduler stands at epoch 0.

    Args:
        learning_rate: Rate to start from, a number that is not negative.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: ``learning_rate`` is no number.
        ValueError: ``learning_rate`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> class Halving(paddle.optimizer.lr.LRScheduler):
        ...     def get_lr(self):
        ...         return self.base_lr / 2**self.last_epoch
        >>> scheduler = Halving(1.0)
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> sgd = paddle.optimizer.SGD(scheduler, parameters=[w])
        >>> scheduler.step()
        >>> sgd.get_lr()
        0.5
    """

    def __init__(
        self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.base_lr = self.last_lr = checked_rate("learning_rate", learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self.keys = ["last_epoch", "last_lr"]
        self.step()

    def __call__(self) -> float:
        """The rate of the present epoch."""
        return self.last_lr

    def get_lr(self) -> float:
        """The rate of epoch ``last_epoch``; every subclass defines its own."""
        raise TypeError(f"{type(self).__name__} does not define get_lr()")

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch.

        Args:
            epoch: Go to this one instead.
        """
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = self.get_lr()
        self.report()

    def report(self) -> None:
        """Prints the rate, if that was asked for."""
        if self.verbose:
            name = type(self).__name__
            sys.stdout.write(
                f"Epoch {self.last_epoch}: {name} set learning rate to {self.last_lr}.\n"
            )

    def state_keys(self) -> None:
        """Sets ``keys``, the names of the attributes that ``state_dict`` has."""

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on from here: the attributes that ``keys`` names."""
        self.state_keys()
        return {key: vars(self)[key] for key in self.keys if key in vars(self)}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes over a state that ``state_dict`` gave.

        Raises:
            RuntimeError: Something is not there; nothing has changed then.
        """
        self.state_keys()
        lacking = [key for key in self.keys if key not in state_dict]
        if lacking:
            raise RuntimeError(
                f"{type(self).__name__} needs {', '.join(lacking)}; the state has only "
                f"{', '.join(state_dict) or 'no entries'}"
            )
        for key in self.keys:
            setattr(self, key, state_dict[key])
        unused = sorted(set(state_dict) - set(self.keys) - set(self.nested()))
        if unused:
            warnings.warn(
                f"{type(self).__name__} has no use for {', '.join(unused)}; the state may be that "
                "of another kind of scheduler",
                stacklevel=2,
            )

    def nested(self) -> tuple[str, ...]:
        """Names of the entries of the state that are of other schedulers."""
        return ()

    set_dict = set_state_dict


def checked_rate(name: str, rate: Any) -> float:
    """A rate, or a part of one, as a float.

    Raises:
        TypeError: It is no number.
        ValueError: It is negative.
    """
    if isinstance(rate, bool) or not isinstance(rate, (int, float)):
        raise TypeError(f"{name} must be a number; got {rate!r}")
    if not rate >= 0:
        raise ValueError(f"{name} must not be negative; got {rate}")
    return float(rate)


def checked_count(name: str, count: Any) -> int:
    """A number of epochs.

    Raises:
        TypeError: It is no int.
        ValueError: It is not positive.
    """
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"{name} must be an int; got {count!r}")
    if count <= 0:
        raise ValueError(f"{name} must be positive; got {count}")
    return count


def checked_between(name: str, value: float, low: float, high: float) -> float:
    """A number in the open interval from ``low`` to ``high``.

    Raises:
        ValueError: It is not in there.
    """
    if not low < value < high:
        raise ValueError(f"{name} must lie between {low} and {high}; got {value}")
    return value
