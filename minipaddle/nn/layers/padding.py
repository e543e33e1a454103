"""Padding as layers."""

from __future__ import annotations

from typing import Any, ClassVar

from minipaddle.imperative.functions import padding as functions
from minipaddle.imperative.operand import int_list
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer


class _Pad(Layer):
    """Base of those below: ``nn.functional.pad`` around the spatial axes.

    Args:
        padding: Two counts for each spatial axis, from the last one to the first, or one int for
            all.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        value: What constant mode puts in.
        data_format: Where the channels are.
        name: Unused; for Paddle's signature.
    """

    spatial: ClassVar[int]

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        first = ("NCL", "NCHW", "NCDHW")[self.spatial - 1]
        known = (first, f"N{first[2:]}C")
        self.data_format = first if data_format is None else data_format
        if self.data_format not in known:
            raise ValueError(
                f"{type(self).__name__}: data_format must be one of {known}; got {data_format!r}"
            )
        counts = int_list("padding", padding) or ()
        self.padding = list(counts * 2 * self.spatial if len(counts) == 1 else counts)
        if len(self.padding) != 2 * self.spatial:
            raise ValueError(
                f"{type(self).__name__}: padding must be one int or {2 * self.spatial}; got "
                f"{padding!r}"
            )
        self.mode, self.value = mode, value

    def forward(self, x: Tensor) -> Tensor:
        """See ``nn.functional.pad``."""
        if x.ndim != self.spatial + 2:
            raise ValueError(
                f"{type(self).__name__} takes {self.spatial + 2} axes; got shape {x.shape}"
            )
        return functions.pad(x, self.padding, self.mode, self.value, self.data_format)

    def extra_repr(self) -> str:
        """The settings."""
        return (
            f"padding={self.padding}, mode={self.mode}, value={self.value}, "
            f"data_format={self.data_format}"
        )


class Pad1D(_Pad):
    """Puts numbers, or copies of their own values, around sequences [N, C, L].

    Args:
        padding: Counts at the left and right; one int for all.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        value: What constant mode puts in.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``padding`` or ``data_format`` does not fit.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Pad1D(1)(paddle.ones([1, 1, 3])).shape
        [1, 1, 5]
    """

    spatial = 1


class Pad2D(_Pad):
    """Puts numbers, or copies of their own values, around images [N, C, H, W].

    Args:
        padding: Counts at the left, right, top and bottom; one int for all.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        value: What constant mode puts in.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``padding`` or ``data_format`` does not fit.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Pad2D(1)(paddle.ones([1, 1, 3, 3])).shape
        [1, 1, 5, 5]
    """

    spatial = 2


class Pad3D(_Pad):
    """Puts numbers, or copies of their own values, around volumes [N, C, D, H, W].

    Args:
        padding: Counts at the left, right, top, bottom, front and back; one int for all.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        value: What constant mode puts in.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``padding`` or ``data_format`` does not fit.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Pad3D(1)(paddle.ones([1, 1, 3, 3, 3])).shape
        [1, 1, 5, 5, 5]
    """

    spatial = 3


class ZeroPad1D(Pad1D):
    """Puts zeros around sequences [N, C, L]; see ``Pad1D``.

    Args:
        padding: Counts at the left and right; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", data_format=data_format)


class ZeroPad2D(Pad2D):
    """Puts zeros around images [N, C, H, W]; see ``Pad2D``.

    Args:
        padding: Counts at the left, right, top and bottom; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", data_format=data_format)


class ZeroPad3D(Pad3D):
    """Puts zeros around volumes [N, C, D, H, W]; see ``Pad3D``.

    Args:
        padding: Counts at the left, right, top, bottom, front and back; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", data_format=data_format)


class ReflectionPad1D(Pad1D):
    """Puts values mirrored at the edge, without it, around sequences [N, C, L]; see ``Pad1D``.

    Args:
        padding: Counts at the left and right; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, "reflect", data_format=data_format)


class ReflectionPad2D(Pad2D):
    """Puts values mirrored at the edge, without it, around images [N, C, H, W]; see ``Pad2D``.

    Args:
        padding: Counts at the left, right, top and bottom; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "reflect", data_format=data_format)


class ReflectionPad3D(Pad3D):
    """Puts values mirrored at the edge, without it, around volumes [N, C, D, H, W]; see ``Pad3D``.

    Args:
        padding: Counts at the left, right, top, bottom, front and back; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "reflect", data_format=data_format)


class ReplicationPad1D(Pad1D):
    """Puts copies of the edge around sequences [N, C, L]; see ``Pad1D``.

    Args:
        padding: Counts at the left and right; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, "replicate", data_format=data_format)


class ReplicationPad2D(Pad2D):
    """Puts copies of the edge around images [N, C, H, W]; see ``Pad2D``.

    Args:
        padding: Counts at the left, right, top and bottom; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "replicate", data_format=data_format)


class ReplicationPad3D(Pad3D):
    """Puts copies of the edge around volumes [N, C, D, H, W]; see ``Pad3D``.

    Args:
        padding: Counts at the left, right, top, bottom, front and back; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "replicate", data_format=data_format)


class CircularPad1D(Pad1D):
    """Puts values of the other end around sequences [N, C, L]; see ``Pad1D``.

    Args:
        padding: Counts at the left and right; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, "circular", data_format=data_format)


class CircularPad2D(Pad2D):
    """Puts values of the other end around images [N, C, H, W]; see ``Pad2D``.

    Args:
        padding: Counts at the left, right, top and bottom; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "circular", data_format=data_format)


class CircularPad3D(Pad3D):
    """Puts values of the other end around volumes [N, C, D, H, W]; see ``Pad3D``.

    Args:
        padding: Counts at the left, right, top, bottom, front and back; one int for all.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self, padding: Any, data_format: str | None = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "circular", data_format=data_format)


class ConstantPad1D(Pad1D):
    """Puts a number around sequences [N, C, L]; see ``Pad1D``.

    Args:
        padding: Counts at the left and right; one int for all.
        value: The number.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self,
        padding: Any,
        value: float,
        data_format: str | None = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, "constant", value, data_format)


class ConstantPad2D(Pad2D):
    """Puts a number around images [N, C, H, W]; see ``Pad2D``.

    Args:
        padding: Counts at the left, right, top and bottom; one int for all.
        value: The number.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self,
        padding: Any,
        value: float,
        data_format: str | None = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, "constant", value, data_format)


class ConstantPad3D(Pad3D):
    """Puts a number around volumes [N, C, D, H, W]; see ``Pad3D``.

    Args:
        padding: Counts at the left, right, top, bottom, front and back; one int for all.
        value: The number.
        data_format: Where the channels are; first by default.
        name: Unused; for Paddle's signature.
    """

    def __init__(
        self,
        padding: Any,
        value: float,
        data_format: str | None = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, "constant", value, data_format)
