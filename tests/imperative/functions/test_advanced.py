"""``x[...]`` with arrays of indices and masks, read and written, against NumPy."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.tensor import Tensor, to_tensor
from tests.ops.samples.sample import values

A, B = np.array([1, 0, -1, 1]), np.array([[0], [2]])
ROWS = np.array([True, False])
BLOCK = np.array([[True, False, True], [False, False, True]])
ALL = np.arange(24).reshape(2, 3, 4) % 5 == 0

# Of an array of shape [2, 3, 4].
INDICES = {
    "rows": (A,),
    "rows of rank 2": (B % 2,),
    "list": ([1, 0],),
    "empty list": ([],),
    "nested list": ([[1, 0], [0, 0]],),
    "bool list": ([True, False],),
    "second axis": (slice(None), A),
    "last axis": (..., A),
    "two neighbours": (A, B),
    "two last": (..., B, A),
    "all axes": (A, B, A),
    "slice between": (A, slice(None), A),
    "part between": (A, slice(1, None), B),
    "backwards between": (A, slice(None, None, -1), B),
    "dots between": (A, ..., B),
    "dots of no axis between": (A, A, ..., B),
    "None between": (A, None, B),
    "None in front": (None, A),
    "None behind": (A, None),
    "slice and None": (slice(0, 1), None, A, A),
    "int in front": (0, A),
    "int behind": (A, 0),
    "int before slice": (0, slice(None), A),
    "int after slice": (A, slice(None), 0),
    "int, None": (slice(None), A, None, 1),
    "int in the middle": (slice(None), 0, A),
    "negative int": (-1, B),
    "NumPy int": (np.int64(1), A),
    "0-d array": (np.array(1), A),
    "mask of rows": (ROWS,),
    "mask of rank 2": (BLOCK,),
    "mask of rank 3": (ALL,),
    "mask that is False": (np.zeros((2, 3), bool),),
    "mask, then slice": (BLOCK, slice(1, 3)),
    "mask behind": (slice(None), BLOCK.T[:, :1] & np.ones(4, bool)),
    "mask and ints": (ROWS, [0]),
    "mask, slice, mask": (
        np.array([True, True]),
        slice(None),
        np.array([True, False, True, False]),
    ),
    "True": (True,),
    "False": (False,),
    "True and array": (True, A),
    "array and True": (slice(None), True, A),
    "no rows": (np.zeros((0,), int),),
    "of none": (np.zeros((2, 0), int), 0),
    "int32": (A.astype(np.int32),),
    "uint8": (abs(A).astype(np.uint8),),
}


def put(entry, place):
    return to_tensor(entry, place=place) if isinstance(entry, np.ndarray) and entry.ndim else entry


def same(x, right):
    assert x.shape == list(right.shape) and x.dtype == right.dtype
    np.testing.assert_array_equal(x.numpy(), right)


@pytest.mark.parametrize("name", INDICES)
def test_reading(name, place):
    array, index = values((2, 3, 4)), INDICES[name]
    right = array[index]
    for laid_out in (array, np.asfortranarray(array)):
        x = to_tensor(laid_out, place=place)
        same(x[tuple(put(entry, place) for entry in index)], right)
        same(x[index], right)
        turned = to_tensor(array.T.copy(), place=place).T
        same(turned[index], right)
        if len(index) == 1:
            same(x[index[0]], right)


def test_a_part_read_is_a_copy(place):
    x = to_tensor(values((3, 2)), place=place)
    part = x[[0, 1, 2]]
    part.add_(1.0)
    assert x.inplace_version == 0
    same(x, values((3, 2)))


@pytest.mark.parametrize("name", INDICES)
def test_gradient_of_reading(name, place):
    array, index = values((2, 3, 4)), INDICES[name]
    x = to_tensor(array, place=place, stop_gradient=False)
    out = x[index]
    weight = values(tuple(out.shape), 3)
    seed = to_tensor(weight, place=place, stop_gradient=False)
    (first,) = paddle.grad(out, [x], [seed], create_graph=True)
    right = np.zeros(array.shape)
    np.add.at(right, index, weight)
    np.testing.assert_allclose(first.numpy(), right, rtol=1e-14, atol=1e-14)
    (second,) = paddle.grad(first, [seed], [to_tensor(array, place=place)])
    same(second, array[index])


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("kind", ["whole", "broadcast", "number"])
def test_writing(name, kind, place):
    index, right = INDICES[name], values((2, 3, 4))
    part = right[index]
    value = values(part.shape, 5) if kind == "whole" else values(part.shape[-1:], 5)
    value = 0.5 if kind == "number" else value
    for turned in (False, True):
        right = values((2, 3, 4))
        x = to_tensor(right.T.copy() if turned else right, place=place)
        x = x.T if turned else x
        x[index] = to_tensor(value, place=place) if kind == "whole" else value
        right[index] = value
        same(x, right)
        assert x.inplace_version == 1


@pytest.mark.parametrize("name", INDICES)
def test_gradients_of_writing(name, place):
    index, array = INDICES[name], values((2, 3, 4))
    value = values(array[index].shape, 5)
    x = to_tensor(array, place=place, stop_gradient=False)
    v = to_tensor(value, place=place, stop_gradient=False)
    y = x * 1.0
    y[index] = v
    seed = values((2, 3, 4), 7)
    paddle.autograd.backward([y], [to_tensor(seed, place=place)])
    # Which value is where afterwards: -1 for those of x.
    number = np.full(array.shape, -1)
    number[index] = np.arange(value.size).reshape(value.shape)
    same(x.grad, np.where(number < 0, seed, 0.0))
    right = np.zeros(value.size)
    right[number[number >= 0]] = seed[number >= 0]
    same(v.grad, right.reshape(value.shape))


def test_a_write_follows_views(place):
    x = to_tensor(np.ones((3, 4)), place=place, stop_gradient=False)
    base = x * 1.0
    row, column = base[1], base[:, 2]
    base[[1, 2], [2, 3]] = to_tensor(np.array([5.0, 7.0]), place=place)
    assert row.tolist() == [1.0, 1.0, 5.0, 1.0] and column.tolist() == [1.0, 5.0, 1.0]
    (row.sum() + column.sum()).backward()
    right = np.zeros((3, 4))
    right[1] += 1
    right[:, 2] += 1
    right[1, 2] = 0
    same(x.grad, right)


def test_a_write_to_a_view_reaches_the_owner(place):
    x = to_tensor(np.ones((3, 4)), place=place, stop_gradient=False)
    value = to_tensor(np.array([2.0, 3.0]), place=place, stop_gradient=False)
    base = x * 1.0
    view = base.T[1:]
    view[[0, 2], 1] = value
    right = np.ones((3, 4))
    right[1, [1, 3]] = [2.0, 3.0]
    same(base, right)
    (base * base).sum().backward()
    same(value.grad, np.array([4.0, 6.0]))
    same(x.grad, np.where(right == 1, 2.0, 0.0))


def test_a_basic_part_before_the_array_is_written_through(place):
    x = to_tensor(np.zeros((4, 5)), place=place)
    x[1:3, [0, 4]] = to_tensor(np.array([1.0, 2.0]), place=place)
    right = np.zeros((4, 5))
    right[1:3, [0, 4]] = [1.0, 2.0]
    same(x, right)
    assert x.inplace_version == 1


def test_a_value_that_overlaps_what_is_written(place):
    right = np.arange(6.0)
    x = to_tensor(right, place=place)
    x[[1, 2, 3, 4, 5]] = x[:5]
    right[1:] = np.arange(5.0)
    same(x, right)


def test_of_several_values_for_one_position_the_last_one_stays(place):
    x = to_tensor(np.zeros(3), place=place, stop_gradient=False) * 1.0
    value = to_tensor(np.array([1.0, 2.0, 3.0]), place=place, stop_gradient=False)
    x[[1, 0, 1]] = value
    assert x.tolist() == [2.0, 3.0, 0.0]
    x.sum().backward()
    assert value.grad.tolist() == [0.0, 1.0, 1.0]


def test_an_index_that_is_written_to_afterwards_changes_no_gradient(place):
    x = to_tensor(np.ones(3), place=place, stop_gradient=False)
    index = to_tensor(np.array([0, 2]), place=place)
    out = x[index]
    y = x * 1.0
    y[index] = 0.0
    index[0] = 1
    out.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0]
    x.clear_grad()
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


def test_values_of_another_dtype_are_converted(place):
    x = to_tensor(np.zeros(3, np.float32), place=place)
    x[[0, 1]] = to_tensor(np.array([1, 2]), place=place)
    x[[2]] = [3]
    assert x.dtype == np.float32 and x.tolist() == [1.0, 2.0, 3.0]


def test_a_leaf_that_wants_a_gradient_is_not_written(place):
    x = to_tensor(np.zeros(3), place=place, stop_gradient=False)
    with pytest.raises(ValueError, match="leaf"):
        x[[0]] = 1.0
    assert x.inplace_version == 0
    with paddle.no_grad():
        x[[0]] = 1.0
    assert x.tolist() == [1.0, 0.0, 0.0]


def test_a_0d_int_tensor_is_an_int(place):
    x = to_tensor(np.arange(3.0), place=place)
    part = x[to_tensor(np.array(1), place=place)]
    assert part.shape == [] and part.item() == 1.0 and part.version is x.version
    assert x[to_tensor(np.array([1]), place=place)].shape == [1]


REFUSED = {
    "range": (([0, 2],), IndexError, "index 2 is out of range for axis 0 of length 2"),
    "negative": ((0, [-4]), IndexError, "index -4 is out of range for axis 1 of length 3"),
    "last": ((..., [9]), IndexError, "index 9 is out of range for axis 2 of length 4"),
    "int": ((5, [0]), IndexError, "5"),
    "too many": (([0], 0, 0, 0), IndexError, r"\[2, 3, 4\].*4 axes"),
    "dots": ((..., [0], ...), IndexError, r"more than one"),
    "mask": ((BLOCK.T,), IndexError, r"mask of shape \[3, 2\].*\[2, 3\]"),
    "mask behind": ((0, np.ones(2, bool)), IndexError, r"mask of shape \[2\].*axis 1.*\[3\]"),
    "broadcast": (([0, 1], [0, 1, 2]), IndexError, r"\[2\].*\[3\]"),
    "float": (1.0, TypeError, "float"),
    "floats": (([1.5],), TypeError, "list"),
    "float array": ((np.ones(2),), TypeError, "ndarray of float64"),
    "text": ("a", TypeError, "str"),
    "text and array": (([0], "a"), TypeError, "str"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, place):
    index, error, words = REFUSED[name]
    x = to_tensor(values((2, 3, 4)), place=place)
    with pytest.raises(error, match=words):
        x[index]
    with pytest.raises(error, match=words):
        x[index] = 1.0
    same(x, values((2, 3, 4)))
    assert x.inplace_version == 0


def test_a_float_tensor_is_no_index(place):
    x = to_tensor(values((2, 3)), place=place)
    with pytest.raises(TypeError, match="Tensor of float64"):
        x[x]
    with pytest.raises(ValueError, match="shape"):
        x[[0, 1]] = to_tensor(np.ones(2), place=place)


INDEX_PUTS = {
    "rows": (A,),
    "two": (A, np.array([1, 0, -1, 1])),
    "broadcast": (B % 2, A),
    "mask": (BLOCK,),
    "mask and ints": (ROWS, np.array([0, 2])),
}


@pytest.mark.parametrize("name", INDEX_PUTS)
@pytest.mark.parametrize("accumulate", [False, True])
def test_index_put(name, accumulate, place):
    index, array = INDEX_PUTS[name], values((2, 3))
    at = tuple(to_tensor(one, place=place) for one in index)
    value = values(array[index].shape, 3)
    right = array.copy()
    if accumulate:
        np.add.at(right, index, value)
    else:
        right[index] = value
    x = to_tensor(array, place=place)
    v = to_tensor(value, place=place, stop_gradient=False)
    out = x.index_put(at, v, accumulate)
    np.testing.assert_allclose(out.numpy(), right, rtol=1e-14)
    same(x, array)
    out.sum().backward()
    if accumulate:
        same(v.grad, np.ones(value.shape))
    written = x.index_put_(at, v.detach(), accumulate)
    assert written is x
    np.testing.assert_allclose(x.numpy(), right, rtol=1e-14)


def test_index_put_is_refused():
    x = paddle.ones([2, 3])
    for wrong in ([], paddle.to_tensor([0]), ([0],)):
        with pytest.raises(TypeError, match="index_put: indices must be a tuple"):
            x.index_put(wrong, 1.0)


def test_index_put_takes_0d_indices():
    x = paddle.zeros([3]).index_put((paddle.to_tensor(1),), 2.0)
    assert isinstance(x, Tensor) and x.tolist() == [0.0, 2.0, 0.0]
