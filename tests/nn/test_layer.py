"""Layer: registration, names, walking, modes, hooks, state, copies."""

import copy
import pickle
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn
from minipaddle.imperative.tensor import Parameter


def parameter(*shape: int) -> Parameter:
    made = nn.Layer().create_parameter(list(shape))
    assert made is not None
    return made


class Block(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.second = nn.Linear(3, 1, bias_attr=False)
        self.scale = parameter(1)
        self.register_buffer("mean", paddle.zeros([3]))
        self.cache = paddle.ones([2])

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.second(self.first(x)) * self.scale


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.left = Block()
        self.right = Block()
        self.shared = self.left.first
        self.missing = None

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.left(x) + self.right(x)


# ---- attributes ----


def test_attributes_are_entered_by_their_kind() -> None:
    block = Block()
    assert [name for name, _ in block.named_parameters(include_sublayers=False)] == ["scale"]
    assert [name for name, _ in block.named_sublayers()] == ["first", "second"]
    assert [name for name, _ in block.named_buffers()] == ["mean", "cache"]
    assert block.first.bias.shape == [3]
    assert block.second.bias is None


def test_an_entered_value_can_be_replaced_by_its_kind_or_none() -> None:
    block = Block()
    other = parameter(5)
    block.scale = other
    assert block.parameters(include_sublayers=False) == [other]
    block.scale = None
    assert block.scale is None
    assert block.parameters(include_sublayers=False) == []
    block.scale = other
    assert block.parameters(include_sublayers=False) == [other]
    block.first = nn.ReLU()
    assert [type(layer) for layer in block.children()] == [nn.ReLU, nn.Linear]
    block.first = None
    assert [name for name, _ in block.named_sublayers()] == ["second"]
    block.mean = None
    assert [name for name, _ in block.named_buffers()] == ["cache"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scale", paddle.ones([1])),
        ("scale", 5),
        ("scale", nn.ReLU()),
        ("first", parameter(1)),
        ("first", paddle.ones([1])),
        ("first", "relu"),
    ],
)
def test_another_kind_of_value_is_refused_for_parameters_and_layers(name: str, value: Any) -> None:
    block = Block()
    before = getattr(block, name)
    with pytest.raises(TypeError, match=name):
        setattr(block, name, value)
    assert getattr(block, name) is before
    assert len(block.state_dict()) == 5


@pytest.mark.parametrize("value", [5, "text", parameter(2), nn.ReLU()])
@pytest.mark.parametrize("name", ["mean", "cache"])
def test_a_buffer_gives_way_to_anything(name: str, value: Any) -> None:
    block = Block()
    setattr(block, name, value)
    assert getattr(block, name) is value
    assert name not in dict(block.named_buffers())
    assert (name in block.state_dict()) is isinstance(value, Parameter)
    setattr(block, name, None)
    block.state_dict()


def test_a_replaced_buffer_stays_persistable_or_not() -> None:
    block = Block()
    block.mean = paddle.ones([3])
    block.cache = paddle.zeros([2])
    assert "mean" in block.state_dict()
    assert "cache" not in block.state_dict()


def test_attributes_can_be_deleted() -> None:
    block = Block()
    del block.scale, block.first, block.mean, block.cache
    assert [name for name in block.state_dict()] == ["second.weight"]
    assert not hasattr(block, "scale")
    block.scale = 3  # no longer a parameter's name
    block.cache = paddle.ones([2])
    assert "cache" not in block.state_dict()


def test_ordinary_attributes_are_left_alone() -> None:
    block = Block()
    block.note = "text"
    block.layers = [nn.ReLU()]
    assert block.note == "text"
    assert len(block.sublayers()) == 2
    block.note = nn.ReLU()
    assert len(block.sublayers()) == 3
    with pytest.raises(AttributeError, match="nothing"):
        block.nothing  # noqa: B018


@pytest.mark.parametrize("value", [parameter(1), paddle.ones([1]), nn.ReLU()])
def test_nothing_is_entered_before_init(value: Any) -> None:
    class Early(nn.Layer):
        def __init__(self) -> None:
            self.note = "text"
            self.value = value
            super().__init__()

    with pytest.raises(ValueError, match=r"super\(\).__init__\(\)"):
        Early()


def test_plain_attributes_may_come_before_init() -> None:
    class Early(nn.Layer):
        def __init__(self) -> None:
            self.width = 3
            super().__init__()
            self.linear = nn.Linear(self.width, 1)

    assert Early().linear.weight.shape == [3, 1]


def test_a_layer_without_init_says_what_is_missing() -> None:
    class Lazy(nn.Layer):
        def __init__(self) -> None:
            pass

        def forward(self, x: Any) -> Any:
            return x

    lazy = Lazy()
    with pytest.raises((RuntimeError, ValueError), match=r"super\(\).__init__\(\)"):
        lazy.add_parameter("weight", parameter(1))
    with pytest.raises((RuntimeError, ValueError), match=r"super\(\).__init__\(\)"):
        lazy.register_buffer("mean", paddle.ones([1]))
    with pytest.raises((RuntimeError, AttributeError), match=r"super\(\).__init__\(\)"):
        lazy(1)


# ---- registering by name ----


def test_registering() -> None:
    layer = nn.Layer()
    weight, inner, mean = parameter(2), nn.ReLU(), paddle.ones([2])
    assert layer.add_parameter("weight", weight) is weight
    assert layer.add_sublayer("inner", inner) is inner
    layer.register_buffer("mean", mean)
    layer.register_buffer("hidden", paddle.ones([2]), persistable=False)
    assert layer.weight is weight
    assert layer.inner is inner
    assert list(layer.state_dict()) == ["weight", "mean"]
    assert len(layer.buffers()) == 2
    layer.add_parameter("bias", None)
    assert layer.bias is None
    assert layer.parameters() == [weight]


@pytest.mark.parametrize(
    ("name", "error"),
    [(5, TypeError), (None, TypeError), ("", KeyError), ("a.b", KeyError), ("forward", KeyError)],
)
def test_names_that_do_not_fit(name: Any, error: type[Exception]) -> None:
    layer = nn.Layer()
    with pytest.raises(error):
        layer.add_parameter(name, parameter(1))
    with pytest.raises(error):
        layer.add_sublayer(name, nn.ReLU())
    with pytest.raises(error):
        layer.register_buffer(name, paddle.ones([1]))
    assert layer.state_dict() == {}
    assert layer.sublayers() == []


def test_a_taken_name_is_refused() -> None:
    block = Block()
    with pytest.raises(KeyError, match="first"):
        block.add_parameter("first", parameter(1))
    with pytest.raises(KeyError, match="scale"):
        block.register_buffer("scale", paddle.ones([1]))
    with pytest.raises(KeyError, match="mean"):
        block.add_sublayer("mean", nn.ReLU())


@pytest.mark.parametrize("value", [5, "text", np.ones(1), paddle.ones([1])])
def test_values_of_a_wrong_type_are_refused(value: Any) -> None:
    layer = nn.Layer()
    with pytest.raises(TypeError, match="weight"):
        layer.add_parameter("weight", value)
    with pytest.raises(TypeError, match="inner"):
        layer.add_sublayer("inner", value)
    if not isinstance(value, paddle.Tensor):
        with pytest.raises(TypeError, match="mean"):
            layer.register_buffer("mean", value)


# ---- names ----


def test_names_of_layers_and_parameters() -> None:
    class TwoWords(nn.Layer):
        pass

    one, two = TwoWords(), TwoWords()
    stem, _, number = one.full_name().rpartition("_")
    assert stem == "two_words"
    assert two.full_name() == f"two_words_{int(number) + 1}"
    linear = nn.Linear(2, 2)
    assert linear.weight.name == f"{linear.full_name()}.w_0"
    assert linear.bias.name == f"{linear.full_name()}.b_0"
    assert one.create_parameter([1]).name == f"{one.full_name()}.w_0"
    assert one.create_parameter([1]).name == f"{one.full_name()}.w_1"
    assert one.create_parameter([1], is_bias=True).name == f"{one.full_name()}.b_0"
    assert nn.Layer("my_scope").full_name().startswith("my_scope_")


def test_a_name_given_twice_is_refused() -> None:
    nn.Linear(1, 1, weight_attr="named_once", bias_attr=False)
    with pytest.raises(ValueError, match="named_once"):
        nn.Linear(1, 1, weight_attr=paddle.ParamAttr(name="named_once"))


# ---- create_parameter ----


def test_create_parameter_defaults() -> None:
    layer = nn.Layer(dtype="float64")
    weight = layer.create_parameter([4, 6])
    assert (weight.shape, weight.dtype) == ([4, 6], paddle.float64)
    assert 0 < abs(weight.numpy()).max() <= np.sqrt(6 / 10)
    assert layer.create_parameter([3], is_bias=True).tolist() == [0.0] * 3
    assert layer.create_parameter([3], attr=False) is None
    assert layer.create_parameter([3], dtype="float16").dtype == paddle.float16
    assert layer.parameters() == []


def test_create_parameter_with_attr() -> None:
    two = nn.initializer.Constant(2.0)
    layer = nn.Layer()
    assert layer.create_parameter([1], default_initializer=two).tolist() == [2.0]
    assert layer.create_parameter([1], attr=two, is_bias=True).tolist() == [2.0]
    attr = paddle.ParamAttr(
        initializer=nn.initializer.Constant(3.0),
        learning_rate=0.5,
        regularizer="own",
        trainable=False,
        need_clip=False,
    )
    made = layer.create_parameter([1], attr=attr, default_initializer=two)
    assert made.tolist() == [3.0]
    assert made.optimize_attr == {"learning_rate": 0.5}
    assert (made.regularizer, made.trainable, made.need_clip) == ("own", False, False)


@pytest.mark.parametrize("attr", [True, 5, [1], np.ones(1)])
def test_create_parameter_refuses_another_attr(attr: Any) -> None:
    with pytest.raises(TypeError, match="attr"):
        nn.Layer().create_parameter([1], attr=attr)


def test_new_parameters_follow_the_default_dtype() -> None:
    paddle.set_default_dtype("float64")
    try:
        assert nn.Linear(2, 2).weight.dtype == paddle.float64
    finally:
        paddle.set_default_dtype("float32")
    assert nn.Linear(2, 2).weight.dtype == paddle.float32


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
    with pytest.raises(NotImplementedError, match="Layer.*forward"):
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
