"""Tensors joined into one."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.functions import joining
from tests.imperative.functions.rearranging import check


def three(x):
    """Several operands out of one: parts of it, one of them twice."""
    return [x, x[::-1], x] if x.ndim else [x, x]


JOINTS = {
    f"{name} of {shape}": (
        lambda x, name=name: getattr(joining, name)(three(x)),
        lambda x, name=name: getattr(np, name.replace("row_stack", "vstack"))(three(x)),
        shape,
    )
    for name in ("hstack", "vstack", "row_stack", "dstack", "column_stack", "stack")
    for shape in ((), (3,), (2, 3), (2, 3, 2), (0, 3))
} | {
    f"stack at {axis}": (
        lambda x, axis=axis: joining.stack(three(x), axis),
        lambda x, axis=axis: np.stack(three(x), axis),
        (2, 3),
    )
    for axis in (1, 2, -1, -3)
}


@pytest.mark.parametrize("name", JOINTS)
def test_values_and_gradients_are_those_of_numpy(name):
    check(*JOINTS[name])


def test_dtypes_meet_at_the_wider_one():
    half, single = paddle.ones([2], "float16"), paddle.ones([2], "float32")
    for out in (joining.concat([half, single]), joining.stack([single, half])):
        assert out.dtype == np.float32 and (out.numpy() == 1).all()
    ints = paddle.ones([2], "int64")
    assert joining.concat([ints, half]).dtype == np.float16


def test_an_axis_may_be_a_tensor():
    x = paddle.ones([2, 3])
    x.stop_gradient = False
    out = joining.concat((x, x), paddle.to_tensor(1))
    assert out.shape == [2, 6]
    out.sum().backward()
    assert (x.grad.numpy() == 2).all()
    assert joining.stack([x, x], paddle.to_tensor(-1)).shape == [2, 3, 2]


REFUSED = {
    "axis": (lambda x: joining.stack([x, x], 3), ValueError, ("stack: axis 3", "[-3, 2]")),
    "shapes": (lambda x: joining.stack([x, x[0]]), ValueError, ("[[2, 3], [3]]", "one shape")),
    "no list": (lambda x: joining.stack(x), TypeError, ("stack: x", "Tensor")),
    "nothing": (lambda x: joining.hstack([]), TypeError, ("hstack: x", "[]")),
    "item": (lambda x: joining.vstack([x, 1.0]), TypeError, ("vstack: x", "float")),
    "ranks": (lambda x: joining.column_stack([x[0], x]), ValueError, ("[3, 1]", "[2, 3]")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error) as caught:
        call(paddle.ones([2, 3]))
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"
