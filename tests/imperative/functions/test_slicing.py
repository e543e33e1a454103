"""Parts of a tensor."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.functions import linalg, slicing
from tests.imperative.functions.rearranging import check

PARTS = {
    "unbind": (slicing.unbind, list, (2, 3)),
    "unbind, last": (lambda x: x.unbind(-1), lambda x: list(x.T), (2, 3)),
    "unbind a vector": (slicing.unbind, list, (3,)),
    "unbind nothing": (slicing.unbind, list, (0, 3)),
    "unbind, empty": (slicing.unbind, list, (2, 0)),
    "split": (lambda x: x.split(2), lambda x: np.split(x, 2), (4, 3)),
    "split, lengths": (lambda x: x.split([1, 3], -1), lambda x: np.split(x, [1], 1), (2, 4)),
    "split, rest": (lambda x: x.split((1, -1, 1), 1), lambda x: np.split(x, [1, 4], 1), (2, 5)),
    "split, nothing": (lambda x: x.split([0, 3]), lambda x: np.split(x, [0]), (3,)),
    "split, empty": (lambda x: x.split(2), lambda x: np.split(x, 2), (0, 3)),
    "split, other axis": (lambda x: x.split(3, 1), lambda x: np.split(x, 3, 1), (0, 3)),
    "chunk": (lambda x: x.chunk(3, 1), lambda x: np.split(x, 3, 1), (2, 6)),
    "tensor_split": (lambda x: x.tensor_split(3), lambda x: np.array_split(x, 3), (5, 2)),
    "tensor_split, more": (lambda x: x.tensor_split(3), lambda x: np.array_split(x, 3), (2,)),
    "tensor_split, at": (
        lambda x: x.tensor_split([1, -1], 1),
        lambda x: np.array_split(x, [1, -1], 1),
        (2, 4),
    ),
    "tensor_split, past": (
        lambda x: x.tensor_split((2, 9)),
        lambda x: np.array_split(x, [2, 9]),
        (3,),
    ),
    "unstack": (lambda x: x.unstack(1, 3), lambda x: list(x.T), (2, 3)),
    "hsplit": (lambda x: x.hsplit(2), lambda x: np.hsplit(x, 2), (2, 4)),
    "hsplit a vector": (lambda x: slicing.hsplit(x, [1]), lambda x: np.hsplit(x, [1]), (3,)),
    "vsplit": (lambda x: x.vsplit([1, 2]), lambda x: np.vsplit(x, [1, 2]), (4, 2)),
    "dsplit": (lambda x: x.dsplit(3), lambda x: np.dsplit(x, 3), (2, 1, 3)),
    "slice": (
        lambda x: x.slice([0, -1], [1, -3], [9, -1]),
        lambda x: x[1:9, :, -3:-1],
        (3, 2, 4),
    ),
    "slice nothing": (lambda x: x.slice(0, 2, 1), lambda x: x[2:1], (3, 2)),
    "slice no axis": (lambda x: x.slice([], [], []), lambda x: x, ()),
    "slice, empty": (lambda x: x.slice([1], [0], [2]), lambda x: x[:, :2], (0, 3)),
    "strided_slice": (
        lambda x: x.strided_slice([1, 0], [4, 0], [0, 9], [-2, 2]),
        lambda x: x[0:9:2, 4:0:-2],
        (3, 5),
    ),
    "narrow": (lambda x: x.narrow(1, -3, 2), lambda x: x[:, -3:-1], (2, 4)),
    "narrow nothing": (lambda x: x.narrow(0, 2, 0), lambda x: x[2:2], (2, 4)),
    "crop": (lambda x: x.crop([1, 2], [1, 0]), lambda x: x[1:2, :2], (3, 4)),
    "crop, rest": (lambda x: x.crop([-1, 2], [1, 1]), lambda x: x[1:, 1:3], (3, 4)),
    "crop nothing": (lambda x: x.crop(), lambda x: x, (3, 4)),
    "crop from": (lambda x: x.crop(offsets=[0, 3]), lambda x: x[:, 3:], (3, 4)),
}
for offset in (-9, -2, -1, 0, 1, 2, 9):
    for shape in ((3, 4), (4, 2), (3, 3)):
        PARTS[f"diagonal {offset} of {shape}"] = (
            lambda x, offset=offset: x.diagonal(offset),
            lambda x, offset=offset: np.diagonal(x, offset),
            shape,
        )
    PARTS[f"diagonal {offset}, axes"] = (
        lambda x, offset=offset: x.diagonal(offset, -1, 0),
        lambda x, offset=offset: np.diagonal(x, offset, -1, 0),
        (3, 2, 4),
    )
PARTS["diagonal, empty"] = (linalg.diagonal, np.diagonal, (0, 3))


@pytest.mark.parametrize("name", PARTS)
def test_a_part_has_the_values_and_gradients_of_numpy(name):
    check(*PARTS[name])


@pytest.mark.parametrize("name", [name for name in PARTS if "axes" not in name])
def test_a_part_shares_memory_and_version(name):
    function, _, shape = PARTS[name]
    x = paddle.ones(shape)
    outs = function(x)
    for out in outs if isinstance(outs, list) else [outs]:
        if out.size:
            assert out.version is x.version and np.shares_memory(out.data, x.data)


def test_a_write_goes_through_a_part():
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    y = x * 2.0
    with pytest.raises(ValueError, match="several views"):
        y.split(2)[0].multiply_(3.0)
    y[0:1].multiply_(paddle.to_tensor(3.0))
    y.diagonal()[1] = 0.0
    assert y.tolist() == [[6.0, 6.0], [2.0, 0.0]]
    (y * y).sum().backward()
    assert x.grad.tolist() == [[72.0, 72.0], [8.0, 0.0]]


def test_an_axis_may_be_a_tensor():
    x = paddle.ones([2, 4])
    assert [part.shape for part in x.split(2, paddle.to_tensor(1))] == [[2, 2], [2, 2]]
    assert len(x.unbind(paddle.to_tensor(-1))) == 4


REFUSED = {
    "unbind": (lambda x: x.unbind(2), ("unbind", "axis 2", "rank 2", "[-2, 1]")),
    "unbind 0-d": (lambda x: x[0, 0].unbind(), ("unbind", "axis 0", "0-d")),
    "split axis": (lambda x: x.split(2, -3), ("split: axis -3", "rank 2", "[-2, 1]")),
    "split number": (lambda x: x.split(2, 1), ("axis 1", "3 elements", "2")),
    "split none": (lambda x: x.split(0), ("axis 0", "0 parts")),
    "split lengths": (lambda x: x.split([1, 3], 1), ("3 elements", "[1, 3]")),
    "split two rests": (lambda x: x.split([-1, -1], 1), ("3 elements", "[-1, -1]")),
    "split negative": (lambda x: x.split([4, -1], 1), ("3 elements", "[4, -1]")),
    "tensor_split": (lambda x: x.tensor_split(0), ("num_or_indices", "0")),
    "slice axis": (lambda x: x.slice([2], [0], [1]), ("axes 2", "rank 2", "[-2, 1]")),
    "slice twice": (lambda x: x.slice([0, -2], [0, 0], [1, 1]), ("axes", "twice")),
    "slice lengths": (lambda x: x.slice([0], [0, 1], [1]), ("starts [0, 1]", "axes [0]")),
    "stride": (lambda x: x.strided_slice([0], [0], [1], [0]), ("step",)),
    "narrow": (lambda x: x.narrow(1, 2, 2), ("2 elements from 2", "length 3")),
    "narrow before": (lambda x: x.narrow(1, -4, 1), ("from -4", "length 3")),
    "crop": (lambda x: x.crop([2, 3], [1, 0]), ("[2, 3]", "[1, 0]")),
    "crop rank": (lambda x: x.crop([2]), ("2 entries", "[2]")),
    "diagonal axis": (lambda x: x.diagonal(0, 0, 2), ("axis2", "2 axes", "got 2")),
    "diagonal one": (lambda x: x.diagonal(0, 1, -1), ("axis1 and axis2 must differ", "1 and -1")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, words = REFUSED[name]
    with pytest.raises(ValueError) as caught:
        call(paddle.ones([2, 3]))
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.unstack(0, 3), "length 2; got num=3"),
        (lambda x: x.vsplit(1), r"vsplit: x must have 2 axes or more; got \[2\]"),
        (lambda x: x.dsplit(1), "dsplit: x must have 3 axes"),
        (lambda x: x.sum().hsplit(1), "hsplit: x must have 1 axes"),
    ],
)
def test_splits_that_do_not_fit(call, text):
    with pytest.raises(ValueError, match=text):
        call(paddle.ones([2]))
