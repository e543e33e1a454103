"""Ops: what is computed, on arrays. This layer has never heard of a Tensor."""

from pathlib import Path

from minipaddle.ops import schema

schema.load(Path(__file__).with_name("ops.yaml"))

# Kernels and formulas register themselves on the ops that the line above has declared.
from minipaddle.ops import formulas  # noqa: E402
from minipaddle.ops.kernels import composite, cpu  # noqa: E402
from minipaddle.ops.loading import register_later  # noqa: E402

register_later("gpu", "minipaddle.ops.kernels.gpu")

__all__ = ["composite", "cpu", "formulas"]
