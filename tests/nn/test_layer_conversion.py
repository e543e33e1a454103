"""Layer: element types and devices."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn
from tests.nn.models import Block


def block() -> Block:
    made = Block()
    made.register_buffer("count", paddle.to_tensor([1, 2]))
    return made


@pytest.mark.parametrize(
    ("convert", "dtype"),
    [
        (lambda b: b.to(dtype="float64"), "float64"),
        (lambda b: b.astype("float16"), "float16"),
        (lambda b: b.type(paddle.float64), "float64"),
        (lambda b: b.double(), "float64"),
        (lambda b: b.half(), "float16"),
        (lambda b: b.float16(), "float16"),
        (lambda b: b.double().float(), "float32"),
    ],
)
def test_floats_change_and_ints_stay(convert: Any, dtype: str) -> None:
    layer = block()
    kept = dict(layer.named_parameters())
    assert convert(layer) is layer
    assert dict(layer.named_parameters()) == kept  # the very same objects
    assert {p.dtype.name for p in kept.values()} == {dtype}
    assert {layer.mean.dtype.name, layer.cache.dtype.name} == {dtype}
    assert layer.count.dtype == paddle.int64
    assert layer.count.tolist() == [1, 2]
    assert layer.first.create_parameter([1]).dtype.name == dtype
    assert layer.first.weight.is_leaf
    assert not layer.first.weight.stop_gradient


def test_bfloat16() -> None:
    pytest.importorskip("ml_dtypes")
    assert block().bfloat16().first.weight.dtype.name == "bfloat16"


def test_gradients_hooks_and_optimizers_go_on() -> None:
    layer = nn.Linear(2, 1, bias_attr=False)
    sgd = paddle.optimizer.SGD(0.5, layer.parameters())
    layer.weight.register_hook(lambda grad: grad * 2.0)
    layer(paddle.ones([1, 2])).sum().backward()
    before = layer.weight.numpy()
    layer.double()
    assert layer.weight.grad.dtype == paddle.float64
    assert layer.weight.grad.tolist() == [[2.0], [2.0]]
    layer(paddle.ones([1, 2], "float64")).sum().backward()
    assert layer.weight.grad.tolist() == [[4.0], [4.0]]
    sgd.step()
    np.testing.assert_allclose(layer.weight.numpy(), before - 2.0)


def test_frozen_parameters_stay_frozen() -> None:
    layer = nn.Linear(1, 1)
    layer.bias.trainable = False
    layer.double()
    assert layer.bias.stop_gradient
    assert not layer.weight.stop_gradient


def test_a_recorded_graph_keeps_the_old_values() -> None:
    layer = nn.Linear(1, 1, bias_attr=False, weight_attr=nn.initializer.Constant(3.0))
    x = paddle.to_tensor([[2.0]], stop_gradient=False)
    out = layer(x)
    layer.double()
    out.backward()
    assert x.grad.tolist() == [[3.0]]


def test_nothing_to_do_changes_nothing() -> None:
    layer = nn.Linear(1, 1)
    array, leaf = layer.weight.data, layer.weight.leaf
    assert layer.to() is layer
    assert layer.to("cpu", "float32").cpu() is layer
    assert layer.weight.data is array
    assert layer.weight.leaf is leaf


def test_classes_can_be_left_out() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))
    net.float16(excluded_layers=[nn.LayerNorm])
    assert [net[0].weight.dtype.name, net[1].weight.dtype.name] == ["float16", "float32"]
    net.double()
    net.float(nn.Linear)
    assert [net[0].weight.dtype.name, net[1].weight.dtype.name] == ["float64", "float32"]


@pytest.mark.parametrize("dtype", ["int64", "bool", "float13", None, 5])
def test_what_is_no_float_type_is_refused(dtype: Any) -> None:
    layer = nn.Linear(1, 1)
    with pytest.raises((ValueError, TypeError), match=r"float|dtype"):
        layer.astype(dtype)
    assert layer.weight.dtype == paddle.float32


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(ValueError, match="tpu"):
        nn.Linear(1, 1).to("tpu")
