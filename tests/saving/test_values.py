"""From what a file describes to values."""

import io
import pickle

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.saving import CheckpointError
from tests.device.plug import plugged_in
from tests.saving.pickles import load


def dumped(value):
    return pickle.dumps(value, protocol=4)


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def test_depth_is_limited():
    assert load(dumped(nested(100))) == nested(100)
    with pytest.raises(CheckpointError, match="nested deeper than 100 levels"):
        load(dumped(nested(101)))


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_dtypes_that_tensors_do_not_have_stay_arrays(dtype):
    found = load(dumped([np.arange(3, dtype=dtype), np.arange(3)]))
    assert type(found[0]) is np.ndarray and type(found[1]) is paddle.Tensor


def test_only_arrays_with_a_name_are_tensors_if_one_has():
    found = load(dumped([np.arange(3), ("name", np.arange(2)), (1, np.arange(2))]))
    assert type(found[0]) is np.ndarray and type(found[1]) is paddle.Tensor
    assert type(found[2]) is tuple


def test_shared_containers_stay_shared():
    """Sixty lists of two, each twice the one before: not 2**60 lists."""
    value = [np.arange(2)]
    for _ in range(60):
        value = [value, value]
    found = load(dumped(value))
    assert found[0] is found[1]


def test_long_bytes_are_read_when_they_are_values():
    assert load(dumped({"a": b"x" * 10_000, "b": [b"y" * 5000]})) == {
        "a": b"x" * 10_000,
        "b": [b"y" * 5000],
    }


def test_tensors_of_another_device_are_saved_and_come_to_the_current_one():
    file = io.BytesIO()
    with plugged_in():
        paddle.save({"w": paddle.to_tensor([1.0, 2.0], place="xpu:0")}, file)
        paddle.set_device("xpu:0")
        found = load(file.getvalue())["w"]
        assert found.place is paddle.device.get_place("xpu:0") and found.tolist() == [1.0, 2.0]
    assert load(file.getvalue())["w"].place is paddle.CPUPlace()
