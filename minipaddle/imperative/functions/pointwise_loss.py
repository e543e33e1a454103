"""Losses of single elements, averaged, summed or as they are."""

from __future__ import annotations

import math as numbers

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions import elementwise, math
from minipaddle.imperative.functions.activation import softplus
from minipaddle.imperative.functions.loss import check_reduction, reduced
from minipaddle.imperative.tensor import Tensor

KL_REDUCTIONS = ("mean", "batchmean", "sum", "none")


@bound
def bernoulli_loss(input: Tensor, label: Tensor, name: str | None = None) -> Tensor:
    """Part of ``binary_cross_entropy``: one loss an element."""


@bound
def divergence_loss(
    input: Tensor, label: Tensor, log_target: bool = False, name: str | None = None
) -> Tensor:
    """Part of ``kl_div``: one loss an element."""


@bound
def huber_loss(input: Tensor, label: Tensor, delta: float = 1.0, name: str | None = None) -> Tensor:
    """Part of ``smooth_l1_loss``: one loss an element."""


@bound
def logistic_loss(input: Tensor, label: Tensor, name: str | None = None) -> Tensor:
    """Part of ``binary_cross_entropy_with_logits``: one loss an element."""


def binary_cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``-label log(input) - (1 - label) log(1 - input)``; a logarithm counts as -100 at least.

    Args:
        input: Float tensor of probabilities.
        label: Tensor of input's dtype, from 0 to 1.
        weight: Tensor that broadcasts with the losses, which are multiplied by it.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        ValueError: An input is not in [0, 1], or ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([0.0]), paddle.to_tensor([1.0])
        >>> paddle.nn.functional.binary_cross_entropy(x, y).item()
        100.0
    """
    check_reduction("binary_cross_entropy", reduction)
    loss = bernoulli_loss(input, label)
    return reduced(loss if weight is None else loss * weight, reduction)


def binary_cross_entropy_with_logits(
    logit: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """``binary_cross_entropy`` of ``sigmoid(logit)``, for any finite logit.

    Args:
        logit: Float tensor.
        label: Tensor of logit's dtype, from 0 to 1.
        weight: Tensor that broadcasts with the losses, which are multiplied by it.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        pos_weight: Tensor that broadcasts with the losses; weighs the part with ``label``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        ValueError: The shapes do not broadcast, or ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([-1000.0]), paddle.to_tensor([1.0])
        >>> paddle.nn.functional.binary_cross_entropy_with_logits(x, y).item()
        1000.0
    """
    check_reduction("binary_cross_entropy_with_logits", reduction)
    if pos_weight is None:
        loss = logistic_loss(logit, label)
    else:
        factor = label * (pos_weight - 1.0) + 1.0
        loss = (1.0 - label) * logit + factor * softplus(-logit, 1.0, numbers.inf)
    return reduced(loss if weight is None else loss * weight, reduction)


def l1_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """``|input - label|``.

    Args:
        input: Tensor.
        label: Tensor that broadcasts with it.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        ValueError: The shapes do not broadcast, or ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1.0, 5.0]), paddle.to_tensor([2.0, 2.0])
        >>> paddle.nn.functional.l1_loss(x, y).item()
        2.0
    """
    check_reduction("l1_loss", reduction)
    return reduced(math.abs(input - label), reduction)


def smooth_l1_loss(
    input: Tensor,
    label: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    is_huber: bool = True,
    name: str | None = None,
) -> Tensor:
    """``d² / 2`` where ``d = |input - label|`` is below delta, and ``delta (d - delta / 2)`` above.

    Args:
        input: Float tensor.
        label: Tensor of input's dtype that broadcasts with it.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        delta: Where the parabola ends; a positive number.
        is_huber: Otherwise all is divided by delta.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        ValueError: ``delta`` is not positive, shapes do not broadcast, or ``reduction`` is none of
            the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1.0, 4.0]), paddle.to_tensor([0.0, 0.0])
        >>> paddle.nn.functional.smooth_l1_loss(x, y).item()
        2.0
    """
    check_reduction("smooth_l1_loss", reduction)
    if not delta > 0:
        raise ValueError(f"smooth_l1_loss: delta must be positive; got {delta!r}")
    loss = reduced(huber_loss(input, label, float(delta)), reduction)
    return loss if is_huber or delta == 1 else loss * (1.0 / delta)


def kl_div(
    input: Tensor,
    label: Tensor,
    reduction: str = "mean",
    log_target: bool = False,
    name: str | None = None,
) -> Tensor:
    """``label (log(label) - input)``: how far input's distribution is from label's.

    Args:
        input: Float tensor: logarithms of probabilities.
        label: Tensor of input's dtype: probabilities. Where one is 0, or less, so is the loss.
        reduction: ``"mean"`` over all elements, ``"batchmean"``, which is the sum over the length
            of the first axis, ``"sum"`` or ``"none"``.
        log_target: Whether ``label`` holds logarithms too.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        ValueError: The shapes do not broadcast, or ``reduction`` is none of the four.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[-2.0, -3.0]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.functional.kl_div(x, y, "sum").item()
        3.0
    """
    check_reduction("kl_div", reduction, KL_REDUCTIONS)
    loss = divergence_loss(input, label, log_target)
    if reduction == "batchmean":
        return loss.sum() / float(input.shape[0] if input.ndim else 1)
    return reduced(loss, reduction)


def soft_margin_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """``log(1 + exp(-label input))``.

    Args:
        input: Float tensor.
        label: Tensor of 1 and -1.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        ValueError: The shapes do not broadcast, or ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1000.0]), paddle.to_tensor([-1.0])
        >>> paddle.nn.functional.soft_margin_loss(x, y).item()
        1000.0
    """
    check_reduction("soft_margin_loss", reduction)
    label = label.astype(input.dtype)
    return reduced(softplus(-(label * input), 1.0, numbers.inf), reduction)


def square_error_cost(input: Tensor, label: Tensor) -> Tensor:
    """``(input - label)²`` of every element.

    Args:
        input: Tensor.
        label: Tensor that broadcasts with it.

    Returns:
        Tensor of the broadcast shape.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1.0]), paddle.to_tensor([3.0])
        >>> paddle.nn.functional.square_error_cost(x, y).tolist()
        [4.0]
    """
    return elementwise.square(input - label)


def log_loss(
    input: Tensor, label: Tensor, epsilon: float = 0.0001, name: str | None = None
) -> Tensor:
    """``-label log(input + epsilon) - (1 - label) log(1 - input + epsilon)`` of every element.

    Args:
        input: Float tensor of probabilities.
        label: Tensor of input's dtype, from 0 to 1.
        epsilon: Keeps the logarithms finite.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([0.5]), paddle.to_tensor([1.0])
        >>> round(paddle.nn.functional.log_loss(x, y).item(), 4)
        0.6929
    """
    rest = 1.0 - input
    return -(label * math.log(input + epsilon)) - (1.0 - label) * math.log(rest + epsilon)


API = tuple(
    f"nn.functional.{name}"
    for name in (
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "kl_div",
        "l1_loss",
        "log_loss",
        "smooth_l1_loss",
        "soft_margin_loss",
        "square_error_cost",
    )
)
