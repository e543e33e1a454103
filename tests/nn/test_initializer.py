"""Initializers and ParamAttr."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.nn import initializer


def test_constant() -> None:
    value = initializer.Constant(0.5)([2, 3], "float64")
    assert value.dtype == paddle.float64
    assert value.tolist() == [[0.5] * 3] * 2
    assert initializer.Constant()([1], "float32").tolist() == [0.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_uniform_fills_its_range(dtype: str) -> None:
    paddle.seed(3)
    value = initializer.Uniform(-2.0, 4.0)([4000], dtype).numpy().astype("float64")
    assert -2.0 <= value.min() < -1.9
    assert 3.9 < value.max() <= 4.0
    # The mean of 4,000 values spreads by 6 / sqrt(12 * 4000) = 0.027: five times that.
    assert abs(value.mean() - 1.0) < 0.14


@pytest.mark.parametrize(
    ("arguments", "shape", "fans"),
    [
        ({}, [100, 300], (100, 300)),
        ({}, [10, 20, 3, 3], (90, 180)),
        ({}, [50], (50, 50)),
        ({"fan_in": 1, "fan_out": 5}, [100, 300], (1, 5)),
        ({"fan_out": 5}, [100, 300], (100, 5)),
    ],
)
def test_xavier_uniform_has_the_limit_of_glorot(
    arguments: dict[str, int], shape: list[int], fans: tuple[int, int]
) -> None:
    paddle.seed(3)
    limit = np.sqrt(6.0 / sum(fans))
    value = initializer.XavierUniform(**arguments)(shape, "float64").numpy()
    assert value.shape == tuple(shape)
    assert abs(value).max() <= limit
    assert abs(value).max() > 0.9 * limit
    assert value.min() < 0 < value.max()


def test_xavier_uniform_of_odd_shapes() -> None:
    for shape in ([], [0, 3], [1]):
        assert initializer.XavierUniform()(shape, "float32").shape == shape


def test_seed_repeats_parameters() -> None:
    paddle.seed(11)
    first = paddle.nn.Linear(4, 4).weight.tolist()
    second = paddle.nn.Linear(4, 4).weight.tolist()
    paddle.seed(11)
    assert paddle.nn.Linear(4, 4).weight.tolist() == first
    assert first != second


def test_an_initializer_of_ones_own() -> None:
    class Identity(initializer.Initializer):
        def values(self, shape: list[int], dtype: Any) -> paddle.Tensor:
            return paddle.to_tensor(np.eye(*shape), dtype)

    layer = paddle.nn.Linear(2, 2, weight_attr=Identity())
    assert layer.weight.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert layer.weight.trainable


def test_a_base_initializer_is_no_initializer() -> None:
    with pytest.raises(TypeError, match=r"values\(shape, dtype\)"):
        initializer.Initializer()([1], "float32")


def test_an_initializer_fills_a_tensor() -> None:
    layer = paddle.nn.Linear(2, 2)
    array = layer.weight.data
    assert initializer.Constant(3.0)(layer.weight) is layer.weight
    assert layer.weight.data is array
    assert layer.weight.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_the_global_initializers() -> None:
    two, three = initializer.Constant(2.0), initializer.Constant(3.0)
    try:
        initializer.set_global_initializer(two, three)
        layer = paddle.nn.Linear(1, 1)
        assert (layer.weight.item(), layer.bias.item()) == (2.0, 3.0)
        assert paddle.nn.LayerNorm(1).weight.item() == 2.0  # also over what a layer has of its own
        assert paddle.nn.Linear(1, 1, weight_attr=three).weight.item() == 3.0
        assert paddle.create_parameter([1], "float32").item() == 2.0
        initializer.set_global_initializer(None)
        assert paddle.nn.Linear(1, 1).bias.item() == 0.0
        with pytest.raises(TypeError, match="weight_init"):
            initializer.set_global_initializer("normal")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="bias_init"):
            initializer.set_global_initializer(None, 1.0)  # type: ignore[arg-type]
    finally:
        initializer.set_global_initializer(None)
    assert paddle.nn.LayerNorm(1).weight.item() == 1.0


def test_param_attr_of() -> None:
    attr = paddle.ParamAttr(name="given")
    constant = initializer.Constant(1.0)
    assert paddle.ParamAttr.of(attr) is attr
    assert paddle.ParamAttr.of(None) == paddle.ParamAttr()
    assert paddle.ParamAttr.of("given").name == "given"
    assert paddle.ParamAttr.of(constant).initializer is constant
    with pytest.raises(TypeError, match="int"):
        paddle.ParamAttr.of(5)
