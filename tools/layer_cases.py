"""Layers and functions of nn that are run by Paddle and by minipaddle, with the same numbers.

A case is an expression over ``nn``, ``F`` and ``paddle``, and what the thing that it makes is
called with: lists of lengths are tensors of fixed pseudo-random numbers that want a gradient, and
expressions are evaluated. ``measure`` runs a case with either of the two packages;
tools.record_layers keeps what Paddle gives.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

X1, X2, X3, X4, X5 = [4, 6], [3, 4, 6], [2, 4, 3], [2, 4, 3, 5], [2, 2, 3, 2, 4]
IMAGE = [1, 2, 3, 4]
LABEL = "paddle.to_tensor([[1.0, -1.0, 1.0, -1.0, 1.0, 1.0]] * 4)"
ONES = "paddle.to_tensor([[1.0, 0.0, 1.0, 0.0, 1.0, 1.0]] * 4)"
CLASSES = "paddle.to_tensor([0, 5, 2, 2])"
LENGTHS = "paddle.to_tensor([3, 1])"
MASK = "paddle.to_tensor([[True, False, True], [True, True, False], [True, True, True]])"

CASES: dict[str, tuple[Any, ...]] = {
    # Normalizations
    "BatchNorm1D": ("nn.BatchNorm1D(6)", X1),
    "BatchNorm1D of sequences": ("nn.BatchNorm1D(4, momentum=0.7, epsilon=0.01)", X3),
    "BatchNorm1D, channels last": ("nn.BatchNorm1D(3, data_format='NLC')", X3),
    "BatchNorm1D in evaluation": ("nn.BatchNorm1D(6).eval()", X1),
    "BatchNorm1D, running values": ("nn.BatchNorm1D(6, use_global_stats=True)", X1),
    "BatchNorm1D, no weight": ("nn.BatchNorm1D(6, weight_attr=False, bias_attr=False)", X1),
    "BatchNorm2D": ("nn.BatchNorm2D(4)", X4),
    "BatchNorm2D, channels last": ("nn.BatchNorm2D(5, data_format='NHWC')", X4),
    "BatchNorm3D": ("nn.BatchNorm3D(2)", X5),
    "GroupNorm": ("nn.GroupNorm(2, 4, epsilon=0.001)", X4),
    "GroupNorm of sequences": ("nn.GroupNorm(2, 4)", X3),
    "InstanceNorm1D": ("nn.InstanceNorm1D(4)", X3),
    "InstanceNorm2D": ("nn.InstanceNorm2D(4)", X4),
    "InstanceNorm3D": ("nn.InstanceNorm3D(2, weight_attr=False, bias_attr=False)", X5),
    "LocalResponseNorm": ("nn.LocalResponseNorm(3, 0.5, 0.75, 2.0)", X4),
    "LocalResponseNorm, even": ("nn.LocalResponseNorm(2, 0.5)", X4),
    "LayerNorm": ("nn.LayerNorm(6)", X2),
    # Recurrent networks
    "SimpleRNNCell": ("nn.SimpleRNNCell(6, 3)", X1, [4, 3]),
    "SimpleRNNCell, relu": ("nn.SimpleRNNCell(6, 3, activation='relu')", X1),
    "LSTMCell": ("nn.LSTMCell(6, 3)", X1),
    "LSTMCell, projected": (
        "nn.LSTMCell(6, 3, proj_size=2)", X1, "(paddle.zeros([4, 2]), paddle.ones([4, 3]))"),
    "GRUCell": ("nn.GRUCell(6, 3)", X1, [4, 3]),
    "GRUCell, no bias": ("nn.GRUCell(6, 3, bias_ih_attr=False, bias_hh_attr=False)", X1),
    "RNN": ("nn.RNN(nn.GRUCell(3, 2))", X3),
    "RNN from the end, by lengths": (
        "nn.RNN(nn.LSTMCell(3, 2), is_reverse=True)", X3, "None", LENGTHS),
    "RNN by lengths": ("nn.RNN(nn.GRUCell(3, 2))", X3, "None", LENGTHS),
    "BiRNN": ("nn.BiRNN(nn.GRUCell(3, 2), nn.GRUCell(3, 2))", X3),
    "SimpleRNN": ("nn.SimpleRNN(3, 2)", X3),
    "SimpleRNN, relu": ("nn.SimpleRNN(3, 2, activation='relu')", X3),
    "LSTM": ("nn.LSTM(3, 2)", X3),
    "LSTM, time first": ("nn.LSTM(3, 2, time_major=True)", X3),
    "LSTM of two layers": ("nn.LSTM(3, 2, num_layers=2)", X3),
    "LSTM both ways": ("nn.LSTM(3, 2, num_layers=2, direction='bidirect')", X3),
    "LSTM by lengths": (
        "nn.LSTM(3, 2, num_layers=2, direction='bidirect')", X3, "None", LENGTHS),
    "GRU both ways": ("nn.GRU(3, 2, direction='bidirectional')", X3),
    "GRU of given states": ("nn.GRU(3, 2, num_layers=2)", X3, [2, 2, 2]),
    "GRU by lengths": ("nn.GRU(3, 2)", X3, "None", LENGTHS),
    # Transformers
    "MultiHeadAttention": ("nn.MultiHeadAttention(4, 2)", [2, 3, 4]),
    "MultiHeadAttention, mask": (
        "nn.MultiHeadAttention(4, 2, need_weights=True)", [2, 3, 4], "None", "None", MASK),
    "MultiHeadAttention of others": (
        "nn.MultiHeadAttention(4, 2, kdim=3, vdim=5, bias_attr=False)",
        [2, 3, 4], [2, 2, 3], [2, 2, 5]),
    "TransformerEncoderLayer": (
        "nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0)", [2, 3, 4], MASK),
    "TransformerEncoderLayer, normalized before": (
        "nn.TransformerEncoderLayer(4, 2, 6, 0.0, 'gelu', normalize_before=True)", [2, 3, 4]),
    "TransformerEncoder": (
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 1, 5, 0.0), 2, nn.LayerNorm(4))",
        [1, 3, 4]),
    "TransformerDecoderLayer": (
        "nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0)", [2, 3, 4], [2, 2, 4], MASK),
    "Transformer": (
        "nn.Transformer(4, 2, 1, 1, 5, dropout=0.0)", [1, 3, 4], [1, 2, 4]),
    # Losses
    "MarginRankingLoss": ("nn.MarginRankingLoss(0.1)", X1, X1, LABEL),
    "HingeEmbeddingLoss": ("nn.HingeEmbeddingLoss(0.5)", X1, LABEL),
    "CosineEmbeddingLoss": (
        "nn.CosineEmbeddingLoss(0.1, 'sum')", X1, X1, "paddle.to_tensor([1, -1, 1, -1])"),
    "TripletMarginLoss": ("nn.TripletMarginLoss(swap=True)", X1, X1, X1),
    "TripletMarginWithDistanceLoss": (
        "nn.TripletMarginWithDistanceLoss(margin=2.0, reduction='none')", X1, X1, X1),
    "SoftMarginLoss": ("nn.SoftMarginLoss()", X1, LABEL),
    "MultiMarginLoss": ("nn.MultiMarginLoss(p=2, margin=0.5)", X1, CLASSES),
    "MultiMarginLoss, weights": (
        "nn.MultiMarginLoss(weight=paddle.to_tensor([1.0, 2, 3, 4, 5, 6]), reduction='none')",
        X1, CLASSES),
    "MultiLabelMarginLoss": (
        "nn.MultiLabelMarginLoss()", [2, 4], "paddle.to_tensor([[3, 0, -1, 1], [-1, 1, 2, 0]])"),
    "MultiLabelSoftMarginLoss": ("nn.MultiLabelSoftMarginLoss()", X1, ONES),
    "MultiLabelSoftMarginLoss, weights": (
        "nn.MultiLabelSoftMarginLoss(paddle.to_tensor([1.0, 2, 3, 4, 5, 6]), 'sum')", X1, ONES),
    "PoissonNLLLoss": ("nn.PoissonNLLLoss()", X1, ONES),
    "PoissonNLLLoss, full": (
        "nn.PoissonNLLLoss(full=True)", X1, f"{ONES} * 3.0"),
    "PoissonNLLLoss of rates": (
        "lambda x, y: nn.PoissonNLLLoss(log_input=False)(x * x + 0.5, y)", X1, ONES),
    "GaussianNLLLoss": (
        "nn.GaussianNLLLoss(full=True)", X1, X1, "paddle.to_tensor([[0.5], [1.0], [2.0], [0.0]])"),
    "sigmoid_focal_loss": (
        "lambda x, y: F.sigmoid_focal_loss(x, y, paddle.to_tensor([3.0]))", X1, ONES),
    "dice_loss": (
        "lambda x: F.dice_loss(F.softmax(x), paddle.to_tensor([[0], [5], [2], [2]]))", X1),
    "npair_loss": (
        "lambda x, y: F.npair_loss(x.astype('float32'), y.astype('float32'), "
        "paddle.to_tensor([0, 1, 0, 2]))", X1, X1),
    # Distances, products, activations
    "CosineSimilarity": ("nn.CosineSimilarity(axis=-1)", X1, X1),
    "PairwiseDistance": ("nn.PairwiseDistance(3.0, keepdim=True)", X1, X1),
    "Bilinear": ("nn.Bilinear(6, 3, 2)", X1, [4, 3]),
    "Maxout": ("nn.Maxout(2)", [2, 4, 2, 2]),
    "RReLU in evaluation": ("nn.RReLU(0.1, 0.4).eval()", X1),
    "Softmax2D": ("nn.Softmax2D()", X4),
    "swiglu": ("F.swiglu", X1),
    # Shapes and images
    "Flatten": ("nn.Flatten(1, 2)", X4),
    "Unflatten": ("nn.Unflatten(1, [2, -1])", X4),
    "Pad1D": ("nn.Pad1D([1, 2], 'reflect')", X3),
    "Pad2D": ("nn.Pad2D([1, 0, 2, 1], value=0.5)", X4),
    "Pad3D": ("nn.Pad3D(1, 'replicate')", [1, 1, 2, 2, 2]),
    "ZeroPad1D": ("nn.ZeroPad1D(1)", X3),
    "ZeroPad2D": ("nn.ZeroPad2D([1, 0, 2, 1])", X4),
    "ZeroPad3D": ("nn.ZeroPad3D([1, 0, 0, 0, 0, 1])", [1, 1, 2, 2, 2]),
    "PixelShuffle": ("nn.PixelShuffle(2)", [1, 4, 2, 3]),
    "PixelShuffle, channels last": ("nn.PixelShuffle(2, 'NHWC')", [1, 2, 3, 4]),
    "PixelUnshuffle": ("nn.PixelUnshuffle(2)", [1, 2, 2, 4]),
    "ChannelShuffle": ("nn.ChannelShuffle(2)", X4),
    "Upsample, nearest": ("nn.Upsample(size=[5, 3])", IMAGE),
    "Upsample by a factor": ("nn.Upsample(scale_factor=1.7)", IMAGE),
    "Upsample, bilinear": ("nn.Upsample(size=[5, 7], mode='bilinear')", IMAGE),
    "Upsample, bilinear by a factor": (
        "nn.Upsample(scale_factor=[1.3, 2.0], mode='bilinear')", IMAGE),
    "Upsample, recomputed": (
        "nn.Upsample(scale_factor=[1.3, 2.0], mode='bilinear', recompute_scale_factor=True)",
        IMAGE),
    "Upsample, corners": ("nn.Upsample([5, 7], None, 'bilinear', align_corners=True)", IMAGE),
    "Upsample, corners by a factor": (
        "nn.Upsample(None, 1.7, 'bilinear', align_corners=True)", IMAGE),
    "Upsample, aligned to 0": ("nn.Upsample([5, 7], None, 'bilinear', align_mode=1)", IMAGE),
    "Upsample, bicubic": ("nn.Upsample(size=[5, 7], mode='bicubic')", IMAGE),
    "Upsample, bicubic, corners": (
        "nn.Upsample([5, 7], None, 'bicubic', align_corners=True)", IMAGE),
    "Upsample, linear": ("nn.Upsample([5], None, 'linear')", X3),
    "Upsample, trilinear": ("nn.Upsample([3, 3, 3], None, 'trilinear')", [1, 1, 2, 2, 2]),
    "Upsample, channels last": ("nn.Upsample([5, 7], data_format='NHWC')", [1, 3, 4, 2]),
    "UpsamplingBilinear2D": ("nn.UpsamplingBilinear2D(scale_factor=2)", IMAGE),
    "UpsamplingNearest2D": ("nn.UpsamplingNearest2D(5)", IMAGE),
    "weight_norm": ("nn.utils.weight_norm(nn.Linear(6, 3))", X1),
    "weight_norm, other axis": ("nn.utils.weight_norm(nn.Linear(6, 3), dim=1)", X1),
    "weight_norm, one length": ("nn.utils.weight_norm(nn.Linear(6, 3), dim=None)", X1),
}  # fmt: skip


def numbers(name: str, shape: list[int]) -> np.ndarray[Any, Any]:
    """Numbers in [-1, 1] that depend on the name alone; none is 0, where some slopes jump."""
    rng = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)
    drawn = np.round(rng.uniform(-1.0, 1.0, shape), 4)
    return np.where(drawn == 0.0, 0.5, drawn)


def _tensors(value: Any) -> list[Any]:
    """The tensors in nested tuples and lists."""
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in _tensors(part)]
    return [value]


def prepare(paddle: Any, case: str) -> tuple[Any, list[Any], list[tuple[str, Any]]]:
    """What a case makes, with the numbers of its parameters; its inputs; the parameters by name.

    Args:
        paddle: Paddle, or minipaddle.
        case: Its name.
    """
    make, *given = CASES[case]
    scope = {"paddle": paddle, "nn": paddle.nn, "F": paddle.nn.functional}
    paddle.set_default_dtype("float64")
    try:
        made = eval(make, scope)
        named = list(made.named_parameters()) if hasattr(made, "named_parameters") else []
        for name, parameter in named:
            values = numbers(name, list(parameter.shape))
            parameter.set_value(np.abs(values) + 0.5 if name == "_variance" else values)
        inputs = [
            eval(item, scope)
            if isinstance(item, str)
            else paddle.to_tensor(numbers(f"input {i}", item), stop_gradient=False)
            for i, item in enumerate(given)
        ]
    finally:
        paddle.set_default_dtype("float32")
    return made, inputs, named


def weighted_sum(paddle: Any, made: Any, inputs: list[Any]) -> tuple[Any, list[Any]]:
    """A sum of all outputs with fixed weights, and the outputs.

    Args:
        paddle: Paddle, or minipaddle.
        made: What is called.
        inputs: With what.
    """
    paddle.set_default_dtype("float64")
    try:
        outputs = _tensors(made(*inputs))
    finally:
        paddle.set_default_dtype("float32")
    terms = [
        (out * paddle.to_tensor(numbers(f"output {i}", list(out.shape)))).sum()
        for i, out in enumerate(outputs)
    ]
    return sum(terms), outputs


def measure(paddle: Any, case: str) -> dict[str, Any]:
    """Outputs of a case, gradients of a weighted sum of them, and what running values became.

    Args:
        paddle: Paddle, or minipaddle.
        case: Its name.
    """
    made, inputs, named = prepare(paddle, case)
    loss, outputs = weighted_sum(paddle, made, inputs)
    loss.backward()
    trained = [(name, p) for name, p in named if not p.stop_gradient]
    wanted = [x for x in inputs if hasattr(x, "stop_gradient") and not x.stop_gradient]
    return {
        "outputs": [out.numpy() for out in outputs],
        "inputs": [x.grad.numpy() for x in wanted],
        "parameters": {name: p.grad.numpy() for name, p in trained if p.grad is not None},
        "kept": {name: p.numpy() for name, p in named if p.stop_gradient},
    }
