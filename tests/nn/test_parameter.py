"""create_parameter: names, first values and settings of a parameter without a layer."""

import pytest

import minipaddle as paddle

Constant = paddle.nn.initializer.Constant


def test_a_weight_is_random_and_a_bias_zero():
    weight = paddle.create_parameter([4, 3], "float64")
    assert isinstance(weight, paddle.Parameter) and weight.dtype == "float64"
    assert weight.shape == [4, 3] and weight.any() and not weight.stop_gradient
    assert not paddle.create_parameter([3], "float32", is_bias=True).any()
    assert weight.name != paddle.create_parameter([1], "float32").name


def test_what_attr_says_comes_first():
    asked = paddle.ParamAttr(initializer=Constant(2.0), trainable=False)
    made = paddle.create_parameter(
        [2], "float32", "first name", asked, default_initializer=Constant(3.0)
    )
    assert made.tolist() == [2.0, 2.0] and made.name == "first name" and made.stop_gradient
    other = paddle.create_parameter(
        [1], "float32", "unused", "second name", default_initializer=Constant(3.0)
    )
    assert other.name == "second name" and other.tolist() == [3.0]
    with pytest.raises(ValueError, match="'first name' exists already"):
        paddle.create_parameter([1], "float32", "first name")


def test_an_optimizer_trains_it():
    made = paddle.create_parameter([2], "float32", default_initializer=Constant(1.0))
    sgd = paddle.optimizer.SGD(0.5, [made])
    (made * made).sum().backward()
    sgd.step()
    assert made.tolist() == [0.0, 0.0]
