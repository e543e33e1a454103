"""Attention and transformers: masks, caches, copies, errors. Values are in test_against_paddle."""

import math
import pickle
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn


def tokens(*shape: int) -> paddle.Tensor:
    return paddle.to_tensor(np.random.default_rng(6).normal(size=shape).astype("float32"))


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


def test_attention_is_the_function_head_by_head() -> None:
    layer, x = nn.MultiHeadAttention(8, 2), tokens(2, 5, 8)
    q, k, v = (
        getattr(layer, name)(x).reshape([2, 5, 2, 4]) for name in ("q_proj", "k_proj", "v_proj")
    )
    expected = nn.functional.scaled_dot_product_attention(q, k, v).reshape([2, 5, 8])
    close(layer(x), layer.out_proj(expected))


def test_masks_of_bools_ints_and_numbers_agree() -> None:
    layer, x = nn.MultiHeadAttention(8, 2, need_weights=True), tokens(2, 5, 8)
    seen = paddle.ones([5, 5], "bool").tril()
    out, weights = layer(x, attn_mask=seen)
    assert weights.shape == [2, 2, 5, 5]
    assert weights.triu(1).abs().max().item() == 0.0
    close(out, layer(x, attn_mask=seen.astype("int64"))[0])
    minus = nn.Transformer(8, 2, 1, 1, 8).generate_square_subsequent_mask(5)
    assert minus.tolist()[0] == [0.0] + [-math.inf] * 4
    close(out, layer(x, attn_mask=minus)[0])


def test_a_decoder_fed_one_by_one_gives_what_it_gives_at_once() -> None:
    net = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2, nn.LayerNorm(8)).eval()
    x, memory = tokens(2, 4, 8), tokens(2, 3, 8)
    whole = net(x, memory, paddle.ones([4, 4], "bool").tril())
    cache, parts = net.gen_cache(memory), []
    for t in range(4):
        part, cache = net(x[:, t : t + 1], memory, cache=cache)
        parts.append(part)
    close(paddle.concat(parts, 1), whole)
    assert cache[0][0].k.shape == [2, 2, 4, 4]
    assert len(net.gen_cache(memory, do_zip=True)) == 2


def test_an_encoder_fed_one_by_one_gives_what_it_gives_at_once() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, normalize_before=True)
    net = nn.TransformerEncoder(layer, 2).eval()
    x = tokens(2, 4, 8)
    whole = net(x, paddle.ones([4, 4], "bool").tril())
    cache, parts = net.gen_cache(x), []
    for t in range(4):
        part, cache = net(x[:, t : t + 1], cache=cache)
        parts.append(part)
    close(paddle.concat(parts, 1), whole)


def test_a_cache_of_given_keys() -> None:
    layer, x = nn.MultiHeadAttention(8, 2), tokens(1, 3, 8)
    k, v = layer.compute_kv(x, x)
    _, cache = layer(x, cache=layer.gen_cache(k, v))
    assert cache.k.shape == [1, 2, 6, 4]
    static = layer.gen_cache(x, type=nn.MultiHeadAttention.StaticCache)
    out, same = layer(tokens(1, 1, 8), cache=static)
    assert same is static
    close(out, layer(tokens(1, 1, 8), x, x))


def test_the_layers_of_a_stack_have_their_own_parameters() -> None:
    first = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu")
    net = nn.TransformerEncoder(first, 3)
    assert net.layers[0] is first
    assert len({id(p) for p in net.parameters()}) == 3 * len(first.parameters())


def test_training_a_transformer_lowers_its_loss() -> None:
    paddle.seed(3)
    net = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0)
    adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    x, y, goal = tokens(4, 5, 8), tokens(4, 3, 8), paddle.zeros([4, 3, 8])
    losses = []
    for _ in range(20):
        loss = nn.functional.mse_loss(net(x, y), goal)
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_attrs_for_each_part() -> None:
    frozen = paddle.ParamAttr(trainable=False)
    net = nn.Transformer(8, 2, 1, 1, 16, weight_attr=[None, frozen, None], bias_attr=[True, False])
    decoder = net.decoder.layers[0]
    assert decoder.self_attn.q_proj.weight.trainable
    assert not decoder.cross_attn.q_proj.weight.trainable
    assert decoder.self_attn.q_proj.bias is not None
    assert decoder.linear1.bias is None
    assert net.encoder.layers[0].linear1.bias is None


def test_a_transformer_may_be_pickled() -> None:
    net, x = nn.TransformerEncoderLayer(8, 2, 16).eval(), tokens(1, 2, 8)
    close(pickle.loads(pickle.dumps(net))(x), net(x))


def test_parts_of_ones_own() -> None:
    net = nn.Transformer(8, 2, custom_encoder=nn.Identity(), num_decoder_layers=1)
    assert isinstance(net.encoder, nn.Identity)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.MultiHeadAttention(8, 3),
        lambda: nn.MultiHeadAttention(0, 1),
        lambda: nn.TransformerEncoderLayer(8, 2, 0),
        lambda: nn.TransformerEncoderLayer(8, 2, 16, activation="no_such"),
        lambda: nn.TransformerEncoderLayer(8, 2, 16, weight_attr=[None]),
        lambda: nn.Transformer(8, 2, 1, 1, 16, bias_attr=[None] * 4),
    ],
)
def test_what_does_not_fit(make: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        make()
