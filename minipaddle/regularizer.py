"""Penalties on the size of parameters, for ``weight_decay=`` and ``ParamAttr(regularizer=...)``."""

from __future__ import annotations


class WeightDecayRegularizer:
    """Base of the two penalties; an optimizer adds the penalty's gradient to that of the loss.

    Attributes:
        l1: Factor of the parameter's sign in that gradient.
        l2: Factor of the parameter in that gradient.
    """

    l1 = 0.0
    l2 = 0.0

    def __init__(self, coeff: float = 0.0) -> None:
        if isinstance(coeff, bool) or not isinstance(coeff, (int, float)):
            raise TypeError(f"coeff must be a number; got {coeff!r}")
        self._coeff = float(coeff)

    def __repr__(self) -> str:
        return f"{type(self).__name__}, coeff={self._coeff:f}"


class L1Decay(WeightDecayRegularizer):
    """The penalty ``coeff * sum(abs(parameter))``, which makes many elements zero.

    Args:
        coeff: Its weight.

    Raises:
        TypeError: ``coeff`` is no number.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0, -1.0], stop_gradient=False)
        >>> l1 = paddle.regularizer.L1Decay(0.5)
        >>> sgd = paddle.optimizer.SGD(1.0, parameters=[w], weight_decay=l1)
        >>> (w * 0).sum().backward()
        >>> sgd.step()
        >>> w.tolist()
        [0.5, -0.5]
    """

    def __init__(self, coeff: float = 0.0) -> None:
        super().__init__(coeff)
        self.l1 = self._coeff


class L2Decay(WeightDecayRegularizer):
    """The penalty ``coeff / 2 * sum(parameter ** 2)``; a float as ``weight_decay`` means this.

    Args:
        coeff: Its weight.

    Raises:
        TypeError: ``coeff`` is no number.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0, -2.0], stop_gradient=False)
        >>> l2 = paddle.regularizer.L2Decay(0.5)
        >>> sgd = paddle.optimizer.SGD(1.0, parameters=[w], weight_decay=l2)
        >>> (w * 0).sum().backward()
        >>> sgd.step()
        >>> w.tolist()
        [0.5, -1.0]
    """

    def __init__(self, coeff: float = 0.0) -> None:
        super().__init__(coeff)
        self.l2 = self._coeff


__all__ = ["L1Decay", "L2Decay"]
