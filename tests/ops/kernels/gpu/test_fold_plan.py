"""How folds are cut into launches, carried out in NumPy; loaded alone, as CuPy may be absent."""

import importlib.util
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import minipaddle

FILE = Path(minipaddle.__file__).parent / "ops/kernels/gpu/fold_plan.py"


def _loaded():
    spec = importlib.util.spec_from_file_location("fold_plan_alone", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=[False, True], ids=["large", "small"])
def fold_plan(request):
    """The module; also where few blocks and short stretches lead to several launches early."""
    module = _loaded()
    if request.param:
        module.BLOCKS, module._FULL = 12, 2
    return module


def folded(launch, memory, start):
    """What a launch makes of the elements that begin at ``start``: one sum for each total."""
    out = np.full(launch.totals, np.nan)
    width, numbers = launch.width, launch.numbers
    if launch.kernel == "fold_groups":
        rows, n, row_step, step, group = numbers
        assert group in (1, 2, 4, 8, 16, 32) and launch.grid[0] * 256 >= rows * group
        for r in range(rows):
            out[r] = sum(memory[start + r * row_step + j * step] for j in range(n))
        assert width == 1 or step == 1
    elif launch.kernel == "fold_blocks":
        splits, n, row_step, step, chunk = numbers
        assert width == 1 or (step == 1 and chunk % width == 0)
        for block in range(launch.grid[0]):
            r, s = divmod(block, splits)
            places = range(s * chunk, min(n, (s + 1) * chunk))
            assert places, "a block without elements"
            out[block] = sum(memory[start + r * row_step + j * step] for j in places)
    else:
        _columns(launch, memory, start, out)
    assert not np.isnan(out).any(), "a total that nobody writes"
    return out


def _columns(launch, memory, start, out):
    packs, n, inner, outer_step, step, inner_step, chunk, wide = launch.numbers
    tiles, splits = launch.grid
    assert tiles * wide >= packs and wide in (1, 2, 4, 8, 16, 32, 256)
    for pack, s, k in itertools.product(range(packs), range(splits), range(launch.width)):
        outer, column = pack // inner, pack % inner * launch.width + k
        base = start + outer * outer_step + column * inner_step
        if k == 0 and launch.width > 1:
            assert (base - start) % launch.width == 0 and (n < 2 or step % launch.width == 0)
        total = sum(memory[base + j * step] for j in range(s * chunk, min(n, (s + 1) * chunk)))
        out[(outer * splits + s) * inner * launch.width + column] = total


VIEWS = {
    "plain": lambda x: x,
    "transposed": lambda x: x.T,
    "gaps": lambda x: x[..., ::2],
    "part": lambda x: x[1:, ...],
    "swapped": lambda x: np.moveaxis(x, 0, -1),
    "expanded": lambda x: np.broadcast_to(x[:1], x.shape),
}
SHAPES = [
    (7,),
    (600,),
    (5, 9),
    (3, 700),
    (700, 4),
    (2, 40, 8),
    (3, 2, 5, 4),
    (1, 6, 1, 5),
    (129, 2),
]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [1, 4])
def test_launches_fold_all_elements_in_any_layout(fold_plan, view, width):
    for shape in SHAPES:
        memory = np.random.default_rng(1).integers(-9, 9, math.prod(shape)).astype(np.float64)
        x = VIEWS[view](memory.reshape(shape))
        start = (x.ctypes.data - memory.ctypes.data) // 8
        ranks = range(x.ndim)
        for axes in (c for r in range(x.ndim + 1) for c in itertools.combinations(ranks, r)):
            for lies_well in {start % width == 0, False}:
                launches = fold_plan.plan(x.shape, x.strides, 8, axes, width, lies_well, False)
                if launches is None:
                    assert not x.flags.c_contiguous, "no copy makes this foldable"
                    continue
                totals = folded(launches[0], memory, start)
                for launch in launches[1:]:
                    assert launch.width == 1
                    totals = folded(launch, totals, 0)
                right = x.sum(axis=axes).reshape(-1)
                np.testing.assert_array_equal(totals, right, f"{shape} {view} {axes}")


def test_a_fold_of_nothing_has_a_result_for_each_row(fold_plan):
    for shape, axes, rows in [((0, 3), (0,), 3), ((3, 0), (1,), 3), ((0,), (0,), 1)]:
        strides = np.zeros(shape).strides
        (launch,) = fold_plan.plan(shape, strides, 8, axes, 2, True, False)
        np.testing.assert_array_equal(folded(launch, np.zeros(0), 0), np.zeros(rows))


def test_numbered_elements_are_seen_by_one_launch_in_their_order():
    fold_plan = _loaded()
    x = np.zeros((4, 6, 5))
    assert fold_plan.plan(x.shape, x.strides, 8, (0, 1, 2), 2, True, True) is not None
    y = x[:, ::2]
    assert fold_plan.plan(y.shape, y.strides, 8, (0, 1, 2), 2, True, True) is None
    assert fold_plan.plan(y.shape, y.strides, 8, (0, 1, 2), 2, True, False) is not None


def test_large_folds_keep_a_gpu_busy_and_small_ones_take_one_launch():
    fold_plan = _loaded()
    large, small = np.broadcast_to(np.float32(0), (16384, 4096)), np.zeros((8, 8), np.float32)
    for axes in ((0, 1), (0,), (1,)):
        launches = fold_plan.plan(large.shape, (16384, 4), 4, axes, 4, True, False)
        assert math.prod(launches[0].grid) >= 512 and launches[0].width == 4
        assert len(launches) <= 2 and (len(launches) == 1 or launches[1].totals < 2**13)
        assert len(fold_plan.plan(small.shape, small.strides, 4, axes, 4, True, False)) == 1


LARGE = [((2**31, 2), (1,)), ((2**20, 3, 2**11), (1,)), ((1, 2**33), (1,)), ((2**33, 1), (0,)),
         ((2**33, 2), (0,)), ((2**16, 2**17), (0,))]  # fmt: skip


def test_grids_are_within_their_limits():
    fold_plan = _loaded()
    for shape, axes in LARGE:
        strides = tuple(2 * math.prod(shape[i + 1 :]) for i in range(len(shape)))
        for launch in fold_plan.plan(shape, strides, 2, axes, 8, True, False):
            assert 0 < launch.grid[0] < 2**31
            assert all(0 < g < 2**16 for g in launch.grid[1:])
