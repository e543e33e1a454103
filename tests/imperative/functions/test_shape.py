"""Views made of reshape and transpose."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.functions import broadcasting, shape
from minipaddle.imperative.tensor import Tensor
from tests.imperative.functions.rearranging import check

MATRIX, CUBE, ROW = (2, 3), (2, 3, 4), (1, 3, 1)

VIEWS = {
    "t": (shape.t, np.transpose, MATRIX),
    "t of a vector": (shape.t, lambda x: x, (3,)),
    "t of 0-d": (shape.t, lambda x: x, ()),
    "T": (lambda x: x.T, lambda x: x.T, CUBE),
    "T, empty": (lambda x: x.T, lambda x: x.T, (0, 3)),
    "mT": (lambda x: x.mT, np.matrix_transpose, CUBE),
    "swapaxes": (lambda x: x.swapaxes(0, -1), lambda x: x.swapaxes(0, -1), CUBE),
    "moveaxis": (lambda x: x.moveaxis(0, -1), lambda x: np.moveaxis(x, 0, -1), CUBE),
    "moveaxis, several": (
        lambda x: shape.moveaxis(x, [2, 0], [0, 1]),
        lambda x: np.moveaxis(x, [2, 0], [0, 1]),
        CUBE,
    ),
    "moveaxis, 4 axes": (
        lambda x: shape.moveaxis(x, [0, -1], [-1, 1]),
        lambda x: np.moveaxis(x, [0, -1], [-1, 1]),
        (2, 1, 3, 2),
    ),
    "squeeze": (shape.squeeze, np.squeeze, ROW),
    "squeeze one": (lambda x: x.squeeze(-1), lambda x: np.squeeze(x, -1), ROW),
    "squeeze two": (lambda x: x.squeeze([0, 2]), np.squeeze, ROW),
    "squeeze another": (lambda x: x.squeeze((0, 1)), lambda x: x[0], ROW),
    "squeeze 0-d": (lambda x: x.squeeze(-1), lambda x: x, ()),
    "squeeze, empty": (lambda x: x.squeeze(1), lambda x: x[:, 0], (0, 1)),
    "unsqueeze": (lambda x: x.unsqueeze(-1), lambda x: x[..., None], MATRIX),
    "unsqueeze, several": (lambda x: x.unsqueeze([0, 2]), lambda x: x[None, :, None], MATRIX),
    "unsqueeze, one by one": (lambda x: x.unsqueeze([-1, -2]), lambda x: x[..., None, None], (2,)),
    "unsqueeze 0-d": (lambda x: x.unsqueeze(0), lambda x: x[None], ()),
    "unsqueeze, empty": (lambda x: x.unsqueeze(1), lambda x: x[:, None], (0, 3)),
    "flatten": (shape.flatten, np.ravel, CUBE),
    "ravel": (lambda x: x.ravel(), np.ravel, CUBE),
    "ravel 0-d": (shape.ravel, np.ravel, ()),
    "flatten the last": (lambda x: x.flatten(1), lambda x: x.reshape(2, 12), CUBE),
    "flatten the first": (lambda x: x.flatten(0, -2), lambda x: x.reshape(6, 4), CUBE),
    "flatten one": (lambda x: x.flatten(1, 1), lambda x: x, CUBE),
    "flatten 0-d": (shape.flatten, lambda x: x.reshape(1), ()),
    "flatten, empty": (lambda x: x.flatten(1), lambda x: x.reshape(2, 0), (2, 0, 3)),
    "unflatten": (lambda x: x.unflatten(1, [2, -1]), lambda x: x.reshape(2, 2, 3), (2, 6)),
    "unflatten, int": (lambda x: x.unflatten(-1, 3), lambda x: x.reshape(2, 3), (2, 3)),
    "unflatten, empty": (lambda x: x.unflatten(0, [2, 0]), lambda x: x.reshape(2, 0, 3), (0, 3)),
    "view": (lambda x: x.view([3, -1]), lambda x: x.reshape(3, 2), MATRIX),
    "view as": (lambda x: x.view_as(paddle.ones([6])), np.ravel, MATRIX),
    "expand as": (
        lambda x: x.expand_as(paddle.ones([2, 3, 4])),
        lambda x: np.broadcast_to(x, CUBE),
        (3, 1),
    ),
    "broadcast to": (lambda x: x.broadcast_to([2, -1]), lambda x: np.stack([x, x]), (3,)),
    "broadcast tensors": (
        lambda x: broadcasting.broadcast_tensors([x, x[0], x[:1, :1]]),
        lambda x: np.broadcast_arrays(x, x[0], x[:1, :1]),
        MATRIX,
    ),
    "meshgrid": (
        lambda x: broadcasting.meshgrid(x, x[:2], x[0]),
        lambda x: np.meshgrid(x, x[:2], x[0], indexing="ij"),
        (4,),
    ),
    "meshgrid xy": (
        lambda x: broadcasting.meshgrid([x, x[:2], x[:1]], indexing="xy"),
        lambda x: np.meshgrid(x, x[:2], x[:1]),
        (4,),
    ),
}
for rank in (1, 2, 3):
    for given in ((), (2,), (2, 3), (1, 2, 3), (0, 3), (2, 1, 2, 3)):
        VIEWS[f"at least {rank} axes of {given}"] = (
            getattr(broadcasting, f"atleast_{rank}d"),
            getattr(np, f"atleast_{rank}d"),
            given,
        )


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_has_the_values_and_gradients_of_numpy(name):
    check(*VIEWS[name])


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shares_memory_and_version(name):
    function, _, given = VIEWS[name]
    x = paddle.ones(given)
    outs = function(x)
    for out in outs if isinstance(outs, list) else [outs]:
        if out.size:
            assert out.version is x.version and np.shares_memory(out.data, x.data)


def test_a_write_goes_through_a_transpose():
    x = paddle.ones([2, 3])
    x.stop_gradient = False
    y = x * 2.0
    columns = y.T
    columns[0] = 0.0
    assert y.tolist() == [[0.0, 2.0, 2.0]] * 2
    cube = y.unsqueeze(0).transpose([-1, 0, 1])
    cube[2].multiply_(paddle.to_tensor(3.0))
    assert y.tolist() == [[0.0, 2.0, 6.0]] * 2
    y.sum().backward()
    assert x.grad.tolist() == [[0.0, 2.0, 6.0]] * 2


def test_several_inputs_come_back_as_a_list():
    x = paddle.to_tensor(1.0)
    assert [one.shape for one in broadcasting.atleast_2d(x, x)] == [[1, 1], [1, 1]]
    assert [one.shape for one in broadcasting.atleast_1d([x, x])] == [[1], [1]]


def test_an_axis_may_be_a_tensor():
    x, one = paddle.ones([1, 1, 3]), paddle.to_tensor(1)
    assert x.squeeze(one).shape == [1, 3]
    assert x.unsqueeze(paddle.to_tensor([0, 1])).shape == [1, 1, 1, 1, 3]
    assert x.flatten(one).shape == [1, 3]
    assert x.swapaxes(one, 2).shape == [1, 3, 1]


def test_broadcast_shape():
    assert broadcasting.broadcast_shape([2, 1, 3], [3, 1]) == [2, 3, 3]
    assert broadcasting.broadcast_shape([], [0]) == [0]


REFUSED = {
    "t": (lambda x: shape.t(x), ValueError, ("at most 2", "3")),
    "mT": (lambda x: x[0, 0].mT, ValueError, ("mT", "2", "1")),
    "swapaxes": (lambda x: x.swapaxes(0, 3), ValueError, ("axis1 3", "rank 3", "[-3, 2]")),
    "moveaxis": (lambda x: x.moveaxis(-4, 0), ValueError, ("source -4", "rank 3", "[-3, 2]")),
    "moveaxis twice": (lambda x: x.moveaxis([0, -3], [0, 1]), ValueError, ("source", "twice")),
    "moveaxis lengths": (lambda x: x.moveaxis([0, 1], 0), ValueError, ("[0, 1]", "[0]")),
    "squeeze": (lambda x: x.squeeze(3), ValueError, ("squeeze: axis 3", "[-3, 2]")),
    "squeeze type": (lambda x: x.squeeze(0.5), TypeError, ("axis", "0.5")),
    "unsqueeze": (lambda x: x.unsqueeze(4), ValueError, ("unsqueeze: axis 4", "[-4, 3]")),
    "flatten": (lambda x: x.flatten(3), ValueError, ("start_axis 3", "[-3, 2]")),
    "flatten order": (lambda x: x.flatten(2, 1), ValueError, ("start_axis 2", "stop_axis 1")),
    "unflatten": (lambda x: x.unflatten(1, [2, -1]), ValueError, ("[2, -1]", "length 3")),
    "unflatten axis": (lambda x: x.unflatten(5, [2]), ValueError, ("unflatten: axis 5",)),
    "view": (lambda x: x.view([5]), ValueError, ("reshape", "[2, 3, 4]")),
    "view type": (lambda x: x.view("int32"), TypeError, ("shape_or_dtype", "int32")),
    "broadcast": (
        lambda x: broadcasting.broadcast_tensors([x, x[0][0][:3]]),
        ValueError,
        ("[2, 3, 4]", "[3]", "broadcast"),
    ),
    "meshgrid rank": (lambda x: broadcasting.meshgrid(x), ValueError, ("1 axis", "[2, 3, 4]")),
    "meshgrid word": (
        lambda x: broadcasting.meshgrid(x[0, 0], indexing="yx"),
        ValueError,
        ("indexing", "'yx'", "'ij'"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error) as caught:
        call(paddle.ones([2, 3, 4]))
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"


def test_properties_are_no_methods():
    assert isinstance(Tensor.T, property) and isinstance(Tensor.mT, property)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: paddle.roll(x, 1, 0),
        lambda x: paddle.stack([x, x]),
        lambda x: paddle.concat([x, x]),
        lambda x: paddle.stack([x, x]).sum(axis=1),
        lambda x: paddle.stack([x, x]).max(axis=1),
    ],
)
def test_a_result_lies_in_memory_as_its_shape_says(function):
    """So that what reshape makes of it is a view whatever lay before."""
    x = paddle.to_tensor(np.arange(6.0).reshape(2, 3)).transpose([1, 0])
    y = function(x)
    flat = y.reshape([-1])
    y.zero_()
    assert flat.tolist() == [0.0] * y.size


def test_lengths_that_are_not_in_one_list_are_explained():
    with pytest.raises(TypeError, match="one list"):
        paddle.ones([2, 3]).view(3, 2)
    with pytest.raises(TypeError, match=r"dtype must be.*one list"):
        paddle.randn(2, 3)
