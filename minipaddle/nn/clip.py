"""Limits on gradients: the ``grad_clip`` of an optimizer, and functions that clip in place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from minipaddle.imperative.autograd import no_grad
from minipaddle.imperative.functions.math import clip, scale
from minipaddle.imperative.functions.statistics import norm, squared_norm
from minipaddle.imperative.selected_rows import SelectedRows
from minipaddle.imperative.tensor import Tensor, to_tensor

Pairs = list[tuple[Tensor, Tensor]]


class ClipGradBase:
    """Base of what limits gradients; a subclass sets ``limits``, or defines ``factors``.

    An optimizer works both into its update, so that ``grad`` itself stays as it is.

    Attributes:
        limits: The smallest and the largest value that an element keeps.
        measures: Whether ``factors`` is to be asked.
        each: Whether every gradient has a factor of its own.
    """

    limits: tuple[float, float] = (-math.inf, math.inf)
    measures = False
    each = False

    def factors(self, squares: Sequence[float]) -> list[float]:
        """What gradients are multiplied by, from the sums of their squares."""
        return [1.0] * len(squares)

    def __call__(self, params_grads: Iterable[tuple[Tensor, Any]]) -> Pairs:
        """Pairs of parameters with their clipped gradients, which are new tensors.

        Args:
            params_grads: Pairs of parameters with gradients. Those without a gradient are left
                out; the gradient of one with ``need_clip = False`` is left as it is.
        """
        pairs = [(p, _dense(g)) for p, g in params_grads if g is not None]
        chosen = [g for p, g in pairs if getattr(p, "need_clip", True)]
        with no_grad():
            squares = [squared_norm(g).item() for g in chosen] if self.measures else []
            factors = iter(self.factors(squares) if self.measures else [1.0] * len(chosen))
            return [
                (p, scale(clip(g, *self.limits), next(factors)))
                if getattr(p, "need_clip", True)
                else (p, g)
                for p, g in pairs
            ]


class ClipGradByValue(ClipGradBase):
    """Brings every element of a gradient into [min, max].

    Args:
        max: Largest value.
        min: Smallest value; ``-max`` by default.

    Raises:
        ValueError: ``max`` is smaller than ``min``, or not positive where there is no ``min``.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([0.0, 0.0], stop_gradient=False)
        >>> clip = paddle.nn.ClipGradByValue(1.0)
        >>> sgd = paddle.optimizer.SGD(1.0, parameters=[w], grad_clip=clip)
        >>> (w * paddle.to_tensor([5.0, -0.5])).sum().backward()
        >>> sgd.step()
        >>> w.tolist()
        [-1.0, 0.5]
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None and not max > 0:
            raise ValueError(f"max must be positive where no min is given; got {max}")
        self.max = float(max)
        self.min = -self.max if min is None else float(min)
        if not self.min <= self.max:
            raise ValueError(f"min must not be larger than max; got min={min}, max={max}")
        self.limits = self.min, self.max

    def __repr__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"


class ClipGradByNorm(ClipGradBase):
    """Scales each gradient whose norm is larger than ``clip_norm`` down to that norm.

    Args:
        clip_norm: Largest Euclidean norm of one gradient.

    Raises:
        ValueError: ``clip_norm`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([0.0, 0.0], stop_gradient=False)
        >>> clip = paddle.nn.ClipGradByNorm(5.0)
        >>> sgd = paddle.optimizer.SGD(1.0, parameters=[w], grad_clip=clip)
        >>> (w * paddle.to_tensor([6.0, 8.0])).sum().backward()
        >>> sgd.step()
        >>> w.tolist()
        [-3.0, -4.0]
    """

    measures = True
    each = True

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = _checked_norm("clip_norm", clip_norm)

    def factors(self, squares: Sequence[float]) -> list[float]:
        """See ``ClipGradBase``."""
        return [_factor(self.clip_norm, math.sqrt(square)) for square in squares]

    def __repr__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"


class ClipGradByGlobalNorm(ClipGradBase):
    """Scales all gradients together if they, as one vector, have a norm larger than ``clip_norm``.

    In an optimizer with groups of parameters each group is one vector.

    Args:
        clip_norm: Largest Euclidean norm of that vector.
        group_name: Unused; for Paddle's signature.
        auto_skip_clip: Unused: gradients whose norm is not larger stay as they are anyway.

    Raises:
        ValueError: ``clip_norm`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> a, b = (paddle.to_tensor([0.0], stop_gradient=False) for _ in range(2))
        >>> clip = paddle.nn.ClipGradByGlobalNorm(5.0)
        >>> sgd = paddle.optimizer.SGD(1.0, parameters=[a, b], grad_clip=clip)
        >>> (a * 6 + b * 8).sum().backward()
        >>> sgd.step()
        >>> a.item(), b.item()
        (-3.0, -4.0)
    """

    measures = True

    def __init__(
        self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False
    ) -> None:
        self.clip_norm = _checked_norm("clip_norm", clip_norm)
        self.group_name = group_name
        self.auto_skip_clip = auto_skip_clip

    def factors(self, squares: Sequence[float]) -> list[float]:
        """See ``ClipGradBase``."""
        return [_factor(self.clip_norm, math.sqrt(sum(squares)))] * len(squares)

    def __repr__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"


def clip_grad_norm_(
    parameters: Iterable[Tensor] | Tensor,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scales gradients in place if they, as one vector, have a norm larger than ``max_norm``.

    Args:
        parameters: A tensor, or several, with gradients; those without are passed over.
        max_norm: Largest norm.
        norm_type: Which norm: 0, 1, 2 or infinity.
        error_if_nonfinite: Raise an error where the norm is infinite or NaN.

    Returns:
        0-d tensor of the norm before.

    Raises:
        ValueError: ``norm_type`` is another number, or ``max_norm`` negative.
        RuntimeError: The norm is infinite or NaN, and ``error_if_nonfinite``.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([0.0, 0.0], stop_gradient=False)
        >>> (w * paddle.to_tensor([6.0, 8.0])).sum().backward()
        >>> paddle.nn.utils.clip_grad_norm_([w], 5.0).item()
        10.0
        >>> [round(value, 4) for value in w.grad.tolist()]
        [3.0, 4.0]
    """
    if norm_type not in (0, 1, 2, math.inf):
        raise ValueError(f"norm_type must be 0, 1, 2 or infinity; got {norm_type!r}")
    max_norm = _checked_norm("max_norm", max_norm)
    owners = _with_gradient(parameters)
    with no_grad():
        total = _total_norm([owner.grad for owner in owners], norm_type)
        if error_if_nonfinite and not math.isfinite(total):
            raise RuntimeError(f"the norm of the gradients is {total}; they are left as they are")
        factor = max_norm / (total + 1e-6)
        if not factor >= 1:  # also where it is NaN
            for owner in owners:
                owner.grad.multiply_(factor)
    return to_tensor(total, dtype=owners[0].grad.dtype if owners else None)


def clip_grad_value_(parameters: Iterable[Tensor] | Tensor, clip_value: float) -> None:
    """Brings every element of gradients into [-clip_value, clip_value], in place.

    Args:
        parameters: A tensor, or several, with gradients; those without are passed over.
        clip_value: Largest absolute value.

    Raises:
        ValueError: ``clip_value`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([0.0, 0.0], stop_gradient=False)
        >>> (w * paddle.to_tensor([6.0, -8.0])).sum().backward()
        >>> paddle.nn.utils.clip_grad_value_([w], 7.0)
        >>> w.grad.tolist()
        [6.0, -7.0]
    """
    limit = _checked_norm("clip_value", clip_value)
    with no_grad():
        for owner in _with_gradient(parameters):
            owner.grad.clip_(-limit, limit)


def _with_gradient(parameters: Iterable[Tensor] | Tensor) -> list[Any]:
    """The parameters that have a gradient; a sparse one is made dense."""
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    found: list[Any] = [p for p in given if p.grad is not None]
    for param in found:
        if isinstance(param.grad, SelectedRows):
            param.grad = _dense(param.grad)
    return found


def _total_norm(grads: list[Any], norm_type: float) -> float:
    if norm_type == 2:
        return math.sqrt(math.fsum(squared_norm(g).item() for g in grads))
    norms = [norm(g.astype("float64"), norm_type).item() for g in grads if g.size]
    if norm_type == 0:
        return float(sum(n != 0 for n in norms))
    if norm_type == 1:
        return sum(norms)
    return math.nan if any(math.isnan(n) for n in norms) else max(norms, default=0.0)


def _dense(gradient: Any) -> Tensor:
    dense: Tensor = gradient.to_dense() if isinstance(gradient, SelectedRows) else gradient
    return dense


def _factor(limit: float, size: float) -> float:
    """What a vector of norm ``size`` is multiplied by; NaN where the norm is NaN."""
    return 1.0 if size <= limit else limit / size


def _checked_norm(name: str, value: float) -> float:
    if not float(value) >= 0:
        raise ValueError(f"{name} must not be negative; got {value}")
    return float(value)
