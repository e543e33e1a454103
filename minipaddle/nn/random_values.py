"""First values that are drawn: even, normal, and both with a spread that keeps signals alive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from minipaddle.device.backend import current_place
from minipaddle.imperative.functions import random
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.nn.first_values import Initializer, fans


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights are spread wider before a nonlinearity.

    Args:
        nonlinearity: ``"linear"``, ``"conv1d"`` to ``"conv3d"``, also with ``"_transpose"``,
            ``"sigmoid"``, ``"tanh"``, ``"relu"``, ``"leaky_relu"`` or ``"selu"``.
        param: The slope of leaky_relu below 0; 0.01 by default.

    Raises:
        ValueError: ``nonlinearity`` is none of these.

    Example:
        >>> import minipaddle as paddle
        >>> round(paddle.nn.initializer.calculate_gain("tanh"), 3)
        1.667
    """
    slope = 0.01 if param is None else float(param)
    convolutions = [f"conv{n}d{end}" for n in (1, 2, 3) for end in ("", "_transpose")]
    convolutions += [f"conv_transpose{n}d" for n in (1, 2, 3)]
    gains = {
        **dict.fromkeys(["linear", "sigmoid", *convolutions], 1.0),
        "tanh": 5.0 / 3.0,
        "relu": math.sqrt(2.0),
        "leaky_relu": math.sqrt(2.0 / (1.0 + slope**2)),
        "selu": 0.75,
    }
    if nonlinearity not in gains:
        raise ValueError(f"nonlinearity must be one of {sorted(gains)}; got {nonlinearity!r}")
    return gains[nonlinearity]


@dataclass
class Uniform(Initializer):
    """Spread evenly over [low, high).

    Args:
        low: Lower end.
        high: Upper end.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``low`` is larger than ``high``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.initializer.Uniform(0.0, 1.0)([2, 3], "float32").shape
        [2, 3]
    """

    low: float = -1.0
    high: float = 1.0
    name: str | None = None

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"low must not be larger than high; got {self.low} and {self.high}")

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        return random.uniform(shape, dtype, self.low, self.high)


@dataclass
class Normal(Initializer):
    """Normally distributed.

    Args:
        mean: Mean.
        std: Standard deviation, not negative.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.initializer.Normal(3.0, 0.0)([2], "float32").tolist()
        [3.0, 3.0]
    """

    mean: float = 0.0
    std: float = 1.0
    name: str | None = None

    def __post_init__(self) -> None:
        if not self.std >= 0:
            raise ValueError(f"std must not be negative; got {self.std}")

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        return random.draw_normal(current_place(), shape, dtype, self.mean, self.std)


def _below(x: float) -> float:
    """The share of the standard normal distribution that lies below ``x``."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


@dataclass
class TruncatedNormal(Initializer):
    """Normally distributed, without what lies outside of [a, b].

    Args:
        mean: Mean of the distribution before it is cut.
        std: Its standard deviation, larger than 0.
        a: Smallest value.
        b: Largest value.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``std`` is not positive, or ``a`` not smaller than ``b``.

    Example:
        >>> import minipaddle as paddle
        >>> values = paddle.nn.initializer.TruncatedNormal(a=0.0, b=0.5)([9], "float32").numpy()
        >>> bool((values >= 0.0).all() and (values <= 0.5).all())
        True
    """

    mean: float = 0.0
    std: float = 1.0
    a: float = -2.0
    b: float = 2.0
    name: str | None = None

    def __post_init__(self) -> None:
        if not self.std > 0:
            raise ValueError(f"std must be larger than 0; got {self.std}")
        if not self.a < self.b:
            raise ValueError(f"a must be smaller than b; got {self.a} and {self.b}")

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        count, chunks, found = math.prod(shape), [np.empty(0)], 0
        while found < count:
            chunks.append(self._accepted(max(64, 2 * (count - found))))
            found += chunks[-1].size
        cut = np.concatenate(chunks)[:count] * self.std + self.mean
        return to_tensor(np.clip(cut, self.a, self.b).reshape(shape), dtype)

    def _accepted(self, tries: int) -> np.ndarray:
        """Of so many standardized numbers those that are kept.

        They are drawn from the normal distribution itself if much of it lies inside, else evenly
        over the part of [a, b] that matters and kept with their relative probability.
        """
        low, high = ((end - self.mean) / self.std for end in (self.a, self.b))
        place, share = current_place(), _below(high) - _below(low)
        if share > 0.2:
            drawn = random.draw_normal(place, [tries], "float64", 0.0, 1.0).numpy()
            return drawn[(drawn >= low) & (drawn <= high)]
        peak = min(max(low, 0.0), high)  # where [a, b] is most probable
        reach = 40.0 / max(1.0, abs(peak))  # beyond it the probability is below exp(-40) of that
        low, high = max(low, peak - reach), min(high, peak + reach)
        drawn = random.draw_uniform(place, [tries], "float64", low, high).numpy()
        chance = random.draw_uniform(place, [tries], "float64", 0.0, 1.0).numpy()
        return drawn[chance < np.exp((peak**2 - drawn**2) / 2)]


@dataclass
class _Xavier(Initializer):
    fan_in: float | None = None
    fan_out: float | None = None
    gain: float = 1.0
    name: str | None = None

    def std(self, shape: list[int]) -> float:
        """Standard deviation for a parameter of ``shape``."""
        found_in, found_out = fans(shape)
        total = (found_in if self.fan_in is None else self.fan_in) + (
            found_out if self.fan_out is None else self.fan_out
        )
        return self.gain * math.sqrt(2.0 / max(1, total))


class XavierUniform(_Xavier):
    """Even over ±gain * sqrt(6 / (fan_in + fan_out)), which keeps the spread of values both ways.

    Args:
        fan_in: Inputs of one unit; by default the first axis of a matrix.
        fan_out: Outputs of one unit; by default the second axis.
        gain: Factor on the limit, for the function that follows.
        name: Unused; for Paddle's signature.

    References:
        Glorot and Bengio (2010), Understanding the difficulty of training deep feedforward neural
        networks, equation 16.

    Example:
        >>> import minipaddle as paddle
        >>> weight = paddle.nn.initializer.XavierUniform()([2, 4], "float32")
        >>> bool(abs(weight.numpy()).max() <= 1.0)
        True
    """

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        limit = math.sqrt(3.0) * self.std(shape)
        return random.uniform(shape, dtype, -limit, limit)


class XavierNormal(_Xavier):
    """Normally distributed with deviation gain * sqrt(2 / (fan_in + fan_out)).

    Args:
        fan_in: Inputs of one unit; by default the first axis of a matrix.
        fan_out: Outputs of one unit; by default the second axis.
        gain: Factor on the deviation, for the function that follows.
        name: Unused; for Paddle's signature.

    References:
        Glorot and Bengio (2010), equation 12; see ``XavierUniform``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.initializer.XavierNormal()([2, 4], "float32").shape
        [2, 4]
    """

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        return random.draw_normal(current_place(), shape, dtype, 0.0, self.std(shape))


@dataclass
class _Kaiming(Initializer):
    fan_in: float | None = None
    negative_slope: float = 0.0
    nonlinearity: str = "relu"
    mode: str = "fan_in"

    def __post_init__(self) -> None:
        if self.mode not in ("fan_in", "fan_out"):
            raise ValueError(f"mode must be 'fan_in' or 'fan_out'; got {self.mode!r}")
        if self.mode == "fan_out" and self.fan_in is not None:
            raise ValueError(f"fan_in={self.fan_in} has no effect with mode='fan_out'; leave it")
        calculate_gain(self.nonlinearity, self.negative_slope)

    def std(self, shape: list[int]) -> float:
        """Standard deviation for a parameter of ``shape``."""
        found_in, found_out = fans(shape)
        found = found_out if self.mode == "fan_out" else found_in
        fan = found if self.fan_in is None else self.fan_in
        return calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(max(1, fan))


class KaimingUniform(_Kaiming):
    """Even over ±gain * sqrt(3 / fan_in), which keeps the spread of values through rectifiers.

    Args:
        fan_in: Inputs of one unit; by default the first axis of a matrix.
        negative_slope: That of leaky_relu.
        nonlinearity: What follows; see ``calculate_gain``.
        mode: ``"fan_out"`` takes the outputs of one unit instead.

    Raises:
        ValueError: ``mode`` or ``nonlinearity`` is unknown, or ``fan_in`` given for fan_out.

    References:
        He, Zhang, Ren and Sun (2015), Delving deep into rectifiers, equation 10.

    Example:
        >>> import minipaddle as paddle
        >>> weight = paddle.nn.initializer.KaimingUniform()([6, 4], "float32")
        >>> bool(abs(weight.numpy()).max() <= 1.0)
        True
    """

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        limit = math.sqrt(3.0) * self.std(shape)
        return random.uniform(shape, dtype, -limit, limit)


class KaimingNormal(_Kaiming):
    """Normally distributed with deviation gain / sqrt(fan_in).

    Args:
        fan_in: Inputs of one unit; by default the first axis of a matrix.
        negative_slope: That of leaky_relu.
        nonlinearity: What follows; see ``calculate_gain``.
        mode: ``"fan_out"`` takes the outputs of one unit instead.

    Raises:
        ValueError: ``mode`` or ``nonlinearity`` is unknown, or ``fan_in`` given for fan_out.

    References:
        He, Zhang, Ren and Sun (2015); see ``KaimingUniform``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.initializer.KaimingNormal()([6, 4], "float32").shape
        [6, 4]
    """

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        return random.draw_normal(current_place(), shape, dtype, 0.0, self.std(shape))
