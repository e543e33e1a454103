"""Checkpoints: Paddle's files both ways, safetensors both ways, PyTorch's to read."""

from minipaddle.saving.checkpoint import load, save
from minipaddle.saving.errors import CheckpointError

__all__ = ["CheckpointError", "load", "save"]
