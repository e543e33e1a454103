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
from minipaddle.device.backend import Place, get_device, seed, set_device
from minipaddle.device.dtype import BY_NAME, get_default_dtype, set_default_dtype
from minipaddle.device.dtype import bfloat16 as bfloat16_dtype
from minipaddle.device.flags import get_flags, set_flags
from minipaddle.distributed.parallel import DataParallel
from minipaddle.imperative.autograd import (
    enable_grad,
    grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minipaddle.imperative.functions.creation import full, normal, ones, randn, uniform, zeros
from minipaddle.imperative.functions.elementwise import (
    add,
    add_,
    assign,
    cast,
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
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.nn.initializer import ParamAttr

__version__ = "0.1.0"

# Importing this puts methods and operators on Tensor.
from minipaddle.imperative import methods as _methods  # noqa: E402, F401

float16, float32, float64 = (BY_NAME[n] for n in ("float16", "float32", "float64"))
uint8, int8, int16, int32, int64 = (BY_NAME[n] for n in ("uint8", "int8", "int16", "int32", "int64"))
bool = BY_NAME["bool"]  # noqa: A001 - Paddle's name


def CPUPlace() -> Place:  # noqa: N802 - Paddle's name
    """The CPU as a place.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.CPUPlace()
        Place(cpu)
    """
    return device.get_place("cpu")


def __getattr__(name: str) -> Any:
    # bfloat16 exists only with ml_dtypes, which is imported when somebody asks.
    if name == "bfloat16":
        return bfloat16_dtype()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
