"""Non-zeros, unique values, intervals; and NaN in the order of values."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.dtype import FLOAT_NAMES
from minipaddle.imperative.functions import search

NAN = np.nan


def test_nonzero_as_a_table_and_as_columns():
    host = np.array([[[0, 1], [2, 0]], [[0, 0], [0, NAN]]])
    x = paddle.to_tensor(host)
    table, columns = x.nonzero(), search.nonzero(x, as_tuple=True)
    assert table.dtype == np.int64
    np.testing.assert_array_equal(table.numpy(), np.argwhere(host))
    assert type(columns) is tuple and len(columns) == 3
    for one, right in zip(columns, np.nonzero(host), strict=True):
        assert one.shape == [3]
        np.testing.assert_array_equal(one.numpy(), right)


def test_nonzero_of_a_number_and_of_nothing():
    assert search.nonzero(paddle.to_tensor(2.0)).shape == [1, 0]
    assert search.nonzero(paddle.to_tensor(0.0)).shape == [0, 0]
    assert search.nonzero(paddle.to_tensor(2.0), as_tuple=True) == ()
    assert search.nonzero(paddle.zeros([2, 0])).shape == [0, 2]
    with pytest.raises(TypeError, match="Tensor"):
        search.nonzero(1.5)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_unique_as_numpy_has_it(axis, dtype):
    host = np.random.default_rng(5).integers(0, 2, (6, 7)).astype(dtype)
    found = search.unique(paddle.to_tensor(host), True, True, True, axis)
    right = np.unique(host, True, True, True, axis)
    for one, wanted in zip(found, right, strict=True):
        assert one.dtype == wanted.dtype and one.stop_gradient
        np.testing.assert_array_equal(one.numpy(), wanted.reshape(one.shape))
    assert [one.ndim for one in found] == [1 if axis is None else 2, 1, 1, 1]
    np.testing.assert_array_equal(
        search.unique(paddle.to_tensor(host), axis=axis).numpy(), right[0]
    )


def test_unique_returns_what_is_asked_for_in_order():
    x = paddle.to_tensor([3.0, 1.0, 3.0])
    values, counts = x.unique(return_counts=True, dtype="int32")
    assert values.tolist() == [1.0, 3.0] and counts.tolist() == [1, 2]
    assert counts.dtype == np.int32 and values.dtype == np.float32
    index, inverse = search.unique(x, return_index=True, return_inverse=True)[1:]
    assert index.tolist() == [1, 0] and inverse.tolist() == [1, 0, 1]


def test_unique_consecutive():
    x = paddle.to_tensor([1, 1, 2, 2, 1])
    assert x.unique_consecutive().tolist() == [1, 2, 1]
    values, inverse, counts = search.unique_consecutive(x, True, True)
    assert inverse.tolist() == [0, 0, 1, 1, 2] and counts.tolist() == [2, 2, 1]
    rows = paddle.to_tensor([[1, 2], [1, 2], [3, 4], [1, 2]])
    values, counts = search.unique_consecutive(rows, return_counts=True, axis=0, dtype="int32")
    assert values.tolist() == [[1, 2], [3, 4], [1, 2]]
    assert counts.tolist() == [2, 1, 1] and counts.dtype == np.int32


@pytest.mark.parametrize("function", [search.unique, search.unique_consecutive])
def test_unique_refuses(function):
    with pytest.raises(ValueError, match="dtype must be int32 or int64; got 'float32'"):
        function(paddle.ones([2]), dtype="float32")
    with pytest.raises(ValueError, match="axis"):
        function(paddle.ones([2]), axis=1)


@pytest.mark.parametrize("dtype", FLOAT_NAMES)
def test_each_nan_is_a_value_of_its_own(dtype):
    x = paddle.to_tensor([NAN, 1.0, NAN, 1.0], dtype)
    values, counts = search.unique(x, return_counts=True)
    assert values.dtype == x.dtype
    np.testing.assert_array_equal(values.numpy().astype(float), [1.0, NAN, NAN])
    assert counts.tolist() == [2, 1, 1]


@pytest.mark.parametrize("dtype", FLOAT_NAMES)
def test_nan_is_the_largest(dtype):
    x = paddle.to_tensor([2.0, NAN, 1.0, NAN, np.inf], dtype)
    assert search.argsort(x, stable=True).tolist() == [2, 0, 4, 1, 3]
    assert search.argsort(x, descending=True, stable=True).tolist() == [1, 3, 4, 0, 2]
    assert search.argmax(x).item() == 1 and search.argmin(x).item() == 1
    edges = paddle.to_tensor([1.0, 2.0, NAN], dtype)
    assert search.searchsorted(edges, x).tolist() == [1, 2, 0, 2, 2]
    assert search.count_nonzero(x).item() == 5


@pytest.mark.parametrize("right", [False, True])
def test_bucketize(right):
    edges, x = np.array([1.0, 3.0, 5.0]), np.array([[0.0, 1.0, 2.0], [5.0, 6.0, 3.0]])
    found = paddle.to_tensor(x).bucketize(paddle.to_tensor(edges), out_int32=True, right=right)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found.numpy(), np.digitize(x, edges, right=not right))


def test_bucketize_wants_edges_on_one_axis():
    with pytest.raises(
        ValueError, match=r"bucketize: sorted_sequence must have one axis.*\[1, 2\]"
    ):
        search.bucketize(paddle.ones([2]), paddle.ones([1, 2]))
    with pytest.raises(TypeError, match="sorted_sequence"):
        search.bucketize(paddle.ones([2]), "12")


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("descending", [False, True])
def test_argsort_sorts_what_is_large(descending, stable):
    host = np.random.default_rng(1).integers(0, 50, (300, 40)).astype(np.float32)
    order = search.argsort(paddle.to_tensor(host), 0, descending, stable).numpy()
    np.testing.assert_array_equal(np.sort(order, 0), np.tile(np.arange(300)[:, None], 40))
    steps = np.diff(np.take_along_axis(host, order, 0), axis=0)
    assert (steps <= 0).all() if descending else (steps >= 0).all()
    if stable:
        assert (np.diff(order, axis=0)[steps == 0] > 0).all()
