"""ReduceOnPlateau: a rate that falls when a measure gets no better."""

from __future__ import annotations

from typing import Any

from minipaddle.optimizer.lr.scheduler import LRScheduler, checked_rate


class ReduceOnPlateau(LRScheduler):
    """Multiplies the rate by ``factor`` when a measure was no better for ``patience`` epochs.

    Args:
        learning_rate: Rate to start from.
        mode: "min" if small measures are good, "max" if large ones are.
        factor: Factor on the rate, below 1.
        patience: As many epochs without a better measure pass; the next one lets the rate fall.
        threshold: How much better counts.
        threshold_mode: "rel" if that is a part of the best measure, "abs" if it is a difference.
        cooldown: For as many epochs after a fall nothing is counted.
        min_lr: The rate falls no further.
        epsilon: A fall by no more than this is left out.
        verbose: Print the rate when it falls.

    Raises:
        TypeError: ``learning_rate`` is no number.
        ValueError: A mode is not known, or ``factor`` is not below 1.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.ReduceOnPlateau(1.0, factor=0.5, patience=1)
        >>> for loss in (3.0, 2.0, 2.0, 2.0, 2.0):
        ...     scheduler.step(loss)
        ...     print(scheduler(), end=" ")
        1.0 1.0 1.0 0.5 0.5
    """

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        self.mode, self.threshold_mode = mode.lower(), threshold_mode.lower()
        if self.mode not in ("min", "max"):
            raise ValueError(f"mode must be 'min' or 'max'; got {mode!r}")
        if self.threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold_mode must be 'rel' or 'abs'; got {threshold_mode!r}")
        if not factor < 1:
            raise ValueError(f"factor must be below 1; got {factor}")
        self.factor, self.patience, self.threshold = factor, patience, threshold
        self.cooldown, self.min_lr, self.epsilon = cooldown, min_lr, epsilon
        self.cooldown_counter = self.num_bad_epochs = self.last_epoch = 0
        self.best: float | None = None
        self.base_lr = self.last_lr = checked_rate("learning_rate", learning_rate)
        self.verbose = verbose

    def state_keys(self) -> None:
        """See ``LRScheduler``."""
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Goes on to the next epoch.

        Args:
            metrics: The measure: a number, or an array or tensor of one element.
            epoch: Go to this one instead.

        Raises:
            TypeError: ``metrics`` is something else.
            ValueError: It has several elements.
        """
        measure = _number(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(measure, self.best):
            self.best, self.num_bad_epochs = measure, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            rate = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - rate > self.epsilon:
                self.last_lr = rate
                self.report()

    def _is_better(self, measure: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return measure < best - margin if self.mode == "min" else measure > best + margin


def _number(metrics: Any) -> float:
    if getattr(metrics, "size", 1) != 1:
        raise ValueError(
            f"metrics must have one element, such as the mean of losses; got {metrics.size}"
        )
    value = metrics.item() if hasattr(metrics, "item") else metrics
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"metrics must be a number or a tensor of one; got {metrics!r}")
    return float(value)
