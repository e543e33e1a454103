"""Tensor and Parameter: creation, properties, set_value, copies, text."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.tensor import Parameter
from tests.device.plug import plugged_in
from tests.imperative.leaves import leaf

# ---- to_tensor ----


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1.5, "float32"),
        (2, "int64"),
        (True, "bool"),
        ([1.0, 2.0], "float32"),
        ([[1, 2], [3, 4]], "int64"),
        ((1.0, 2), "float32"),
        ([], "float32"),
        (np.ones(2), "float64"),
        (np.float64(1.5), "float64"),
        (np.ones(2, "float16"), "float16"),
        ([np.float64(1.0), np.float64(2.0)], "float64"),
        ([np.ones(2), np.ones(2)], "float64"),
        (np.ones(2, "int32"), "int32"),
        (np.ones(2, ">f4"), "float32"),
        (np.ones(2, ">i8"), "int64"),
    ],
)
def test_element_type_of_a_new_tensor(data: Any, dtype: str) -> None:
    x = paddle.to_tensor(data)
    assert x.dtype == getattr(paddle, dtype)
    assert x.dtype.isnative
    np.testing.assert_array_equal(x.numpy(), np.asarray(data))
    assert x.stop_gradient


def test_tensors_in_lists() -> None:
    parts = [paddle.to_tensor([1.0, 2.0], dtype="float64"), paddle.to_tensor([3.0, 4.0])]
    assert paddle.to_tensor(parts).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_given_dtype_wins() -> None:
    for name in ("float16", "float32", "float64", "int32", "uint8", "bool"):
        assert paddle.to_tensor([0, 1], dtype=name).dtype == getattr(paddle, name)
        assert paddle.to_tensor(np.zeros(2), dtype=getattr(paddle, name)).dtype.name == name
    assert paddle.to_tensor([1.0], dtype="bfloat16").dtype.name == "bfloat16"


def test_the_default_float_type_can_be_set() -> None:
    paddle.set_default_dtype("float64")
    try:
        assert paddle.to_tensor([1.0]).dtype == paddle.float64
    finally:
        paddle.set_default_dtype("float32")
    assert paddle.to_tensor([1.0]).dtype == paddle.float32


def test_values_are_copied() -> None:
    array = np.array([1.0, 2.0])
    x = paddle.to_tensor(array)
    array[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    y = paddle.to_tensor(x, stop_gradient=False)
    x.add_(1.0)
    assert y.tolist() == [1.0, 2.0]
    assert y.is_leaf


def test_an_array_that_is_not_contiguous() -> None:
    array = np.arange(6.0).reshape(2, 3).T
    assert paddle.to_tensor(array).tolist() == array.tolist()
    assert paddle.to_tensor(array[::-1, ::2]).tolist() == array[::-1, ::2].tolist()


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ("abc", TypeError),
        (None, TypeError),
        (object(), TypeError),
        ({"a": 1}, TypeError),
        (["a", "b"], TypeError),
        ([1, None], TypeError),
        (2**70, TypeError),
        ([[1, 2], [3]], ValueError),
    ],
)
def test_what_is_not_numbers_is_refused(data: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="to_tensor"):
        paddle.to_tensor(data)


def test_only_floats_can_want_a_gradient() -> None:
    with pytest.raises(TypeError, match="int64"):
        paddle.to_tensor([1, 2], stop_gradient=False)
    x = paddle.to_tensor([1, 2])
    with pytest.raises(TypeError, match="int64"):
        x.stop_gradient = False
    assert x.stop_gradient


def test_place() -> None:
    assert str(paddle.to_tensor([1.0], place="cpu").place) == "cpu"
    with pytest.raises(ValueError, match="nowhere"):
        paddle.to_tensor([1.0], place="nowhere")
    with plugged_in():
        x = paddle.to_tensor([1.0, 2.0], place="xpu:3")
        assert str(x.place) == "xpu:3"
        assert x.tolist() == [1.0, 2.0]
        y = paddle.to_tensor(x, place="cpu")
        assert (str(y.place), y.tolist()) == ("cpu", [1.0, 2.0])


# ---- properties ----


def test_shape_and_its_kin() -> None:
    x = paddle.zeros([2, 3])
    assert x.shape == [2, 3]
    assert isinstance(x.shape, list)
    assert (x.ndim, x.size, x.numel(), len(x)) == (2, 6, 6, 2)
    assert paddle.to_tensor(1.0).shape == []
    assert (paddle.zeros([0, 3]).size, len(paddle.zeros([0, 3]))) == (0, 0)


def test_is_leaf_and_stop_gradient() -> None:
    x, c = leaf([1.0]), paddle.to_tensor([1.0])
    y = x * 2.0
    assert (x.is_leaf, x.stop_gradient) == (True, False)
    assert (c.is_leaf, c.stop_gradient) == (True, True)
    assert (y.is_leaf, y.stop_gradient) == (False, False)
    assert ((c * 2.0).is_leaf, (c * 2.0).stop_gradient) == (True, True)


def test_stop_gradient_cuts_the_graph() -> None:
    x = leaf([1.0])
    y = x * 2.0
    y.stop_gradient = True
    assert y.is_leaf
    (y * x).backward()
    assert x.grad.tolist() == [2.0]
    y.stop_gradient = False
    assert y.is_leaf
    (y * 3.0).backward()
    assert y.grad.tolist() == [3.0]
    assert x.grad.tolist() == [2.0]


def test_a_frozen_leaf_keeps_gradient_and_hooks_until_it_thaws() -> None:
    x = leaf([1.0])
    x.register_hook(lambda grad: grad * 10.0)
    (x * 2.0).backward()
    x.stop_gradient = True
    assert (x * 2.0).stop_gradient
    assert x.grad.tolist() == [20.0]
    x.stop_gradient = False
    (x * 3.0).backward()
    assert x.grad.tolist() == [50.0]


@pytest.mark.parametrize("value", [0, 1, None, "True"])
def test_stop_gradient_must_be_a_bool(value: Any) -> None:
    x = leaf([1.0])
    with pytest.raises(TypeError, match=r"stop_gradient.*bool"):
        x.stop_gradient = value
    assert not x.stop_gradient


def test_names_are_unique_and_can_be_set() -> None:
    x, y = paddle.ones([1]), paddle.ones([1])
    assert x.name != y.name
    assert x.name == x.name
    x.name = "speed"
    assert x.name == "speed"


def test_tensors_are_hashable_and_found_by_identity() -> None:
    x, y = paddle.ones([2]), paddle.ones([2])
    assert {x: 1, y: 2}[x] == 1
    assert len({x, y, x}) == 2


def test_equality_is_elementwise() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    assert (x == paddle.to_tensor([1.0, 3.0])).tolist() == [True, False]
    assert (x != 2).tolist() == [True, False]
    assert (x == np.array([1.0, 2.0], np.float32)).tolist() == [True, True]
    assert (x == None) is False and (x != "x") is True  # noqa: E711


def test_a_single_element_takes_a_format() -> None:
    assert f"{paddle.to_tensor(1.239):.2f}" == "1.24"
    assert f"{paddle.ones([2])}" == repr(paddle.ones([2]))


def test_an_argument_too_many_is_not_taken_for_a_name() -> None:
    with pytest.raises(TypeError, match=r"reshape: name must be a str; got 1.*one list"):
        paddle.ones([6]).reshape(6, 1)


# ---- set_value ----


@pytest.mark.parametrize(
    "value",
    [
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
        np.arange(1, 7).reshape(2, 3),
        np.arange(1.0, 7.0).reshape(3, 2).T[:, :3].reshape(2, 3) * 0 + [[1, 2, 3], [4, 5, 6]],
        paddle.to_tensor([[1, 2, 3], [4, 5, 6]]),
    ],
)
def test_set_value_keeps_memory_dtype_and_graph(value: Any) -> None:
    x = leaf(np.zeros((2, 3)), "float32")
    array = x.data
    x.set_value(value)
    assert x.data is array
    assert x.dtype == paddle.float32
    assert x.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert not x.stop_gradient
    assert x.is_leaf


@pytest.mark.parametrize("value", [[1.0, 2.0, 3.0], np.ones((1, 2)), 5.0])
def test_set_value_of_another_shape_is_refused(value: Any) -> None:
    x = leaf([1.0, 2.0])
    with pytest.raises(ValueError, match=r"\[2\]"):
        x.set_value(value)
    assert x.tolist() == [1.0, 2.0]
    assert x.inplace_version == 0


def test_set_value_from_another_place() -> None:
    with plugged_in():
        x = paddle.to_tensor([0.0, 0.0], place="xpu:1")
        x.set_value(paddle.to_tensor([1.0, 2.0], place="cpu"))
        assert x.tolist() == [1.0, 2.0]
        assert str(x.place) == "xpu:1"


# ---- copies ----


def test_numpy_is_a_copy() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    array = x.numpy()
    array[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    held = x.numpy()
    x.add_(1.0)
    assert held.tolist() == [1.0, 2.0]


def test_deepcopy_of_a_tensor() -> None:
    x = leaf([1.0, 2.0])
    (x * 2.0).sum().backward()
    y = copy.deepcopy(x)
    assert y.tolist() == [1.0, 2.0]
    assert (y.stop_gradient, y.is_leaf, y.grad) == (False, True, None)
    (y * 5.0).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with paddle.no_grad():
        y.add_(1.0)
    assert x.tolist() == [1.0, 2.0]
    assert copy.deepcopy(paddle.ones([2])).stop_gradient


def test_deepcopy_keeps_what_is_shared_shared() -> None:
    x = leaf([1.0])
    one, two = copy.deepcopy([x, x])
    assert one is two
    assert one is not x


def test_deepcopy_of_an_op_result_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        copy.deepcopy(leaf([1.0]) * 2.0)


def test_shallow_copy_has_a_gradient_of_its_own() -> None:
    x = leaf([1.0])
    y = copy.copy(x)
    (y * 2.0).backward()
    assert x.grad is None
    assert y.grad.tolist() == [2.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bfloat16"])
def test_pickle_of_a_tensor(dtype: str) -> None:
    x = paddle.to_tensor([1.0, 2.0], dtype=dtype)
    y = pickle.loads(pickle.dumps(x))
    assert y.numpy().tolist() == [1.0, 2.0]
    assert (y.dtype, y.stop_gradient, str(y.place)) == (x.dtype, True, "cpu")


def test_pickle_of_a_parameter_that_has_trained() -> None:
    layer = paddle.nn.Linear(2, 2)
    layer.weight.optimize_attr = {"learning_rate": 0.5}
    layer(paddle.ones([1, 2])).sum().backward()
    held = layer.weight.grad
    assert held is not None
    weight = pickle.loads(pickle.dumps(layer.weight))
    assert isinstance(weight, Parameter)
    assert weight.tolist() == layer.weight.tolist()
    assert weight.name == layer.weight.name
    assert weight.optimize_attr == {"learning_rate": 0.5}
    assert weight.trainable
    assert weight.grad is None
    frozen = layer.weight
    frozen.trainable = False
    assert pickle.loads(pickle.dumps(frozen)).stop_gradient


# ---- Parameter ----


def test_trainable_is_the_negation_of_stop_gradient() -> None:
    weight = paddle.nn.Linear(2, 2).weight
    assert weight.trainable
    weight.trainable = False
    assert weight.stop_gradient
    weight.stop_gradient = False
    assert weight.trainable
    with pytest.raises(TypeError, match="trainable"):
        weight.trainable = 1


def test_deepcopy_of_a_parameter_has_a_name_of_its_own() -> None:
    attr = paddle.ParamAttr(learning_rate=0.25, trainable=False)
    weight = paddle.nn.Linear(2, 2, weight_attr=attr).weight
    twin = copy.deepcopy(weight)
    assert isinstance(twin, Parameter)
    assert twin.name != weight.name
    assert twin.optimize_attr == {"learning_rate": 0.25}
    assert twin.optimize_attr is not weight.optimize_attr
    assert twin.trainable is False
    assert copy.deepcopy(weight).name != twin.name


# ---- text ----


def test_repr_shows_what_matters() -> None:
    text = repr(leaf([[1.0, 2.0]]))
    for part in ("shape=[1, 2]", "float64", "cpu", "stop_gradient=False", "1.", "2."):
        assert part in text
    assert len(repr(paddle.zeros([1000, 1000]))) < 2000
    assert "[]" in repr(paddle.zeros([0]))
    layer = paddle.nn.Linear(1, 1)
    assert layer.weight.name in repr(layer.weight)
    assert "bfloat16" in repr(paddle.ones([2], "bfloat16"))
