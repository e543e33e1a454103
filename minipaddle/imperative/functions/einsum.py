"""Sums of products by labelled axes: einsum and tensordot, composed of matmul and its like.

A term is a tensor and a string with one label an axis. Two terms are contracted by bringing their
axes into the order of one batched matrix product; more than two, pair by pair.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterable
from typing import Any

from minipaddle.imperative.functions import elementwise, linalg, reduction, shape
from minipaddle.imperative.tensor import Tensor

Term = tuple[Tensor, str]

_PRIVATE = 0xE000  # labels of axes that have no letter: Unicode's private characters


def _unnamed(start: int, stop: int) -> str:
    return "".join(chr(_PRIVATE + i) for i in range(start, stop))


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Multiplies tensors by labelled axes and sums over the labels that the result lacks.

    Args:
        equation: One letter an axis, operands separated by commas, then ``->`` and the labels of
            the result, as in ``"bij,bjk->bik"``. A letter that occurs twice in one operand takes
            its diagonal. ``...`` stands for any number of axes, which broadcast. Without ``->`` the
            result has the axes of ``...``, then the letters that occur once, in alphabetical order.
        *operands: Tensors of one dtype and of any number. Axes of one label have one length, or
            length 1.

    Returns:
        Tensor with the axes that the equation says. With more than two operands, the pair whose
        product grows the least is multiplied first.

    Raises:
        TypeError: An operand is no Tensor, or the dtypes differ.
        ValueError: The equation is malformed, or does not fit the shapes.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.einsum("ii->i", x).tolist()
        [1.0, 4.0]
        >>> paddle.einsum("ij,jk", x, x).tolist()
        [[7.0, 10.0], [15.0, 22.0]]
    """
    for x in operands:
        if not isinstance(x, Tensor):
            raise TypeError(f"einsum: operands must be Tensors; got {type(x).__name__}")
    inputs, output = _parse(equation, tuple(tuple(x.shape) for x in operands))
    terms = [_without_repeats(x, labels) for x, labels in zip(operands, inputs, strict=True)]
    sizes = _sizes(terms, equation)
    while len(terms) > 1:
        one, two = _next_pair(terms, output, sizes)
        second, first = terms.pop(two), terms.pop(one)  # two > one
        keep = set(output).union(*(labels for _, labels in terms))
        terms.append(_contract(first, second, keep))
    x, labels = _summed(*terms[0], output)
    if labels == output and x is not operands[0]:
        return x
    return shape.transpose(x, [labels.index(label) for label in output])


@functools.lru_cache(maxsize=256)
def _parse(equation: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[list[str], str]:
    """The labels of every operand and of the result, those of ellipses spelled out."""
    left, arrow, output = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(shapes):
        raise ValueError(
            f"einsum: equation {equation!r} names {len(parts)} operands; got {len(shapes)}"
        )
    for part in [*parts, output]:
        if not re.fullmatch(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*", part):
            raise ValueError(
                f"einsum: {part!r} in equation {equation!r} must be letters with at most one '...'"
            )
    covered = [len(s) - len(p.replace("...", "")) for s, p in zip(shapes, parts, strict=True)]
    for given, part, rank in zip(shapes, parts, covered, strict=True):
        if rank < 0 or (rank > 0 and "..." not in part):
            raise ValueError(f"einsum: {part!r} does not name the axes of shape {list(given)}")
    widest = max(covered)
    inputs = [
        part.replace("...", _unnamed(widest - rank, widest))
        for part, rank in zip(parts, covered, strict=True)
    ]
    every = _unnamed(0, widest)
    if not arrow:
        letters = "".join(parts).replace(".", "")
        return inputs, every + "".join(sorted(a for a in letters if letters.count(a) == 1))
    if every and "..." not in output:
        raise ValueError(f"einsum: the result in {equation!r} must say where the axes of '...' go")
    for label in output.replace(".", ""):
        if output.count(label) > 1 or label not in left:
            raise ValueError(
                f"einsum: the result in {equation!r} must take {label!r} once, "
                "and from the operands"
            )
    return inputs, output.replace("...", every)


def _without_repeats(x: Tensor, labels: str) -> Term:
    """The diagonals of the axes that share a label."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            one = labels.index(label)
            two = labels.index(label, one + 1)
            if x.shape[one] != x.shape[two]:
                raise ValueError(
                    f"einsum: {label!r} names axes {one} and {two} of one operand, whose lengths "
                    f"{x.shape[one]} and {x.shape[two]} differ"
                )
            x = linalg.diagonal(x, 0, one, two)
            labels = labels[:one] + labels[one + 1 : two] + labels[two + 1 :] + label
    return x, labels


def _sizes(terms: list[Term], where: str) -> dict[str, int]:
    """Length of every label; 1 meets any other.

    Raises:
        ValueError: Two axes of one label have different lengths.
    """
    sizes: dict[str, int] = {}
    for x, labels in terms:
        for label, size in zip(labels, x.shape, strict=True):
            known = sizes.get(label, 1)
            if 1 != size != known != 1:
                axis = "an axis of '...'" if ord(label) >= _PRIVATE else repr(label)
                shapes = ", ".join(str(t.shape) for t, _ in terms)
                raise ValueError(
                    f"einsum: {axis} of {where!r} has length {known} and {size} in {shapes}"
                )
            sizes[label] = known if size == 1 else size
    return sizes


def _next_pair(terms: list[Term], output: str, sizes: dict[str, int]) -> tuple[int, int]:
    """The two terms whose product takes the least memory beyond their own, then least work."""
    if len(terms) == 2:
        return 0, 1

    def cost(pair: tuple[int, int]) -> tuple[int, int]:
        rest = {a for i, (_, labels) in enumerate(terms) if i not in pair for a in labels}
        one, two = (set(terms[i][1]) for i in pair)
        kept = (one | two) & (rest | set(output))
        return count(kept) - count(one) - count(two), count(one | two)

    def count(labels: Iterable[str]) -> int:
        return math.prod(sizes[label] for label in labels)

    return min(itertools.combinations(range(len(terms)), 2), key=cost)


def _summed(x: Tensor, labels: str, keep: Iterable[str]) -> Term:
    """Sums over the axes whose labels are not kept."""
    axes = [i for i, label in enumerate(labels) if label not in keep]
    if axes:
        x = reduction.sum(x, axes, x.dtype)
    return x, "".join(label for label in labels if label in keep)


def _contract(first: Term, second: Term, keep: set[str]) -> Term:
    """The product of two terms, summed over the labels that are not kept."""
    x, of_x = _summed(*first, keep | set(second[1]))
    y, of_y = _summed(*second, keep | set(first[1]))
    stretched = {
        label
        for label in of_x
        if label in of_y
        and label not in keep
        and x.shape[of_x.index(label)] != y.shape[of_y.index(label)]
    }  # one of the two has length 1
    x, of_x = _summed(x, of_x, set(of_x) - stretched)
    y, of_y = _summed(y, of_y, set(of_y) - stretched)
    left, right = _without(of_x, of_y), _without(of_y, of_x)
    common = _without(of_x, left)
    batch = "".join(label for label in common if label in keep)
    inner = _without(common, batch)
    if not inner or (batch and not left and not right):
        every = batch + left + right + inner
        product = elementwise.multiply(_aligned(x, of_x, every), _aligned(y, of_y, every))
        return _summed(product, every, batch + left + right)
    # A matrix that lies the other way round is multiplied as it lies, and so gets its gradient.
    turned_x, turned_y = of_x == batch + inner + left, of_y == batch + right + inner
    a = _matrices(x, of_x, batch, *((inner, left) if turned_x else (left, inner)))
    b = _matrices(y, of_y, batch, *((right, inner) if turned_y else (inner, right)))
    product = linalg.matmul(a, b, turned_x, turned_y)
    lengths = dict(zip(of_x + of_y, x.shape + y.shape, strict=True))
    outside = [lengths[label] for label in left + right]
    result = [*product.shape[: len(batch)], *outside]
    return _reshaped(product, result), batch + left + right


def _without(labels: str, others: str) -> str:
    return "".join(label for label in labels if label not in others)


def _transposed(x: Tensor, labels: str, order: str) -> Tensor:
    return x if labels == order else shape.transpose(x, [labels.index(a) for a in order])


def _aligned(x: Tensor, labels: str, every: str) -> Tensor:
    """``x`` with its axes in the order of ``every`` and length 1 where it lacks one."""
    order = "".join(label for label in every if label in labels)
    lengths = dict(zip(labels, x.shape, strict=True))
    x = _transposed(x, labels, order)
    return _reshaped(x, [lengths.get(label, 1) for label in every])


def _matrices(x: Tensor, labels: str, batch: str, rows: str, columns: str) -> Tensor:
    """``x`` as a batch of matrices, with the axes of ``rows`` as one and those of ``columns``."""
    lengths = dict(zip(labels, x.shape, strict=True))
    sizes = [math.prod(lengths[label] for label in group) for group in (rows, columns)]
    x = _transposed(x, labels, batch + rows + columns)
    return _reshaped(x, [*(lengths[label] for label in batch), *sizes])


def _reshaped(x: Tensor, lengths: list[int]) -> Tensor:
    return x if x.shape == lengths else shape.reshape(x, lengths)


def tensordot(x: Tensor, y: Tensor, axes: Any = 2, name: str | None = None) -> Tensor:
    """Multiplies two tensors and sums over pairs of their axes.

    Args:
        x: Tensor of any shape.
        y: Tensor of x's dtype.
        axes: A number n: the last n axes of x with the first n of y. A list of ints: these axes
            of both. Two lists: the axes of x and the axes of y; where one is shorter it goes on as
            the other does. A pair of axes has one length, or one of them has length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor with the other axes of x, then those of y.

    Raises:
        TypeError: The dtypes differ, or ``axes`` is of another form.
        ValueError: The lengths of two axes differ, or an axis is not there or named twice.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.ones([2, 3, 4])
        >>> paddle.tensordot(x, paddle.ones([3, 4, 5]), 2).shape
        [2, 5]
    """
    of_x, of_y = _pairs_of_axes(x, y, axes)
    labels_x = list(_unnamed(0, x.ndim))
    labels_y = list(_unnamed(x.ndim, x.ndim + y.ndim))
    for i, j in zip(of_x, of_y, strict=True):
        one, two = x.shape[i], y.shape[j]
        if one != two and 1 not in (one, two):
            raise ValueError(
                f"tensordot: axis {i} of x, shape {x.shape}, and axis {j} of y, shape {y.shape}, "
                "must have one length, or length 1"
            )
        labels_y[j] = labels_x[i]
    keep = set(labels_x) ^ set(labels_y)
    return _contract((x, "".join(labels_x)), (y, "".join(labels_y)), keep)[0]


def _pairs_of_axes(x: Tensor, y: Tensor, axes: Any) -> tuple[list[int], list[int]]:
    if isinstance(axes, Tensor):
        axes = axes.tolist()
    if isinstance(axes, int):
        if not 0 <= axes <= min(x.ndim, y.ndim):
            raise ValueError(
                f"tensordot: axes must be at most the ranks {x.ndim} and {y.ndim}; got {axes}"
            )
        return list(range(x.ndim - axes, x.ndim)), list(range(axes))
    lists = [a.tolist() if isinstance(a, Tensor) else a for a in axes]
    if all(isinstance(a, int) for a in lists):
        lists = [lists, lists]
    if len(lists) == 1:
        lists = [lists[0], lists[0]]
    if len(lists) != 2 or not all(isinstance(a, (list, tuple)) for a in lists):
        raise TypeError(f"tensordot: axes must be an int, a list of ints or two lists; got {axes}")
    first, second = (list(a) for a in lists)
    first, second = first + second[len(first) :], second + first[len(second) :]
    for which, tensor, found in (("x", x, first), ("y", y, second)):
        if any(not -tensor.ndim <= a < tensor.ndim for a in found) or len(
            {a % tensor.ndim for a in found}
        ) < len(found):
            raise ValueError(
                f"tensordot: axes must name axes of {which}, shape {tensor.shape}, once each; "
                f"got {found}"
            )
    return [a % x.ndim for a in first], [a % y.ndim for a in second]


API = (
    "einsum",
    "tensordot",
    "Tensor.tensordot",
)
