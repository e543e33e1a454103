"""scaled_dot_product_attention and sequence_mask, against NumPy."""

import numpy as np
import pytest

import minipaddle as paddle

F = paddle.nn.functional


def drawn(*shape, seed=0):
    made = np.random.default_rng(seed).standard_normal(shape)
    return paddle.to_tensor(made, stop_gradient=False)


def expected(q, k, v, scale, allowed=None):
    """[batch, length, heads, size], one query after the other."""
    out = np.zeros((*q.shape[:3], v.shape[-1]))
    for b, i, h in np.ndindex(*q.shape[:3]):
        kv = h // (q.shape[2] // k.shape[2])
        scores = k[b, :, kv] @ q[b, i, h] * scale
        weights = np.exp(scores) * (1 if allowed is None else allowed[i])
        out[b, i, h] = weights @ v[b, :, kv] / weights.sum()
    return out


@pytest.mark.parametrize("heads", [4, 2, 1])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_the_formula(heads, causal):
    q, k, v = drawn(2, 3, 4, 5), drawn(2, 3, heads, 5, seed=1), drawn(2, 3, heads, 2, seed=2)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    allowed = np.tril(np.ones((3, 3))) if causal else None
    right = expected(q.numpy(), k.numpy(), v.numpy(), 5**-0.5, allowed)
    np.testing.assert_allclose(out.numpy(), right, rtol=1e-12, atol=1e-14)


def test_masks_of_bool_and_of_numbers_say_the_same():
    q, k, v = (drawn(1, 3, 2, 4, seed=i) for i in range(3))
    allowed = paddle.to_tensor([[True, True, False], [True, False, True], [False, True, True]])
    added = paddle.where(allowed, paddle.zeros([3, 3], "float64"), float("-inf"))
    chosen = F.scaled_dot_product_attention(q, k, v, allowed, scale=0.3)
    right = expected(q.numpy(), k.numpy(), v.numpy(), 0.3, allowed.numpy())
    np.testing.assert_allclose(chosen.numpy(), right, rtol=1e-12, atol=1e-14)
    summed = F.scaled_dot_product_attention(q, k, v, added, scale=0.3)
    np.testing.assert_array_equal(chosen.numpy(), summed.numpy())


def test_a_gradient_reaches_only_what_a_query_sees():
    q, k, v = (drawn(1, 3, 1, 4, seed=i) for i in range(3))
    F.scaled_dot_product_attention(q, k, v, is_causal=True)[:, 1].sum().backward()
    for side in (k, v):
        assert side.grad[:, :2].abs().min() > 0 and not side.grad[:, 2].any()
    assert not q.grad[:, [0, 2]].any()


def test_dropout_is_of_training_alone():
    q = drawn(1, 3, 1, 4)
    plain = F.scaled_dot_product_attention(q, q, q)
    assert (F.scaled_dot_product_attention(q, q, q, None, 0.9, training=False) == plain).all()
    assert not F.scaled_dot_product_attention(q, q, q, None, 1.0).any()


WRONG = {
    "both masks": (lambda q: (q, q, q, paddle.ones([3, 3]), 0.0, True), "attn_mask=None"),
    "three axes": (lambda q: (q[0], q[0], q[0]), r"4 axes.*\[3, 4, 2\]"),
    "heads": (lambda q: (q, q[:, :, :3], q[:, :, :3]), "3 heads.*4 of query"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_named(case):
    arguments, words = WRONG[case]
    with pytest.raises(ValueError, match=words):
        F.scaled_dot_product_attention(*arguments(drawn(1, 3, 4, 2)))


def test_sequence_mask_has_ones_before_the_ends():
    lengths = paddle.to_tensor([[1, 0], [3, 5]])
    mask = F.sequence_mask(lengths, 4, "bool").numpy()
    assert (mask == (np.arange(4) < lengths.numpy()[..., None])).all()
    longest = F.sequence_mask(lengths)
    assert longest.shape == [2, 2, 5] and longest.dtype == "int64"
