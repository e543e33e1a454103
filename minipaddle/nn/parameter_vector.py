"""All parameters as one vector, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable

from minipaddle.imperative.functions import joining, shape
from minipaddle.imperative.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor], name: str | None = None) -> Tensor:
    """The elements of all parameters in one vector; gradients flow through it.

    Args:
        parameters: Tensors of one dtype.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of one axis.

    Raises:
        ValueError: There are none.

    Example:
        >>> import minipaddle as paddle
        >>> layer = paddle.nn.Linear(3, 2)
        >>> paddle.nn.utils.parameters_to_vector(layer.parameters()).shape
        [8]
    """
    flat = [shape.flatten(parameter) for parameter in parameters]
    if not flat:
        raise ValueError("parameters_to_vector needs at least one parameter")
    return joining.concat(flat, 0)


def vector_to_parameters(
    vec: Tensor, parameters: Iterable[Tensor], name: str | None = None
) -> None:
    """Overwrites parameters with the elements of a vector, in the order of the parameters.

    Args:
        vec: Tensor of one axis, with at least as many elements as the parameters.
        parameters: Tensors.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``vec`` has more than one axis, or too few elements; nothing is changed then.

    Example:
        >>> import minipaddle as paddle
        >>> layer = paddle.nn.Linear(1, 2)
        >>> paddle.nn.utils.vector_to_parameters(paddle.arange(4.0), layer.parameters())
        >>> layer.weight.tolist(), layer.bias.tolist()
        ([[0.0, 1.0]], [2.0, 3.0])
    """
    tensors = list(parameters)
    needed = sum(math.prod(tensor.shape) for tensor in tensors)
    if vec.ndim != 1 or vec.size < needed:
        raise ValueError(
            f"vec must have one axis and {needed} elements or more; got shape {vec.shape}"
        )
    values, first = vec.detach(), 0
    for tensor in tensors:
        part = values[first : first + tensor.size]
        tensor.set_value(shape.reshape(part, tensor.shape))
        first += tensor.size
