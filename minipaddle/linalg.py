"""Linear algebra: the public names of ``paddle.linalg``."""

# One name a line would make pages of them; python -m tools.public_names writes this.
# fmt: off
from minipaddle.imperative.functions.geometry import cross
from minipaddle.imperative.functions.linalg import diagonal, matmul
from minipaddle.imperative.functions.matrices import (
    corrcoef, cov, matrix_power, matrix_transpose, multi_dot,
)
from minipaddle.imperative.functions.statistics import norm
# fmt: on


# fmt: off
__all__ = [
    "corrcoef", "cov", "cross", "diagonal", "matmul", "matrix_power", "matrix_transpose",
    "multi_dot", "norm",
]
# fmt: on
