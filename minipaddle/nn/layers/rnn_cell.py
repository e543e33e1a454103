"""One step of a recurrent network."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from minipaddle.imperative.functions import activation as activations
from minipaddle.imperative.functions import creation, elementwise, linalg, rectifier
from minipaddle.imperative.functions.slicing import split
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.initializer import Constant, ParamAttr, Uniform
from minipaddle.nn.layer import Layer


def mapped(function: Any, *states: Any) -> Any:
    """``function`` of tensors, or of those at the same places of nested tuples."""
    if isinstance(states[0], (tuple, list)):
        return tuple(mapped(function, *parts) for parts in zip(*states, strict=True))
    return function(*states)


class RNNCellBase(Layer):
    """Base of cells: ``forward(inputs, states)`` gives an output and the next states.

    A cell of one's own says by ``state_shape`` how long its states are; several states are a tuple.

    Example:
        >>> import minipaddle as paddle
        >>> class Sum(paddle.nn.RNNCellBase):
        ...     state_shape = (2,)
        ...     def forward(self, inputs, states):
        ...         total = inputs + states
        ...         return total, total
        >>> outputs, last = paddle.nn.RNN(Sum())(paddle.ones([1, 3, 2]))
        >>> last.tolist()
        [[3.0, 3.0]]
    """

    state_shape: Any

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: Any = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States to begin with.

        Args:
            batch_ref: A tensor, or several, of the batch.
            shape: Lengths of a state without the batch, or a tuple of them for several states;
                ``state_shape`` by default.
            dtype: Element type; that of the batch by default.
            init_value: What they hold.
            batch_dim_idx: The axis of ``batch_ref`` that counts the batch.

        Returns:
            A tensor, or a tuple of tensors.
        """
        while isinstance(batch_ref, (tuple, list)):
            batch_ref = batch_ref[0]
        lengths = self.state_shape if shape is None else shape
        if lengths and not isinstance(lengths[0], int):
            rest = (dtype, init_value, batch_dim_idx)
            return tuple(self.get_initial_states(batch_ref, part, *rest) for part in lengths)
        tail = list(lengths)[1:] if lengths and lengths[0] == -1 else list(lengths)
        first = batch_ref.shape[batch_dim_idx]
        element = batch_ref.dtype if dtype is None else dtype
        return creation.full([first, *tail], init_value, element)


class GatedCell(RNNCellBase):
    """Base of the cells below, whose gates are sums of two products.

    Attributes:
        weight_ih: Parameter [gates * hidden_size, input_size].
        weight_hh: Parameter [gates * hidden_size, hidden_size].
        bias_ih: Parameter [gates * hidden_size].
        bias_hh: The same.
    """

    gates: ClassVar[int]

    def _enter(
        self, input_size: int, hidden_size: int, attrs: tuple[Any, ...], proj_size: int = 0
    ) -> None:
        kind = type(self).__name__
        if input_size < 1 or hidden_size < 1:
            raise ValueError(
                f"{kind}: input_size and hidden_size must be positive ints; got {input_size} and "
                f"{hidden_size}"
            )
        self.input_size, self.hidden_size = input_size, hidden_size
        rows, reach = self.gates * hidden_size, 1.0 / math.sqrt(hidden_size)
        shapes = ([rows, input_size], [rows, proj_size or hidden_size], [rows], [rows])
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        for name, shape, attr in zip(names, shapes, attrs, strict=True):
            is_bias = name.startswith("bias")
            if attr is False:  # as in Paddle: there all the same, but fixed
                attr = ParamAttr(initializer=Constant(0.0 if is_bias else 1.0), trainable=False)
            first = Uniform(-reach, reach)
            self.add_parameter(name, self.create_parameter(shape, attr, None, is_bias, first))

    def input_part(self, inputs: Tensor) -> Tensor:
        """What the inputs add to the gates; of one step, or of all at once."""
        return linalg.matmul(inputs, self.weight_ih, transpose_y=True) + self.bias_ih

    def hidden_part(self, hidden: Tensor) -> Tensor:
        """What the hidden state adds to the gates."""
        return linalg.matmul(hidden, self.weight_hh, transpose_y=True) + self.bias_hh

    def step(self, part: Tensor, states: Any) -> tuple[Tensor, Any]:
        """``forward`` of inputs whose part of the gates is known."""
        raise NotImplementedError(f"{type(self).__name__} must define step()")

    def forward(self, inputs: Tensor, states: Any = None) -> tuple[Tensor, Any]:
        """One step.

        Args:
            inputs: Tensor [N, input_size].
            states: What the last step gave, or None to begin.

        Returns:
            The output [N, hidden_size], and the states.
        """
        if states is None:
            states = self.get_initial_states(inputs)
        return self.step(self.input_part(inputs), states)

    @property
    def state_shape(self) -> Any:
        """Length of the state."""
        return (self.hidden_size,)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(GatedCell):
    """``h = tanh(x @ weight_ih^T + bias_ih + h @ weight_hh^T + bias_hh)``.

    Args:
        input_size: Length of an input.
        hidden_size: Length of the state.
        activation: ``"tanh"`` or ``"relu"``.
        weight_ih_attr: ParamAttr, Initializer, name or None for even values below
            1 / sqrt(hidden_size); False for fixed ones.
        weight_hh_attr: The same.
        bias_ih_attr: The same; False for fixed zeros.
        bias_hh_attr: The same.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: A size is not a positive int, or ``activation`` is neither.

    References:
        Elman (1990), Finding structure in time.

    Example:
        >>> import minipaddle as paddle
        >>> output, state = paddle.nn.SimpleRNNCell(4, 3)(paddle.ones([2, 4]))
        >>> output.shape, state is output
        ([2, 3], True)
    """

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if activation not in ("tanh", "relu"):
            raise ValueError(f"activation must be 'tanh' or 'relu'; got {activation!r}")
        self.activation = activation
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._enter(input_size, hidden_size, attrs)

    def step(self, part: Tensor, states: Any) -> tuple[Tensor, Any]:
        """See ``GatedCell``."""
        function = elementwise.tanh if self.activation == "tanh" else rectifier.relu
        hidden = function(part + self.hidden_part(states))
        return hidden, hidden

    def extra_repr(self) -> str:
        """The sizes, and what is not the default."""
        other = "" if self.activation == "tanh" else f", activation={self.activation}"
        return super().extra_repr() + other


class LSTMCell(GatedCell):
    """Long short-term memory: gates for input, forgetting, candidate and output, in this order.

    Args:
        input_size: Length of an input.
        hidden_size: Length of the states.
        weight_ih_attr: ParamAttr, Initializer, name or None for even values below
            1 / sqrt(hidden_size); False for fixed ones.
        weight_hh_attr: The same.
        bias_ih_attr: The same; False for fixed zeros.
        bias_hh_attr: The same.
        proj_size: Length that the output is projected to, smaller than ``hidden_size``; 0 for no
            projection.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: A size is not a positive int, or ``proj_size`` does not fit.

    References:
        Hochreiter and Schmidhuber (1997), Long short-term memory; Gers, Schmidhuber and Cummins
        (2000), Learning to forget; Sak, Senior and Beaufays (2014) for the projection.

    Example:
        >>> import minipaddle as paddle
        >>> output, (hidden, cell) = paddle.nn.LSTMCell(4, 3)(paddle.ones([2, 4]))
        >>> output.shape, cell.shape
        ([2, 3], [2, 3])
    """

    gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if not 0 <= proj_size < max(1, hidden_size):
            raise ValueError(f"proj_size must be 0 or below hidden_size; got {proj_size}")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._enter(input_size, hidden_size, attrs, proj_size)
        self.proj_size = proj_size
        if proj_size:
            reach = 1.0 / math.sqrt(hidden_size)
            first = Uniform(-reach, reach)
            self.weight_ho: Any = self.create_parameter(
                [hidden_size, proj_size], weight_hh_attr or None, default_initializer=first
            )

    def step(self, part: Tensor, states: Any) -> tuple[Tensor, Any]:
        """See ``GatedCell``."""
        hidden, cell = states
        i, f, candidate, o = split(part + self.hidden_part(hidden), 4, -1)
        sigmoid = activations.sigmoid
        cell = sigmoid(f) * cell + sigmoid(i) * elementwise.tanh(candidate)
        hidden = sigmoid(o) * elementwise.tanh(cell)
        if self.proj_size:
            hidden = linalg.matmul(hidden, self.weight_ho)
        return hidden, (hidden, cell)

    @property
    def state_shape(self) -> Any:
        """Lengths of the hidden state and of the cell."""
        return (self.proj_size or self.hidden_size,), (self.hidden_size,)


class GRUCell(GatedCell):
    """Gated recurrent unit: gates for reset, update and candidate, in this order.

    Args:
        input_size: Length of an input.
        hidden_size: Length of the state.
        weight_ih_attr: ParamAttr, Initializer, name or None for even values below
            1 / sqrt(hidden_size); False for fixed ones.
        weight_hh_attr: The same.
        bias_ih_attr: The same; False for fixed zeros.
        bias_hh_attr: The same.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: A size is not a positive int.

    References:
        Cho et al. (2014), Learning phrase representations using RNN encoder-decoder; the reset
        gate is applied after the product, as in cuDNN.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.GRUCell(4, 3)(paddle.ones([2, 4]))[0].shape
        [2, 3]
    """

    gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._enter(input_size, hidden_size, attrs)

    def step(self, part: Tensor, states: Any) -> tuple[Tensor, Any]:
        """See ``GatedCell``."""
        x_r, x_z, x_c = split(part, 3, -1)
        h_r, h_z, h_c = split(self.hidden_part(states), 3, -1)
        reset, update = activations.sigmoid(x_r + h_r), activations.sigmoid(x_z + h_z)
        candidate = elementwise.tanh(x_c + reset * h_c)
        hidden = (states - candidate) * update + candidate
        return hidden, hidden
