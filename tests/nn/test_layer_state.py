"""Layer: walking, modes, hooks, state, copies."""

import copy
import pickle
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn
from tests.nn.models import Block


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.left = Block()
        self.right = Block()
        self.shared = self.left.first
        self.missing = None

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.left(x) + self.right(x)


# ---- walking ----


def test_everything_is_found_once() -> None:
    net = Net()
    names = [name for name, _ in net.named_parameters()]
    assert names == [
        "left.scale",
        "left.first.weight",
        "left.first.bias",
        "left.second.weight",
        "right.scale",
        "right.first.weight",
        "right.first.bias",
        "right.second.weight",
    ]
    assert len(net.parameters()) == 8
    assert len({id(p) for p in net.parameters()}) == 8
    assert net.parameters(include_sublayers=False) == []
    assert len(net.buffers()) == 4
    assert len(net.sublayers()) == 6
    assert net.sublayers(include_self=True)[0] is net
    assert list(net.children()) == [net.left, net.right, net.left.first]


def test_prefixes() -> None:
    net = Net()
    assert next(net.named_parameters("top"))[0] == "top.left.scale"
    assert [name for name, _ in net.named_sublayers("top", include_self=True)][:2] == [
        "top",
        "top.left",
    ]
    assert dict(net.named_sublayers(include_self=True))[""] is net


def test_a_parameter_in_two_places_is_one() -> None:
    layer = nn.Layer()
    layer.a = nn.Linear(2, 2)
    layer.b = nn.Linear(2, 2)
    layer.b.weight = layer.a.weight
    assert len(layer.parameters()) == 3
    (layer.b(layer.a(paddle.ones([1, 2])))).sum().backward()
    assert layer.a.weight.grad is layer.b.weight.grad


def test_a_layer_inside_of_itself_ends() -> None:
    layer = nn.Layer()
    layer.me = layer
    assert layer.sublayers(include_self=True) == [layer]
    del layer.me


def test_apply_visits_children_first() -> None:
    net = Net()
    seen: list[str] = []
    assert net.left.apply(lambda layer: seen.append(type(layer).__name__)) is net.left
    assert seen == ["Linear", "Linear", "Block"]


def test_train_and_eval() -> None:
    net = Net()
    assert all(layer.training for layer in net.sublayers(include_self=True))
    net.eval()
    assert not any(layer.training for layer in net.sublayers(include_self=True))
    net.left.train()
    assert [net.training, net.left.training, net.left.first.training] == [False, True, True]
    assert net.right.training is False


def test_clear_gradients() -> None:
    block = Block()
    block.first.weight.trainable = False
    block(paddle.ones([1, 2])).sum().backward()
    assert block.scale.grad is not None
    assert block.first.weight.grad is None
    block.clear_gradients()
    assert block.scale.grad.tolist() == [0.0]
    block.clear_gradients(set_to_zero=False)
    assert block.scale.grad is None


# ---- calling and hooks ----


def test_a_layer_without_forward_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"Layer.*forward"):
        nn.Layer()(1)


def test_arguments_are_passed_on() -> None:
    class Add(nn.Layer):
        def forward(self, a: int, b: int = 1, *, c: int = 0) -> int:
            return a + b + c

    assert Add()(1) == 2
    assert Add()(1, 2, c=3) == 6
    assert Add()(a=1, b=5) == 6


def test_forward_hooks() -> None:
    class Double(nn.Layer):
        def forward(self, x: Any) -> Any:
            return x * 2

    layer, log = Double(), []
    pre = layer.register_forward_pre_hook(lambda layer, inputs: log.append(("pre", inputs)))
    post = layer.register_forward_post_hook(
        lambda layer, inputs, output: log.append(("post", inputs, output))
    )
    assert layer(3) == 6
    assert log == [("pre", (3,)), ("post", (3,), 6)]
    more = layer.register_forward_pre_hook(lambda layer, inputs: inputs[0] + 1)
    also = layer.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 10,))
    last = layer.register_forward_post_hook(lambda layer, inputs, output: output + 0.5)
    assert layer(3) == 80.5
    for handle in (pre, post, more, also, last):
        handle.remove()
        handle.remove()
    log.clear()
    assert layer(3) == 6
    assert log == []


def test_a_hook_may_remove_itself_and_errors_pass_through() -> None:
    layer = nn.ReLU()
    handle = layer.register_forward_pre_hook(lambda layer, inputs: handle.remove())
    layer(paddle.ones([1]))
    layer(paddle.ones([1]))

    def refuse(layer: nn.Layer, inputs: Any) -> None:
        raise LookupError("no")

    bad = layer.register_forward_pre_hook(refuse)
    with pytest.raises(LookupError):
        layer(paddle.ones([1]))
    bad.remove()
    assert layer(paddle.ones([1])).tolist() == [1.0]


# ---- state ----


def test_state_dict_holds_the_tensors_themselves_in_order() -> None:
    block = Block()
    state = block.state_dict()
    assert list(state) == ["scale", "first.weight", "first.bias", "second.weight", "mean"]
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
    state = layer.state_dict(use_structured_name=False)
    assert list(state) == [layer.weight.name, layer.bias.name]
    values = {name: np.full(value.shape, 7.0) for name, value in state.items()}
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


def test_a_state_of_anything_but_arrays_is_refused() -> None:
    layer = nn.Linear(1, 1)
    with pytest.raises(TypeError, match=r"weight.*list"):
        layer.set_state_dict({"weight": [[1.0]], "bias": np.ones(1)})
