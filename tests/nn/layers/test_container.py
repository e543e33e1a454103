"""Sequential, LayerList, LayerDict, ParameterList and ParameterDict."""

from typing import Any

import pytest

import minipaddle as paddle
from minipaddle import nn
from minipaddle.imperative.tensor import Parameter


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


# ---- the rest of Sequential ----


def test_a_mapping_and_pairs_as_lists() -> None:
    one, two = nn.ReLU(), nn.Tanh()
    for net in (nn.Sequential({"a": one, "b": two}), nn.Sequential(["a", one], ["b", two])):
        assert [name for name, _ in net.named_children()] == ["a", "b"]
        assert net["b"] is two


def test_a_sequence_grows_and_shrinks() -> None:
    a, b, c, d = (nn.Linear(1, 1) for _ in range(4))
    net = nn.Sequential(a)
    assert net.append(b) is net
    assert net.insert(0, c) is net
    assert net.extend([d]) is net
    assert list(net) == [c, a, b, d]
    assert [name for name, _ in net.named_children()] == ["0", "1", "2", "3"]
    del net[1]
    assert list(net) == [c, b, d]
    assert net[-1] is net[2] is d
    assert net.pop(0) is c
    net[0] = a
    assert list(net) == [a, d]
    assert net.parameters() == [a.weight, a.bias, d.weight, d.bias]
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_given_names_stay() -> None:
    net = nn.Sequential(("first", nn.ReLU()), ("last", nn.ReLU()))
    net.insert(1, nn.Tanh())
    assert [name for name, _ in net.named_children()] == ["first", "1", "last"]
    del net["first"]
    assert [name for name, _ in net.named_children()] == ["0", "last"]
    assert not hasattr(net, "first")
    net["new"] = nn.Tanh()
    assert net.new is net[2]


@pytest.mark.parametrize("kind", [nn.Sequential, nn.LayerList])
def test_positions_that_are_not_there(kind: type) -> None:
    row = kind() if kind is nn.LayerList else kind(nn.ReLU())
    for change in (
        lambda: row[5],
        lambda: row[-5],
        lambda: row.insert(5, nn.ReLU()),
        lambda: row.__delitem__(5),
        lambda: row.__setitem__(5, nn.ReLU()),
        lambda: row.pop(5),
    ):
        with pytest.raises(IndexError, match="range"):
            change()
    for change in (lambda: row.append(5), lambda: row.insert(0, 5), lambda: row.extend([5])):
        with pytest.raises(TypeError):
            change()
    assert len(row) == (kind is nn.Sequential)


# ---- LayerList ----


def test_a_list_of_layers() -> None:
    layers = [nn.Linear(1, 1) for _ in range(3)]
    row = nn.LayerList(layers)
    assert len(row) == 3
    assert list(row) == layers
    assert row[-1] is layers[-1]
    assert isinstance(row[1:], nn.LayerList)
    assert list(row[::2]) == layers[::2]
    assert list(row + layers[:1]) == [*layers, layers[0]]
    row += [layers[0]]
    assert row[3] is layers[0]
    assert len(row.parameters()) == 6
    del row[1:3]
    assert list(row) == [layers[0], layers[0]]
    assert list(row.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    row[1] = layers[2]
    assert row.sublayers() == [layers[0], layers[2]]
    assert len(nn.LayerList()) == 0


def test_layers_from_a_generator_train() -> None:
    row = nn.LayerList(nn.Linear(1, 1) for _ in range(2))
    row[1](row[0](paddle.ones([1, 1]))).backward()
    assert all(p.grad is not None for p in row.parameters())
    with pytest.raises(NotImplementedError):
        row(1)


# ---- LayerDict ----


def test_a_dictionary_of_layers() -> None:
    one, two = nn.Linear(1, 1), nn.ReLU()
    for given in ({"one": one, "two": two}, [("one", one), ["two", two]]):
        found = nn.LayerDict(given)
        assert list(found) == list(found.keys()) == ["one", "two"]
        assert list(found.items()) == [("one", one), ("two", two)]
        assert list(found.values()) == [one, two]
        assert "one" in found
        assert len(found) == 2
        assert found["one"] is found.one is one
    assert list(nn.LayerDict(found)) == ["one", "two"]
    found["two"] = one
    assert found.sublayers() == [one]
    assert found.pop("two") is one
    assert "two" not in found
    assert not hasattr(found, "two")
    found.update({"three": two})
    found.clear()
    assert len(found) == len(found.sublayers()) == 0
    assert list(found.state_dict()) == []


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (5, TypeError),
        ({"a": 5}, TypeError),
        ({5: nn.ReLU()}, TypeError),
        ({"a.b": nn.ReLU()}, KeyError),
        ({"forward": nn.ReLU()}, KeyError),
        ([("a", nn.ReLU(), 1)], ValueError),
    ],
)
def test_what_makes_no_dictionary_of_layers(given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        nn.LayerDict(given)


def test_keys_that_are_not_there() -> None:
    found = nn.LayerDict()
    for change in (lambda: found["a"], lambda: found.pop("a"), lambda: found.__delitem__("a")):
        with pytest.raises(KeyError):
            change()


# ---- parameters ----


def parameters(count: int) -> list[Parameter]:
    return [paddle.create_parameter([n + 1], "float32") for n in range(count)]


def test_a_list_of_parameters() -> None:
    made = parameters(3)
    found = nn.ParameterList(made[:2])
    assert found.append(made[2]) is found
    assert list(found) == found.parameters() == made
    assert found[-1] is found[2] is made[2]
    assert list(found.state_dict()) == ["0", "1", "2"]
    found[0] = paddle.to_tensor([7.0])
    assert found[0] is made[0]
    assert made[0].tolist() == [7.0]
    with pytest.raises(IndexError):
        found[3]
    with pytest.raises(TypeError, match="Parameter"):
        found.append(paddle.ones([1]))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Tensor"):
        found[0] = 5  # type: ignore[assignment]


def test_a_dictionary_of_parameters() -> None:
    one, two = parameters(2)
    found = nn.ParameterDict({"one": one})
    found["two"] = two
    assert list(found) == ["one", "two"]
    assert list(found.items()) == [("one", one), ("two", two)]
    assert found["two"] is found.two is two
    assert found.parameters() == [one, two]
    found.update([("one", two)])
    assert found["one"] is two
    assert len(nn.ParameterDict(found)) == 2
    with pytest.raises(TypeError, match="Parameter"):
        found["three"] = paddle.ones([1])  # type: ignore[assignment]
    with pytest.raises(KeyError):
        found["four"]


def test_pytorchs_names() -> None:
    assert (nn.Module, nn.ModuleList, nn.ModuleDict) == (nn.Layer, nn.LayerList, nn.LayerDict)
    assert nn.Parameter is Parameter
