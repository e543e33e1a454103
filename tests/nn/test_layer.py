"""Layer: walking, modes, calling and hooks."""

from typing import Any

import pytest

import minipaddle as paddle
from minipaddle import nn
from tests.nn.models import Block, Net

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


# ---- names and places of layers and parameters ----


def test_children_and_sublayers_by_name() -> None:
    net = Net()
    assert [name for name, _ in net.named_children()] == ["left", "right", "shared"]
    net.twin = net.left
    assert [name for name, _ in net.named_children()] == ["left", "right", "shared"]
    every = [name for name, _ in net.named_sublayers(remove_duplicate=False)]
    assert every[:3] == ["left", "left.first", "left.second"]
    assert every[-4:] == ["shared", "twin", "twin.first", "twin.second"]
    seen = {net.left}
    assert [name for name, _ in net.named_sublayers(layers_set=seen)][:2] == [
        "right",
        "right.first",
    ]
    assert net.right in seen
    assert list(net.modules()) == net.sublayers(include_self=True)
    assert [name for name, _ in net.named_modules()][:2] == ["", "left"]


def test_duplicates_may_be_kept() -> None:
    net = Net()
    names = [name for name, _ in net.named_parameters(remove_duplicate=False)]
    assert names[-2:] == ["shared.weight", "shared.bias"]
    assert len(names) == 10
    layer = nn.Layer()
    layer.mean = layer.again = paddle.ones([1])
    assert [name for name, _ in layer.named_buffers(remove_duplicate=False)] == ["mean", "again"]
    assert [name for name, _ in layer.named_buffers()] == ["mean"]
    layer.me = layer
    assert len(list(layer.named_buffers(remove_duplicate=False))) == 2


def test_a_place_is_found_by_its_dotted_name() -> None:
    net = Net()
    assert net.get_sublayer("") is net
    assert net.get_sublayer("left.first") is net.left.first
    assert net.get_submodule("left") is net.left
    assert net.get_parameter("left.first.weight") is net.left.first.weight
    assert net.get_buffer("right.mean") is net.right.mean
    for method, target in (
        (net.get_sublayer, "left.nothing"),
        (net.get_sublayer, "left.scale"),
        (net.get_parameter, "left.mean"),
        (net.get_parameter, "nothing.weight"),
        (net.get_buffer, "left.scale"),
    ):
        with pytest.raises(AttributeError):
            method(target)


def test_a_sublayer_is_put_at_a_dotted_name() -> None:
    net, relu = Net(), nn.ReLU()
    net.set_sublayer("left.first", relu)
    assert net.left.first is relu
    net.set_sublayer("new", relu)
    assert net.new is relu
    for target, layer, strict, error in (
        ("", relu, False, ValueError),
        ("left", 5, False, ValueError),
        ("left.scale", relu, False, AttributeError),
        ("left.nothing", relu, True, AttributeError),
        ("nothing.first", relu, False, AttributeError),
    ):
        with pytest.raises(error):
            net.set_sublayer(target, layer, strict)  # type: ignore[arg-type]
    assert not hasattr(net.left, "nothing")


# ---- what is done to all ----


def test_modes_return_the_layer_and_want_a_bool() -> None:
    net = Net()
    assert net.eval() is net
    assert net.train() is net
    with pytest.raises(ValueError, match="mode"):
        net.train(1)  # type: ignore[arg-type]
    assert net.training


def test_training_is_switched_for_all_parameters() -> None:
    net = Net()
    assert net.requires_grad_(False) is net
    assert all(p.stop_gradient for p in net.parameters())
    net.requires_grad_()
    net(paddle.ones([1, 2])).sum().backward()
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_hooks_in_front_with_keywords_and_after_failure() -> None:
    class Half(nn.Layer):
        def forward(self, x: float, *, by: float = 2) -> float:
            return x / by

    layer, log = Half(), list[Any]()
    layer.register_forward_hook(lambda layer, inputs, output: log.append("last"))
    layer.register_forward_post_hook(
        lambda layer, inputs, output: log.append("first"), prepend=True
    )
    layer.register_forward_pre_hook(
        lambda layer, inputs, kwargs: (inputs, {"by": kwargs["by"] * 2}), with_kwargs=True
    )
    layer.register_forward_post_hook(
        lambda layer, inputs, kwargs, output: log.append((inputs, kwargs, output)),
        with_kwargs=True,
        always_call=True,
    )
    assert layer(8, by=2) == 2
    assert log == ["first", "last", ((8,), {"by": 4}, 2)]
    log.clear()
    with pytest.raises(ZeroDivisionError):
        layer(8, by=0)
    assert log == [((8,), {"by": 0}, None)]


def test_a_failing_hook_after_a_failure_is_a_note() -> None:
    def refuse(layer: nn.Layer, inputs: Any, output: Any) -> None:
        raise LookupError("second")

    layer = nn.Layer()
    layer.register_forward_post_hook(refuse, always_call=True)
    with pytest.raises(NotImplementedError) as caught:
        layer(1)
    assert "second" in caught.value.__notes__[0]


def test_a_pre_hook_with_keywords_returns_a_pair() -> None:
    layer = nn.ReLU()
    layer.register_forward_pre_hook(lambda layer, inputs, kwargs: inputs[0], with_kwargs=True)
    with pytest.raises(RuntimeError, match="pair"):
        layer(paddle.ones([1]))
