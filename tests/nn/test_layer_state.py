"""Layer: state, copies, memory."""

import copy
import pickle
import warnings
import weakref

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn
from tests.nn.models import Block, Net

# ---- state ----


def test_state_dict_holds_the_tensors_themselves_in_order() -> None:
    block = Block()
    state = block.state_dict()
    assert list(state) == ["scale", "mean", "first.weight", "first.bias", "second.weight"]
    assert state["scale"] is block.scale
    assert state["mean"] is block.mean
    assert list(block.state_dict(include_sublayers=False)) == ["scale", "mean"]


def test_state_round_trip() -> None:
    paddle.seed(1)
    source, target = Net(), Net()
    state = {name: value.numpy() for name, value in source.state_dict().items()}
    assert target.set_state_dict(state) == ([], [])
    x = paddle.randn([4, 2])
    assert target(x).tolist() == source(x).tolist()
    with paddle.no_grad():
        source.left.scale.add_(1.0)
    assert target(x).tolist() != source(x).tolist()
    assert target.set_state_dict(source.state_dict()) == ([], [])
    assert target(x).tolist() == source(x).tolist()
    assert target.left.scale is not source.left.scale


def test_state_by_parameter_names() -> None:
    layer = nn.Linear(2, 1)
    values = {p.name: np.full(p.shape, 7.0) for p in layer.parameters()}
    assert layer.set_state_dict(values, use_structured_name=False) == ([], [])
    assert layer.weight.tolist() == [[7.0], [7.0]]


def test_what_does_not_fit_is_a_warning_and_the_rest_is_loaded() -> None:
    layer = nn.Linear(2, 1)
    before = layer.weight.tolist()
    with pytest.warns(UserWarning, match="weight.*shape"):
        missing, unexpected = layer.set_state_dict(
            {"weight": np.ones((3, 1)), "bias": np.ones(1), "other": np.ones(1)}
        )
    assert (missing, unexpected) == (["weight"], ["other"])
    assert layer.weight.tolist() == before
    assert layer.bias.tolist() == [1.0]
    with pytest.warns(UserWarning, match="weight"):
        assert layer.set_state_dict({"bias": np.zeros(1)}) == (["weight"], [])
    assert layer.bias.tolist() == [0.0]


def test_loading_keeps_memory_dtype_and_gradients() -> None:
    layer = nn.Linear(2, 1)
    layer(paddle.ones([1, 2])).sum().backward()
    array, version = layer.weight.data, layer.weight.inplace_version
    layer.set_state_dict({"weight": np.ones((2, 1), "float64"), "bias": np.ones(1)})
    assert layer.weight.data is array
    assert layer.weight.dtype == paddle.float32
    assert layer.weight.inplace_version == version + 1
    assert layer.weight.grad.tolist() == [[1.0], [1.0]]


def test_other_names_of_set_state_dict() -> None:
    layer = nn.Linear(1, 1)
    for method in (layer.set_dict, layer.load_dict):
        assert method(layer.state_dict()) == ([], [])


def test_a_state_of_anything_but_arrays_is_refused() -> None:
    layer = nn.Linear(1, 1)
    with pytest.raises(TypeError, match=r"weight.*list"):
        layer.set_state_dict({"weight": [[1.0]], "bias": np.ones(1)})


# ---- copies and memory ----


def test_deepcopy_is_independent() -> None:
    net = Net()
    twin = copy.deepcopy(net)
    assert twin.shared is twin.left.first
    assert twin.left.first.weight is twin.left.first._parameters["weight"]
    assert not {id(p) for p in net.parameters()} & {id(p) for p in twin.parameters()}
    assert not {p.name for p in net.parameters()} & {p.name for p in twin.parameters()}
    x = paddle.ones([1, 2])
    assert twin(x).tolist() == net(x).tolist()
    twin(x).sum().backward()
    assert all(p.grad is None for p in net.parameters())
    with paddle.no_grad():
        twin.left.scale.add_(1.0)
    assert twin(x).tolist() != net(x).tolist()


def test_pickle_round_trip() -> None:
    net = Block()
    net(paddle.ones([1, 2])).sum().backward()
    twin = pickle.loads(pickle.dumps(net))
    x = paddle.ones([1, 2])
    assert twin(x).tolist() == net(x).tolist()
    assert list(twin.state_dict()) == list(net.state_dict())
    assert twin.first.weight is twin.first._parameters["weight"]


def test_a_layer_is_freed_by_reference_counting() -> None:
    net = Net()
    net(paddle.ones([1, 2])).sum().backward()
    watch = weakref.ref(net)
    del net
    assert watch() is None


def test_repr_shows_the_tree() -> None:
    text = repr(nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU())))
    for part in ("Sequential(", "(0): Linear(in_features=2, out_features=3", "    (0): ReLU"):
        assert part in text


def test_no_warning_on_the_straight_path() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = Net()
        net.set_state_dict(Net().state_dict())
        net(paddle.ones([1, 2])).sum().backward()


# ---- names that are shared, hooks, strictness ----


def test_what_is_shared_has_both_names_and_is_loaded_once() -> None:
    net, twin = Net(), Net()
    state = net.state_dict()
    assert state["left.first.weight"] is state["shared.weight"]
    assert len(state) == 12
    assert len(net.parameters()) == 8
    assert twin.set_state_dict({k: v.numpy() for k, v in state.items()}) == ([], [])
    assert twin.shared.weight is twin.left.first.weight
    assert twin.shared.weight.tolist() == net.shared.weight.tolist()


def test_an_optimizer_moves_a_shared_parameter_once() -> None:
    one = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(1.0), bias_attr=False)
    two = nn.Linear(1, 1, bias_attr=False)
    two.weight = one.weight
    net = nn.Sequential(one, two)
    sgd = paddle.optimizer.SGD(0.25, net.parameters())
    net(paddle.ones([1, 1])).sum().backward()
    sgd.step()
    assert net.parameters() == [one.weight]
    assert two.weight.item() == 0.5  # the gradient of w * w at 1 is 2


def test_arguments_of_state_dict() -> None:
    block, given = Block(), {"other": paddle.ones([1])}
    assert block.state_dict(given) is given
    assert list(given)[:2] == ["other", "scale"]
    assert list(block.state_dict(structured_name_prefix="net.", include_sublayers=False)) == [
        "net.scale",
        "net.mean",
    ]
    bare = block.state_dict(keep_vars=False)["scale"]
    assert bare.stop_gradient
    assert bare is not block.scale
    assert bare.data is block.scale.data
    assert list(block.to_static_state_dict())[:3] == ["scale", "mean", "cache"]


def test_state_dict_hooks() -> None:
    net, seen = Net(), []
    handle = net.left.register_state_dict_hook(lambda state: seen.append(len(state)))
    net.register_state_dict_hook(lambda state: {"n": len(state)})
    assert net.state_dict() == {"n": 12}
    handle.remove()
    assert net.state_dict() == {"n": 12}
    assert seen == [5]
    assert len(net.state_dict(use_hook=False)) == 12
    assert net.set_state_dict(net.state_dict(use_hook=False)) == ([], [])


def test_a_layer_inside_of_itself_has_a_state() -> None:
    layer = nn.Linear(1, 1)
    layer.me = layer
    assert list(layer.state_dict()) == ["weight", "bias"]
    del layer.me


def test_strict_loading() -> None:
    layer = nn.Linear(1, 1)
    with pytest.raises(RuntimeError, match=r"missing.*'weight'.*unexpected.*'other'"):
        layer.load_state_dict({"bias": np.full(1, 3.0), "other": np.ones(1)})
    assert layer.bias.item() == 3.0
    with pytest.warns(UserWarning, match="weight"):
        found = layer.load_state_dict({"bias": np.ones(1)}, strict=False)
    assert (found.missing_keys, found.unexpected_keys) == (["weight"], [])
    assert layer.load_state_dict(nn.Linear(1, 1).state_dict()) == ([], [])


def test_names_of_parameters_load_only_by_them() -> None:
    layer = nn.Linear(1, 1)
    with pytest.warns(UserWarning, match="b_0"):
        missing, unexpected = layer.set_state_dict(
            {layer.weight.name: np.full((1, 1), 5.0), "bias": np.ones(1)}, False
        )
    assert (missing, unexpected) == ([layer.bias.name], ["bias"])
    assert layer.weight.item() == 5.0
