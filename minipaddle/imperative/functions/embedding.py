"""Embeddings, and what their gradients are made of."""

from __future__ import annotations

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.op import namespace


@bound
def embedding_lookup(
    x: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
    name: str | None = None,
) -> Tensor:
    """The rows of ``weight`` whose numbers ``x`` has; see ``embedding``."""


@bound
def scatter_rows(
    index: Tensor, x: Tensor, height: int, padding_idx: int | None = None, name: str | None = None
) -> Tensor:
    """A tensor whose row i is the sum of those parts of ``x`` that stand where ``index`` is i.

    Args:
        index: Int tensor of row numbers, from 0 on.
        x: Float tensor whose shape begins with that of index.
        height: Number of rows of the result.
        padding_idx: Number of a row that is zero all the same; negative from the end on.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of ``height``, followed by the rest of x's shape.
    """


def embedding(
    x: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
    name: str | None = None,
) -> Tensor:
    """The rows of ``weight`` whose numbers ``x`` has.

    Args:
        x: Int tensor of any shape.
        weight: Float tensor of shape [number of rows, length of a row].
        padding_idx: Number of a row that reads as zeros and has no gradient; negative from the end.
        max_norm: First scale, in ``weight`` itself, each of these rows of a larger norm down to it.
        norm_type: The p of that norm.
        sparse: Let the gradient of ``weight``, a leaf, be a SelectedRows, which has nothing of the
            rows that are not used; where it meets a dense one, or a hook looks at it, it is dense.
        scale_grad_by_freq: Divide the gradient of each row by how often it is used.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape, followed by the length of a row.

    Raises:
        IndexError: A number is negative or not below the number of rows.
        TypeError: x is of no int dtype, or weight of no float dtype.
        ValueError: ``padding_idx`` is the number of no row, or max_norm is not positive.

    Example:
        >>> import minipaddle as paddle
        >>> weight = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.nn.functional.embedding(paddle.to_tensor([1, 0, 1]), weight).tolist()
        [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
    """
    if max_norm is not None:
        x = x if isinstance(x, Tensor) else to_tensor(x, place=weight.place)
        _renorm(x, weight, max_norm, norm_type)
    return embedding_lookup(x, weight, padding_idx, sparse, scale_grad_by_freq)


def _renorm(x: Tensor, weight: Tensor, max_norm: float, norm_type: float) -> None:
    if not max_norm > 0:
        raise ValueError(f"embedding: max_norm must be positive; got {max_norm}")
    if not norm_type > 0:
        raise ValueError(f"embedding: norm_type must be positive; got {norm_type}")
    embedding_lookup(x, weight.detach())  # refuses what cannot be looked up before a write
    namespace(weight.place).embedding_renorm_(weight.data, x.data, max_norm, norm_type)
    weight.version[0] += 1


API = ("nn.functional.embedding",)
