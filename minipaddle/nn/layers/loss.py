"""Losses as layers."""

from __future__ import annotations

from minipaddle.imperative.functions import loss, pointwise_loss
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer


class _Loss(Layer):
    """A layer with a ``reduction``, which is checked as the layer is made."""

    def __init__(self, reduction: str, known: tuple[str, ...] = loss.REDUCTIONS) -> None:
        super().__init__()
        loss.check_reduction(type(self).__name__, reduction, known)
        self.reduction = reduction


class CrossEntropyLoss(_Loss):
    """``nn.functional.cross_entropy``: scores of classes against labels.

    Args:
        weight: Tensor of one weight a class.
        ignore_index: Label that counts for nothing.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        soft_label: Whether labels are probabilities.
        axis: The axis of the classes.
        use_softmax: Whether the input holds scores; otherwise it holds probabilities.
        label_smoothing: Share of a label that is spread evenly over all classes.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> scores, label = paddle.to_tensor([[0.0, 100.0]]), paddle.to_tensor([0])
        >>> paddle.nn.CrossEntropyLoss()(scores, label).item()
        100.0
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index, self.soft_label = weight, ignore_index, soft_label
        self.axis, self.use_softmax, self.label_smoothing = axis, use_softmax, label_smoothing

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """See ``nn.functional.cross_entropy``."""
        return loss.cross_entropy(
            input,
            label,
            self.weight,
            self.ignore_index,
            self.reduction,
            self.soft_label,
            self.axis,
            self.use_softmax,
            self.label_smoothing,
        )


class NLLLoss(_Loss):
    """``nn.functional.nll_loss``: logarithms of probabilities against labels.

    Args:
        weight: Tensor of one weight a class.
        ignore_index: Label that counts for nothing.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, label = paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])
        >>> paddle.nn.NLLLoss()(x, label).item()
        2.0
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """See ``nn.functional.nll_loss``."""
        return loss.nll_loss(input, label, self.weight, self.ignore_index, self.reduction)


class BCELoss(_Loss):
    """``nn.functional.binary_cross_entropy``: probabilities against 0 and 1.

    Args:
        weight: Tensor that the losses are multiplied by.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.BCELoss()(paddle.to_tensor([1.0]), paddle.to_tensor([1.0])).item()
        0.0
    """

    def __init__(
        self, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__(reduction)
        self.weight = weight

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """See ``nn.functional.binary_cross_entropy``."""
        return pointwise_loss.binary_cross_entropy(input, label, self.weight, self.reduction)


class BCEWithLogitsLoss(_Loss):
    """``nn.functional.binary_cross_entropy_with_logits``: scores against 0 and 1.

    Args:
        weight: Tensor that the losses are multiplied by.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        pos_weight: Tensor that weighs the part with the label.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1000.0]), paddle.to_tensor([0.0])
        >>> paddle.nn.BCEWithLogitsLoss()(x, y).item()
        1000.0
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def forward(self, logit: Tensor, label: Tensor) -> Tensor:
        """See ``nn.functional.binary_cross_entropy_with_logits``."""
        return pointwise_loss.binary_cross_entropy_with_logits(
            logit, label, self.weight, self.reduction, self.pos_weight
        )


class L1Loss(_Loss):
    """``nn.functional.l1_loss``: absolute differences.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.L1Loss()(paddle.to_tensor([1.0]), paddle.to_tensor([3.0])).item()
        2.0
    """

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__(reduction)

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """See ``nn.functional.l1_loss``."""
        return pointwise_loss.l1_loss(input, label, self.reduction)


class SmoothL1Loss(_Loss):
    """``nn.functional.smooth_l1_loss``: squares of small differences, large ones as they are.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        delta: Where the parabola ends.
        is_huber: Otherwise all is divided by delta.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.SmoothL1Loss()(paddle.to_tensor([1.0]), paddle.to_tensor([3.0])).item()
        1.5
    """

    def __init__(
        self,
        reduction: str = "mean",
        delta: float = 1.0,
        is_huber: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__(reduction)
        self.delta, self.is_huber = delta, is_huber

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """See ``nn.functional.smooth_l1_loss``."""
        return pointwise_loss.smooth_l1_loss(
            input, label, self.reduction, self.delta, self.is_huber
        )


class KLDivLoss(_Loss):
    """``nn.functional.kl_div``: logarithms of probabilities against probabilities.

    Args:
        reduction: ``"mean"``, ``"batchmean"``, ``"sum"`` or ``"none"``.
        log_target: Whether labels are logarithms too.

    Raises:
        ValueError: ``reduction`` is none of the four.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[-2.0, -3.0]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.KLDivLoss("batchmean")(x, y).item()
        3.0
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction, pointwise_loss.KL_REDUCTIONS)
        self.log_target = log_target

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """See ``nn.functional.kl_div``."""
        return pointwise_loss.kl_div(input, label, self.reduction, self.log_target)


class MSELoss(_Loss):
    """Squared error, averaged, summed or as it is.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: ``reduction`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.MSELoss()(paddle.to_tensor([1.0]), paddle.to_tensor([3.0])).item()
        4.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction)

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """See ``nn.functional.mse_loss``."""
        return loss.mse_loss(input, label, self.reduction)
