"""Layers, losses and initializers."""

from minipaddle.imperative.tensor import Parameter
from minipaddle.nn import functional, initializer, utils
from minipaddle.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from minipaddle.nn.layer import Layer

# fmt: off
from minipaddle.nn.layers.activation import (
    GELU, GLU, LogSigmoid, LogSoftmax, Mish, SiLU, Sigmoid, Silu, Softmax, Softmax2D, Softplus,
    Softsign, Swish, Tanh, Tanhshrink,
)
from minipaddle.nn.layers.attention import MultiHeadAttention
from minipaddle.nn.layers.batch_norm import BatchNorm1D, BatchNorm2D, BatchNorm3D
from minipaddle.nn.layers.channel_norm import (
    GroupNorm, InstanceNorm1D, InstanceNorm2D, InstanceNorm3D, LocalResponseNorm,
)
from minipaddle.nn.layers.container import (
    LayerDict, LayerList, ParameterDict, ParameterList, Sequential,
)
from minipaddle.nn.layers.distance import CosineSimilarity, PairwiseDistance
from minipaddle.nn.layers.dropout import (
    AlphaDropout, Dropout, Dropout2D, Dropout3D, FeatureAlphaDropout,
)
from minipaddle.nn.layers.embedding import Embedding
from minipaddle.nn.layers.linear import Bilinear, Linear
from minipaddle.nn.layers.loss import (
    BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, KLDivLoss, L1Loss, MSELoss, NLLLoss,
    SmoothL1Loss,
)
from minipaddle.nn.layers.margin_loss import (
    CosineEmbeddingLoss, GaussianNLLLoss, HingeEmbeddingLoss, MarginRankingLoss,
    MultiLabelMarginLoss, MultiLabelSoftMarginLoss, MultiMarginLoss, PoissonNLLLoss,
    SoftMarginLoss, TripletMarginLoss, TripletMarginWithDistanceLoss,
)
from minipaddle.nn.layers.norm import LayerNorm, RMSNorm
from minipaddle.nn.layers.padding import (
    CircularPad1D, CircularPad2D, CircularPad3D, ConstantPad1D, ConstantPad2D, ConstantPad3D,
    Pad1D, Pad2D, Pad3D, ReflectionPad1D, ReflectionPad2D, ReflectionPad3D, ReplicationPad1D,
    ReplicationPad2D, ReplicationPad3D, ZeroPad1D, ZeroPad2D, ZeroPad3D,
)
from minipaddle.nn.layers.rearrange import (
    ChannelShuffle, Flatten, Identity, PixelShuffle, PixelUnshuffle, Unflatten, Upsample,
    UpsamplingBilinear2D, UpsamplingNearest2D,
)
from minipaddle.nn.layers.rectifier import (
    CELU, ELU, SELU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LeakyReLU, Maxout, PReLU, RReLU,
    ReLU, ReLU6, Softshrink, ThresholdedReLU,
)
from minipaddle.nn.layers.recurrence import RNN, BiRNN
from minipaddle.nn.layers.rnn import GRU, LSTM, SimpleRNN
from minipaddle.nn.layers.rnn_cell import GRUCell, LSTMCell, RNNCellBase, SimpleRNNCell
from minipaddle.nn.layers.transformer import (
    Transformer, TransformerDecoder, TransformerDecoderLayer, TransformerEncoder,
    TransformerEncoderLayer,
)

# PyTorch's names, which Paddle has too.
Module, ModuleDict, ModuleList = Layer, LayerDict, LayerList

__all__ = [
    "AlphaDropout", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D",
    "BiRNN", "Bilinear", "CELU", "ChannelShuffle", "CircularPad1D", "CircularPad2D",
    "CircularPad3D", "ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue",
    "ConstantPad1D", "ConstantPad2D", "ConstantPad3D", "CosineEmbeddingLoss",
    "CosineSimilarity", "CrossEntropyLoss", "Dropout", "Dropout2D", "Dropout3D", "ELU",
    "Embedding", "FeatureAlphaDropout", "Flatten", "GELU", "GLU", "GRU", "GRUCell",
    "GaussianNLLLoss", "GroupNorm", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
    "HingeEmbeddingLoss", "Identity", "InstanceNorm1D", "InstanceNorm2D", "InstanceNorm3D",
    "KLDivLoss", "L1Loss", "LSTM", "LSTMCell", "Layer", "LayerDict", "LayerList", "LayerNorm",
    "LeakyReLU", "Linear", "LocalResponseNorm", "LogSigmoid", "LogSoftmax", "MSELoss",
    "MarginRankingLoss", "Maxout", "Mish", "Module", "ModuleDict", "ModuleList",
    "MultiHeadAttention", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "NLLLoss", "PReLU", "Pad1D", "Pad2D", "Pad3D", "PairwiseDistance", "Parameter",
    "ParameterDict", "ParameterList", "PixelShuffle", "PixelUnshuffle", "PoissonNLLLoss",
    "RMSNorm", "RNN", "RNNCellBase", "RReLU", "ReLU", "ReLU6", "ReflectionPad1D",
    "ReflectionPad2D", "ReflectionPad3D", "ReplicationPad1D", "ReplicationPad2D",
    "ReplicationPad3D", "SELU", "Sequential", "SiLU", "Sigmoid", "Silu", "SimpleRNN",
    "SimpleRNNCell", "SmoothL1Loss", "SoftMarginLoss", "Softmax", "Softmax2D", "Softplus",
    "Softshrink", "Softsign", "Swish", "Tanh", "Tanhshrink", "ThresholdedReLU", "Transformer",
    "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "Unflatten",
    "Upsample", "UpsamplingBilinear2D", "UpsamplingNearest2D", "ZeroPad1D", "ZeroPad2D",
    "ZeroPad3D", "functional", "initializer", "utils",
]
# fmt: on
