"""Layer: attributes, registration, names of parameters."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn
from minipaddle.imperative.tensor import Parameter
from tests.nn.models import Block, parameter

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
    assert list(block.state_dict()) == ["second.weight"]
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
    first, second = one.create_parameter([1]), one.create_parameter([1])
    assert first.name == f"{one.full_name()}.w_0"
    assert second.name == f"{one.full_name()}.w_1"
    assert one.create_parameter([1], is_bias=True).name == f"{one.full_name()}.b_0"
    assert nn.Layer("my_scope").full_name().startswith("my_scope_")


def test_a_name_given_twice_is_refused() -> None:
    layer = nn.Linear(1, 1, weight_attr="named_once", bias_attr=False)
    with pytest.raises(ValueError, match="named_once"):
        nn.Linear(1, 1, weight_attr=paddle.ParamAttr(name="named_once"))
    del layer  # with the parameter its name is free again
    assert nn.Linear(1, 1, weight_attr="named_once").weight.name == "named_once"


def test_a_name_is_not_lost_to_an_initializer_that_fails() -> None:
    with pytest.raises(TypeError):
        nn.Linear(1, 1, weight_attr=paddle.ParamAttr("free", nn.initializer.Initializer()))
    assert nn.Linear(1, 1, weight_attr="free").weight.name == "free"


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
        trainable=False,
    )
    made = layer.create_parameter([1], attr=attr, default_initializer=two)
    assert made.tolist() == [3.0]
    assert made.optimize_attr == {"learning_rate": 0.5}
    assert made.trainable is False


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


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("MSELoss", "mse_loss"),
        ("BatchNorm1D", "batch_norm1d"),
        ("LSTMCell", "lstm_cell"),
        ("ReLU6", "re_lu6"),
        ("HTTPServer", "http_server"),
        ("MyNet2", "my_net2"),
        ("Conv2DTranspose", "conv2d_transpose"),
    ],
)
def test_class_names_become_scopes_as_in_paddle(name: str, scope: str) -> None:
    made = type(name, (nn.Layer,), {})()
    assert made.full_name().rpartition("_")[0] == scope


def test_create_tensor() -> None:
    layer = nn.Linear(1, 1)
    made = layer.create_tensor("count", dtype="int64")
    assert (made.shape, made.dtype) == ([], paddle.int64)
    assert made.name == f"{layer.full_name()}.count"
    assert made.stop_gradient
    assert layer.create_variable().dtype == paddle.float32
    assert layer.create_tensor().name != layer.create_tensor().name
    layer.count = made
    assert "count" in dict(layer.named_buffers())
    assert "count" not in layer.state_dict()


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_a_parameter_is_of_a_float_type(dtype: str) -> None:
    with pytest.raises(TypeError, match="float"):
        nn.Layer().create_parameter([1], dtype=dtype)


def test_other_names_of_registering() -> None:
    layer, weight, relu = nn.Layer(), parameter(1), nn.ReLU()
    layer.register_parameter("weight", weight)
    layer.add_module("relu", relu)
    layer.register_module("other", relu)
    assert layer.parameters() == [weight]
    assert layer.sublayers() == [relu]
