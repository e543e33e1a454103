from collections import namedtuple

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.backend import get_place
from minipaddle.io.dataloader.collate import (
    default_collate_fn,
    default_convert_fn,
    to_host,
    to_tensors,
)

CPU = get_place("cpu")
Pair = namedtuple("Pair", ["a", "b"])


def plain(batch):
    """Arrays and tensors as dtype and lists."""
    if isinstance(batch, (np.ndarray, paddle.Tensor)):
        return type(batch).__name__, batch.dtype.name, batch.tolist()
    if isinstance(batch, dict):
        return {key: plain(value) for key, value in batch.items()}
    return [plain(value) for value in batch] if isinstance(batch, list) else batch


@pytest.mark.parametrize(
    ("samples", "batch"),
    [
        ([1, 2], ("ndarray", "int64", [1, 2])),
        ([0.5, 2.0], ("ndarray", "float64", [0.5, 2.0])),
        ([True, False], ("ndarray", "bool", [True, False])),
        ([np.float32(1), np.float32(2)], ("ndarray", "float32", [1.0, 2.0])),
        ([np.zeros(2, "int8")] * 2, ("ndarray", "int8", [[0, 0], [0, 0]])),
        ([np.array(3), np.array(4)], ("ndarray", "int64", [3, 4])),
        ([paddle.ones([1])] * 2, ("Tensor", "float32", [[1.0], [1.0]])),
        (["a", "b"], ["a", "b"]),
        ([b"a", b"b"], [b"a", b"b"]),
        ([(1, "a"), (2, "b")], [("ndarray", "int64", [1, 2]), ["a", "b"]]),
        ([Pair(1, 2), Pair(3, 4)], [("ndarray", "int64", [1, 3]), ("ndarray", "int64", [2, 4])]),
        ([{"x": [1]}, {"x": [2]}], {"x": [("ndarray", "int64", [1, 2])]}),
    ],
)
def test_samples_are_stacked_field_by_field(samples, batch):
    assert plain(default_collate_fn(samples)) == batch


def test_stacking_copies_and_keeps_the_shape():
    arrays = [np.random.rand(2, 0, 3), np.random.rand(2, 0, 3)]
    assert default_collate_fn(arrays).shape == (2, 2, 0, 3)
    rows = list(np.arange(6.0).reshape(2, 3))
    batch = default_collate_fn(rows)
    batch[:] = 0
    assert rows[1].tolist() == [3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("samples", "error", "text"),
    [
        ([np.ones(2), np.ones(3)], ValueError, r"sample 1 \[3\]"),
        ([np.ones((1, 2)), np.ones((2, 2))], ValueError, "one shape"),
        ([np.ones(2), 3], ValueError, "one shape"),
        ([(1, 2), (1,)], ValueError, "numbers of fields; sample 1"),
        ([{"a": 1}, {"b": 1}], ValueError, "keys; sample 1"),
        ([{"a": 1}, 3], ValueError, "keys; sample 1"),
        ([None, None], TypeError, "NoneType"),
        ([{1, 2}], TypeError, "set"),
    ],
)
def test_what_cannot_be_stacked_is_named(samples, error, text):
    with pytest.raises(error, match=text):
        default_collate_fn(samples)


def test_converting_makes_structures_plain():
    array = np.ones(2)
    found = default_convert_fn((array, {"a": (1, "text")}, b"raw"))
    assert found[0] is array
    assert found[1:] == [{"a": [1, "text"]}, b"raw"]


def test_tensors_lie_on_memory_that_nobody_else_holds():
    array = np.ones(2, np.float32)
    own, copy = to_tensors(array, CPU, True), to_tensors(array, CPU, False)
    array[0] = 5
    assert (own.tolist(), copy.tolist()) == ([5.0, 1.0], [1.0, 1.0])
    assert own.stop_gradient
    array.flags.writeable = False
    assert not np.shares_memory(to_tensors(array, CPU, True).data, array)


def test_structures_become_lists_and_other_things_stay():
    found = to_tensors((np.ones(1), {"a": "text", "b": 3}, None), CPU, True)
    assert isinstance(found, list)
    assert (found[1], found[2]) == ({"a": "text", "b": 3}, None)


def test_foreign_byte_order_is_turned():
    assert to_tensors(np.array([1, 2], ">i4"), CPU, True).tolist() == [1, 2]


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match="object"):
        to_tensors(np.array([None]), CPU, True)


def test_a_tensor_loses_its_graph():
    x = paddle.ones([2], dtype="float32")
    x.stop_gradient = False
    assert to_tensors(x * 2, CPU, True).stop_gradient


def test_leaving_a_process_takes_arrays():
    found = to_host((paddle.ones([1]), {"a": [paddle.zeros([1])]}, "text"))
    assert isinstance(found[0], np.ndarray)
    assert isinstance(found[1]["a"][0], np.ndarray)
    assert found[2] == "text"
