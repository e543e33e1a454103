"""Layers made of layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minipaddle.nn.layer import Layer


class Sequential(Layer):
    """Runs layers one after another.

    Args:
        layers: Layers, or pairs of name and layer.

    Example:
        >>> import minipaddle as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU())
        >>> net(paddle.ones([1, 4])).shape
        [1, 8]
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        for i, item in enumerate(layers):
            if not isinstance(item, (Layer, tuple)):
                raise TypeError(
                    "Sequential takes layers one by one, Sequential(*layers), or pairs (name, "
                    f"layer); argument {i} is a {type(item).__name__}"
                )
            name, layer = item if isinstance(item, tuple) else (str(i), item)
            if name in self._sub_layers:
                raise ValueError(f"two layers are named {name!r}")
            self.add_sublayer(name, layer)

    def forward(self, input: Any) -> Any:
        """Feeds ``input`` through the layers in order."""
        for layer in self.children():
            input = layer(input)
        return input

    def __getitem__(self, index: int | slice) -> Layer:
        layers = list(self.children())
        if isinstance(index, slice):
            return Sequential(*layers[index])
        return layers[index]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Layer]:
        return self.children()
