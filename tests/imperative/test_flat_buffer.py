"""FlatBuffer: one array, one view for each shape."""

from collections.abc import Sequence

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.imperative.flat_buffer import FlatBuffer, offsets_of

PLACE = get_place("cpu")


def buffer(shapes: Sequence[tuple[int, ...]]) -> FlatBuffer:
    return FlatBuffer(PLACE, np.arange(float(offsets_of(shapes)[-1])), shapes)


@pytest.mark.parametrize(
    ("shapes", "offsets"),
    [
        ([], [0]),
        ([()], [0, 1]),
        ([(2, 3), (4,)], [0, 6, 10]),
        ([(2,), (0, 5), (), (1, 1)], [0, 2, 2, 3, 4]),
    ],
)
def test_offsets(shapes: list[tuple[int, ...]], offsets: list[int]) -> None:
    assert offsets_of(shapes) == offsets
    flat = buffer(shapes)
    assert flat.offsets == offsets
    assert [view.shape for view in flat.views] == shapes


def test_views_share_the_memory_of_the_whole_and_not_of_each_other() -> None:
    flat = buffer([(2, 2), (), (3,)])
    for i, view in enumerate(flat.views):
        view[...] = i + 1
    assert flat.array.tolist() == [1, 1, 1, 1, 2, 3, 3, 3]
    flat.array[4] = 9
    assert flat.views[1].item() == 9
    assert all(view.flags.c_contiguous for view in flat.views)


def test_stretches() -> None:
    flat = buffer([(2, 2), (), (3,)])
    assert flat.stretch(0, 3) is flat.array
    assert flat.stretch(1, 3).tolist() == [4, 5, 6, 7]
    assert flat.stretch(1, 2).tolist() == [4]
    part = flat.stretch(0, 1)
    part[...] = -1
    assert flat.views[0].tolist() == [[-1, -1], [-1, -1]]


def test_stretches_over_empty_views() -> None:
    flat = buffer([(0,), (2,), (3, 0)])
    assert flat.stretch(0, 1).size == 0
    assert flat.stretch(1, 3).tolist() == [0, 1]
