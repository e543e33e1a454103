"""Paddle's names for what is done to the parameters of layers."""

from minipaddle.nn.parameter_vector import parameters_to_vector, vector_to_parameters
from minipaddle.nn.weight_norm import remove_weight_norm, weight_norm

__all__ = ["parameters_to_vector", "remove_weight_norm", "vector_to_parameters", "weight_norm"]
