"""Positions from indices whose own element type does not hold them."""

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.ops.op import namespace

F = namespace(get_place("cpu"))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize(("shape", "axis"), [((200,), 0), ((3, 200), 1), ((100, 70000), 0)])
def test_positions_along_an_axis_may_be_larger_than_the_type_of_the_index(dtype, shape, axis):
    index = np.array([0, 1, 99, 100 - shape[axis]]).astype(dtype)
    index = np.where(index < shape[axis], index, 0)
    index = index.reshape([4 if i == axis else 1 for i in range(len(shape))])
    found = F.flat_index_along(index, shape, axis)
    want = index.astype(np.int64)
    want = np.where(want < 0, want + shape[axis], want)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, want * (shape[1] if axis + 1 < len(shape) else 1))


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_indices_from_the_end_of_a_long_axis(dtype):
    x, index = np.arange(70000.0), np.array([-1, -128, 127], dtype)
    want = [69999, 69872, 127]
    np.testing.assert_array_equal(F.flat_index_along(index, x.shape, 0), want)
    np.testing.assert_array_equal(F.flat_index([index], x.shape, (0,)), want)
    with pytest.raises(IndexError, match="index -128 is out of range for axis 0 of length 100"):
        F.flat_index_along(index, (100,), 0)
