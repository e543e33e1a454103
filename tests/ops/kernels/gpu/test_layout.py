"""What the loops for GPUs are told of operands; loaded alone, as its package wants CuPy."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import minipaddle

FILE = Path(minipaddle.__file__).parent / "ops/kernels/gpu/layout.py"


def _loaded():
    spec = importlib.util.spec_from_file_location("layout_alone", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


layout = _loaded()


def lie(array):
    return array.shape, array.strides, array.itemsize


def walk(out, *operands):
    return layout.walk(out.shape, [lie(out), *map(lie, operands)])


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (4, 1, 5), (1, 1)])
def test_a_new_array_lies_as_numpy_lays_it(shape):
    assert layout.contiguous(shape, 4) == lie(np.empty(shape, np.float32))


def test_arrays_of_one_order_are_walked_along_one_axis():
    x = np.empty((4, 5, 6))
    assert walk(x, x, x) == ((120,), [(1,)] * 3)
    assert walk(x.T, x.T) == ((120,), [(1,)] * 2)
    assert walk(x, x[:, :1, :1]) == ((4, 30), [(30, 1), (30, 0)])
    assert walk(x, np.empty(6)) == ((20, 6), [(6, 1), (0, 1)])
    assert walk(x[..., ::-1], x[..., ::-1]) == ((20, 6), [(6, -1), (6, -1)])
    assert walk(np.empty(())) == ((), [()])


@pytest.mark.parametrize("perm", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_a_walk_meets_every_element_once(perm):
    base = np.arange(2 * 3 * 4 * 5)
    out = base[:60].reshape(3, 4, 5).transpose(perm)
    x = base.reshape(3, 4, 10)[..., ::2].transpose(perm)
    lengths, steps = walk(out, x)
    at = [
        [sum(i * s for i, s in zip(index, step, strict=True)) for index in np.ndindex(*lengths)]
        for step in steps
    ]
    assert at[0] == list(range(60))
    found = {a: base[b] for a, b in zip(*at, strict=True)}
    assert found == dict(zip(out.reshape(-1), x.reshape(-1), strict=True))


def test_geometry_has_the_last_axis_first_and_says_when_32_bits_are_enough():
    struct, small = layout.packed((2, 3), [(3, 1), (0, 1)])
    numbers = struct.fields
    assert struct.address == numbers.ctypes.data
    assert numbers[0] == 2 and small
    assert numbers[1:3].tolist() == [3, 2]
    assert numbers[1 + layout.MAX_AXES :][:2].tolist() == [1, 3]
    assert numbers[1 + 2 * layout.MAX_AXES :][:2].tolist() == [1, 0]
    assert not layout.packed((2**31,), [(1,), (0,)])[1]
    assert not layout.packed((3,), [(1,), (2**30,)])[1]
    assert not layout.packed((3,), [(1,), (-1,)])[1]
    with pytest.raises(ValueError, match=r"more than 10 axes .* got 11, .*clone\(\)"):
        layout.packed((2,) * 11, [(0,) * 11])


def test_rows_need_neighbours_or_one_element_along_a_long_axis():
    assert layout.has_rows((4, 64), [(64, 1), (0, 1), (1, 0)])
    assert not layout.has_rows((4, 64), [(64, 1), (0, 2)])
    assert not layout.has_rows((64, 4), [(4, 1), (0, 1)])
    assert not layout.has_rows((4, 64), [(128, 2), (64, 1)])
    assert not layout.has_rows((), [()])


@pytest.mark.parametrize(
    ("length", "outer", "width"), [(64, 64, 8), (64, 68, 4), (12, 24, 4), (49, 49, 1), (64, 0, 8)]
)
def test_an_access_to_a_row_never_leaves_it(length, outer, width):
    steps = [(length * 8, 1), (outer, 1), (1, 0)]
    assert layout.row_width((4, length), steps, 8, True) == width
    assert layout.row_width((4, length), steps, 8, False) == 1


@pytest.mark.parametrize("rows", [1, 2, 5, 48, 10**6])
@pytest.mark.parametrize("packs", [1, 4, 6, 31, 32, 150, 10**5])
def test_a_block_of_lines_is_full_where_there_is_work_for_it(rows, packs):
    along, beside = layout.lines(rows, packs, 256)
    assert along * beside <= 256 and along < 2 * packs and beside < 2 * rows
    assert along & (along - 1) == beside & (beside - 1) == 0
    if rows * packs >= 4 * 256:
        assert along * beside >= 128


def test_an_array_that_runs_across_the_result_is_noticed():
    out, x = np.empty((40, 50)), np.empty((50, 40)).T
    assert layout.crossing(*_first(walk(out, x))) == 0
    assert layout.crossing(*_first(walk(x, out))) == 0
    assert layout.crossing(*_first(walk(out, out))) is None
    assert layout.crossing(*_first(walk(out, out[:, :1]))) is None
    assert layout.crossing(*_first(walk(out[:, ::2], x[:, ::2]))) is None
    batch = np.empty((3, 20, 4, 30))
    assert (
        layout.crossing(*_first(walk(batch, np.empty((3, 30, 4, 20)).transpose(0, 3, 2, 1)))) == 1
    )
    thin = np.empty((40, 3))
    assert layout.crossing(*_first(walk(thin, np.empty((3, 40)).T))) is None


def _first(found):
    lengths, steps = found
    return lengths, steps[0], steps[1]
