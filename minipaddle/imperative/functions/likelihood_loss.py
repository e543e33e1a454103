"""Losses that are the negative logarithm of a density, and losses for rare classes."""

from __future__ import annotations

import math as numbers

from minipaddle.device.dtype import INTS
from minipaddle.imperative.functions import arithmetic, comparison, math, shape
from minipaddle.imperative.functions.activation import sigmoid
from minipaddle.imperative.functions.gathering import one_hot
from minipaddle.imperative.functions.indexing import where
from minipaddle.imperative.functions.loss import check_reduction, reduced
from minipaddle.imperative.functions.pointwise_loss import binary_cross_entropy_with_logits
from minipaddle.imperative.tensor import Tensor


def poisson_nll_loss(
    input: Tensor,
    label: Tensor,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``rate - label * log(rate)``: counts that follow a Poisson distribution.

    Args:
        input: Float tensor: logarithms of rates, or rates.
        label: Counts, of input's shape and dtype.
        log_input: Whether ``input`` holds logarithms.
        full: Add Stirling's approximation of ``log(label!)`` where label is larger than 1.
        epsilon: Added to a rate before its logarithm is taken.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of input's shape.

    Raises:
        ValueError: The shapes differ, ``epsilon`` is not positive, or ``reduction`` is none of the
            three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([0.0]), paddle.to_tensor([2.0])
        >>> paddle.nn.functional.poisson_nll_loss(x, y).item()
        1.0
    """
    check_reduction("poisson_nll_loss", reduction)
    if not epsilon > 0:
        raise ValueError(f"poisson_nll_loss: epsilon must be larger than 0; got {epsilon}")
    if input.shape != label.shape:
        raise ValueError(
            "poisson_nll_loss: input and label must have one shape; got "
            f"{input.shape} and {label.shape}"
        )
    if log_input:
        loss = math.exp(input) - label * input
    else:
        loss = input - label * math.log(input + epsilon)
    if full:
        many = where(comparison.greater_than(label, 1.0), label, 1.0)
        stirling = many * math.log(many) - many + 0.5 * math.log(2.0 * numbers.pi * many)
        loss = loss + where(comparison.greater_than(label, 1.0), stirling, 0.0)
    return reduced(loss, reduction)


def gaussian_nll_loss(
    input: Tensor,
    label: Tensor,
    variance: Tensor,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``(log(variance) + (input - label)² / variance) / 2``: values with normal errors.

    Args:
        input: Float tensor of means.
        label: Tensor that broadcasts with it.
        variance: Tensor of input's shape, or without its last axis, or with length 1 there. It is
            raised to ``epsilon`` where it is smaller.
        full: Add ``log(2 pi) / 2``.
        epsilon: Smallest variance.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        ValueError: A shape does not fit, a variance is negative, or ``reduction`` is none of the
            three.

    References:
        Nix and Weigend (1994), Estimating the mean and variance of the target probability
        distribution.

    Example:
        >>> import minipaddle as paddle
        >>> x, y, variance = (paddle.to_tensor([v]) for v in (1.0, 3.0, 1.0))
        >>> paddle.nn.functional.gaussian_nll_loss(x, y, variance).item()
        2.0
    """
    check_reduction("gaussian_nll_loss", reduction)
    if variance.shape == input.shape[:-1] and variance.shape != input.shape:
        variance = shape.unsqueeze(variance, -1)
    elif variance.shape not in (input.shape, [*input.shape[:-1], 1]):
        raise ValueError(
            f"gaussian_nll_loss: variance must have input's shape, {input.shape}, or it without "
            f"the last axis; got {variance.shape}"
        )
    if variance.size and variance.min().item() < 0:
        raise ValueError("gaussian_nll_loss: variance must not be negative")
    variance = math.clip(variance, min=epsilon)
    error = input - label
    loss = 0.5 * (math.log(variance) + error * error / variance)
    if full:
        loss = loss + 0.5 * numbers.log(2.0 * numbers.pi)
    return reduced(loss, reduction)


def sigmoid_focal_loss(
    logit: Tensor,
    label: Tensor,
    normalizer: Tensor | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Tensor:
    """Binary cross-entropy in which elements that are right already count for little.

    Args:
        logit: Float tensor of scores.
        label: Tensor of 0 and 1, of logit's shape and dtype.
        normalizer: What the loss is divided by, a tensor of one element; nothing by default.
        alpha: Weight of label 1; that of label 0 is ``1 - alpha``.
        gamma: How fast the weight falls with the probability of the right label.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of logit's shape.

    Raises:
        ValueError: ``reduction`` is none of the three, or ``normalizer`` has more than one axis.

    References:
        Lin, Goyal, Girshick, He and Dollár (2017), Focal loss for dense object detection.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([0.0]), paddle.to_tensor([1.0])
        >>> round(paddle.nn.functional.sigmoid_focal_loss(x, y).item(), 4)
        0.0433
    """
    check_reduction("sigmoid_focal_loss", reduction)
    if normalizer is not None and normalizer.ndim > 1:
        raise ValueError(
            f"sigmoid_focal_loss: normalizer must have one element; got shape {normalizer.shape}"
        )
    loss = binary_cross_entropy_with_logits(logit, label, reduction="none")
    probability = sigmoid(logit)
    wrong = probability * (1.0 - label) + (1.0 - probability) * label
    weight = alpha * label + (1.0 - alpha) * (1.0 - label)
    loss = weight * loss * arithmetic.pow(wrong, gamma)
    return reduced(loss if normalizer is None else loss / normalizer, reduction)


def dice_loss(
    input: Tensor, label: Tensor, epsilon: float = 0.00001, name: str | None = None
) -> Tensor:
    """1 minus twice the overlap of probabilities and labels over the sum of both.

    Args:
        input: Float tensor [N, ..., classes] of probabilities.
        label: Int tensor [N, ..., 1].
        epsilon: Added to the sum.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor: the mean over the batch.

    Raises:
        TypeError: ``label`` is not of an int dtype.
        ValueError: The shapes do not fit.

    References:
        Milletari, Navab and Ahmadi (2016), V-Net.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[1]])
        >>> paddle.nn.functional.dice_loss(x, y).item()
        1.0
    """
    if label.dtype not in INTS:
        raise TypeError(f"dice_loss: label must be of an int dtype; got {label.dtype.name}")
    if input.ndim < 2 or label.shape != [*input.shape[:-1], 1]:
        raise ValueError(
            "dice_loss: input must be [N, ..., classes] and label [N, ..., 1]; got "
            f"{input.shape} and {label.shape}"
        )
    hot = one_hot(shape.squeeze(label, -1), input.shape[-1]).astype(input.dtype)
    axes = list(range(1, input.ndim))
    overlap = (input * hot).sum(axes)
    total = input.sum(axes) + hot.sum(axes)
    return (1.0 - overlap * 2.0 / (total + epsilon)).mean()


API = tuple(
    f"nn.functional.{name}"
    for name in ("dice_loss", "gaussian_nll_loss", "poisson_nll_loss", "sigmoid_focal_loss")
)
