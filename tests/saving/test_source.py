"""Reading never goes past the end, and never costs more than it may."""

import io
import struct

import numpy as np
import pytest

from minipaddle.saving import CheckpointError
from minipaddle.saving.source import BLOCK_BYTES, MEMORY_FREE, Budget, Source, Span


def source(content: bytes, start: int = 0, end: int | None = None) -> Source:
    file = io.BytesIO(content)
    return Source(file, start, len(content) if end is None else end, Budget(len(content)))


def test_a_part_has_its_own_end():
    part = source(b"0123456789", 2, 6)
    assert part.read(3) == b"234"
    with pytest.raises(CheckpointError, match="2 more bytes should follow byte 5, and 1 do"):
        part.read(2)
    assert part.read(1) == b"5"


def test_lines_end_within_the_part():
    assert source(b"numpy\nrest").line() == "numpy"
    for content, end in ((b"numpy", 5), (b"numpy\n", 5), (b"x" * 2000 + b"\n", None)):
        with pytest.raises(CheckpointError, match="no end"):
            source(content, 0, end).line()


def test_spans_are_read_later():
    part = source(b"abcdefgh" + struct.pack("<2f", 1, 2))
    span = part.skip(8)
    assert span == Span(0, 8) and part.position == 8
    array = part.array(8, (2, 1), np.dtype("<f4"))
    assert array.tolist() == [[1.0], [2.0]] and array.flags.writeable
    assert part.bytes_of(span) == b"abcdefgh"
    assert part.read(4) == struct.pack("<f", 1)


@pytest.mark.parametrize("count", [-1, 9, 1 << 70])
def test_lengths_are_checked_before_anything_is_read(count):
    with pytest.raises(CheckpointError):
        source(b"12345678").skip(count)


def test_memory_is_counted():
    budget = Budget(100)
    budget.spend_memory(MEMORY_FREE + 800)
    with pytest.raises(CheckpointError, match="8 times the length"):
        budget.spend_memory(1)


def test_arrays_share_blocks_and_no_memory():
    budget = Budget(1000)
    arrays = [budget.allot(n) for n in (3, 64, 0, 300, 2000)]
    for i, array in enumerate(arrays):
        array[:] = i
    assert [set(array.tolist()) for array in arrays] == [{0}, {1}, set(), {3}, {4}]
    assert arrays[0].base is arrays[1].base is not arrays[4].base
    assert arrays[0].base.nbytes <= 1000
    assert budget.allot(BLOCK_BYTES).base is None


def test_a_file_that_shrinks_meanwhile():
    part = source(b"x" * 100)
    part.file.truncate(50)
    with pytest.raises(CheckpointError, match="shorter"):
        part.read(60)
    with pytest.raises(CheckpointError, match="shorter"):
        part.array(40, (20,), np.dtype("u1"))
