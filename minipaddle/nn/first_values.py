"""Initializer, and first values that are given rather than drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from minipaddle.device.backend import current_place
from minipaddle.imperative.functions import creation, random
from minipaddle.imperative.tensor import Tensor, to_tensor


class Initializer:
    """Makes the first value of a parameter: a subclass defines ``values(shape, dtype)``.

    Calling it with a shape and a dtype gives a new tensor, calling it with a tensor fills that one.

    Example:
        >>> import minipaddle as paddle
        >>> weight = paddle.zeros([2])
        >>> paddle.nn.initializer.Constant(0.5)(weight).tolist()
        [0.5, 0.5]
        >>> weight.tolist()
        [0.5, 0.5]
    """

    def __call__(self, shape: Any, dtype: Any = None) -> Tensor:
        """The first values, in a new tensor or in the one that is given.

        Args:
            shape: Lengths of the parameter's axes, or a tensor that is filled in place.
            dtype: The parameter's float element type; unused for a tensor.
        """
        if not isinstance(shape, Tensor):
            return self.values(list(shape), dtype)
        shape.set_value(self.values(shape.shape, shape.dtype))
        return shape

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """A new tensor with the first values.

        Args:
            shape: Lengths of the parameter's axes.
            dtype: Its float element type.
        """
        raise TypeError(f"{type(self).__name__} does not define values(shape, dtype)")


def fans(shape: list[int]) -> tuple[int, int]:
    """Inputs and outputs of one unit, as Paddle counts them: fan_in and fan_out.

    A matrix is [in, out]; more axes are a kernel of convolution, [out, in, size, ...].

    Args:
        shape: Lengths of the parameter's axes.
    """
    if len(shape) < 2:
        length = shape[0] if shape else 1
        return length, length
    if len(shape) == 2:
        return shape[0], shape[1]
    size = math.prod(shape[2:])
    return shape[1] * size, shape[0] * size


@dataclass
class Constant(Initializer):
    """One value everywhere.

    Args:
        value: The value.

    Raises:
        ValueError: It is None.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.initializer.Constant(0.5)([2], "float32").tolist()
        [0.5, 0.5]
    """

    value: float = 0.0

    def __post_init__(self) -> None:
        if self.value is None:
            raise ValueError("value must be a number; got None")

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        return creation.full(shape, self.value, dtype)


class Assign(Initializer):
    """Given values, whose shape is the parameter's.

    Args:
        value: NumPy array, list, tuple or Tensor.
        name: Unused; for Paddle's signature.

    Raises:
        TypeError: ``value`` is none of these.

    Example:
        >>> import minipaddle as paddle
        >>> two = paddle.nn.initializer.Assign([1.0, 2.0])
        >>> paddle.nn.Linear(1, 2, bias_attr=two).bias.tolist()
        [1.0, 2.0]
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        if not isinstance(value, (np.ndarray, list, tuple, Tensor)):
            raise TypeError(
                f"value must be an array, a list, a tuple or a Tensor; got {type(value).__name__}"
            )
        self.value = to_tensor(value)

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``; a value of another shape is a ValueError."""
        if self.value.shape != list(shape):
            raise ValueError(
                f"Assign has values of shape {self.value.shape} for a parameter of shape {shape}"
            )
        return to_tensor(self.value, dtype)


@dataclass
class Orthogonal(Initializer):
    """Rows at right angles to each other, or columns if these are fewer, all of length ``gain``.

    A shape of more than two axes counts as a matrix of its first axis and all others.

    Args:
        gain: Length of each row or column.
        name: Unused; for Paddle's signature.

    References:
        Saxe, McClelland and Ganguli (2014), Exact solutions to the nonlinear dynamics of learning
        in deep linear neural networks. The signs follow Mezzadri (2007), How to generate random
        matrices from the classical compact groups.

    Example:
        >>> import minipaddle as paddle
        >>> weight = paddle.nn.initializer.Orthogonal(2.0)([2, 3], "float64")
        >>> bool(paddle.allclose(weight @ weight.t(), paddle.eye(2, dtype="float64") * 4.0))
        True
    """

    gain: float = 1.0
    name: str | None = None

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``; fewer than two axes are a ValueError."""
        if len(shape) < 2:
            raise ValueError(f"Orthogonal needs a shape of two axes or more; got {shape}")
        rows, columns = shape[0], math.prod(shape[1:])
        drawn = random.draw_normal(
            current_place(), [max(rows, columns), min(rows, columns)], "float64", 0.0, 1.0
        ).numpy()
        q, r = np.linalg.qr(drawn)
        q = q * np.sign(np.diagonal(r)) * self.gain
        return to_tensor((q.T if rows < columns else q).reshape(shape), dtype)


@dataclass
class Dirac(Initializer):
    """Kernels of a convolution that hands its input on: 1 in the middle of channel i for unit i.

    Args:
        groups: Units are counted anew in each of so many groups.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``groups`` is not a positive int.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.initializer.Dirac()([2, 2, 1], "float32").tolist()
        [[[1.0], [0.0]], [[0.0], [1.0]]]
    """

    groups: int = 1
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.groups, int) or self.groups < 1:
            raise ValueError(f"groups must be a positive int; got {self.groups!r}")

    def values(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``; a shape that is no kernel's is a ValueError."""
        if len(shape) not in (3, 4, 5) or shape[0] % self.groups:
            raise ValueError(
                "Dirac needs a shape of 3 to 5 axes, the first a multiple of groups, "
                f"{self.groups}; got {shape}"
            )
        values = np.zeros(shape)
        units = shape[0] // self.groups
        for group in range(self.groups):
            for unit in range(min(units, shape[1])):
                values[(group * units + unit, unit, *(n // 2 for n in shape[2:]))] = 1.0
        return to_tensor(values, dtype)
