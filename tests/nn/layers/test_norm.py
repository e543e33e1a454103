"""Losses and normalizations as layers hand on what they were made with."""

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from minipaddle import nn
from tests.ops.samples.sample import values

X, Y = paddle.to_tensor(values((3, 4), 1)), paddle.to_tensor(abs(values((3, 4), 2)) / 4)
LABEL, WEIGHT = paddle.to_tensor(np.array([1, 0, 3])), paddle.to_tensor(abs(values((4,), 3)))
P = paddle.to_tensor(abs(values((3, 4), 4)) / 4 + 0.25)

# Layer, operands, and the function's arguments after them.
LOSSES = {
    "cross entropy": (
        nn.CrossEntropyLoss(WEIGHT, 3, "sum", label_smoothing=0.1),
        (X, LABEL),
        lambda x, y: F.cross_entropy(x, y, WEIGHT, 3, "sum", label_smoothing=0.1),
    ),
    "soft": (
        nn.CrossEntropyLoss(soft_label=True, axis=0, use_softmax=False),
        (P, Y),
        lambda x, y: F.cross_entropy(x, y, soft_label=True, axis=0, use_softmax=False),
    ),
    "nll": (
        nn.NLLLoss(WEIGHT, 0, "sum"),
        (X, LABEL),
        lambda x, y: F.nll_loss(x, y, WEIGHT, 0, "sum"),
    ),
    "bce": (
        nn.BCELoss(WEIGHT, "sum"),
        (P, Y),
        lambda x, y: F.binary_cross_entropy(x, y, WEIGHT, "sum"),
    ),
    "logits": (
        nn.BCEWithLogitsLoss(WEIGHT, "sum", WEIGHT),
        (X, Y),
        lambda x, y: F.binary_cross_entropy_with_logits(x, y, WEIGHT, "sum", WEIGHT),
    ),
    "l1": (nn.L1Loss("sum"), (X, Y), lambda x, y: F.l1_loss(x, y, "sum")),
    "smooth": (
        nn.SmoothL1Loss("sum", 0.5, False),
        (X, Y),
        lambda x, y: F.smooth_l1_loss(x, y, "sum", 0.5, False),
    ),
    "kl": (
        nn.KLDivLoss("batchmean", True),
        (X, Y),
        lambda x, y: F.kl_div(x, y, "batchmean", True),
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_its_function(name):
    layer, operands, function = LOSSES[name]
    assert layer(*operands).item() == function(*operands).item()


@pytest.mark.parametrize("layer", [nn.CrossEntropyLoss, nn.NLLLoss, nn.BCELoss, nn.L1Loss])
def test_another_reduction_is_refused(layer):
    with pytest.raises(ValueError, match=layer.__name__):
        layer(reduction="all")


def test_layer_norm_learns_a_weight_and_a_bias():
    layer = nn.LayerNorm([3, 4])
    assert layer.weight.shape == [12] and layer.bias.shape == [12]
    assert layer.weight.tolist() == [1.0] * 12 and layer.bias.tolist() == [0.0] * 12
    x = X.astype("float32")
    np.testing.assert_array_equal(layer(x).numpy(), F.layer_norm(x, [3, 4]).numpy())
    layer(x).sum().backward()
    np.testing.assert_array_equal(layer.bias.grad.numpy(), np.ones(12))
    assert layer.weight.grad.numpy().any()
    bare = nn.LayerNorm(4, 0.5, weight_attr=False, bias_attr=False)
    assert bare.weight is None and bare.bias is None
    np.testing.assert_array_equal(bare(x).numpy(), F.layer_norm(x, 4, epsilon=0.5).numpy())
    assert "epsilon=0.5" in repr(bare)


def test_rms_norm_learns_a_weight():
    layer = nn.RMSNorm([3, 4], None)
    assert layer.weight.shape == [3, 4] and len(layer.parameters()) == 1
    x = X.astype("float32")
    np.testing.assert_array_equal(layer(x).numpy(), F.rms_norm(x, [3, 4], epsilon=None).numpy())
    layer(x).sum().backward()
    assert layer.weight.grad.shape == [3, 4]
    assert "[3, 4]" in repr(layer)


@pytest.mark.parametrize("shape", [0, [], [2, -1]])
def test_lengths_must_be_positive(shape):
    for layer in (nn.LayerNorm, nn.RMSNorm):
        with pytest.raises(ValueError, match="normalized_shape"):
            layer(shape)
