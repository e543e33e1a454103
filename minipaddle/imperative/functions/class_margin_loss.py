"""Losses that want the scores of right classes above those of wrong ones."""

from __future__ import annotations

from minipaddle.device.dtype import INTS
from minipaddle.imperative.functions import (
    arithmetic,
    comparison,
    cumulative,
    elementwise,
    linalg,
    shape,
)
from minipaddle.imperative.functions.activation import log_sigmoid
from minipaddle.imperative.functions.gathering import gather, index_sample, one_hot
from minipaddle.imperative.functions.loss import check_reduction, cross_entropy, reduced
from minipaddle.imperative.functions.rectifier import relu
from minipaddle.imperative.tensor import Tensor


def multi_label_soft_margin_loss(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Binary cross-entropy of every class, averaged over the classes.

    Args:
        input: Float tensor [N, classes] of scores.
        label: Tensor of 0 and 1, of input's shape and dtype.
        weight: Tensor that broadcasts with them and weighs the classes.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of shape [N].

    Raises:
        ValueError: The shapes differ, or ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[100.0, -100.0]]), paddle.to_tensor([[0.0, 0.0]])
        >>> paddle.nn.functional.multi_label_soft_margin_loss(x, y).item()
        50.0
    """
    check_reduction("multi_label_soft_margin_loss", reduction)
    if input.shape != label.shape:
        raise ValueError(
            "multi_label_soft_margin_loss: input and label must have one shape; got "
            f"{input.shape} and {label.shape}"
        )
    loss = -(label * log_sigmoid(input) + (1.0 - label) * log_sigmoid(-input))
    return reduced((loss if weight is None else loss * weight).mean(-1), reduction)


def _check_classes(function: str, input: Tensor, label: Tensor, shape: list[int]) -> None:
    if label.dtype not in INTS:
        raise TypeError(f"{function}: label must be of an int dtype; got {label.dtype.name}")
    if input.ndim != 2 or label.shape != shape:
        raise ValueError(
            f"{function}: input must be [N, classes] and label "
            f"{'[N]' if len(shape) == 1 else '[N, classes]'}; got {input.shape} and {label.shape}"
        )


def multi_margin_loss(
    input: Tensor,
    label: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``max(0, margin - right + wrong) ** p`` of every wrong class, over the number of classes.

    Args:
        input: Float tensor [N, classes] of scores.
        label: Int tensor [N].
        p: Exponent.
        margin: By how much the right score should be larger.
        weight: Tensor [classes] that weighs a loss by its label.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of shape [N].

    Raises:
        TypeError: ``label`` is not of an int dtype.
        ValueError: The shapes do not fit, or ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, label = paddle.to_tensor([[1.0, 4.0]]), paddle.to_tensor([0])
        >>> paddle.nn.functional.multi_margin_loss(x, label).item()
        2.0
    """
    check_reduction("multi_margin_loss", reduction)
    _check_classes("multi_margin_loss", input, label, input.shape[:1])
    column = shape.unsqueeze(label, 1)
    over = relu(margin - index_sample(input, column) + input)
    # Each row has the right class itself in it, with margin ** p.
    loss = arithmetic.pow(over, p).mean(1) - margin**p / input.shape[1]
    if weight is not None:
        if weight.shape != input.shape[1:]:
            raise ValueError(
                "multi_margin_loss: weight must have one element a class, "
                f"{input.shape[1:]}; got {weight.shape}"
            )
        loss = loss * gather(weight, label)
    return reduced(loss, reduction)


def multi_label_margin_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """``max(0, 1 - right + wrong)`` of each right and wrong class, over the number of classes.

    Args:
        input: Float tensor [N, classes] of scores.
        label: Int tensor [N, classes]: in each row the right classes, and behind them -1.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of shape [N].

    Raises:
        TypeError: ``label`` is not of an int dtype.
        ValueError: The shapes do not fit, a label is none of -1 and the classes, or ``reduction``
            is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, label = paddle.to_tensor([[1.0, 4.0]]), paddle.to_tensor([[0, -1]])
        >>> paddle.nn.functional.multi_label_margin_loss(x, label).item()
        2.0
    """
    check_reduction("multi_label_margin_loss", reduction)
    _check_classes("multi_label_margin_loss", input, label, input.shape)
    classes = input.shape[1]
    if label.size and not (label.min().item() >= -1 and label.max().item() < classes):
        raise ValueError(f"multi_label_margin_loss: labels must be -1 or below {classes}")
    used = cumulative.cumprod(comparison.not_equal(label, -1).astype("int64"), 1)
    used = used.astype(input.dtype)
    places = label * comparison.not_equal(label, -1).astype(label.dtype)
    hot = one_hot(places, classes).astype(input.dtype) * shape.unsqueeze(used, -1)
    wrong = comparison.equal(hot.sum(1), 0.0).astype(input.dtype)  # [N, classes]
    right = index_sample(input, places)
    over = relu(1.0 - shape.unsqueeze(right, 2) + shape.unsqueeze(input, 1))
    kept = shape.unsqueeze(used, 2) * shape.unsqueeze(wrong, 1)
    return reduced((over * kept).sum([1, 2]) / float(classes), reduction)


def npair_loss(anchor: Tensor, positive: Tensor, labels: Tensor, l2_reg: float = 0.002) -> Tensor:
    """Cross-entropy of products of anchors and positives against which of them share a label.

    Args:
        anchor: Float tensor [N, size].
        positive: Tensor of the same shape.
        labels: Tensor [N].
        l2_reg: Weight of the mean of the squared lengths, of which a quarter is added.

    Returns:
        A 0-d tensor.

    References:
        Sohn (2016), Improved deep metric learning with multi-class N-pair loss objective.

    Example:
        >>> import minipaddle as paddle
        >>> x, labels = paddle.zeros([2, 3]), paddle.to_tensor([0, 1])
        >>> round(paddle.nn.functional.npair_loss(x, x, labels).item(), 4)
        0.6931
    """
    row, column = shape.unsqueeze(labels, 0), shape.unsqueeze(labels, 1)
    same = comparison.equal(column, row).astype(anchor.dtype)
    same = same / same.sum(1, keepdim=True)
    lengths = elementwise.square(anchor).sum(1).mean() + elementwise.square(positive).sum(1).mean()
    scores = linalg.matmul(anchor, positive, transpose_y=True)
    loss = cross_entropy(scores, same, soft_label=True, reduction="none")
    return elementwise.add((same * loss).sum(0).mean(), lengths * (0.25 * l2_reg))


API = tuple(
    f"nn.functional.{name}"
    for name in (
        "multi_label_margin_loss",
        "multi_label_soft_margin_loss",
        "multi_margin_loss",
        "npair_loss",
    )
)
