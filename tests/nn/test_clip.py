"""Clips as functions of pairs, and the functions that clip gradients in place."""

import math
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn
from minipaddle.nn.clip import ClipGradBase
from minipaddle.nn.utils import clip_grad_norm_, clip_grad_value_
from tests.optimizer.reference import leaf, send


def pairs(*grads: Any) -> list[Any]:
    made = [(leaf(np.zeros(np.shape(g))), paddle.to_tensor(g, "float64")) for g in grads]
    return [*made, (leaf([0.0]), None)]


def values(found: list[Any]) -> list[Any]:
    return [g.tolist() for _, g in found]


def test_a_clip_called_with_pairs_gives_new_gradients() -> None:
    given = pairs([6.0, 8.0], [0.5])
    for clip, right in (
        (nn.ClipGradByValue(5.0, 1.0), [[5.0, 5.0], [1.0]]),
        (nn.ClipGradByNorm(5.0), [[3.0, 4.0], [0.5]]),
        (nn.ClipGradByGlobalNorm(20.0), [[6.0, 8.0], [0.5]]),
    ):
        found = clip(given)
        assert [p is q for (p, _), (q, _) in zip(found, given, strict=False)] == [True, True]
        np.testing.assert_allclose(np.concatenate(values(found)), np.concatenate(right))
    assert values(given[:2]) == [[6.0, 8.0], [0.5]]


def test_a_parameter_that_needs_no_clip_is_left_out() -> None:
    given = pairs([6.0], [8.0])
    free = paddle.create_parameter([1], "float64", attr=paddle.ParamAttr(need_clip=False))
    grad = paddle.to_tensor([100.0], "float64")
    found = nn.ClipGradByGlobalNorm(5.0)([*given, (free, grad)])
    np.testing.assert_allclose(np.concatenate(values(found)), [3.0, 4.0, 100.0])
    assert found[2][1] is grad


def test_sparse_gradients_count_with_their_rows_added_up() -> None:
    weight = paddle.ones([3, 1])
    weight.stop_gradient = False
    ids = paddle.to_tensor([0, 0, 0, 1, 1, 1, 1])
    nn.functional.embedding(ids, weight, sparse=True).sum().backward()
    (_, found), *_ = nn.ClipGradByNorm(2.5)([(weight, weight.grad)])
    np.testing.assert_allclose(found.numpy()[:, 0], [1.5, 2.0, 0.0], rtol=1e-6)


def test_a_clip_of_the_user() -> None:
    class Normalized(ClipGradBase):
        measures = True
        each = True

        def factors(self, squares: Any) -> list[float]:
            return [1 / math.sqrt(square) for square in squares]

    x = leaf([0.0, 0.0])
    send([x], [[0.3, 0.4]])
    paddle.optimizer.SGD(1.0, [x], grad_clip=Normalized()).step()
    np.testing.assert_allclose(x.numpy(), [-0.6, -0.8])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.ClipGradByValue(0.0), "max"),
        (lambda: nn.ClipGradByValue(1.0, 2.0), "min"),
        (lambda: nn.ClipGradByNorm(-1.0), "clip_norm"),
        (lambda: nn.ClipGradByGlobalNorm(float("nan")), "clip_norm"),
        (lambda: clip_grad_norm_([leaf([1.0])], -1.0), "max_norm"),
        (lambda: clip_grad_norm_([leaf([1.0])], 1.0, 3), "norm_type"),
        (lambda: clip_grad_value_([leaf([1.0])], -1.0), "clip_value"),
    ],
)
def test_limits_that_are_none(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(("norm_type", "norm"), [(2, 13.0), (1, 19.0), (math.inf, 12.0), (0, 2.0)])
def test_clip_grad_norm(norm_type: float, norm: float) -> None:
    params = [leaf([0.0, 0.0]), leaf([0.0]), leaf([0.0])]
    for limit, factor in ((1.0, 1 / (norm + 1e-6)), (100.0, 1.0)):
        send(params[:2], [[3.0, 4.0], [-12.0]])
        total = clip_grad_norm_(iter(params), limit, norm_type)
        assert total.item() == pytest.approx(norm) and total.shape == []
        np.testing.assert_allclose(params[0].grad.numpy(), [3 * factor, 4 * factor], rtol=1e-14)
        np.testing.assert_allclose(params[1].grad.numpy(), [-12 * factor], rtol=1e-14)
        for param in params:
            param.clear_gradient()


def test_clip_grad_norm_of_one_tensor_of_none_and_of_what_is_not_finite() -> None:
    x = leaf([0.0])
    assert clip_grad_norm_(x, 1.0).item() == 0.0
    send([x], [[np.nan]])
    with pytest.raises(RuntimeError, match="nan"):
        clip_grad_norm_(x, 1.0, error_if_nonfinite=True)
    assert math.isnan(clip_grad_norm_(x, 1.0, math.inf).item())


def test_clipped_gradients_are_what_an_optimizer_uses() -> None:
    x, sparse = leaf([0.0, 0.0]), paddle.zeros([3, 1])
    sparse.stop_gradient = False
    sgd = paddle.optimizer.SGD(1.0, [x, sparse])
    for _ in range(2):
        send([x], [[6.0, -0.5]])
        nn.functional.embedding([0, 0, 2], sparse, sparse=True).sum().backward()
        clip_grad_value_([x, sparse], 1.0)
        sgd.step()
        sgd.clear_grad()
    np.testing.assert_allclose(x.numpy(), [-2.0, 1.0])
    np.testing.assert_allclose(sparse.numpy()[:, 0], [-2.0, 0.0, -2.0])


def test_clips_say_what_they_are() -> None:
    assert str(nn.ClipGradByValue(1.0)) == "Clip Gradient By Value, min = -1.000000, max=1.000000"
    assert str(nn.ClipGradByNorm(1.0)) == "Gradient Clip By Norm, clip_norm=1.000000"
    assert "global_norm=1.0" in str(nn.ClipGradByGlobalNorm(1.0))
