"""Functions composed of ops, bounds that are tensors, and the operators of arithmetic."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.functions import arithmetic, math


def leaf(values, dtype="float64"):
    return paddle.to_tensor(np.asarray(values), dtype, stop_gradient=False)


def test_clip_takes_bounds_of_every_kind():
    x = paddle.to_tensor([-2.0, 0.5, 3.0])
    low, high = paddle.to_tensor(-1.0), paddle.to_tensor([0.0, 0.25, 5.0])
    assert math.clip(x, low, 1.0).tolist() == [-1.0, 0.5, 1.0]
    assert math.clip(x, max=high).tolist() == [-2.0, 0.25, 3.0]
    assert math.clip(x, 0, high).tolist() == [0.0, 0.25, 3.0]
    assert x.clip(min=0.0).tolist() == [0.0, 0.5, 3.0]
    assert x.clip_(low, 2) is x and x.tolist() == [-1.0, 0.5, 2.0]
    whole = paddle.to_tensor([-7, 3, 300])
    mixed = math.clip(whole, -2.5, float("inf"))
    assert mixed.dtype == "float32" and mixed.tolist() == [-2.5, 3.0, 300.0]
    assert math.clip(whole.astype("int8"), -1000, 2).tolist() == [-7, 2, 2]


def test_a_gradient_flows_to_a_bound_that_is_a_tensor():
    x, low, high = leaf([-2.0, 0.5, 3.0]), leaf([-1.0, 0.0, 0.0]), leaf(1.0)
    math.clip(x, low, high).backward(paddle.to_tensor([1.0, 2.0, 4.0], dtype="float64"))
    assert x.grad.tolist() == [0.0, 2.0, 0.0]
    assert low.grad.tolist() == [1.0, 0.0, 0.0] and high.grad.item() == 4.0


def test_scale():
    x = leaf([1.0, -2.0])
    assert math.scale(x, 2.0, 1.0).tolist() == [3.0, -3.0]
    assert math.scale(x, 2.0, 1.0, False).tolist() == [4.0, -2.0]
    assert math.scale(x, paddle.to_tensor(3.0, dtype="float64"), act="relu").tolist() == [3.0, 0.0]
    math.scale(x, 5.0, 1.0).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    whole = paddle.to_tensor([1, 2])
    assert whole.scale(2.9, 1.5).tolist() == [3, 5] and whole.scale(2.9).dtype == paddle.int64
    written = paddle.to_tensor([1.0, 2.0])
    assert written.scale_(2.0, 1.0) is written and written.tolist() == [3.0, 5.0]
    with pytest.raises(ValueError, match=r"act must be the name of a function.*'rleu'"):
        math.scale(x, act="rleu")


def test_frac_angles_hypot_and_heaviside():
    assert math.frac(paddle.to_tensor([1.25, -1.5])).tolist() == [0.25, -0.5]
    assert math.frac(paddle.to_tensor([3, -4])).tolist() == [0, 0]
    np.testing.assert_allclose(
        math.deg2rad(paddle.to_tensor([180, 90])).numpy(), [3.14159, 1.5708], 1e-5
    )
    np.testing.assert_allclose(math.rad2deg(leaf([np.pi])).numpy(), [180.0])
    x, y = leaf([3.0, -5.0]), leaf([4.0, 12.0])
    out = arithmetic.hypot(x, y)
    np.testing.assert_allclose(out.numpy(), [5.0, 13.0])
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.6, -5 / 13])
    x, y = leaf([-1.0, 0.0, 2.0]), leaf(0.25)
    out = x.heaviside(y)
    assert out.tolist() == [0.0, 0.25, 1.0]
    out.sum().backward()
    assert y.grad.item() == 1.0 and x.grad.tolist() == [0.0, 0.0, 0.0]


def test_add_n():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    out = arithmetic.add_n([x, y, x])
    assert out.tolist() == [5.0, 8.0]
    out.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and y.grad.tolist() == [1.0, 1.0]
    alone = arithmetic.add_n(x)
    assert alone is not x and alone.tolist() == x.tolist()
    for wrong in ([], [x, leaf([1.0])]):
        with pytest.raises(ValueError, match="inputs must be tensors of one shape"):
            arithmetic.add_n(wrong)


def test_operators():
    x, whole = paddle.to_tensor([7.5, -7.5]), paddle.to_tensor([7, -7])
    assert (x**2).tolist() == [56.25, 56.25] and (2 ** whole.abs()).tolist() == [128, 128]
    assert (x // 2).tolist() == [3.0, -4.0] and (8 // whole).tolist() == [1, -2]
    assert (whole % 4).tolist() == [3, 1] and (8 % whole).tolist() == [1, -6]
    assert abs(whole).tolist() == [7, 7] and (-whole).tolist() == [-7, 7]
    eye = np.eye(2, dtype=np.float32)
    assert paddle.Tensor.__rmatmul__(x, eye).tolist() == [7.5, -7.5]
    assert (whole % whole).dtype == paddle.int64 and (whole**0.5).dtype == paddle.float32


def test_ints_divide_to_the_default_float_type():
    whole = paddle.to_tensor([1, 3])
    for out in (whole / 2, whole / paddle.to_tensor([2, 2]), whole / paddle.to_tensor(2.0)):
        assert out.tolist() == [0.5, 1.5] and out.dtype == paddle.float32
    assert (3 / whole).tolist() == [3.0, 1.0]
    assert (whole / paddle.to_tensor(2.0, dtype="float64")).dtype == paddle.float64
    assert (whole / np.float64([2.0])).dtype == paddle.float64
    paddle.set_default_dtype("float64")
    try:
        assert (whole / 3).dtype == paddle.float64
    finally:
        paddle.set_default_dtype("float32")


def test_aliases_and_in_place_forms_are_methods():
    x = paddle.to_tensor([7.0])
    assert x.mod(4).item() == x.floor_mod(4).item() == x.remainder(4).item() == 3.0
    assert arithmetic.mod is arithmetic.remainder
    assert x.sqrt_() is x and x.pow_(4).item() == pytest.approx(49.0)
    assert x.floor_divide_(10.0).item() == 4.0 and x.mod_(3.0).item() == 1.0
    assert math.round(paddle.to_tensor([2.346]), 2).item() == pytest.approx(2.35, abs=1e-6)
