"""Layers that are a function with settings: activations, losses and the like.

The settings may be given by position or by name; a last one, ``name``, is there for Paddle's
signature and unused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer


class FunctionLayer(Layer):
    """Base of layers without parameters: ``function(*inputs, **settings)``.

    Args:
        values: Settings in the order of ``defaults``.
        named: Settings by name.

    Attributes:
        settings: Name and value of each.

    Raises:
        TypeError: There is no such setting, it is given twice, or one without a default is not
            given.
    """

    function: ClassVar[Callable[..., Tensor]]
    defaults: ClassVar[Mapping[str, Any]] = {}  # ``...`` for none

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__()
        names = [*self.defaults, "name"]
        given = dict(zip(names, values, strict=False))
        wrong = [name for name in named if name not in names or name in given]
        given |= named
        self.settings = {name: given.get(name, value) for name, value in self.defaults.items()}
        if (
            wrong
            or len(values) > len(names)
            or any(value is ... for value in self.settings.values())
        ):
            raise TypeError(
                f"{type(self).__name__} takes ({', '.join(names)}), each once; got "
                f"{len(values)} by position and {sorted(named)} by name"
            )

    def forward(self, *inputs: Tensor) -> Tensor:
        """The function of the inputs."""
        return type(self).function(*inputs, **self.settings)

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())
