"""minipaddle: a small, eager deep-learning framework core with Paddle's API.

Example:
    >>> import minipaddle as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.lerp(x, paddle.ones([2]), 0.25).sum().backward()
    >>> x.grad.tolist()
    [0.75, 0.75]
"""

from typing import Any

from minipaddle import autograd, device, distributed, nn, optimizer
from minipaddle.device.backend import Place, get_device, get_place, seed, set_device
from minipaddle.device.dtype import BY_NAME, get_default_dtype, set_default_dtype
from minipaddle.device.dtype import bfloat16 as _bfloat16
from minipaddle.device.flags import get_flags, set_flags
from minipaddle.distributed.parallel import DataParallel
from minipaddle.imperative import methods as _methods  # noqa: F401 - puts methods on Tensor
from minipaddle.imperative.autograd import (
    enable_grad,
    grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minipaddle.imperative.functions.comparison import equal, not_equal
from minipaddle.imperative.functions.creation import full, normal, ones, randn, uniform, zeros
from minipaddle.imperative.functions.elementwise import (
    add,
    add_,
    assign,
    cast,
    divide,
    divide_,
    lerp,
    lerp_,
    multiply,
    multiply_,
    sign,
    square,
    square_,
    subtract,
    subtract_,
    tanh,
    tanh_,
)
from minipaddle.imperative.functions.linalg import matmul
from minipaddle.imperative.functions.reduction import mean, sum
from minipaddle.imperative.functions.shape import expand, reshape
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
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}; the table in README.md says what there is"
    )


__all__ = [
    "CPUPlace",
    "DataParallel",
    "ParamAttr",
    "Parameter",
    "Place",
    "Tensor",
    "add",
    "add_",
    "assign",
    "autograd",
    "bool",
    "cast",
    "device",
    "distributed",
    "divide",
    "divide_",
    "enable_grad",
    "equal",
    "expand",
    "float16",
    "float32",
    "float64",
    "full",
    "get_default_dtype",
    "get_device",
    "get_flags",
    "get_place",
    "grad",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "lerp",
    "lerp_",
    "matmul",
    "mean",
    "multiply",
    "multiply_",
    "nn",
    "no_grad",
    "normal",
    "not_equal",
    "ones",
    "optimizer",
    "randn",
    "reshape",
    "seed",
    "set_default_dtype",
    "set_device",
    "set_flags",
    "set_grad_enabled",
    "sign",
    "square",
    "square_",
    "subtract",
    "subtract_",
    "sum",
    "tanh",
    "tanh_",
    "to_tensor",
    "uint8",
    "uniform",
    "zeros",
]
