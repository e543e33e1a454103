"""Functions on the gradients of parameters, under Paddle's name for their place."""

from minipaddle.nn.clip import clip_grad_norm_, clip_grad_value_

__all__ = ["clip_grad_norm_", "clip_grad_value_"]
