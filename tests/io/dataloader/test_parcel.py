import os
from multiprocessing import get_context

import numpy as np
import pytest

from minipaddle.io.dataloader import parcel
from minipaddle.io.dataloader.parcel import pack, unpack


@pytest.mark.parametrize("share", [False, True])
def test_what_is_packed_is_unpacked(share):
    content = {"x": np.arange(50_000), "y": np.ones(3), "z": ["text", np.zeros(70_000, np.int8)]}
    packed, files = pack(lambda: content, share)
    assert len(files) == share
    assert (len(packed) > 400_000) != share
    found = unpack(packed, files)
    np.testing.assert_array_equal(found["x"], content["x"])
    assert (found["y"].tolist(), found["z"][0]) == ([1.0] * 3, "text")
    found["x"][0] = 7  # the array is the receiver's own


def test_receivers_do_not_see_each_others_writes():
    packed, files = pack(lambda: np.zeros(20_000), True)
    one, other = (unpack(packed, [os.dup(fd) for fd in files]) for _ in range(2))
    one[0] = 1
    assert (one[0], other[0], unpack(packed, files)[0]) == (1, 0, 0)


def test_a_lack_of_memory_packs_the_arrays_too(monkeypatch):
    def reserve(nbytes):
        raise MemoryError

    monkeypatch.setattr(parcel, "reserve", reserve)
    packed, files = pack(lambda: np.arange(20_000), True)
    assert files == []
    assert unpack(packed, files)[-1] == 19_999


def test_pipes_travel_as_descriptors():
    ours, theirs = get_context("spawn").Pipe()
    packed, files = pack(lambda: theirs, True)
    theirs.close()
    found = unpack(packed, files)
    found.send("hello")
    assert ours.recv() == "hello"
    found.close(), ours.close()


def test_an_error_closes_what_was_opened():
    ours, theirs = get_context("spawn").Pipe()
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises((AttributeError, TypeError)):
        pack(lambda: [theirs, lambda: None], True)
    assert len(os.listdir("/proc/self/fd")) == before
    ours.close(), theirs.close()
