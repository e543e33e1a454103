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


def test_moments_of_random_numbers():
    paddle.seed(5)
    normal = paddle.randn([200_000], "float64").numpy()
    assert abs(normal.mean()) < 0.01 and abs(normal.std() - 1) < 0.01
    shifted = paddle.normal(10.0, 0.5, [200_000]).numpy()
    assert abs(shifted.mean() - 10) < 0.01 and abs(shifted.std() - 0.5) < 0.01
    even = paddle.uniform([200_000], min=2.0, max=4.0).numpy()
    assert even.min() >= 2.0 and even.max() < 4.0 and abs(even.mean() - 3) < 0.01


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("make", [paddle.randn, paddle.uniform])
def test_random_numbers_come_in_every_float_type(make, dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    tensor = make([3, 2], dtype)
    assert tensor.dtype.name == dtype and tensor.shape == [3, 2]


def test_seed_repeats_and_goes_on():
    paddle.seed(3)
    first, second = paddle.randn([4]).numpy(), paddle.randn([4]).numpy()
    paddle.seed(3)
    assert (paddle.randn([4]).numpy() == first).all()
    assert (paddle.randn([4]).numpy() == second).all()
    assert (first != second).any()


def test_a_seed_of_its_own_leaves_the_common_sequence_alone():
    paddle.seed(3)
    expected = paddle.randn([4]).numpy()
    paddle.seed(3)
    own = paddle.uniform([4], seed=11).numpy()
    assert (own == paddle.uniform([4], seed=11).numpy()).all()
    assert (paddle.randn([4]).numpy() == expected).all()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(TypeError, match="float dtype"):
        paddle.randn([2], "int64")
    with pytest.raises(ValueError, match="std"):
        paddle.normal(0.0, -1.0, [2])
