"""minipaddle: a small, eager deep-learning framework core with Paddle's API.

Example:
    >>> import minipaddle as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.lerp(x, paddle.ones([2]), 0.25).sum().backward()
    >>> x.grad.tolist()
    [0.75, 0.75]
"""

import importlib as _importlib
import sys as _sys
from typing import Any

from minipaddle import autograd, device, linalg, nn, optimizer, utils
from minipaddle.device.backend import Place, get_device, get_place, seed, set_device
from minipaddle.device.dtype import BY_NAME, get_default_dtype, set_default_dtype
from minipaddle.device.dtype import bfloat16 as _bfloat16
from minipaddle.device.flags import get_flags, set_flags
from minipaddle.imperative import hints as _hints
from minipaddle.imperative import methods as _methods  # noqa: F401 - puts methods on Tensor
from minipaddle.imperative.autograd import (
    enable_grad,
    grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minipaddle.imperative.conversion import is_tensor, numel, rank, shape, tolist

# One name a line would make pages of them; python -m tools.public_names writes this.
# fmt: off
from minipaddle.imperative.functions.activation import erf, erf_, sigmoid, sigmoid_
from minipaddle.imperative.functions.arithmetic import (
    add_n, atan2, floor_divide, floor_divide_, remainder as floor_mod, remainder_ as floor_mod_,
    fmax, fmin, heaviside, hypot, maximum, minimum, remainder as mod, remainder_ as mod_, pow,
    pow_, remainder, remainder_,
)
from minipaddle.imperative.functions.broadcasting import (
    atleast_1d, atleast_2d, atleast_3d, broadcast_shape, broadcast_tensors, broadcast_to,
    expand_as, meshgrid,
)
from minipaddle.imperative.functions.comparison import (
    allclose, bitwise_and, bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift,
    bitwise_xor, equal, equal_all, greater_equal, greater_than, is_empty, is_floating_point,
    is_integer, isclose, isfinite, isinf, isnan, less_equal, less_than, logical_and, logical_not,
    logical_or, logical_xor, not_equal,
)
from minipaddle.imperative.functions.creation import full, normal, ones, randn, uniform, zeros
from minipaddle.imperative.functions.cumulative import cumprod, cumsum, diff, logcumsumexp
from minipaddle.imperative.functions.einsum import einsum, tensordot
from minipaddle.imperative.functions.elementwise import (
    add, add_, assign, cast, divide, divide_, lerp, lerp_, multiply, multiply_, sign, square,
    square_, subtract, subtract_, tanh, tanh_,
)
from minipaddle.imperative.functions.geometry import cross
from minipaddle.imperative.functions.joining import (
    column_stack, concat, dstack, hstack, row_stack, stack, vstack,
)
from minipaddle.imperative.functions.linalg import diagonal, dist, matmul
from minipaddle.imperative.functions.math import (
    abs, abs_, acos, acos_, acosh, acosh_, asin, asin_, asinh, asinh_, atan, atan_, atanh, atanh_,
    ceil, ceil_, clip, clip_, cos, cos_, cosh, cosh_, deg2rad, exp, exp_, expm1, expm1_, floor,
    floor_, frac, log, log10, log10_, log1p, log1p_, log2, log2_, log_, logit, logit_, neg, neg_,
    rad2deg, reciprocal, reciprocal_, round, round_, rsqrt, rsqrt_, scale, scale_, sin, sin_, sinh,
    sinh_, sqrt, sqrt_, tan, tan_, trunc, trunc_,
)
from minipaddle.imperative.functions.matrices import kron, trace
from minipaddle.imperative.functions.padding import diag, diag_embed, diagflat
from minipaddle.imperative.functions.products import addmm, baddbmm, bmm, dot, inner, mm, mv, outer
from minipaddle.imperative.functions.ranges import (
    arange, empty, empty_like, eye, full_like, linspace, logspace, ones_like, tril_indices,
    triu_indices, zeros_like,
)
from minipaddle.imperative.functions.rearrange import (
    flip, repeat_interleave, roll, rot90, tile, tril, triu,
)
from minipaddle.imperative.functions.reduction import (
    all, amax, amin, any, max, mean, min, nanmean, nansum, prod, sum,
)
from minipaddle.imperative.functions.search import (
    argmax, argmin, argsort, bucketize, count_nonzero, nonzero, searchsorted, unique,
    unique_consecutive,
)
from minipaddle.imperative.functions.shape import (
    expand, flatten, moveaxis, reshape, squeeze, swapaxes, t, transpose, unflatten, unsqueeze,
    view, view_as,
)
from minipaddle.imperative.functions.slicing import (
    chunk, crop, narrow, slice, split, strided_slice, tensor_split, unbind,
)
from minipaddle.imperative.functions.statistics import logsumexp, norm, std, var
# fmt: on

from minipaddle.imperative.interchange import from_dlpack, from_numpy
from minipaddle.imperative.printing import set_printoptions
from minipaddle.imperative.tensor import Parameter, Tensor, to_tensor
from minipaddle.nn.initializer import ParamAttr

__version__ = "0.1.0"

float16, float32, float64 = (BY_NAME[name] for name in ("float16", "float32", "float64"))
int8, int16, int32, int64 = (BY_NAME[name] for name in ("int8", "int16", "int32", "int64"))
uint8 = BY_NAME["uint8"]
bool = BY_NAME["bool"]


def CPUPlace() -> Place:
    """The CPU as a place.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.CPUPlace()
        Place(cpu)
    """
    return get_place("cpu")


def __getattr__(name: str) -> Any:
    if name == "bfloat16":  # needs the optional ml_dtypes, imported when somebody asks
        return _bfloat16()
    if name in _LATE:  # a fifth of the time of the whole import, for those who use one process
        found = _importlib.import_module(_LATE[name])
        globals()[name] = found if name == "distributed" else getattr(found, name)
        return globals()[name]
    advice = _hints.hint(_hints.FUNCTIONS, name, _sys.modules[__name__], "paddle")
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}; "
        f"{advice or 'the table in README.md says what there is'}"
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_LATE = {
    "DataParallel": "minipaddle.distributed.parallel",
    "distributed": "minipaddle.distributed",
}

# fmt: off
__all__ = [
    "CPUPlace", "DataParallel", "ParamAttr", "Parameter", "Place", "Tensor", "abs", "abs_", "acos",
    "acos_", "acosh", "acosh_", "add", "add_", "add_n", "addmm", "all", "allclose", "amax", "amin",
    "any", "arange", "argmax", "argmin", "argsort", "asin", "asin_", "asinh", "asinh_", "assign",
    "atan", "atan2", "atan_", "atanh", "atanh_", "atleast_1d", "atleast_2d", "atleast_3d",
    "autograd", "baddbmm", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bmm", "bool", "broadcast_shape", "broadcast_tensors",
    "broadcast_to", "bucketize", "cast", "ceil", "ceil_", "chunk", "clip", "clip_", "column_stack",
    "concat", "cos", "cos_", "cosh", "cosh_", "count_nonzero", "crop", "cross", "cumprod",
    "cumsum", "deg2rad", "device", "diag", "diag_embed", "diagflat", "diagonal", "diff", "dist",
    "distributed", "divide", "divide_", "dot", "dstack", "einsum", "empty", "empty_like",
    "enable_grad", "equal", "equal_all", "erf", "erf_", "exp", "exp_", "expand", "expand_as",
    "expm1", "expm1_", "eye", "flatten", "flip", "float16", "float32", "float64", "floor",
    "floor_", "floor_divide", "floor_divide_", "floor_mod", "floor_mod_", "fmax", "fmin", "frac",
    "from_dlpack", "from_numpy", "full", "full_like", "get_default_dtype", "get_device",
    "get_flags", "get_place", "grad", "greater_equal", "greater_than", "heaviside", "hstack",
    "hypot", "inner", "int16", "int32", "int64", "int8", "is_empty", "is_floating_point",
    "is_grad_enabled", "is_integer", "is_tensor", "isclose", "isfinite", "isinf", "isnan", "kron",
    "lerp", "lerp_", "less_equal", "less_than", "linalg", "linspace", "log", "log10", "log10_",
    "log1p", "log1p_", "log2", "log2_", "log_", "logcumsumexp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "logit", "logit_", "logspace", "logsumexp", "matmul", "max",
    "maximum", "mean", "meshgrid", "min", "minimum", "mm", "mod", "mod_", "moveaxis", "multiply",
    "multiply_", "mv", "nanmean", "nansum", "narrow", "neg", "neg_", "nn", "no_grad", "nonzero",
    "norm", "normal", "not_equal", "numel", "ones", "ones_like", "optimizer", "outer", "pow",
    "pow_", "prod", "rad2deg", "randn", "rank", "reciprocal", "reciprocal_", "remainder",
    "remainder_", "repeat_interleave", "reshape", "roll", "rot90", "round", "round_", "row_stack",
    "rsqrt", "rsqrt_", "scale", "scale_", "searchsorted", "seed", "set_default_dtype",
    "set_device", "set_flags", "set_grad_enabled", "set_printoptions", "shape", "sigmoid",
    "sigmoid_", "sign", "sin", "sin_", "sinh", "sinh_", "slice", "split", "sqrt", "sqrt_",
    "square", "square_", "squeeze", "stack", "std", "strided_slice", "subtract", "subtract_",
    "sum", "swapaxes", "t", "tan", "tan_", "tanh", "tanh_", "tensor_split", "tensordot", "tile",
    "to_tensor", "tolist", "trace", "transpose", "tril", "tril_indices", "triu", "triu_indices",
    "trunc", "trunc_", "uint8", "unbind", "unflatten", "uniform", "unique", "unique_consecutive",
    "unsqueeze", "utils", "var", "view", "view_as", "vstack", "zeros", "zeros_like",
]
# fmt: on
