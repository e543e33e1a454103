import gc
import os

import numpy as np
import pytest

from minipaddle.io.dataloader import slots
from minipaddle.io.dataloader.slots import SlotReader, SlotWriter

LARGE = slots.SMALL_BYTES


class Pair:
    """Both sides in one process."""

    def __init__(self):
        self.writer, self.reader = SlotWriter(), SlotReader()
        self.made = 0

    def send(self, batch):
        head, layout, files = self.writer.dump(batch)
        self.made += len(files)
        return self.reader.load(head, layout, files)

    def give_back(self):
        gc.collect()
        self.writer.free(self.reader.freed())


def test_large_arrays_lie_in_slots_and_small_ones_do_not():
    pair = Pair()
    batch = {"x": np.arange(LARGE, dtype=np.uint8), "y": np.arange(3), "z": "text"}
    found = pair.send(batch)
    assert pair.made == 1
    np.testing.assert_array_equal(found["x"], batch["x"])
    assert (found["y"].tolist(), found["z"]) == ([0, 1, 2], "text")
    assert found["x"].flags.writeable
    assert found["y"].flags.writeable


def test_a_slot_is_used_again_when_nobody_holds_its_array():
    pair = Pair()
    held = pair.send(np.zeros(LARGE, np.uint8))
    view = held[5:]
    del held
    pair.give_back()
    other = pair.send(np.ones(LARGE, np.uint8))
    assert (pair.made, view[0]) == (2, 0)
    del view
    pair.give_back()
    pair.send(np.full(LARGE, 2, np.uint8))
    assert (pair.made, other[0]) == (2, 1)


def test_a_slot_that_is_too_small_is_not_used():
    pair = Pair()
    pair.send(np.zeros(LARGE, np.uint8))
    pair.give_back()
    assert pair.send(np.ones(3 * LARGE, np.uint8)).sum() == 3 * LARGE
    assert pair.made == 2


def test_memory_that_is_much_too_much_is_given_back():
    pair = Pair()
    held = [pair.send(np.full(LARGE, i, np.uint8)) for i in range(40)]
    assert [int(array[-1]) for array in held] == list(range(40))
    held.clear()
    pair.give_back()
    pair.send(np.zeros(LARGE, np.uint8))
    assert len(pair.writer._memory) == len(pair.reader._memory) <= 17


def test_a_lack_of_memory_leaves_the_writer_as_it_was(monkeypatch):
    pair = Pair()
    pair.send(np.zeros(LARGE, np.uint8))
    pair.give_back()
    before = len(os.listdir("/proc/self/fd"))

    def reserve(nbytes):
        raise MemoryError("none")

    with monkeypatch.context() as patch:
        patch.setattr(slots, "reserve", reserve)
        with pytest.raises(MemoryError, match="none"):
            pair.writer.dump([np.zeros(LARGE, np.uint8)] + [np.zeros(LARGE + 1, np.uint8)] * 2)
    assert len(os.listdir("/proc/self/fd")) == before
    pair.send(np.zeros(LARGE, np.uint8))
    assert pair.made == 1


def test_arrays_in_any_order_keep_dtype_and_shape():
    pair = Pair()
    array = np.asfortranarray(np.arange(LARGE).reshape(-1, 4))
    sliced = np.arange(LARGE, dtype=np.int16).reshape(2, -1)[:, ::2]
    found = pair.send([array, sliced])
    for one, other in zip(found, [array, sliced], strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
