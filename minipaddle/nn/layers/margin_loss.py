"""Losses with a margin, and of densities, as layers; see ``FunctionLayer``."""

from __future__ import annotations

from typing import Any, ClassVar

from minipaddle.imperative.functions import (
    class_margin_loss,
    likelihood_loss,
    margin_loss,
    pointwise_loss,
)
from minipaddle.imperative.functions.loss import check_reduction
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layers.function_layer import FunctionLayer


class _Loss(FunctionLayer):
    """A loss; its ``reduction`` is checked as the layer is made."""

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)
        check_reduction(type(self).__name__, self.settings["reduction"])


class _Weighted(_Loss):
    """A loss with a tensor of weights, which is a buffer."""

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)
        self.weight = self.settings.pop("weight")

    def forward(self, *inputs: Tensor) -> Tensor:
        """The function of the inputs."""
        return type(self).function(*inputs, weight=self.weight, **self.settings)


class MarginRankingLoss(_Loss):
    """``nn.functional.margin_ranking_loss``: which of two is to be the larger.

    Args:
        margin: By how much.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y, label = (paddle.to_tensor([v]) for v in (1.0, 3.0, 1.0))
        >>> paddle.nn.MarginRankingLoss()(x, y, label).item()
        2.0
    """

    function = staticmethod(margin_loss.margin_ranking_loss)
    defaults: ClassVar = {"margin": 0.0, "reduction": "mean"}


class HingeEmbeddingLoss(_Loss):
    """``nn.functional.hinge_embedding_loss``: distances of like and unlike pairs.

    Args:
        margin: Distance from which on unlike pairs cost nothing.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, label = paddle.to_tensor([3.0, 0.5]), paddle.to_tensor([1.0, -1.0])
        >>> paddle.nn.HingeEmbeddingLoss(reduction="sum")(x, label).item()
        3.5
    """

    function = staticmethod(margin_loss.hinge_embedding_loss)
    defaults: ClassVar = {"margin": 1.0, "reduction": "mean"}


class CosineEmbeddingLoss(_Loss):
    """``nn.functional.cosine_embedding_loss``: angles of like and unlike pairs.

    Args:
        margin: Cosine up to which unlike pairs cost nothing, in [-1, 1].
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.CosineEmbeddingLoss()(x, y, paddle.to_tensor([1])).item()
        1.0
    """

    function = staticmethod(margin_loss.cosine_embedding_loss)
    defaults: ClassVar = {"margin": 0, "reduction": "mean"}


class TripletMarginLoss(_Loss):
    """``nn.functional.triplet_margin_loss``: near to one and far from another.

    Args:
        margin: By how much farther.
        p: Order of the norm.
        epsilon: Added to each difference.
        swap: Take the distance of the two others where it is the smaller one.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y, z = (paddle.to_tensor([[v, 0.0]]) for v in (0.0, 3.0, 1.0))
        >>> paddle.nn.TripletMarginLoss(epsilon=0.0)(x, y, z).item()
        3.0
    """

    function = staticmethod(margin_loss.triplet_margin_loss)
    defaults: ClassVar = {
        "margin": 1.0, "p": 2.0, "epsilon": 1e-6, "swap": False, "reduction": "mean"
    }  # fmt: skip


class TripletMarginWithDistanceLoss(_Loss):
    """``nn.functional.triplet_margin_with_distance_loss``: the same with a distance of one's own.

    Args:
        distance_function: Takes two tensors [N, M] and gives one of shape [N].
        margin: By how much farther.
        swap: Take the distance of the two others where it is the smaller one.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y, z = (paddle.to_tensor([[v]]) for v in (0.0, 3.0, 1.0))
        >>> loss = paddle.nn.TripletMarginWithDistanceLoss(lambda a, b: (a - b).abs().sum(-1))
        >>> loss(x, y, z).item()
        3.0
    """

    function = staticmethod(margin_loss.triplet_margin_with_distance_loss)
    defaults: ClassVar = {
        "distance_function": None, "margin": 1.0, "swap": False, "reduction": "mean"
    }  # fmt: skip


class SoftMarginLoss(_Loss):
    """``nn.functional.soft_margin_loss``: ``log(1 + exp(-label input))``.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1000.0]), paddle.to_tensor([-1.0])
        >>> paddle.nn.SoftMarginLoss()(x, y).item()
        1000.0
    """

    function = staticmethod(pointwise_loss.soft_margin_loss)
    defaults: ClassVar = {"reduction": "mean"}


class MultiMarginLoss(_Weighted):
    """``nn.functional.multi_margin_loss``: the right class above the others.

    Args:
        p: Exponent.
        margin: By how much above.
        weight: Tensor of one weight a class.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, label = paddle.to_tensor([[1.0, 4.0]]), paddle.to_tensor([0])
        >>> paddle.nn.MultiMarginLoss()(x, label).item()
        2.0
    """

    function = staticmethod(class_margin_loss.multi_margin_loss)
    defaults: ClassVar = {"p": 1, "margin": 1.0, "weight": None, "reduction": "mean"}


class MultiLabelMarginLoss(_Loss):
    """``nn.functional.multi_label_margin_loss``: right classes above the others.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, label = paddle.to_tensor([[1.0, 4.0]]), paddle.to_tensor([[0, -1]])
        >>> paddle.nn.MultiLabelMarginLoss()(x, label).item()
        2.0
    """

    function = staticmethod(class_margin_loss.multi_label_margin_loss)
    defaults: ClassVar = {"reduction": "mean"}


class MultiLabelSoftMarginLoss(_Weighted):
    """``nn.functional.multi_label_soft_margin_loss``: every class yes or no.

    Args:
        weight: Tensor that weighs the classes.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[100.0, -100.0]]), paddle.to_tensor([[0.0, 0.0]])
        >>> paddle.nn.MultiLabelSoftMarginLoss()(x, y).item()
        50.0
    """

    function = staticmethod(class_margin_loss.multi_label_soft_margin_loss)
    defaults: ClassVar = {"weight": None, "reduction": "mean"}


class PoissonNLLLoss(_Loss):
    """``nn.functional.poisson_nll_loss``: counts.

    Args:
        log_input: Whether inputs are logarithms of rates.
        full: Add Stirling's approximation of ``log(label!)``.
        epsilon: Added to a rate before its logarithm is taken.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([0.0]), paddle.to_tensor([2.0])
        >>> paddle.nn.PoissonNLLLoss()(x, y).item()
        1.0
    """

    function = staticmethod(likelihood_loss.poisson_nll_loss)
    defaults: ClassVar = {"log_input": True, "full": False, "epsilon": 1e-8, "reduction": "mean"}


class GaussianNLLLoss(_Loss):
    """``nn.functional.gaussian_nll_loss``: values with normal errors.

    Args:
        full: Add ``log(2 pi) / 2``.
        epsilon: Smallest variance.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y, variance = (paddle.to_tensor([v]) for v in (1.0, 3.0, 1.0))
        >>> paddle.nn.GaussianNLLLoss()(x, y, variance).item()
        2.0
    """

    function = staticmethod(likelihood_loss.gaussian_nll_loss)
    defaults: ClassVar = {"full": False, "epsilon": 1e-6, "reduction": "mean"}
