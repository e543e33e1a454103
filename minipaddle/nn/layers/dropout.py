"""Dropout as layers: they drop in training mode, and hand on what they get in eval mode."""

from __future__ import annotations

from minipaddle.imperative.functions import dropout
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer


class Dropout(Layer):
    """Sets elements to 0, each with probability p; see ``nn.functional.dropout``.

    Args:
        p: Probability, from 0 to 1.
        axis: Axes along which elements are dropped one by one; all by default.
        mode: ``"upscale_in_train"`` or ``"downscale_in_infer"``.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> layer = paddle.nn.Dropout(0.5).eval()
        >>> layer(paddle.ones([2])).tolist()
        [1.0, 1.0]
    """

    def __init__(
        self,
        p: float = 0.5,
        axis: Ints | None = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.p, self.axis, self.mode = p, axis, mode

    def forward(self, x: Tensor) -> Tensor:
        """See ``nn.functional.dropout``."""
        return dropout.dropout(x, self.p, self.axis, self.training, self.mode)

    def extra_repr(self) -> str:
        """See ``Layer``."""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}"


class Dropout2D(Layer):
    """Sets whole channels of images to 0, each with probability p.

    Args:
        p: Probability, from 0 to 1.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Dropout2D(1.0)(paddle.ones([1, 2, 3, 3])).sum().item()
        0.0
    """

    _default, _drop = "NCHW", staticmethod(dropout.dropout2d)

    def __init__(
        self, p: float = 0.5, data_format: str | None = None, name: str | None = None
    ) -> None:
        super().__init__()
        self.p, self.data_format = p, data_format or self._default

    def forward(self, x: Tensor) -> Tensor:
        """See ``nn.functional.dropout2d``."""
        return self._drop(x, self.p, self.training, self.data_format)

    def extra_repr(self) -> str:
        """See ``Layer``."""
        return f"p={self.p}, data_format={self.data_format}"


class Dropout3D(Dropout2D):
    """Sets whole channels of volumes to 0, each with probability p.

    Args:
        p: Probability, from 0 to 1.
        data_format: ``"NCDHW"``, the default, or ``"NDHWC"``.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Dropout3D(1.0)(paddle.ones([1, 2, 3, 3, 3])).sum().item()
        0.0
    """

    _default, _drop = "NCDHW", staticmethod(dropout.dropout3d)


class AlphaDropout(Layer):
    """Dropout that keeps mean 0 and variance 1; see ``nn.functional.alpha_dropout``.

    Args:
        p: Probability, from 0 to 1.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> len(set(paddle.nn.AlphaDropout(0.5)(paddle.ones([100])).tolist()))
        2
    """

    _drop = staticmethod(dropout.alpha_dropout)

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """See ``nn.functional.alpha_dropout``."""
        return self._drop(x, self.p, self.training)

    def extra_repr(self) -> str:
        """See ``Layer``."""
        return f"p={self.p}"


class FeatureAlphaDropout(AlphaDropout):
    """``AlphaDropout`` of whole channels, the second axis.

    Args:
        p: Probability, from 0 to 1.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.FeatureAlphaDropout(1.0)(paddle.ones([1, 2, 3])).sum().item()
        0.0
    """

    _drop = staticmethod(dropout.feature_alpha_dropout)
