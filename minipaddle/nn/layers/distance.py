"""Distances and angles between vectors, as layers."""

from __future__ import annotations

from typing import ClassVar

from minipaddle.imperative.functions import geometry
from minipaddle.nn.layers.function_layer import FunctionLayer


class CosineSimilarity(FunctionLayer):
    """``nn.functional.cosine_similarity`` of two tensors.

    Args:
        axis: The axis of the vectors.
        eps: Least number to divide by.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[3.0, 0.0]]), paddle.to_tensor([[0.0, 3.0]])
        >>> paddle.nn.CosineSimilarity()(x, y).tolist()
        [0.0]
    """

    function = staticmethod(geometry.cosine_similarity)
    defaults: ClassVar = {"axis": 1, "eps": 1e-8}


class PairwiseDistance(FunctionLayer):
    """``nn.functional.pairwise_distance`` of two tensors.

    Args:
        p: Order of the norm.
        epsilon: Added to each difference.
        keepdim: Whether the last axis stays, with length 1.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])
        >>> paddle.nn.PairwiseDistance(epsilon=0.0)(x, y).tolist()
        [5.0]
    """

    function = staticmethod(geometry.pairwise_distance)
    defaults: ClassVar = {"p": 2.0, "epsilon": 1e-6, "keepdim": False}
