"""Linear algebra: the public names of ``paddle.linalg``."""

from minipaddle.imperative.functions.geometry import (
    cross,
)
from minipaddle.imperative.functions.linalg import (
    diagonal,
    matmul,
)
from minipaddle.imperative.functions.matrices import (
    corrcoef,
    cov,
    matrix_power,
    matrix_transpose,
    multi_dot,
)
from minipaddle.imperative.functions.statistics import (
    norm,
)

__all__ = [
    "corrcoef",
    "cov",
    "cross",
    "diagonal",
    "matmul",
    "matrix_power",
    "matrix_transpose",
    "multi_dot",
    "norm",
]
