"""Losses that compare pairs and triples with a margin, made of other functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minipaddle.imperative.functions import arithmetic, comparison, math
from minipaddle.imperative.functions.geometry import pairwise_distance
from minipaddle.imperative.functions.loss import check_reduction, reduced
from minipaddle.imperative.functions.rectifier import relu
from minipaddle.imperative.tensor import Tensor


def margin_ranking_loss(
    input: Tensor,
    other: Tensor,
    label: Tensor,
    margin: float = 0.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``max(0, -label (input - other) + margin)``.

    Args:
        input: Float tensor.
        other: Tensor that broadcasts with it.
        label: 1 where input should be the larger, -1 where the smaller.
        margin: By how much.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        ValueError: The shapes do not broadcast, or ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y, label = (paddle.to_tensor([v]) for v in (1.0, 3.0, 1.0))
        >>> paddle.nn.functional.margin_ranking_loss(x, y, label).item()
        2.0
    """
    check_reduction("margin_ranking_loss", reduction)
    return reduced(relu(label * (other - input) + margin), reduction)


def _is(label: Tensor, value: float, dtype: Any) -> Tensor:
    """1 where ``label`` is ``value``, else 0."""
    found: Tensor = comparison.equal(label, value).astype(dtype)
    return found


def hinge_embedding_loss(
    input: Tensor,
    label: Tensor,
    margin: float = 1.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The input where label is 1, ``max(0, margin - input)`` where it is -1, else 0.

    Args:
        input: Float tensor, as a rule of distances.
        label: Tensor of 1 and -1.
        margin: Distance from which on unlike pairs cost nothing.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the broadcast shape.

    Raises:
        ValueError: The shapes do not broadcast, or ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, label = paddle.to_tensor([3.0, 0.5]), paddle.to_tensor([1.0, -1.0])
        >>> paddle.nn.functional.hinge_embedding_loss(x, label, reduction="none").tolist()
        [3.0, 0.5]
    """
    check_reduction("hinge_embedding_loss", reduction)
    like, unlike = (_is(label, value, input.dtype) for value in (1, -1))
    return reduced(like * input + unlike * relu(margin - input), reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    label: Tensor,
    margin: float = 0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``1 - cos`` where label is 1, ``max(0, cos - margin)`` where it is -1, of each pair of rows.

    Args:
        input1: Float tensor [N, M] or [M].
        input2: The same.
        label: Tensor [N] of 1 and -1, or 0-d beside vectors.
        margin: Cosine up to which unlike pairs cost nothing, in [-1, 1].
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of label's shape.

    Raises:
        ValueError: The shapes do not fit, ``margin`` is not in [-1, 1], or ``reduction`` is none
            of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.functional.cosine_embedding_loss(x, y, paddle.to_tensor([1])).item()
        1.0
    """
    check_reduction("cosine_embedding_loss", reduction)
    if not -1 <= margin <= 1:
        raise ValueError(f"cosine_embedding_loss: margin must lie in [-1, 1]; got {margin!r}")
    if input1.shape != input2.shape or label.shape != input1.shape[:-1] or input1.ndim > 2:
        raise ValueError(
            "cosine_embedding_loss: input1 and input2 must be [N, M] and label [N], or [M] and []; "
            f"got {input1.shape}, {input2.shape} and {label.shape}"
        )
    square1, square2 = ((x * x).sum(-1) + 1e-12 for x in (input1, input2))
    cosine = (input1 * input2).sum(-1) / math.sqrt(square1 * square2)
    like, unlike = (_is(label, value, cosine.dtype) for value in (1, -1))
    return reduced(like * (1.0 - cosine) + unlike * relu(cosine - margin), reduction)


def triplet_margin_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``max(0, d(input, positive) - d(input, negative) + margin)`` of distances of rows.

    Args:
        input: Float tensor [N, M].
        positive: Tensor that should be near it.
        negative: Tensor that should be far from it.
        margin: By how much farther.
        p: Order of the norm.
        epsilon: Added to each difference.
        swap: Take the distance of positive and negative, where that is smaller than the one of
            input and negative.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the shape [N].

    Raises:
        ValueError: The shapes do not broadcast, ``margin`` is negative, or ``reduction`` is none
            of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y, z = (paddle.to_tensor([[v, 0.0]]) for v in (0.0, 3.0, 1.0))
        >>> paddle.nn.functional.triplet_margin_loss(x, y, z, epsilon=0.0).item()
        3.0
    """
    return triplet_margin_with_distance_loss(
        input,
        positive,
        negative,
        lambda x, y: pairwise_distance(x, y, p, epsilon),
        margin,
        swap,
        reduction,
    )


def triplet_margin_with_distance_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``triplet_margin_loss`` with a distance of one's own.

    Args:
        input: Float tensor [N, M].
        positive: Tensor that should be near it.
        negative: Tensor that should be far from it.
        distance_function: Takes two of them and gives a tensor [N]; ``pairwise_distance`` by
            default.
        margin: By how much farther.
        swap: Take the distance of positive and negative, where that is smaller than the one of
            input and negative.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the shape [N].

    Raises:
        ValueError: The shapes do not broadcast, ``margin`` is negative, or ``reduction`` is none
            of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y, z = (paddle.to_tensor([[v]]) for v in (0.0, 3.0, 1.0))
        >>> loss = paddle.nn.functional.triplet_margin_with_distance_loss
        >>> loss(x, y, z, lambda a, b: (a - b).abs().sum(-1)).item()
        3.0
    """
    check_reduction("triplet_margin_loss", reduction)
    if margin < 0:
        raise ValueError(f"triplet_margin_loss: margin must not be negative; got {margin!r}")
    distance = pairwise_distance if distance_function is None else distance_function
    far = distance(input, negative)
    if swap:
        far = arithmetic.minimum(far, distance(positive, negative))
    return reduced(relu(distance(input, positive) - far + margin), reduction)


API = tuple(
    f"nn.functional.{name}"
    for name in (
        "cosine_embedding_loss",
        "hinge_embedding_loss",
        "margin_ranking_loss",
        "triplet_margin_loss",
        "triplet_margin_with_distance_loss",
    )
)
