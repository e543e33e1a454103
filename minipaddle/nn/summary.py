"""A table of a network's layers, with the shapes that go through them."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from minipaddle.imperative.autograd import no_grad
from minipaddle.imperative.functions import random
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer
from minipaddle.nn.layers.container import LayerList, Sequential
from minipaddle.nn.layers.rnn import RNNBase

_MEGABYTE, _BYTES = 1024.0**2, 4.0  # as Paddle, which counts four bytes for every element


@dataclass
class _Row:
    """One line: a layer, what went in and came out, and its own parameters."""

    name: str
    input: str
    output: str
    elements: int
    parameters: int
    trainable: int


def summary(
    net: Layer, input_size: Any = None, dtypes: Any = None, input: Any = None
) -> dict[str, int]:
    """Runs a network once and prints a table of its layers, shapes and numbers of parameters.

    The run is in evaluation mode and records nothing; afterwards the network is in the mode in
    which it was. A layer that is run twice has one line, and a shared parameter counts once.

    Args:
        net: The network.
        input_size: Shape of the input, or a list of shapes of several. One length of a shape may be
            None or -1, for a batch of any size.
        dtypes: Element type of the inputs, or a list of one each; float32 by default.
        input: What to run the network with instead: a tensor, or a list or dictionary that is
            handed in as one argument.

    Returns:
        ``{"total_params": ..., "trainable_params": ...}``.

    Raises:
        TypeError: A shape is not made of ints, or ``input`` is of another type.
        ValueError: Neither ``input_size`` nor ``input`` is given, or a shape has a length below 1
            or more than one that is unknown.

    Example:
        >>> import minipaddle as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(4, 8, name="first"), paddle.nn.ReLU())
        >>> paddle.summary(net, (1, 4))
        ---------------------------------------------------------------------------
         Layer (type)       Input Shape          Output Shape         Param #
        ===========================================================================
        ...
        Total params: 40
        Trainable params: 40
        Non-trainable params: 0
        ---------------------------------------------------------------------------
        Input size (MB): 0.00
        Forward/backward pass size (MB): 0.00
        Params size (MB): 0.00
        Estimated Total Size (MB): 0.00
        ---------------------------------------------------------------------------
        <BLANKLINE>
        {'total_params': 40, 'trainable_params': 40}
    """
    if input is None and input_size is None:
        raise ValueError("summary: give input_size or input")
    arguments: list[Any]
    if input is None:
        arguments = _made(_shapes(input_size), dtypes)
    elif isinstance(input, (Tensor, list, tuple, dict)):
        arguments = [input]
    else:
        raise TypeError(
            "summary: input must be a Tensor, a list, a tuple or a dict; got "
            f"{type(input).__name__}"
        )
    rows = _run(net, arguments)
    total, trainable = (sum(getattr(r, name) for r in rows) for name in ("parameters", "trainable"))
    sizes = [
        sum(tensor.size for tensor in _tensors(arguments)) * _BYTES / _MEGABYTE,
        sum(row.elements for row in rows) * 2 * _BYTES / _MEGABYTE,  # and as much for gradients
        total * _BYTES / _MEGABYTE,
    ]
    sys.stdout.write(_table(rows, total, trainable, sizes))
    return {"total_params": total, "trainable_params": trainable}


def _shapes(given: Any) -> list[list[int]]:
    """Shapes of all inputs, with 1 for the length that is not known."""
    several = isinstance(given, list) and any(isinstance(n, (list, tuple)) for n in given)
    shapes = []
    for one in given if several else [given]:
        lengths = [one] if isinstance(one, int) else list(one)
        unknown = [n for n in lengths if n is None or n == -1]
        if len(unknown) > 1:
            raise ValueError(f"summary: only one length of a shape may be unknown; got {one}")
        lengths = [1 if n is None or n == -1 else n for n in lengths]
        if not all(isinstance(n, int) for n in lengths):
            raise TypeError(f"summary: a shape must be made of ints; got {one}")
        if min(lengths, default=1) < 1:
            raise ValueError(f"summary: lengths must be 1 or more; got {one}")
        shapes.append(lengths)
    return shapes


def _made(shapes: list[list[int]], dtypes: Any) -> list[Tensor]:
    kinds = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes] * len(shapes)
    if len(kinds) != len(shapes):
        raise ValueError(f"summary: {len(shapes)} inputs need as many dtypes; got {len(kinds)}")
    pairs = zip(shapes, kinds, strict=True)
    return [random.rand(shape).astype(kind or "float32") for shape, kind in pairs]


def _tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in nested tuples, lists and dictionaries."""
    if isinstance(value, Tensor):
        yield value
    for part in (value.values() if isinstance(value, dict) else
                 value if isinstance(value, (list, tuple)) else ()):  # fmt: skip
        yield from _tensors(part)


def _shown(value: Any) -> Any:
    """Shapes of tensors, nested as these are."""
    if isinstance(value, (list, tuple)):
        return [_shown(part) for part in value]
    if isinstance(value, dict):
        return {name: _shown(part) for name, part in value.items()}
    return list(value.shape) if hasattr(value, "shape") else []


def _shown_layers(net: Layer) -> list[Layer]:
    """Those with a line: not the whole, nor containers, nor the cells of a recurrent network."""
    every = net.sublayers(include_self=True)
    whole = [layer for layer in every if isinstance(layer, RNNBase)]
    inside = {part for layer in whole for part in layer.sublayers()}
    plain = [x for x in every if not isinstance(x, (Sequential, LayerList)) and x not in inside]
    shown = [layer for layer in every if layer in (*whole, *plain)]
    return [layer for layer in shown if layer is not net or len(every) == 1 or layer in whole]


def _run(net: Layer, arguments: list[Any]) -> list[_Row]:
    """One row for each layer that is run, but for the whole and for mere containers."""
    rows: dict[Layer, _Row] = {}
    counted: set[Any] = set()

    def note(layer: Layer, inputs: Any, output: Any) -> None:
        if layer in rows:
            return
        own = [p for p in layer.parameters(include_sublayers=False) if p not in counted]
        counted.update(own)
        number = int(layer.full_name().rpartition("_")[2]) + 1
        rows[layer] = _Row(
            f"{type(layer).__name__}-{number}",
            str(_shown(inputs)),
            str(_shown(output)),
            sum(math.prod(tensor.shape) for tensor in _tensors(output)),
            sum(parameter.size for parameter in own),
            sum(parameter.size for parameter in own if parameter.trainable),
        )

    hooks = [layer.register_forward_post_hook(note) for layer in _shown_layers(net)]
    modes = {layer: layer.training for layer in net.sublayers(include_self=True)}
    try:
        net.eval()
        with no_grad():
            net(*arguments)
    finally:
        for hook in hooks:
            hook.remove()
        for layer, training in modes.items():
            layer.training = training
    return list(rows.values())


def _table(rows: list[_Row], total: int, trainable: int, sizes: list[float]) -> str:
    """The text, in Paddle's form."""
    cells = [(r.name, r.input, r.output, f"{r.parameters:,}") for r in rows]
    head = ("Layer (type)", "Input Shape", "Output Shape", "Param #")
    least = (15, 20, 20, 15)
    widths = [max([w, *(len(c[i]) for c in cells)]) for i, w in enumerate(least)]
    width = max(75, sum(widths) + 5)
    lines = [" ".join(f"{c:^{w}}" for c, w in zip(row, widths, strict=True)) for row in cells]
    names = ("Input size", "Forward/backward pass size", "Params size", "Estimated Total Size")
    lines = [
        "-" * width,
        " ".join(f"{c:^{w}}" for c, w in zip(head, widths, strict=True)),
        "=" * width,
        *lines,
        "=" * width,
        f"Total params: {total:,}",
        f"Trainable params: {trainable:,}",
        f"Non-trainable params: {total - trainable:,}",
        "-" * width,
        *(f"{n} (MB): {s:0.2f}" for n, s in zip(names, [*sizes, sum(sizes)], strict=True)),
        "-" * width,
    ]
    return "\n".join(lines) + "\n\n"
