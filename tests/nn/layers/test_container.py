"""Sequential."""

import pytest

import minipaddle as paddle
from minipaddle import nn


def test_layers_run_in_order() -> None:
    one = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(-2.0))
    two = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(3.0))
    x = paddle.ones([1, 1])
    assert nn.Sequential(one, two)(x).tolist() == [[-6.0]]
    assert nn.Sequential(one, nn.ReLU(), two)(x).tolist() == [[0.0]]
    assert nn.Sequential()(x) is x


def test_names() -> None:
    net = nn.Sequential(("first", nn.Linear(1, 2)), ("last", nn.Linear(2, 1)))
    assert [name for name, _ in net.named_parameters()] == [
        "first.weight",
        "first.bias",
        "last.weight",
        "last.bias",
    ]
    assert net.first is net[0]
    assert list(nn.Sequential(nn.ReLU(), nn.ReLU())._sub_layers) == ["0", "1"]


def test_as_a_sequence() -> None:
    layers = [nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)]
    net = nn.Sequential(*layers)
    assert len(net) == 3
    assert list(net) == layers
    assert net[-1] is layers[2]
    assert isinstance(net[1:], nn.Sequential)
    assert list(net[1:]) == layers[1:]
    with pytest.raises(IndexError):
        net[3]


def test_a_layer_used_twice_has_one_set_of_parameters() -> None:
    layer = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(3.0), bias_attr=False)
    net = nn.Sequential(layer, layer)
    assert len(net.parameters()) == 1
    out = net(paddle.ones([1, 1]))
    assert out.tolist() == [[9.0]]
    out.backward()
    assert layer.weight.grad.tolist() == [[6.0]]


def test_what_is_no_layer_is_refused() -> None:
    with pytest.raises(TypeError):
        nn.Sequential(nn.ReLU(), 5)
    with pytest.raises(TypeError):
        nn.Sequential([nn.ReLU(), nn.ReLU()])


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises((KeyError, ValueError), match="same"):
        nn.Sequential(("same", nn.ReLU()), ("same", nn.ReLU()))
