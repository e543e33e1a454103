"""Recurrent networks: names, states, lengths, errors. Values are in test_against_paddle."""

import copy
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn


def sequences(*shape: int) -> paddle.Tensor:
    return paddle.to_tensor(np.random.default_rng(2).normal(size=shape).astype("float32"))


def test_parameters_have_both_names_of_paddle() -> None:
    net = nn.LSTM(3, 2, num_layers=2, direction="bidirect")
    names = [name for name, _ in net.named_parameters()]
    assert names[:5] == [
        "weight_ih_l0",
        "weight_hh_l0",
        "bias_ih_l0",
        "bias_hh_l0",
        "weight_ih_l0_reverse",
    ]
    assert len(names) == 16
    state = net.state_dict()
    assert len(state) == 32
    assert state["1.cell_bw.weight_hh"] is state["weight_hh_l1_reverse"]
    assert net[1].cell_fw.weight_ih.shape == [8, 4]
    twin = nn.LSTM(3, 2, num_layers=2, direction="bidirect")
    assert twin.set_state_dict(state) == ([], [])
    x = sequences(2, 4, 3)
    np.testing.assert_array_equal(twin(x)[0].numpy(), net(x)[0].numpy())


@pytest.mark.parametrize("kind", [nn.SimpleRNN, nn.LSTM, nn.GRU])
def test_first_values_lie_within_the_reach_of_the_size(kind: type) -> None:
    paddle.seed(1)
    for parameter in kind(3, 25).parameters():
        assert 0.1 < abs(parameter.numpy()).max() <= 0.2


@pytest.mark.parametrize("kind", [nn.SimpleRNN, nn.LSTM, nn.GRU])
def test_two_halves_are_the_whole(kind: type) -> None:
    net, x = kind(3, 2, num_layers=2), sequences(2, 6, 3)
    whole, last = net(x)
    first, states = net(x[:, :4])
    second, end = net(x[:, 4:], states)
    joined = np.concatenate([first.numpy(), second.numpy()], 1)
    np.testing.assert_allclose(whole.numpy(), joined, rtol=1e-5, atol=1e-6)
    for here, there in zip(
        last if isinstance(last, tuple) else [last],
        end if isinstance(end, tuple) else [end],
        strict=True,
    ):
        np.testing.assert_allclose(here.numpy(), there.numpy(), rtol=1e-5, atol=1e-6)


def test_padding_changes_nothing() -> None:
    net, x = nn.GRU(3, 2, direction="bidirect"), sequences(2, 5, 3)
    lengths = paddle.to_tensor([5, 3])
    outputs, last = net(x, sequence_length=lengths)
    alone, end = net(x[1:, :3])
    np.testing.assert_allclose(outputs.numpy()[1:, :3], alone.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(last.numpy()[:, 1:], end.numpy(), rtol=1e-5, atol=1e-6)
    assert outputs[1, 3:].abs().max().item() == 0.0


def test_dropout_lies_between_layers_and_in_training_only() -> None:
    paddle.seed(4)
    net, x = nn.GRU(3, 2, num_layers=2, dropout=0.5), sequences(2, 5, 3)
    one, two = net(x)[0].numpy(), net(x)[0].numpy()
    assert (one != two).any()
    net.eval()
    np.testing.assert_array_equal(net(x)[0].numpy(), net(x)[0].numpy())
    single = nn.GRU(3, 2, dropout=1.0)
    assert single(x)[0].abs().max().item() > 0.0


def test_hooks_of_a_cell_are_called_at_every_step() -> None:
    net, seen = nn.RNN(nn.GRUCell(3, 2)), list[Any]()
    x = sequences(2, 5, 3)
    before = net(x)[0].numpy()
    net.cell.register_forward_post_hook(lambda layer, inputs, output: seen.append(1))
    np.testing.assert_allclose(net(x)[0].numpy(), before, rtol=1e-5, atol=1e-6)
    assert len(seen) == 5


def test_a_cell_of_ones_own_with_nested_states() -> None:
    class Pair(nn.RNNCellBase):
        state_shape = ((2,), (-1, 3))

        def forward(self, inputs: Any, states: Any, scale: float = 1.0) -> Any:
            total, count = states
            return inputs * scale, (total + inputs, count + 1.0)

    x = paddle.ones([4, 5, 2])
    outputs, (total, count) = nn.RNN(Pair())(x, scale=3.0)
    assert outputs.tolist() == (x * 3.0).tolist()
    assert total.tolist() == [[5.0, 5.0]] * 4
    assert count.tolist() == [[5.0] * 3] * 4
    states = Pair().get_initial_states(x, init_value=2.0, dtype="float64")
    assert [s.shape for s in states] == [[4, 2], [4, 3]]
    assert states[0].dtype == paddle.float64
    assert states[0].max().item() == 2.0


def test_a_copy_is_independent() -> None:
    net, x = nn.LSTM(3, 2), sequences(1, 2, 3)
    twin = copy.deepcopy(net)
    assert twin.weight_ih_l0 is twin[0].cell.weight_ih
    assert twin.weight_ih_l0 is not net.weight_ih_l0
    np.testing.assert_array_equal(twin(x)[0].numpy(), net(x)[0].numpy())


def test_weights_that_are_not_wanted_are_fixed() -> None:
    cell = nn.GRUCell(3, 2, weight_hh_attr=False, bias_ih_attr=False)
    assert cell.weight_hh.tolist() == [[1.0, 1.0]] * 6
    assert cell.bias_ih.tolist() == [0.0] * 6
    assert [p.trainable for p in cell.parameters()] == [True, False, False, True]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: nn.LSTM(3, 2, direction="backward"), ValueError),
        (lambda: nn.GRUCell(3, 0), ValueError),
        (lambda: nn.LSTMCell(3, 2, proj_size=2), ValueError),
        (lambda: nn.SimpleRNNCell(3, 2, "gelu"), ValueError),
        (lambda: nn.BiRNN(nn.GRUCell(3, 2), nn.GRUCell(4, 2)), ValueError),
        (lambda: nn.LSTM(3, 2)(sequences(2, 4, 3), paddle.zeros([1, 2, 2])), TypeError),
        (lambda: nn.GRU(3, 2)(sequences(2, 4, 3), paddle.zeros([2, 2, 2])), ValueError),
        (lambda: nn.GRU(3, 2)(sequences(2, 0, 3)), ValueError),
        (lambda: nn.RNN(nn.RNNCellBase())(sequences(2, 4, 3)), AttributeError),
    ],
)
def test_what_does_not_fit(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()
