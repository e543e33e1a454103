"""What is written is a pickle for Python's own reader too, and holds arrays without a copy."""

import pickle
from collections import OrderedDict

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.saving.pickle_writer import PickleWriter


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 0, 255, -1, 2**31 - 1, -(2**31), 2**31, 2**63, -(2**2100), 1.5,
        float("-inf"), 2 - 3j, "", "täxt\ud800", [], (), {}, set(), [1, [2]], ((1,), (1, 2, 3, 4)),
        {"a": {1: (2, 3)}, None: 4, (1, "x"): 5}, OrderedDict(b=1, a=2), {1, "x", None},
    ],
)  # fmt: skip
def test_python_reads_it(value, protocol):
    found = pickle.loads(b"".join(PickleWriter(protocol).dump(value)))
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64"])
def test_numpy_reads_it(dtype, protocol):
    for array in (np.ones((2, 3), dtype), np.ones((), dtype), np.ones((0, 2), dtype)):
        found = pickle.loads(b"".join(PickleWriter(protocol).dump(array)))
        np.testing.assert_array_equal(found, array, strict=True)
    number = pickle.loads(b"".join(PickleWriter(protocol).dump(np.ones(1, dtype)[0])))
    assert number == 1 and number.dtype == dtype


def test_arrays_are_not_copied():
    array = np.arange(10_000.0)
    pieces = PickleWriter(4).dump([array, paddle.from_numpy(array)])
    views = [piece for piece in pieces if isinstance(piece, memoryview)]
    assert len(views) == 2
    for view in views:
        assert np.shares_memory(np.frombuffer(view, "u1"), array)


def test_objects_are_told_from_their_likes():
    """A list that is given twice is one list again; equal ones stay two."""
    shared = [1]
    first, second, third = pickle.loads(b"".join(PickleWriter(4).dump([shared, shared, [1]])))
    assert first is second and first is not third


def test_pieces_over_four_gigabytes_need_protocol_4():
    large = memoryview(np.broadcast_to(np.uint8(0), (1 << 32,)))  # which takes one byte
    with pytest.raises(ValueError, match="protocol=4 can write that"):
        PickleWriter(3)._bytes(large)
    writer = PickleWriter(4)
    writer._bytes(large)
    assert writer.pieces[0].endswith(b"\x8e" + (1 << 32).to_bytes(8, "little"))
    assert writer.pieces[1] is large
