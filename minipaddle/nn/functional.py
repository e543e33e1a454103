"""Functions of ``nn``, without parameters of their own."""

# One name a line would make pages of them; python -m tools.public_names writes this.
# fmt: off
from minipaddle.imperative.functions.activation import (
    gelu, glu, log_sigmoid, log_softmax, mish, sigmoid, sigmoid_, silu, softmax, softmax_,
    softplus, softsign, swish, tanhshrink,
)
from minipaddle.imperative.functions.attention import scaled_dot_product_attention, sequence_mask
from minipaddle.imperative.functions.channel_norm import (
    batch_norm, group_norm, instance_norm, local_response_norm,
)
from minipaddle.imperative.functions.class_margin_loss import (
    multi_label_margin_loss, multi_label_soft_margin_loss, multi_margin_loss, npair_loss,
)
from minipaddle.imperative.functions.dropout import (
    alpha_dropout, dropout, dropout2d, dropout3d, feature_alpha_dropout,
)
from minipaddle.imperative.functions.elementwise import tanh, tanh_
from minipaddle.imperative.functions.embedding import embedding
from minipaddle.imperative.functions.gathering import one_hot
from minipaddle.imperative.functions.geometry import cosine_similarity, pairwise_distance
from minipaddle.imperative.functions.image import (
    channel_shuffle, interpolate, pixel_shuffle, pixel_unshuffle, upsample,
)
from minipaddle.imperative.functions.likelihood_loss import (
    dice_loss, gaussian_nll_loss, poisson_nll_loss, sigmoid_focal_loss,
)
from minipaddle.imperative.functions.linalg import linear
from minipaddle.imperative.functions.loss import (
    cross_entropy, label_smooth, mse_loss, nll_loss, softmax_with_cross_entropy,
)
from minipaddle.imperative.functions.margin_loss import (
    cosine_embedding_loss, hinge_embedding_loss, margin_ranking_loss, triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from minipaddle.imperative.functions.normalization import layer_norm, normalize, rms_norm
from minipaddle.imperative.functions.padding import diag_embed, pad, zeropad2d
from minipaddle.imperative.functions.piecewise import gumbel_softmax, maxout, rrelu, swiglu
from minipaddle.imperative.functions.pointwise_loss import (
    binary_cross_entropy, binary_cross_entropy_with_logits, kl_div, l1_loss, log_loss,
    smooth_l1_loss, soft_margin_loss, square_error_cost,
)
from minipaddle.imperative.functions.products import bilinear
from minipaddle.imperative.functions.rectifier import (
    celu, elu, elu_, hardshrink, hardsigmoid, hardswish, hardtanh, hardtanh_, leaky_relu,
    leaky_relu_, prelu, relu, relu6, relu_, selu, softshrink, thresholded_relu, thresholded_relu_,
)
# fmt: on


# fmt: off
__all__ = [
    "alpha_dropout", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "channel_shuffle", "cosine_embedding_loss",
    "cosine_similarity", "cross_entropy", "diag_embed", "dice_loss", "dropout", "dropout2d",
    "dropout3d", "elu", "elu_", "embedding", "feature_alpha_dropout", "gaussian_nll_loss", "gelu",
    "glu", "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hardtanh_", "hinge_embedding_loss", "instance_norm", "interpolate", "kl_div", "l1_loss",
    "label_smooth", "layer_norm", "leaky_relu", "leaky_relu_", "linear", "local_response_norm",
    "log_loss", "log_sigmoid", "log_softmax", "margin_ranking_loss", "maxout", "mish", "mse_loss",
    "multi_label_margin_loss", "multi_label_soft_margin_loss", "multi_margin_loss", "nll_loss",
    "normalize", "npair_loss", "one_hot", "pad", "pairwise_distance", "pixel_shuffle",
    "pixel_unshuffle", "poisson_nll_loss", "prelu", "relu", "relu6", "relu_", "rms_norm", "rrelu",
    "scaled_dot_product_attention", "selu", "sequence_mask", "sigmoid", "sigmoid_",
    "sigmoid_focal_loss", "silu", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmax_",
    "softmax_with_cross_entropy", "softplus", "softshrink", "softsign", "square_error_cost",
    "swiglu", "swish", "tanh", "tanh_", "tanhshrink", "thresholded_relu", "thresholded_relu_",
    "triplet_margin_loss", "triplet_margin_with_distance_loss", "upsample", "zeropad2d",
]
# fmt: on
