"""Weights that are learned as a direction and a length."""

from __future__ import annotations

from typing import Any

from minipaddle.imperative.autograd import no_grad
from minipaddle.imperative.functions import elementwise, math, reduction, shape
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer


def _length(v: Tensor, dim: int) -> Tensor:
    """Euclidean lengths of the slices of an axis; -1 takes all elements together."""
    axes = None if dim < 0 else [axis for axis in range(v.ndim) if axis != dim]
    if axes == []:
        return math.abs(v)
    return math.sqrt(reduction.sum(elementwise.square(v), axes) + 1e-12)


class WeightNorm:
    """The hook that makes a weight of its direction ``NAME_v`` and its length ``NAME_g``.

    Args:
        name: The weight's name.
        dim: The axis with a length for each slice; -1 for one length of all.
    """

    def __init__(self, name: str, dim: int) -> None:
        self.name, self.dim = name, dim

    def weight(self, layer: Layer) -> Tensor:
        """The weight as it is now."""
        g, v = getattr(layer, f"{self.name}_g"), getattr(layer, f"{self.name}_v")
        factor = g / _length(v, self.dim)
        if self.dim >= 0:
            lengths = [1] * v.ndim
            lengths[self.dim] = -1
            factor = shape.reshape(factor, lengths)
        return elementwise.multiply(v, factor)

    def __call__(self, layer: Layer, inputs: Any) -> None:
        """Takes the weight anew before a forward."""
        setattr(layer, self.name, self.weight(layer))


def _find(layer: Layer, name: str) -> int | None:
    """The number of the hook of a weight."""
    for number, (hook, _, _) in layer._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return number
    return None


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Lets a layer learn the direction and the length of a weight: ``g * v / |v|``.

    Args:
        layer: The layer.
        name: Name of the parameter. It becomes a tensor that is computed before each forward;
            ``NAME_v`` and ``NAME_g`` are the parameters then.
        dim: The axis with a length for each slice; None for one length of all.

    Returns:
        The layer.

    Raises:
        RuntimeError: The weight has been normalized before.
        ValueError: There is no such parameter, or no such axis.

    References:
        Salimans and Kingma (2016), Weight normalization.

    Example:
        >>> import minipaddle as paddle
        >>> layer = paddle.nn.utils.weight_norm(paddle.nn.Linear(3, 2), dim=1)
        >>> [(name, p.shape) for name, p in layer.named_parameters()]
        [('bias', [2]), ('weight_v', [3, 2]), ('weight_g', [2])]
    """
    if _find(layer, name) is not None:
        raise RuntimeError(f"{name} of {layer.full_name()} is normalized already")
    weight = layer._parameters.get(name)
    if weight is None:
        raise ValueError(f"{layer.full_name()} has no parameter {name!r}")
    axis = -1 if dim is None else dim
    if not -weight.ndim <= axis < weight.ndim:
        raise ValueError(f"dim must be an axis of {name}, which has {weight.ndim}; got {dim}")
    # As in Paddle, -1 means all elements, not the last axis.
    hook = WeightNorm(name, axis if axis >= -1 else axis + weight.ndim)
    with no_grad():
        length = _length(weight, hook.dim)
    delattr(layer, name)
    for end, value in (("_v", weight), ("_g", length)):
        made: Any = layer.create_parameter(value.shape, dtype=value.dtype)
        made.set_value(value)
        layer.add_parameter(name + end, made)
    hook(layer, ())
    layer.register_forward_pre_hook(hook)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Undoes ``weight_norm``; the weight keeps its present value.

    Args:
        layer: The layer.
        name: Name of the weight.

    Returns:
        The layer.

    Raises:
        ValueError: The weight is not normalized.

    Example:
        >>> import minipaddle as paddle
        >>> layer = paddle.nn.utils.weight_norm(paddle.nn.Linear(3, 2))
        >>> [n for n, _ in paddle.nn.utils.remove_weight_norm(layer).named_parameters()]
        ['bias', 'weight']
    """
    number = _find(layer, name)
    if number is None:
        raise ValueError(f"{name} of {layer.full_name()} is not normalized")
    hook: Any = layer._forward_pre_hooks.pop(number)[0]
    with no_grad():
        value = hook.weight(layer)
    for attribute in (name, f"{name}_g", f"{name}_v"):
        delattr(layer, attribute)
    made: Any = layer.create_parameter(value.shape, dtype=value.dtype)
    made.set_value(value)
    layer.add_parameter(name, made)
    return layer
