"""Cells that run over sequences."""

from __future__ import annotations

from typing import Any

from minipaddle.imperative.functions import attention, joining, shape, slicing
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer
from minipaddle.nn.layers.rnn_cell import GatedCell, mapped


def batch_first(x: Tensor) -> Tensor:
    """Swaps the first two axes, batch and time."""
    return shape.swapaxes(x, 0, 1)


def masks_of(sequence_length: Tensor | None, inputs: Tensor) -> list[Tensor] | None:
    """For each step a column that is 1 for the sequences that have not ended."""
    if sequence_length is None:
        return None
    mask = attention.sequence_mask(sequence_length, inputs.shape[0], inputs.dtype)
    return slicing.unbind(shape.unsqueeze(mask, -1), 1)


def scan(
    cell: Any, inputs: Any, states: Any, masks: list[Tensor] | None, backwards: bool, **kwargs: Any
) -> tuple[Any, Any]:
    """Runs a cell over ``inputs``, time first; where a sequence has ended its states stay."""
    known = isinstance(cell, GatedCell) and not (
        cell._forward_pre_hooks or cell._forward_post_hooks
    )
    # The inputs' part of the gates is one product for all steps.
    steps = mapped(lambda x: slicing.unbind(cell.input_part(x) if known else x, 0), inputs)
    first = steps
    while isinstance(first, tuple):
        first = first[0]
    order = range(len(first))
    outputs: list[Any] = []
    for t in reversed(order) if backwards else order:
        step = at_step(steps, t)
        output, new = cell.step(step, states) if known else cell(step, states, **kwargs)
        if masks is not None:
            mask = masks[t]
            new = mapped(lambda a, b: b * mask + a * (1.0 - mask), states, new)  # noqa: B023
        outputs.append(output)
        states = new
    if not outputs:
        raise ValueError("a recurrent network needs at least one step; the sequences are empty")
    in_order = outputs[::-1] if backwards else outputs
    return mapped(lambda *parts: joining.stack(list(parts), 0), *in_order), states


def at_step(steps: Any, t: int) -> Any:
    """Step t of each list in nested tuples of lists."""
    return tuple(at_step(part, t) for part in steps) if isinstance(steps, tuple) else steps[t]


def _leaf(inputs: Any) -> Tensor:
    while isinstance(inputs, (tuple, list)):
        inputs = inputs[0]
    return inputs


class RNN(Layer):
    """Runs a cell over sequences.

    Args:
        cell: The cell; see ``RNNCellBase``.
        is_reverse: Whether it begins at the ends.
        time_major: Whether time is the first axis of inputs and outputs, and the batch the second.

    Example:
        >>> import minipaddle as paddle
        >>> net = paddle.nn.RNN(paddle.nn.GRUCell(4, 3))
        >>> outputs, last = net(paddle.ones([2, 5, 4]))
        >>> outputs.shape, last.shape
        ([2, 5, 3], [2, 3])
    """

    def __init__(self, cell: Layer, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell, self.is_reverse, self.time_major = cell, is_reverse, time_major

    def forward(
        self,
        inputs: Any,
        initial_states: Any = None,
        sequence_length: Tensor | None = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        """Outputs of all steps, and the states after the last.

        Args:
            inputs: Tensor [N, T, ...], or nested tuples of such.
            initial_states: The cell's first states; zeros by default.
            sequence_length: Int tensor [N] of lengths. Behind the end of a sequence the states stay
                as they are.
            **kwargs: Go to the cell.
        """
        if initial_states is None:
            batch_axis = 1 if self.time_major else 0
            initial_states = self.cell.get_initial_states(inputs, batch_dim_idx=batch_axis)
        inputs = inputs if self.time_major else mapped(batch_first, inputs)
        masks = masks_of(sequence_length, _leaf(inputs))
        outputs, states = scan(self.cell, inputs, initial_states, masks, self.is_reverse, **kwargs)
        return outputs if self.time_major else mapped(batch_first, outputs), states


class BiRNN(Layer):
    """Runs two cells over sequences, one from each end, and joins their outputs.

    Args:
        cell_fw: The cell that begins at the front.
        cell_bw: The cell that begins at the end.
        time_major: Whether time is the first axis of inputs and outputs, and the batch the second.

    Raises:
        ValueError: The cells take inputs of different lengths.

    Example:
        >>> import minipaddle as paddle
        >>> net = paddle.nn.BiRNN(paddle.nn.GRUCell(4, 3), paddle.nn.GRUCell(4, 3))
        >>> net(paddle.ones([2, 5, 4]))[0].shape
        [2, 5, 6]
    """

    def __init__(self, cell_fw: Any, cell_bw: Any, time_major: bool = False) -> None:
        super().__init__()
        sizes = [getattr(cell, "input_size", None) for cell in (cell_fw, cell_bw)]
        if sizes[0] != sizes[1]:
            raise ValueError(f"both cells must take inputs of one length; got {sizes}")
        self.cell_fw, self.cell_bw, self.time_major = cell_fw, cell_bw, time_major

    def forward(
        self,
        inputs: Any,
        initial_states: Any = None,
        sequence_length: Tensor | None = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        """As of ``RNN``; the states are a pair, one for each cell."""
        if initial_states is None:
            initial_states = (None, None)
        results = []
        for cell, states, backwards in zip(
            (self.cell_fw, self.cell_bw), initial_states, (False, True), strict=True
        ):
            if states is None:
                axis = 1 if self.time_major else 0
                states = cell.get_initial_states(inputs, batch_dim_idx=axis)
            steps = inputs if self.time_major else mapped(batch_first, inputs)
            masks = masks_of(sequence_length, _leaf(steps))
            results.append(scan(cell, steps, states, masks, backwards, **kwargs))
        (ahead, state_fw), (back, state_bw) = results
        outputs = mapped(lambda a, b: joining.concat([a, b], -1), ahead, back)
        outputs = outputs if self.time_major else mapped(batch_first, outputs)
        return outputs, (state_fw, state_bw)
