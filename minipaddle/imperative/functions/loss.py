"""Squared errors and losses of classes, as users call them."""

from __future__ import annotations

from typing import Any

from minipaddle.device.dtype import INTS, is_half
from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions import comparison, shape
from minipaddle.imperative.functions.activation import log_softmax, softmax
from minipaddle.imperative.functions.math import log
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.axes import normal_axis

REDUCTIONS = ("mean", "sum", "none")


@bound
def mse_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """Squared error ``(input - label) ** 2``, averaged, summed or as it is; shapes broadcast.

    Args:
        input: Float tensor.
        label: Tensor of input's dtype.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        TypeError: The dtypes differ or are not float.
        ValueError: The shapes do not broadcast, or ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.functional.mse_loss(x, y).item()
        2.0
    """


@bound
def hard_cross_entropy(
    input: Tensor,
    label: Tensor,
    axis: int = -1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Part of ``cross_entropy``: one loss a label, 0 for ignored ones; and how many count, or 1."""


@bound
def take_class(
    x: Tensor, label: Tensor, axis: int = -1, ignore_index: int = -100, name: str | None = None
) -> Tensor:
    """Part of ``nll_loss``: the labelled element of each row along ``axis``, 0 if ignored."""


@bound
def put_class(
    x: Tensor,
    label: Tensor,
    classes: int,
    axis: int = -1,
    ignore_index: int = -100,
    name: str | None = None,
) -> Tensor:
    """The gradient of ``take_class``: x at the labelled places of rows of zeros."""


def check_reduction(function: str, reduction: Any, known: tuple[str, ...] = REDUCTIONS) -> None:
    """Refuses a ``reduction`` that is none of those known."""
    if reduction not in known:
        words = ", ".join(map(repr, known[:-1]))
        raise ValueError(
            f"{function}: reduction must be {words} or {known[-1]!r}; got {reduction!r}"
        )


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The mean or the sum of all elements, or for "none" the tensor itself."""
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def _divided(loss: Tensor, count: Tensor) -> Tensor:
    """The sum of the losses over ``count``, which is of float32 for half types."""
    if not is_half(loss.dtype):
        return loss.sum() / count
    mean: Tensor = (loss.astype("float32").sum() / count).astype(loss.dtype)
    return mean


def _weighted_mean(loss: Tensor, weights: Tensor) -> Tensor:
    """The sum over the weights' sum; 0, not NaN, where that is 0. Half types in float32."""
    count = (weights.astype("float32") if is_half(weights.dtype) else weights).sum()
    return _divided(loss, count + comparison.equal(count, 0.0).astype(count.dtype))


def _per_label(input: Tensor, label: Tensor, axis: int, function: str) -> Tensor:
    """The label without an axis of length 1 in the place of the classes."""
    if not isinstance(label, Tensor) or label.dtype not in INTS:
        found = label.dtype.name if isinstance(label, Tensor) else type(label).__name__
        raise TypeError(
            f"{function}: label must be a Tensor of int dtype, classes by number; got {found}"
            "; probabilities need soft_label=True, numbers astype('int64')"
        )
    if label.ndim == input.ndim and label.ndim and label.shape[axis] == 1:
        return shape.squeeze(label, axis)
    return label


def _class_weights(
    function: str, weight: Tensor, label: Tensor, classes: int, ignore_index: int, even: float
) -> Tensor:
    """What each label's loss is multiplied with, ``even`` of it the same for all classes."""
    if list(weight.shape) != [classes]:
        raise ValueError(
            f"{function}: weight must have one element a class, [{classes}]; got {weight.shape}"
        )
    rows = shape.expand(weight, [*label.shape, classes])
    found = take_class(rows, label, -1, ignore_index)
    if not even:
        return found
    used = _used(label, ignore_index, weight.dtype)
    return found * (1.0 - even) + used * (weight.mean() * even)


def _used(label: Tensor, ignore_index: int, dtype: Any) -> Tensor:
    """1 for each label that counts, 0 for each that is ignored."""
    used: Tensor = comparison.not_equal(label, ignore_index).astype(dtype)
    return used


def _soft_cross_entropy(
    input: Tensor, label: Tensor, weight: Tensor | None, axis: int, use_softmax: bool
) -> tuple[Tensor, Tensor | None]:
    """Losses for given probabilities, ``axis`` kept, and what they are weighted with."""
    if label.shape != input.shape:
        raise ValueError(
            "cross_entropy: a soft label must have the shape of input; got "
            f"input: {input.shape}, label: {label.shape}"
        )
    logarithm = log_softmax(input, axis) if use_softmax else log(input)
    loss = -(label * logarithm).sum(axis, keepdim=True)
    if weight is None:
        return loss, None
    lengths = [1] * input.ndim
    lengths[axis] = input.shape[axis]
    factor = (label * shape.reshape(weight, lengths)).sum(axis, keepdim=True)
    return loss * factor, factor


def _hard_losses(
    input: Tensor, label: Tensor, axis: int, ignore_index: int, even: float, use_softmax: bool
) -> tuple[Tensor, Tensor | None]:
    """One loss a label, and if it is known by how many their sum is divided."""
    if use_softmax:
        return hard_cross_entropy(input, label, axis, ignore_index, even)
    used = _used(label, ignore_index, input.dtype)
    # An ignored probability becomes 1, whose logarithm is 0.
    loss = -log(take_class(input, label, axis, ignore_index) + (1.0 - used))
    if not even:
        return loss, None
    return loss * (1.0 - even) - used * log(input).mean(axis) * even, None


def cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """``-log(softmax(input))`` at the labelled class, or averaged over a soft label.

    Args:
        input: Float tensor with an axis of C classes: scores, or probabilities.
        label: Int tensor of classes, of input's shape without ``axis`` or with length 1 there; for
            ``soft_label`` probabilities, of input's shape and dtype.
        weight: Tensor of C weights, by which a class's losses are multiplied.
        ignore_index: Label whose loss is 0 and does not count in the mean; hard labels only.
        reduction: ``"mean"``, by the sum of the weights if there are any, ``"sum"`` or ``"none"``.
        soft_label: Whether ``label`` holds probabilities.
        axis: The axis of the classes.
        use_softmax: Whether ``input`` holds scores; otherwise it holds probabilities.
        label_smoothing: Share of a label, in [0, 1], that is spread evenly over all classes.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor; for ``"none"`` one of label's shape, with ``axis`` of length 1 if it is soft.
        The mean of nothing, as where every label is ignored, is 0.

    Raises:
        TypeError: A hard label is not of int dtype.
        ValueError: A label is no class and not ``ignore_index``, shapes do not fit, or an
            argument has no meaning.

    Example:
        >>> import minipaddle as paddle
        >>> scores = paddle.to_tensor([[100.0, 0.0], [0.0, 100.0]])
        >>> label = paddle.to_tensor([0, 0])
        >>> paddle.nn.functional.cross_entropy(scores, label, reduction="none").tolist()
        [0.0, 100.0]
    """
    check_reduction("cross_entropy", reduction)
    axis = normal_axis(axis, input.ndim)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(f"label_smoothing must lie in [0, 1]; got {label_smoothing!r}")
    if soft_label:
        if ignore_index >= 0:
            raise ValueError("cross_entropy: ignore_index has no meaning for a soft label")
        if label_smoothing:
            even = label_smoothing / input.shape[axis]
            label = label * (1.0 - label_smoothing) + even
        loss, factor = _soft_cross_entropy(input, label, weight, axis, use_softmax)
        if factor is not None and reduction == "mean":
            return _weighted_mean(loss, factor)
        return reduced(loss, reduction)
    at = _per_label(input, label, axis, "cross_entropy")
    loss, count = _hard_losses(input, at, axis, ignore_index, label_smoothing, use_softmax)
    if count is not None and weight is None and reduction == "mean":
        return _divided(loss, count)
    classes = input.shape[axis]
    loss = _weighted(
        "cross_entropy", loss, at, weight, classes, ignore_index, label_smoothing, reduction
    )
    kept = reduction == "none" and at is not label
    return shape.unsqueeze(loss, axis) if kept else loss


def _weighted(
    function: str,
    loss: Tensor,
    label: Tensor,
    weight: Tensor | None,
    classes: int,
    ignore_index: int,
    even: float,
    reduction: str,
) -> Tensor:
    """Losses, one a label, with their classes' weights, reduced."""
    if weight is not None:
        factor = _class_weights(function, weight, label, classes, ignore_index, even)
        loss = loss * factor
    if reduction != "mean":
        return reduced(loss, reduction)
    if weight is None:
        factor = _used(label, ignore_index, "float32" if is_half(loss.dtype) else loss.dtype)
    return _weighted_mean(loss, factor)


def softmax_with_cross_entropy(
    logits: Tensor,
    label: Tensor,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """``cross_entropy`` of each row, with ``axis`` kept, and perhaps the softmax itself.

    Args:
        logits: Float tensor of scores.
        label: As in ``cross_entropy``.
        soft_label: Whether ``label`` holds probabilities.
        ignore_index: Label whose loss is 0.
        numeric_stable_mode: Unused, for Paddle's signature: it always is.
        return_softmax: Whether to give the softmax too.
        axis: The axis of the classes.

    Returns:
        The losses, of logits' shape with length 1 at ``axis``, or a pair of them and the softmax.

    Example:
        >>> import minipaddle as paddle
        >>> scores, label = paddle.to_tensor([[0.0, 100.0]]), paddle.to_tensor([[0]])
        >>> paddle.nn.functional.softmax_with_cross_entropy(scores, label).tolist()
        [[100.0]]
    """
    loss = cross_entropy(logits, label, None, ignore_index, "none", soft_label, axis)
    if loss.ndim < logits.ndim:
        loss = shape.unsqueeze(loss, normal_axis(axis, logits.ndim))
    return (loss, softmax(logits, axis)) if return_softmax else loss


def nll_loss(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``-input`` at the labelled class, where ``input`` holds logarithms of probabilities.

    Args:
        input: Float tensor [N, C, ...], the classes on axis 1.
        label: Int tensor [N, ...].
        weight: Tensor of C weights, by which a class's losses are multiplied.
        ignore_index: Label whose loss is 0 and does not count in the mean.
        reduction: ``"mean"``, by the sum of the weights if there are any, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of label's shape. The mean of nothing is 0.

    Raises:
        TypeError: ``label`` is not of int dtype.
        ValueError: A label is no class, or shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> x, label = paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])
        >>> paddle.nn.functional.nll_loss(x, label).item()
        2.0
    """
    check_reduction("nll_loss", reduction)
    if input.ndim < 2:
        raise ValueError(f"nll_loss: input must be [N, C, ...]; got {input.shape}")
    label = _per_label(input, label, 1, "nll_loss")
    loss = -take_class(input, label, 1, ignore_index)
    classes = input.shape[1]
    return _weighted("nll_loss", loss, label, weight, classes, ignore_index, 0.0, reduction)


def label_smooth(
    label: Tensor,
    prior_dist: Tensor | None = None,
    epsilon: float = 0.1,
    name: str | None = None,
) -> Tensor:
    """``(1 - epsilon) label + epsilon prior_dist``.

    Args:
        label: Float tensor of probabilities over the last axis.
        prior_dist: Tensor of what is mixed in, even over the classes by default.
        epsilon: Its share.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of label's shape.

    Raises:
        ValueError: ``epsilon`` is not in [0, 1].

    Example:
        >>> import minipaddle as paddle
        >>> label = paddle.to_tensor([[1.0, 0.0]])
        >>> paddle.nn.functional.label_smooth(label, epsilon=0.5).tolist()
        [[0.75, 0.25]]
    """
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(f"label_smooth: epsilon must lie in [0, 1]; got {epsilon!r}")
    if prior_dist is None:
        return label * (1.0 - epsilon) + epsilon / label.shape[-1]
    return label * (1.0 - epsilon) + prior_dist * epsilon


API = (
    "nn.functional.cross_entropy",
    "nn.functional.label_smooth",
    "nn.functional.nll_loss",
    "nn.functional.softmax_with_cross_entropy",
)
