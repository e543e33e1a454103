"""minipaddle: a small, eager deep-learning framework core with Paddle's API.

Example:
    >>> import minipaddle as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.lerp(x, paddle.ones([2]), 0.25).sum().backward()
    >>> x.grad.tolist()
    [0.75, 0.75]
"""

import importlib as _importlib
import math as _math
import sys as _sys
from typing import Any

from numpy import dtype

from minipaddle import autograd, device, linalg, nn, optimizer, regularizer, utils
from minipaddle.device.backend import Place, get_device, get_place, seed, set_device
from minipaddle.device.build import (
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from minipaddle.device.dtype import BY_NAME, finfo, get_default_dtype, iinfo, set_default_dtype
from minipaddle.device.dtype import bfloat16 as _bfloat16
from minipaddle.device.flags import get_flags, set_flags
from minipaddle.device.rng_state import (
    get_cuda_rng_state,
    get_rng_state,
    set_cuda_rng_state,
    set_rng_state,
)
from minipaddle.imperative import hints as _hints
from minipaddle.imperative import methods as _methods  # noqa: F401 - puts methods on Tensor
from minipaddle.imperative.autograd import (
    enable_grad,
    grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minipaddle.imperative.execution import disable_static, enable_static, in_dynamic_mode
from minipaddle.imperative.conversion import assign, is_tensor, numel, rank, shape, tolist

# One name a line would make pages of them; python -m tools.public_names writes this.
# fmt: off
from minipaddle.imperative.functions.activation import erf, erf_, sigmoid, sigmoid_
from minipaddle.imperative.functions.advanced import index_put, index_put_
from minipaddle.imperative.functions.arithmetic import (
    add_n, atan2, floor_divide, floor_divide_, remainder as floor_mod, remainder_ as floor_mod_,
    fmax, fmin, gcd, gcd_, heaviside, hypot, lcm, lcm_, maximum, minimum, remainder as mod,
    remainder_ as mod_, pow, pow_, remainder, remainder_,
)
from minipaddle.imperative.functions.broadcasting import (
    atleast_1d, atleast_2d, atleast_3d, broadcast_shape, broadcast_tensors, broadcast_to,
    expand_as, meshgrid,
)
from minipaddle.imperative.functions.comparison import (
    allclose, bitwise_and, bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift,
    bitwise_xor, equal, equal_all, greater_equal, greater_than, is_empty, is_floating_point,
    is_integer, isclose, isfinite, isinf, isnan, less_equal, less_than, logical_and, logical_not,
    logical_or, logical_xor, not_equal, signbit,
)
from minipaddle.imperative.functions.counting import bincount, histogram, isin
from minipaddle.imperative.functions.creation import full, ones, zeros
from minipaddle.imperative.functions.cumulative import cumprod, cumsum, diff, logcumsumexp
from minipaddle.imperative.functions.einsum import einsum, tensordot
from minipaddle.imperative.functions.elementwise import (
    add, add_, cast, assign as clone, divide, divide_, lerp, lerp_, multiply, multiply_, sign,
    square, square_, subtract, subtract_, tanh, tanh_,
)
from minipaddle.imperative.functions.filling import (
    bernoulli_, geometric_, log_normal_, normal_, uniform_,
)
from minipaddle.imperative.functions.gathering import (
    gather, gather_nd, index_sample, index_select, take, take_along_axis,
)
from minipaddle.imperative.functions.geometry import cross
from minipaddle.imperative.functions.indexing import (
    masked_fill, masked_fill_, masked_select, where, where_,
)
from minipaddle.imperative.functions.inplace import (
    addmm_, baddbmm_, bitwise_and_, bitwise_left_shift_, bitwise_not_, bitwise_or_,
    bitwise_right_shift_, bitwise_xor_, copysign_, cumprod_, cumsum_, flatten_, frac_, hypot_,
    ldexp_, logical_and_, logical_not_, logical_or_, logical_xor_, reshape_, squeeze_, t_,
    transpose_, tril_, triu_, unsqueeze_,
)
from minipaddle.imperative.functions.joining import (
    column_stack, concat, dstack, hstack, row_stack, stack, vstack,
)
from minipaddle.imperative.functions.linalg import diagonal, dist, matmul
from minipaddle.imperative.functions.math import (
    abs, abs_, acos, acos_, acosh, acosh_, asin, asin_, asinh, asinh_, atan, atan_, atanh, atanh_,
    ceil, ceil_, clip, clip_, cos, cos_, cosh, cosh_, deg2rad, exp, exp_, expm1, expm1_, floor,
    floor_, frac, log, log10, log10_, log1p, log1p_, log2, log2_, log_, logit, logit_, nan_to_num,
    nan_to_num_, neg, neg_, rad2deg, reciprocal, reciprocal_, round, round_, rsqrt, rsqrt_, scale,
    scale_, sin, sin_, sinh, sinh_, sqrt, sqrt_, tan, tan_, trunc, trunc_,
)
from minipaddle.imperative.functions.matrices import kron, matrix_transpose, trace
from minipaddle.imperative.functions.numerical import (
    cdist, copysign, cumulative_trapezoid, increment, is_complex, isneginf, isposinf, ldexp,
    logaddexp, negative, positive, sgn, stanh, trapezoid, vander,
)
from minipaddle.imperative.functions.ordering import (
    kthvalue, median, mode, nanmedian, quantile, sort, topk,
)
from minipaddle.imperative.functions.padding import diag, diag_embed, diagflat
from minipaddle.imperative.functions.products import addmm, baddbmm, bmm, dot, inner, mm, mv, outer
from minipaddle.imperative.functions.random import (
    log_normal, normal, rand, rand_like, randint, randint_like, randn, randn_like, randperm,
    standard_normal, uniform,
)
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
from minipaddle.imperative.functions.sampling import (
    bernoulli, binomial, multinomial, poisson, standard_gamma,
)
from minipaddle.imperative.functions.scattering import (
    index_add, index_add_, index_fill, index_fill_, put_along_axis, put_along_axis_, scatter,
    scatter_, scatter_nd, scatter_nd_add,
)
from minipaddle.imperative.functions.search import (
    argmax, argmin, argsort, bucketize, count_nonzero, nonzero, searchsorted, unique,
    unique_consecutive,
)
from minipaddle.imperative.functions.shape import (
    expand, flatten, moveaxis, ravel, reshape, squeeze, swapaxes, t, transpose, unflatten,
    unsqueeze, view, view_as,
)
from minipaddle.imperative.functions.slicing import (
    chunk, crop, dsplit, hsplit, narrow, slice, split, strided_slice, tensor_split, unbind,
    unstack, vsplit,
)
from minipaddle.imperative.functions.statistics import logsumexp, norm, std, var
# fmt: on

from minipaddle.imperative.interchange import from_dlpack, from_numpy
from minipaddle.imperative.printing import set_printoptions
from minipaddle.imperative.tensor import Parameter, Tensor, to_tensor
from minipaddle.nn.initializer import ParamAttr
from minipaddle.nn.parameter import create_parameter
from minipaddle.nn.summary import summary

__version__ = "0.1.0"

float16, float32, float64 = (BY_NAME[name] for name in ("float16", "float32", "float64"))
int8, int16, int32, int64 = (BY_NAME[name] for name in ("int8", "int16", "int32", "int64"))
uint8 = BY_NAME["uint8"]
bool = BY_NAME["bool"]
inf, nan, pi, e, newaxis = float("inf"), float("nan"), _math.pi, _math.e, None


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
        globals()[name] = (
            found if name in {"distributed", "io", "profiler"} else getattr(found, name)
        )
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
    "io": "minipaddle.io",
    "load": "minipaddle.saving",
    "profiler": "minipaddle.profiler",
    "save": "minipaddle.saving",
}

# fmt: off
__all__ = [
    "CPUPlace", "DataParallel", "ParamAttr", "Parameter", "Place", "Tensor", "abs", "abs_", "acos",
    "acos_", "acosh", "acosh_", "add", "add_", "add_n", "addmm", "addmm_", "all", "allclose",
    "amax", "amin", "any", "arange", "argmax", "argmin", "argsort", "asin", "asin_", "asinh",
    "asinh_", "assign", "atan", "atan2", "atan_", "atanh", "atanh_", "atleast_1d", "atleast_2d",
    "atleast_3d", "autograd", "baddbmm", "baddbmm_", "bernoulli", "bernoulli_", "bincount",
    "binomial", "bitwise_and", "bitwise_and_", "bitwise_left_shift", "bitwise_left_shift_",
    "bitwise_not", "bitwise_not_", "bitwise_or", "bitwise_or_", "bitwise_right_shift",
    "bitwise_right_shift_", "bitwise_xor", "bitwise_xor_", "bmm", "bool", "broadcast_shape",
    "broadcast_tensors", "broadcast_to", "bucketize", "cast", "cdist", "ceil", "ceil_", "chunk",
    "clip", "clip_", "clone", "column_stack", "concat", "copysign", "copysign_", "cos", "cos_",
    "cosh", "cosh_", "count_nonzero", "create_parameter", "crop", "cross", "cumprod", "cumprod_",
    "cumsum", "cumsum_", "cumulative_trapezoid", "deg2rad", "device", "diag", "diag_embed",
    "diagflat", "diagonal", "diff", "disable_static", "dist", "distributed", "divide", "divide_",
    "dot", "dsplit", "dstack", "dtype", "e", "einsum", "empty", "empty_like", "enable_grad",
    "enable_static", "equal", "equal_all", "erf", "erf_", "exp", "exp_", "expand", "expand_as",
    "expm1", "expm1_", "eye", "finfo", "flatten", "flatten_", "flip", "float16", "float32",
    "float64", "floor", "floor_", "floor_divide", "floor_divide_", "floor_mod", "floor_mod_",
    "fmax", "fmin", "frac", "frac_", "from_dlpack", "from_numpy", "full", "full_like", "gather",
    "gather_nd", "gcd", "gcd_", "geometric_", "get_cuda_rng_state", "get_default_dtype",
    "get_device", "get_flags", "get_place", "get_rng_state", "grad", "greater_equal",
    "greater_than", "heaviside", "histogram", "hsplit", "hstack", "hypot", "hypot_", "iinfo",
    "in_dynamic_mode", "increment", "index_add", "index_add_", "index_fill", "index_fill_",
    "index_put", "index_put_", "index_sample", "index_select", "inf", "inner", "int16", "int32",
    "int64", "int8", "io", "is_compiled_with_cinn", "is_compiled_with_cuda",
    "is_compiled_with_custom_device", "is_compiled_with_distribute", "is_compiled_with_ipu",
    "is_compiled_with_rocm", "is_compiled_with_xpu", "is_complex", "is_empty", "is_floating_point",
    "is_grad_enabled", "is_integer", "is_tensor", "isclose", "isfinite", "isin", "isinf", "isnan",
    "isneginf", "isposinf", "kron", "kthvalue", "lcm", "lcm_", "ldexp", "ldexp_", "lerp", "lerp_",
    "less_equal", "less_than", "linalg", "linspace", "load", "log", "log10", "log10_", "log1p",
    "log1p_", "log2", "log2_", "log_", "log_normal", "log_normal_", "logaddexp", "logcumsumexp",
    "logical_and", "logical_and_", "logical_not", "logical_not_", "logical_or", "logical_or_",
    "logical_xor", "logical_xor_", "logit", "logit_", "logspace", "logsumexp", "masked_fill",
    "masked_fill_", "masked_select", "matmul", "matrix_transpose", "max", "maximum", "mean",
    "median", "meshgrid", "min", "minimum", "mm", "mod", "mod_", "mode", "moveaxis", "multinomial",
    "multiply", "multiply_", "mv", "nan", "nan_to_num", "nan_to_num_", "nanmean", "nanmedian",
    "nansum", "narrow", "neg", "neg_", "negative", "newaxis", "nn", "no_grad", "nonzero", "norm",
    "normal", "normal_", "not_equal", "numel", "ones", "ones_like", "optimizer", "outer", "pi",
    "poisson", "positive", "pow", "pow_", "prod", "put_along_axis", "put_along_axis_", "quantile",
    "rad2deg", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm",
    "rank", "ravel", "reciprocal", "reciprocal_", "regularizer", "remainder", "remainder_",
    "repeat_interleave", "reshape", "reshape_", "roll", "rot90", "round", "round_", "row_stack",
    "rsqrt", "rsqrt_", "save", "scale", "scale_", "scatter", "scatter_", "scatter_nd",
    "scatter_nd_add", "searchsorted", "seed", "set_cuda_rng_state", "set_default_dtype",
    "set_device", "set_flags", "set_grad_enabled", "set_printoptions", "set_rng_state", "sgn",
    "shape", "sigmoid", "sigmoid_", "sign", "signbit", "sin", "sin_", "sinh", "sinh_", "slice",
    "sort", "split", "sqrt", "sqrt_", "square", "square_", "squeeze", "squeeze_", "stack",
    "standard_gamma", "standard_normal", "stanh", "std", "strided_slice", "subtract", "subtract_",
    "sum", "summary", "swapaxes", "t", "t_", "take", "take_along_axis", "tan", "tan_", "tanh",
    "tanh_", "tensor_split", "tensordot", "tile", "to_tensor", "tolist", "topk", "trace",
    "transpose", "transpose_", "trapezoid", "tril", "tril_", "tril_indices", "triu", "triu_",
    "triu_indices", "trunc", "trunc_", "uint8", "unbind", "unflatten", "uniform", "uniform_",
    "unique", "unique_consecutive", "unsqueeze", "unsqueeze_", "unstack", "utils", "vander", "var",
    "view", "view_as", "vsplit", "vstack", "where", "where_", "zeros", "zeros_like",
]
# fmt: on
