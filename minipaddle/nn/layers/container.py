"""Layers that hold layers or parameters, as lists and dictionaries do."""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Self

from minipaddle.imperative.tensor import Parameter, Tensor
from minipaddle.nn.layer import Layer


def _position(index: Any, count: int, end: int = 0) -> int:
    """``index`` as a number from 0 on; negative ones count from the end."""
    place = operator.index(index)
    if not -count <= place < count + end:
        raise IndexError(f"index {place} is out of range; there are {count}")
    return place + count if place < 0 else place


def _pairs(what: str, given: Any) -> list[tuple[str, Any]]:
    """The items of a mapping, or pairs as they are."""
    if isinstance(given, (Mapping, LayerDict, ParameterDict)):
        return list(given.items())
    if not isinstance(given, Iterable):
        raise TypeError(f"{what} must be a mapping or pairs; got {type(given).__name__}")
    pairs = [tuple(pair) for pair in given]
    for i, pair in enumerate(pairs):
        if len(pair) != 2:
            raise ValueError(f"{what}[{i}] must be a pair, name and value; got {len(pair)} items")
    return pairs


class _Row(Layer):
    """Layers in a row. Those that were not given a name are named by their positions."""

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._sub_layers.values()))

    @classmethod
    def _of(cls, layers: list[Any]) -> _Row:
        return Sequential(*layers)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self._sub_layers[index]
        layers = list(self)
        if isinstance(index, slice):
            return type(self)._of(layers[index])
        return layers[_position(index, len(layers))]

    def _rename(self, rows: list[tuple[str, Any]]) -> None:
        """Makes ``rows`` the content; names that are positions follow the new positions."""
        for name in list(self._sub_layers):
            delattr(self, name)
        for i, (name, layer) in enumerate(rows):
            self.add_sublayer(str(i) if name.isdigit() else name, layer)

    def __setitem__(self, index: Any, layer: Layer) -> None:
        if not isinstance(index, str):
            index = list(self._sub_layers)[_position(index, len(self))]
        self.add_sublayer(index, layer)

    def __delitem__(self, index: Any) -> None:
        rows = list(self._sub_layers.items())
        if isinstance(index, str):
            index = list(self._sub_layers).index(index)
        del rows[index if isinstance(index, slice) else _position(index, len(rows))]
        self._rename(rows)

    def append(self, sublayer: Layer) -> Self:
        """Adds a layer at the end.

        Raises:
            TypeError: It is no Layer.
        """
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def insert(self, index: int, sublayer: Layer) -> Self:
        """Adds a layer before the one at ``index``.

        Raises:
            IndexError: There is no such position.
            TypeError: ``sublayer`` is no Layer.
        """
        if not isinstance(sublayer, Layer):
            raise TypeError(f"sublayer must be a Layer; got {type(sublayer).__name__}")
        rows = list(self._sub_layers.items())
        rows.insert(_position(index, len(rows), end=1), ("0", sublayer))
        self._rename(rows)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> Self:
        """Adds layers at the end."""
        for layer in list(sublayers):
            self.append(layer)
        return self

    def pop(self, key: Any) -> Any:
        """Takes out and returns the layer at an index, or the layers of a slice."""
        found = self[key]
        del self[key]
        return found


class Sequential(_Row):
    """Runs layers one after another.

    Args:
        layers: Layers, pairs of name and layer, or one mapping of names to layers.

    Raises:
        TypeError: An argument is none of these.
        ValueError: Two layers have one name.

    Example:
        >>> import minipaddle as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU())
        >>> net(paddle.ones([1, 4])).shape
        [1, 8]
        >>> len(net.append(paddle.nn.Linear(8, 2))), net[-1].out_features
        (3, 2)
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], Mapping):
            layers = tuple(layers[0].items())
        for i, item in enumerate(layers):
            pair = item if isinstance(item, (tuple, list)) else (str(i), item)
            if len(pair) != 2 or not isinstance(pair[0], str) or not isinstance(pair[1], Layer):
                raise TypeError(
                    "Sequential takes layers one by one, Sequential(*layers), or pairs (name, "
                    f"layer); argument {i} is a {type(item).__name__}"
                )
            if pair[0] in self._sub_layers:
                raise ValueError(f"two layers are named {pair[0]!r}")
            self.add_sublayer(*pair)

    def forward(self, input: Any) -> Any:
        """Feeds ``input`` through the layers in order."""
        for layer in self._sub_layers.values():
            input = layer(input)
        return input


class LayerList(_Row):
    """A list of layers that are entered as sublayers, named "0", "1" and so on.

    Args:
        sublayers: The layers, or None for an empty list.

    Raises:
        TypeError: One of them is no Layer.

    Example:
        >>> import minipaddle as paddle
        >>> layers = paddle.nn.LayerList([paddle.nn.Linear(2, 2) for _ in range(3)])
        >>> len(layers), len(layers.parameters()), len(layers[1:])
        (3, 6, 2)
    """

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend(sublayers or ())

    @classmethod
    def _of(cls, layers: list[Any]) -> _Row:
        return LayerList(layers)

    def __add__(self, other: Iterable[Layer]) -> LayerList:
        return LayerList([*self, *other])

    def __iadd__(self, other: Iterable[Layer]) -> Self:
        return self.extend(other)


class LayerDict(Layer):
    """A dictionary of layers that are entered as sublayers under their keys.

    Args:
        sublayers: A mapping, pairs of key and layer, or None for an empty dictionary.

    Raises:
        KeyError: A key is empty, has a dot, or is a name that every layer has.
        TypeError: A key is no str, or a value no Layer.

    Example:
        >>> import minipaddle as paddle
        >>> heads = paddle.nn.LayerDict({"size": paddle.nn.Linear(4, 1)})
        >>> heads["kind"] = paddle.nn.Linear(4, 3)
        >>> list(heads), heads["kind"](paddle.ones([1, 4])).shape
        (['size', 'kind'], [1, 3])
    """

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        self.update(() if sublayers is None else sublayers)

    def __getitem__(self, key: str) -> Any:
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        if key not in self._sub_layers:
            raise KeyError(key)
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        """Takes all layers out."""
        for key in list(self):
            del self[key]

    def pop(self, key: str) -> Any:
        """Takes out and returns the layer of a key."""
        found = self[key]
        del self[key]
        return found

    def keys(self) -> KeysView[str]:
        """The keys."""
        return self._sub_layers.keys()

    def items(self) -> ItemsView[str, Any]:
        """Pairs of key and layer."""
        return self._sub_layers.items()

    def values(self) -> ValuesView[Any]:
        """The layers."""
        return self._sub_layers.values()

    def update(self, sublayers: Any) -> None:
        """Adds and replaces layers; arguments and errors as of the constructor."""
        for key, layer in _pairs("sublayers", sublayers):
            self.add_sublayer(key, layer)


class ParameterList(Layer):
    """A list of parameters that are entered under "0", "1" and so on.

    Args:
        parameters: The parameters, or None for an empty list.

    Raises:
        TypeError: One of them is no Parameter.

    Example:
        >>> import minipaddle as paddle
        >>> made = [paddle.create_parameter([2, n], "float32") for n in (1, 2)]
        >>> [p.shape for p in paddle.nn.ParameterList(made)]
        [[2, 1], [2, 2]]
    """

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        for parameter in parameters or ():
            self.append(parameter)

    def __getitem__(self, index: int) -> Any:
        return self._parameters[str(_position(index, len(self)))]

    def __setitem__(self, index: int, param: Tensor) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(f"param must be a Tensor; got {type(param).__name__}")
        self[index].set_value(param)  # as in Paddle: whoever holds the parameter keeps it

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._parameters.values()))

    def append(self, parameter: Parameter) -> Self:
        """Adds a parameter at the end."""
        if not isinstance(parameter, Parameter):
            raise TypeError(f"parameter must be a Parameter; got {type(parameter).__name__}")
        self.add_parameter(str(len(self)), parameter)
        return self


class ParameterDict(Layer):
    """A dictionary of parameters that are entered under their keys.

    Args:
        parameters: A mapping, pairs of key and parameter, or None for an empty dictionary.

    Raises:
        KeyError: A key is empty, has a dot, or is a name that every layer has.
        TypeError: A key is no str, or a value no Parameter.

    Example:
        >>> import minipaddle as paddle
        >>> scales = paddle.nn.ParameterDict({"x": paddle.create_parameter([2], "float32")})
        >>> list(scales), scales["x"].shape
        (['x'], [2])
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self.update(() if parameters is None else parameters)

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, param: Parameter) -> None:
        self.add_parameter(key, param)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def items(self) -> ItemsView[str, Any]:
        """Pairs of key and parameter."""
        return self._parameters.items()

    def update(self, parameters: Any) -> None:
        """Adds and replaces parameters; arguments and errors as of the constructor."""
        for key, parameter in _pairs("parameters", parameters):
            self.add_parameter(key, parameter)
