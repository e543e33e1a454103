"""Cutting arrays into blocks: every element once, in memory order, at the right size."""

import math
from itertools import pairwise

import numpy as np
import pytest

from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES, blocks, cut, quiet

N = BLOCK_BYTES // 8

SHAPES = [
    (),
    (0,),
    (3, 0),
    (N,),
    (N + 1,),
    (5 * N + 3,),
    (2, N),
    (3, N + 1),
    (7, N // 3),
    (N + 1, 1),
    (2, 3, N // 2),
    (2, 2, N + 1),
    (1, 1, 3 * N),
    (3 * N, 1, 1),
    (4, 5, 6),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_element_is_in_one_block(shape):
    seen = np.zeros(shape, np.int8)
    for block in blocks(shape, 8):
        part = cut(seen, block, len(shape))
        assert part.nbytes * 8 <= BLOCK_BYTES
        part += 1
    assert (seen == 1).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_blocks_are_pieces_of_memory_in_order(shape):
    order = np.arange(math.prod(shape)).reshape(shape)
    parts = [cut(order, block, len(shape)) for block in blocks(shape, 8)]
    # Each is contiguous, and they follow one another; the last of a row may be short.
    for part in parts:
        if part.size:
            assert part.max() - part.min() == part.size - 1
    first = [int(part.min()) for part in parts if part.size]
    assert first == sorted(first)
    if order.size > N:
        assert len(parts) <= 3 * math.ceil(order.size / N) + math.prod(shape[:-1])


def test_a_small_array_is_one_block():
    assert len(list(blocks((4, 5, 6), 8))) == 1
    assert len(list(blocks((), 8))) == 1
    assert len(list(blocks((2 * N,), 4))) == 1
    assert len(list(blocks((2 * N,), 8))) == 2


@pytest.mark.parametrize(
    "operand", [(), (1,), (1, 1), (N + 1,), (3, 1), (1, N + 1), (2, 1, 1), (2, 3, N + 1)]
)
def test_operands_of_lower_rank_are_cut_to_what_meets_the_block(operand):
    shape = (2, 3, N + 1)
    source = np.arange(math.prod(operand), dtype=float).reshape(operand)
    whole = np.broadcast_to(source, shape)
    out = np.full(shape, np.nan)
    for block in blocks(shape, 8):
        target = cut(out, block, 3)
        target[...] = cut(source, block, 3)
    np.testing.assert_array_equal(out, whole)


def test_blocks_cover_more_elements_than_32_bits_count():
    size = 2**31 + 8
    parts = [part for (part,) in blocks((size,), 2)]
    assert parts[0].start == 0
    assert all(a.stop == b.start for a, b in pairwise(parts))
    assert min(parts[-1].stop, size) == size > parts[-1].start


@pytest.mark.parametrize("depth", [1, 2])
def test_an_error_leaves_quiet_and_is_not_tried_again(depth):
    calls = []

    def fail():
        calls.append(1)
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        quiet(fail) if depth == 1 else quiet(lambda: quiet(fail))
    assert calls == [1]
    assert quiet(np.log, np.zeros(1)) == -np.inf
