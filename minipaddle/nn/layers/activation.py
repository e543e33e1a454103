"""Smooth activations as layers: each is a function with the settings that it takes besides x.

The settings may be given by position or by name; a last one, ``name``, is there for Paddle's
signature and unused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from minipaddle.imperative.functions import activation, elementwise
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer


class Activation(Layer):
    """Base of those below: ``function(x, *settings)``.

    Args:
        values: Settings in the order of ``defaults``.
        named: Settings by name.

    Attributes:
        settings: Name and value of each.

    Raises:
        TypeError: There is no such setting, or it is given twice.
    """

    function: ClassVar[Callable[..., Tensor]]
    defaults: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__()
        names = [*self.defaults, "name"]
        given = dict(zip(names, values, strict=False))
        wrong = [name for name in named if name not in names or name in given]
        if wrong or len(values) > len(names):
            raise TypeError(
                f"{type(self).__name__} takes ({', '.join(names)}), each once; got "
                f"{len(values)} by position and {sorted(named)} by name"
            )
        given |= named
        self.settings = {name: given.get(name, value) for name, value in self.defaults.items()}

    def forward(self, x: Tensor) -> Tensor:
        """The function of ``x``."""
        return type(self).function(x, **self.settings)

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())


class GELU(Activation):
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


class GLU(Activation):
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


class LogSigmoid(Activation):
    """The logarithm of ``Sigmoid``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.LogSigmoid()(paddle.to_tensor([-1000.0])).tolist()
        [-1000.0]
    """

    function = staticmethod(activation.log_sigmoid)


class LogSoftmax(Activation):
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


class Mish(Activation):
    """x times the tanh of ``Softplus``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Mish()(paddle.to_tensor([0.0, 40.0])).tolist()
        [0.0, 40.0]
    """

    function = staticmethod(activation.mish)


class Sigmoid(Activation):
    """``1 / (1 + exp(-x))``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Sigmoid()(paddle.to_tensor([0.0])).tolist()
        [0.5]
    """

    function = staticmethod(activation.sigmoid)


class Silu(Activation):
    """x times ``Sigmoid``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Silu()(paddle.to_tensor([0.0, 40.0])).tolist()
        [0.0, 40.0]
    """

    function = staticmethod(activation.silu)


class Softmax(Activation):
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


class Softplus(Activation):
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


class Softsign(Activation):
    """``x / (1 + abs(x))``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Softsign()(paddle.to_tensor([-1.0, 3.0])).tolist()
        [-0.5, 0.75]
    """

    function = staticmethod(activation.softsign)


class Swish(Activation):
    """The same as ``Silu``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Swish()(paddle.to_tensor([0.0, 40.0])).tolist()
        [0.0, 40.0]
    """

    function = staticmethod(activation.swish)


class Tanh(Activation):
    """Hyperbolic tangent.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Tanh()(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    function = staticmethod(elementwise.tanh)


class Tanhshrink(Activation):
    """x less its tanh.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Tanhshrink()(paddle.to_tensor([0.0, 40.0])).tolist()
        [0.0, 39.0]
    """

    function = staticmethod(activation.tanhshrink)
