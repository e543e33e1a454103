"""What an op is tested with: its record, the generic suite, and Paddle's ``OpTest``."""

from minipaddle.testing.class_rules import exempt, skip_check_grad_ci
from minipaddle.testing.op_test import OpTest
from minipaddle.testing.sample import ErrorSample, OpSample, Sample, pairs, singles, values

__all__ = [
    "ErrorSample",
    "OpSample",
    "OpTest",
    "Sample",
    "exempt",
    "pairs",
    "singles",
    "skip_check_grad_ci",
    "values",
]
