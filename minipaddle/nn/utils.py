"""Paddle's names for what is done to the parameters of layers and to their gradients."""

from minipaddle.nn.clip import clip_grad_norm_, clip_grad_value_
from minipaddle.nn.parameter_vector import parameters_to_vector, vector_to_parameters
from minipaddle.nn.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "vector_to_parameters",
    "weight_norm",
]
