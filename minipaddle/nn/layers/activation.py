"""Smooth activations as layers: each is a function with the settings that it takes besides x."""

from __future__ import annotations

from typing import ClassVar

from minipaddle.imperative.functions import activation, elementwise
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layers.function_layer import FunctionLayer


class GELU(FunctionLayer):
    """x times the normal distribution's probability of a number below x.

    Args:
        approximate: By a formula with tanh.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.GELU()(paddle.to_tensor([0.0, 10.0])).tolist()
        [0.0, 10.0]
    """

    function = staticmethod(activation.gelu)
    defaults: ClassVar = {"approximate": False}


class GLU(FunctionLayer):
    """The first half of x times the sigmoid of the second.

    Args:
        axis: The axis that is halved.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.GLU()(paddle.to_tensor([4.0, 0.0])).tolist()
        [2.0]
    """

    function = staticmethod(activation.glu)
    defaults: ClassVar = {"axis": -1}


class LogSigmoid(FunctionLayer):
    """The logarithm of ``Sigmoid``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.LogSigmoid()(paddle.to_tensor([-1000.0])).tolist()
        [-1000.0]
    """

    function = staticmethod(activation.log_sigmoid)


class LogSoftmax(FunctionLayer):
    """The logarithm of ``Softmax``.

    Args:
        axis: The axis whose exponentials sum to 1.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.LogSoftmax()(paddle.to_tensor([0.0, -1000.0])).tolist()
        [0.0, -1000.0]
    """

    function = staticmethod(activation.log_softmax)
    defaults: ClassVar = {"axis": -1}


class Mish(FunctionLayer):
    """x times the tanh of ``Softplus``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Mish()(paddle.to_tensor([0.0, 40.0])).tolist()
        [0.0, 40.0]
    """

    function = staticmethod(activation.mish)


class Sigmoid(FunctionLayer):
    """``1 / (1 + exp(-x))``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Sigmoid()(paddle.to_tensor([0.0])).tolist()
        [0.5]
    """

    function = staticmethod(activation.sigmoid)


class Silu(FunctionLayer):
    """x times ``Sigmoid``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Silu()(paddle.to_tensor([0.0, 40.0])).tolist()
        [0.0, 40.0]
    """

    function = staticmethod(activation.silu)


class Softmax(FunctionLayer):
    """Exponentials, divided by their sum.

    Args:
        axis: The axis over which the sum goes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Softmax()(paddle.to_tensor([3.0, 3.0])).tolist()
        [0.5, 0.5]
    """

    function = staticmethod(activation.softmax)
    defaults: ClassVar = {"axis": -1}


class Softplus(FunctionLayer):
    """``log(1 + exp(beta * x)) / beta``.

    Args:
        beta: The larger, the nearer to ``ReLU``.
        threshold: x itself where beta * x is larger.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Softplus()(paddle.to_tensor([-1000.0, 1000.0])).tolist()
        [0.0, 1000.0]
    """

    function = staticmethod(activation.softplus)
    defaults: ClassVar = {"beta": 1.0, "threshold": 20.0}


class Softsign(FunctionLayer):
    """``x / (1 + abs(x))``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Softsign()(paddle.to_tensor([-1.0, 3.0])).tolist()
        [-0.5, 0.75]
    """

    function = staticmethod(activation.softsign)


class Swish(FunctionLayer):
    """The same as ``Silu``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Swish()(paddle.to_tensor([0.0, 40.0])).tolist()
        [0.0, 40.0]
    """

    function = staticmethod(activation.swish)


class Tanh(FunctionLayer):
    """Hyperbolic tangent.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Tanh()(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    function = staticmethod(elementwise.tanh)


class Tanhshrink(FunctionLayer):
    """x less its tanh.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Tanhshrink()(paddle.to_tensor([0.0, 40.0])).tolist()
        [0.0, 39.0]
    """

    function = staticmethod(activation.tanhshrink)


class Softmax2D(FunctionLayer):
    """``Softmax`` over the channels of images [N, C, H, W] or [C, H, W].

    Args:
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: An input has not 3 or 4 axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Softmax2D()(paddle.zeros([1, 4, 2, 2])).max().item()
        0.25
    """

    def forward(self, *inputs: Tensor) -> Tensor:
        """See ``nn.functional.softmax``."""
        (x,) = inputs
        if x.ndim not in (3, 4):
            raise ValueError(f"Softmax2D takes 3 or 4 axes; got shape {x.shape}")
        return activation.softmax(x, -3)


SiLU = Silu
