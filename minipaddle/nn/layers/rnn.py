"""Recurrent networks: cells in layers, in one direction or two."""

from __future__ import annotations

from typing import Any, ClassVar

from minipaddle.imperative.functions import joining, slicing
from minipaddle.imperative.functions.dropout import dropout
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layers.container import LayerList
from minipaddle.nn.layers.recurrence import RNN, BiRNN, at_step, batch_first, masks_of, scan
from minipaddle.nn.layers.rnn_cell import GRUCell, LSTMCell, SimpleRNNCell, mapped

_FORWARD, _BOTH = ("forward",), ("bidirect", "bidirectional")


def _named_attrs(*attrs: Any) -> dict[str, Any]:
    names = ("weight_ih_attr", "weight_hh_attr", "bias_ih_attr", "bias_hh_attr")
    return dict(zip(names, attrs, strict=True))


class RNNBase(LayerList):
    """Base of the networks below: layers of cells, in one direction or two.

    The parameters have two names each, as in Paddle: ``weight_ih_l0``, with ``_reverse`` behind it
    for the second direction, and ``0.cell.weight_ih``.
    """

    cell_class: ClassVar[Any]

    def _build(
        self, sizes: tuple[int, int, int], direction: str, time_major: bool, dropout: float,
        settings: dict[str, Any],
    ) -> None:  # fmt: skip
        self.input_size, self.hidden_size, self.num_layers = sizes
        if direction not in (*_FORWARD, *_BOTH):
            raise ValueError(f"direction must be 'forward' or 'bidirect'; got {direction!r}")
        self.num_directions = 2 if direction in _BOTH else 1
        self.time_major, self.dropout = time_major, dropout
        width = (settings.get("proj_size") or self.hidden_size) * self.num_directions
        for number in range(self.num_layers):
            length = width if number else self.input_size
            cells = [
                self.cell_class(length, self.hidden_size, **settings)
                for _ in range(self.num_directions)
            ]
            both = self.num_directions == 2
            self.append(
                BiRNN(cells[0], cells[1], time_major) if both else RNN(cells[0], False, time_major)
            )
            for cell, end in zip(cells, ("", "_reverse"), strict=False):
                for name, parameter in cell.named_parameters():
                    self.add_parameter(f"{name}_l{number}{end}", parameter)

    def forward(
        self, inputs: Tensor, initial_states: Any = None, sequence_length: Tensor | None = None
    ) -> tuple[Tensor, Any]:
        """Outputs of the last layer at all steps, and the states of all layers after the last.

        Args:
            inputs: Tensor [N, T, input_size], or with ``time_major`` [T, N, input_size].
            initial_states: Tensor [num_layers * num_directions, N, hidden_size], for LSTM a pair of
                such; zeros by default.
            sequence_length: Int tensor [N] of lengths. Behind the end of a sequence outputs are 0
                and the states stay as they are.

        Returns:
            Outputs [N, T, num_directions * hidden_size], and states as ``initial_states``.
        """
        x = inputs if self.time_major else batch_first(inputs)
        masks = masks_of(sequence_length, x)
        states = self._first_states(x, initial_states)
        last: list[Any] = []
        for number, layer in enumerate(self):
            if number:
                x = dropout(x, self.dropout, training=self.training)
            cells = list(layer.children())
            parts = []
            for cell, backwards in zip(cells, (False, True), strict=False):
                part, state = scan(cell, x, states[len(last)], masks, backwards)
                parts.append(part)
                last.append(state)
            x = joining.concat(parts, -1) if len(parts) > 1 else parts[0]
            if masks is not None:
                x = x * joining.stack(masks, 0)
        outputs = x if self.time_major else batch_first(x)
        return outputs, mapped(lambda *parts: joining.stack(list(parts), 0), *last)

    def _first_states(self, x: Tensor, given: Any) -> list[Any]:
        """States for each layer and direction."""
        rows = self.num_layers * self.num_directions
        cell = next(self[0].children())
        if given is None:
            return [cell.get_initial_states(x, batch_dim_idx=1) for _ in range(rows)]
        pair = isinstance(cell.state_shape[0], tuple)
        if isinstance(given, (tuple, list)) and not pair and len(given) == 1:
            (given,) = given
        if pair is not isinstance(given, (tuple, list)):
            raise TypeError(
                f"{type(self).__name__}: initial_states must be "
                f"{'a pair of tensors' if pair else 'a tensor'}; got {type(given).__name__}"
            )
        for tensor in given if pair else (given,):
            if tensor.ndim != 3 or tensor.shape[:2] != [rows, x.shape[1]]:
                raise ValueError(
                    f"{type(self).__name__}: a state must have shape [{rows}, {x.shape[1]}, "
                    f"size]; got {tensor.shape}"
                )
        unbound = mapped(lambda state: slicing.unbind(state, 0), given)
        return [at_step(unbound, row) for row in range(rows)]

    def extra_repr(self) -> str:
        """The sizes, and what is not the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        text += f", num_layers={self.num_layers}" if self.num_layers != 1 else ""
        text += f", time_major={self.time_major}" if self.time_major else ""
        return text + (f", dropout={self.dropout}" if self.dropout else "")


class SimpleRNN(RNNBase):
    """Layers of ``SimpleRNNCell``.

    Args:
        input_size: Length of an input.
        hidden_size: Length of a state.
        num_layers: Number of layers.
        direction: ``"forward"``, or ``"bidirect"`` for two cells a layer, one from each end.
        time_major: Whether time is the first axis of inputs and outputs, and the batch the second.
        dropout: Probability with which the inputs of all layers but the first are dropped.
        activation: ``"tanh"`` or ``"relu"``.
        weight_ih_attr: As of the cell, for all cells.
        weight_hh_attr: The same.
        bias_ih_attr: The same.
        bias_hh_attr: The same.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``direction`` is unknown, or a size does not fit.

    Example:
        >>> import minipaddle as paddle
        >>> net = paddle.nn.SimpleRNN(4, 3, num_layers=2)
        >>> outputs, hidden = net(paddle.ones([2, 5, 4]))
        >>> outputs.shape, hidden.shape
        ([2, 5, 3], [2, 2, 3])
    """

    cell_class = SimpleRNNCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        attrs = _named_attrs(weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        sizes = (input_size, hidden_size, num_layers)
        self._build(sizes, direction, time_major, dropout, {**attrs, "activation": activation})


class LSTM(RNNBase):
    """Layers of ``LSTMCell``.

    Args:
        input_size: Length of an input.
        hidden_size: Length of a state.
        num_layers: Number of layers.
        direction: ``"forward"``, or ``"bidirect"`` for two cells a layer, one from each end.
        time_major: Whether time is the first axis of inputs and outputs, and the batch the second.
        dropout: Probability with which the inputs of all layers but the first are dropped.
        weight_ih_attr: As of the cell, for all cells.
        weight_hh_attr: The same.
        bias_ih_attr: The same.
        bias_hh_attr: The same.
        proj_size: As of the cell.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``direction`` is unknown, or a size does not fit.

    Example:
        >>> import minipaddle as paddle
        >>> net = paddle.nn.LSTM(4, 3, num_layers=2)
        >>> outputs, (hidden, cell) = net(paddle.ones([2, 5, 4]))
        >>> outputs.shape, hidden.shape
        ([2, 5, 3], [2, 2, 3])
    """

    cell_class = LSTMCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        attrs = _named_attrs(weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        sizes = (input_size, hidden_size, num_layers)
        self._build(sizes, direction, time_major, dropout, {**attrs, "proj_size": proj_size})


class GRU(RNNBase):
    """Layers of ``GRUCell``.

    Args:
        input_size: Length of an input.
        hidden_size: Length of a state.
        num_layers: Number of layers.
        direction: ``"forward"``, or ``"bidirect"`` for two cells a layer, one from each end.
        time_major: Whether time is the first axis of inputs and outputs, and the batch the second.
        dropout: Probability with which the inputs of all layers but the first are dropped.
        weight_ih_attr: As of the cell, for all cells.
        weight_hh_attr: The same.
        bias_ih_attr: The same.
        bias_hh_attr: The same.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``direction`` is unknown, or a size does not fit.

    Example:
        >>> import minipaddle as paddle
        >>> net = paddle.nn.GRU(4, 3, num_layers=2)
        >>> outputs, hidden = net(paddle.ones([2, 5, 4]))
        >>> outputs.shape, hidden.shape
        ([2, 5, 3], [2, 2, 3])
    """

    cell_class = GRUCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        attrs = _named_attrs(weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        sizes = (input_size, hidden_size, num_layers)
        self._build(sizes, direction, time_major, dropout, attrs)
