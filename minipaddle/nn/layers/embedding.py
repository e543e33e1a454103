"""Layers that look rows up."""

from __future__ import annotations

import operator
from typing import Any

from minipaddle.imperative.autograd import no_grad
from minipaddle.imperative.functions import embedding
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer


class Embedding(Layer):
    """A table of vectors, one for each number from 0 on.

    Args:
        num_embeddings: How many vectors.
        embedding_dim: Length of a vector.
        padding_idx: Number of a vector that is zero and stays so; negative from the end on.
        max_norm: Vectors that are used are first scaled down to this norm, in the table.
        norm_type: The p of that norm.
        sparse: Let the gradient of the table hold only the vectors that were used.
        weight_attr: ParamAttr, Initializer, name or None; Xavier-uniform by default.
        name: Name scope of the parameter.

    Attributes:
        weight: Parameter of shape [num_embeddings, embedding_dim].

    Raises:
        ValueError: A size is not a positive int, or ``padding_idx`` is the number of no vector.

    Example:
        >>> import minipaddle as paddle
        >>> table = paddle.nn.Embedding(10, 3, padding_idx=0)
        >>> table(paddle.to_tensor([[1, 2], [9, 0]])).shape
        [2, 2, 3]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        sparse: bool = False,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        sizes = (("num_embeddings", num_embeddings), ("embedding_dim", embedding_dim))
        for argument, value in sizes:
            if not hasattr(value, "__index__") or operator.index(value) < 1:
                raise ValueError(f"{argument} must be a positive int; got {value!r}")
        if weight_attr is False:
            raise ValueError("weight_attr must not be False: Embedding has no use without a weight")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(
                f"padding_idx must lie in [-{num_embeddings}, {num_embeddings}); got {padding_idx}"
            )
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm, self.norm_type, self.sparse = max_norm, norm_type, sparse
        self.weight: Any = self.create_parameter([num_embeddings, embedding_dim], weight_attr)
        if self.padding_idx is not None:
            with no_grad():
                weight: Any = self.weight
                weight[self.padding_idx] = 0.0

    def forward(self, x: Tensor) -> Tensor:
        """See ``nn.functional.embedding``."""
        return embedding.embedding(
            x, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.sparse
        )

    def extra_repr(self) -> str:
        """The sizes, and what is not as by default."""
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.sparse:
            parts.append("sparse=True")
        return ", ".join(parts)
