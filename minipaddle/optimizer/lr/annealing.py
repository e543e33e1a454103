"""Rates that go up and down: along cosines and lines, once or in cycles."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from minipaddle.optimizer.lr.scheduler import LRScheduler, checked_count, checked_rate


def _cosine(start: float, end: float, part: float) -> float:
    """Half a cosine from ``start``, where ``part`` is 0, to ``end``, where it is 1."""
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2


def _line(start: float, end: float, part: float) -> float:
    return start + (end - start) * part


class LinearLR(LRScheduler):
    """The rate times a factor that changes evenly in ``total_steps`` epochs and then stays.

    Args:
        learning_rate: Rate that the factor is on.
        total_steps: Epochs in which the factor changes.
        start_factor: Factor of epoch 0, in (0, 1].
        end_factor: Factor at the end, in [0, 1].
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: ``total_steps`` is no int.
        ValueError: ``total_steps`` is not positive, or a factor out of range.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.LinearLR(1.0, total_steps=2, start_factor=0.5)
        >>> for _ in range(4):
        ...     print(scheduler(), end=" ")
        ...     scheduler.step()
        0.5 0.75 1.0 1.0
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(f"start_factor must lie in (0, 1]; got {start_factor}")
        if not 0 <= end_factor <= 1:
            raise ValueError(f"end_factor must lie in [0, 1]; got {end_factor}")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_steps = checked_count("total_steps", total_steps)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        part = min(self.last_epoch / self.total_steps, 1.0)
        return self.base_lr * _line(self.start_factor, self.end_factor, part)


class CosineAnnealingDecay(LRScheduler):
    """Along a cosine from ``learning_rate`` to ``eta_min`` in ``T_max`` epochs, and back again.

    Args:
        learning_rate: Rate of epoch 0.
        T_max: Epochs down, and as many up.
        eta_min: Smallest rate.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: ``T_max`` is no int.
        ValueError: ``T_max`` is not positive.

    References:
        Loshchilov and Hutter (2017), SGDR: stochastic gradient descent with warm restarts,
        equation 5, without the restarts.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.CosineAnnealingDecay(1.0, T_max=2)
        >>> for _ in range(3):
        ...     print(round(scheduler(), 4), end=" ")
        ...     scheduler.step()
        1.0 0.5 0.0
    """

    def __init__(
        self,
        learning_rate: float,
        T_max: int,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.T_max = checked_count("T_max", T_max)
        self.eta_min = float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        return _cosine(self.base_lr, self.eta_min, self.last_epoch / self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Along a cosine from ``learning_rate`` to ``eta_min``, time and again from the top.

    Args:
        learning_rate: Rate at the top.
        T_0: Epochs of the first descent.
        T_mult: How many times as long each descent is as the one before.
        eta_min: Smallest rate, which is not quite reached.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: ``T_0`` or ``T_mult`` is no int.
        ValueError: One of them is not positive.

    References:
        Loshchilov and Hutter (2017), SGDR: stochastic gradient descent with warm restarts,
        equation 5.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.CosineAnnealingWarmRestarts(1.0, T_0=1, T_mult=2)
        >>> for _ in range(5):
        ...     print(round(scheduler(), 4), end=" ")
        ...     scheduler.step()
        1.0 1.0 0.5 1.0 0.8536
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.T_0, self.T_mult = checked_count("T_0", T_0), checked_count("T_mult", T_mult)
        self.eta_min = eta_min
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        return self._rate(self.last_epoch)

    def _rate(self, epoch: float) -> float:
        length = self.T_0
        if self.T_mult == 1:
            epoch %= length
        while epoch >= length:
            epoch -= length
            length *= self.T_mult
        return _cosine(self.base_lr, self.eta_min, epoch / length)

    def step(self, epoch: float | None = None) -> None:
        """Goes on to the next epoch.

        Args:
            epoch: Go to this one instead, which may be a part of the way to the next.

        Raises:
            ValueError: ``epoch`` is negative.
        """
        if epoch is None or epoch == math.floor(epoch) >= 0:
            super().step(None if epoch is None else int(epoch))
            return
        if epoch < 0:
            raise ValueError(f"epoch must not be negative; got {epoch}")
        self.last_epoch, self.last_lr = math.floor(epoch), self._rate(epoch)
        self.report()


class OneCycleLR(LRScheduler):
    """Up to ``max_learning_rate`` and down to almost nothing, once.

    Args:
        max_learning_rate: Rate at the top.
        total_steps: Epochs of the whole.
        divide_factor: The first rate is ``max_learning_rate`` divided by this.
        end_learning_rate: The last rate.
        phase_pct: Part of the epochs in which the rate rises.
        anneal_strategy: "cos" or "linear": how it changes.
        three_phase: Go down to the first rate in as many epochs as up, and from there to the last.
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: A rate is no number, ``total_steps`` no int, or ``phase_pct`` no float.
        ValueError: One of these is out of range, or there is a step after ``total_steps``.

    References:
        Smith and Topin (2018), Super-convergence: very fast training of neural networks using large
        learning rates.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.OneCycleLR(
        ...     1.0, 6, divide_factor=2.0, end_learning_rate=0.25, phase_pct=0.5,
        ...     anneal_strategy="linear")
        >>> for _ in range(6):
        ...     print(scheduler(), end=" ")
        ...     scheduler.step()
        0.5 0.75 1.0 0.75 0.5 0.25
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        top = checked_rate("max_learning_rate", max_learning_rate)
        end = checked_rate("end_learning_rate", end_learning_rate)
        self.total_steps = checked_count("total_steps", total_steps)
        if not isinstance(phase_pct, float):
            raise TypeError(f"phase_pct must be a float; got {phase_pct!r}")
        if not 0 <= phase_pct <= 1 or (three_phase and phase_pct >= 0.5):
            limit = "[0, 0.5) with three_phase" if three_phase else "[0, 1]"
            raise ValueError(f"phase_pct must lie in {limit}; got {phase_pct}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be 'cos' or 'linear'; got {anneal_strategy!r}")
        self._between = _cosine if anneal_strategy == "cos" else _line
        first, rise, last = top / divide_factor, phase_pct * total_steps - 1, total_steps - 1
        points = [(0.0, first), (rise, top), (float(last), end)]
        if three_phase:
            points.insert(2, (2 * rise, first))
        self._phases = list(pairwise(points))
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        at = self.last_epoch
        if at > self.total_steps:
            raise ValueError(f"the cycle is over after {self.total_steps} steps; got step {at}")
        phase = next((phase for phase in self._phases if at <= phase[1][0]), self._phases[-1])
        (start, first), (end, last) = phase
        return self._between(first, last, (at - start) / (end - start) if end != start else 1.0)


class CyclicLR(LRScheduler):
    """Up and down between two rates along lines, in cycles that may grow flatter.

    Args:
        base_learning_rate: Lower rate.
        max_learning_rate: Upper rate of the first cycle.
        step_size_up: Epochs up.
        step_size_down: Epochs down; as many by default.
        mode: "triangular"; "triangular2", which halves the height from cycle to cycle; or
            "exp_range", which multiplies it by ``exp_gamma`` from epoch to epoch.
        exp_gamma: Factor for "exp_range".
        scale_fn: Factor on the height, in place of a mode.
        scale_mode: Whether ``scale_fn`` takes the number of the "cycle", from 1 on, or that of the
            epoch, "iterations".
        last_epoch: The epoch before the first one.
        verbose: Print the rate at every step.

    Raises:
        TypeError: A rate or ``exp_gamma`` is no number, or a size no int.
        ValueError: A size is not positive, or a mode not known.

    References:
        Smith (2017), Cyclical learning rates for training neural networks.

    Example:
        >>> import minipaddle as paddle
        >>> scheduler = paddle.optimizer.lr.CyclicLR(0.0, 1.0, step_size_up=2, mode="triangular2")
        >>> for _ in range(7):
        ...     print(scheduler(), end=" ")
        ...     scheduler.step()
        0.0 0.5 1.0 0.5 0.0 0.25 0.5
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.max_lr = checked_rate("max_learning_rate", max_learning_rate)
        self.amplitude = self.max_lr - checked_rate("base_learning_rate", base_learning_rate)
        up = checked_count("step_size_up", step_size_up)
        down = up if step_size_down is None else checked_count("step_size_down", step_size_down)
        self.cycle_size, self.step_up_pct = up + down, up / (up + down)
        if isinstance(exp_gamma, bool) or not isinstance(exp_gamma, (int, float)):
            raise TypeError(f"exp_gamma must be a number; got {exp_gamma!r}")
        modes: dict[str, tuple[Callable[[float], float], str]] = {
            "triangular": (lambda cycle: 1.0, "cycle"),
            "triangular2": (lambda cycle: 0.5 ** (cycle - 1), "cycle"),
            "exp_range": (lambda epoch: float(exp_gamma**epoch), "iterations"),
        }
        if scale_fn is None and mode not in modes:
            raise ValueError(f"mode must be one of {', '.join(modes)}; got {mode!r}")
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(f"scale_mode must be 'cycle' or 'iterations'; got {scale_mode!r}")
        own = (scale_fn, scale_mode) if scale_fn is not None else modes[mode]
        self.scale_fn, self.scale_mode = own
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See ``LRScheduler``."""
        whole, into = divmod(self.last_epoch, self.cycle_size)
        part, up = into / self.cycle_size, self.step_up_pct
        height = part / up if part <= up else (1 - part) / (1 - up)
        scale = self.scale_fn(1 + whole if self.scale_mode == "cycle" else self.last_epoch)
        return self.base_lr + self.amplitude * height * scale
