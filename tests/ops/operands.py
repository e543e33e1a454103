"""The names of the ops that have records, sorted by what the generic tests ask of them."""

from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS
from minipaddle.testing.operands import FLOATS
from tests.ops.samples import RECORDS

# Ops that are functions of tensors: all but the creation ops and those that only write.
FUNCTION_OPS = [name for name in RECORDS if name in FUNCTIONS]
DIFFERENTIABLE = [name for name in FUNCTION_OPS if OPS[name].backward is not None]

__all__ = ["DIFFERENTIABLE", "FLOATS", "FUNCTION_OPS"]
