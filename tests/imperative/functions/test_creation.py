"""Tensors made from nothing."""

import numpy as np
import pytest

import minipaddle as paddle

MAKERS = {
    "zeros": (paddle.zeros, 0.0),
    "ones": (paddle.ones, 1.0),
    "full": (lambda shape, dtype=None: paddle.full(shape, 2.5, dtype), 2.5),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("shape", [[], [0], [3], [2, 0, 4], (2, 3), 4])
def test_constants(name, shape):
    make, value = MAKERS[name]
    tensor = make(shape)
    assert tensor.shape == ([shape] if isinstance(shape, int) else list(shape))
    assert tensor.dtype == np.float32 and tensor.stop_gradient
    assert (tensor.numpy() == value).all()


@pytest.mark.parametrize("dtype", ["float16", "float64", "int64", "bool", paddle.int32])
def test_a_dtype_is_taken_as_name_or_object(dtype):
    assert paddle.ones([2], dtype).dtype == np.dtype(dtype)


def test_full_of_a_bool_is_bool():
    assert paddle.full([2], True).dtype == "bool" and paddle.full([2], 1).dtype == "float32"
    assert paddle.full([2], True, "int32").dtype == "int32"


def test_full_takes_a_0d_tensor_and_a_shape_tensor():
    filled = paddle.full(paddle.to_tensor([2, 3]), paddle.to_tensor(7.0))
    assert filled.shape == [2, 3] and (filled.numpy() == 7.0).all()


@pytest.mark.parametrize("shape", [[-1], [2, -3]])
def test_a_negative_length_is_refused(shape):
    with pytest.raises(ValueError, match="negative length"):
        paddle.zeros(shape)


@pytest.mark.parametrize("shape", ["2", [1.5], [None]])
def test_a_shape_of_something_else_is_refused(shape):
    with pytest.raises(TypeError, match="shape must be"):
        paddle.zeros(shape)
