"""How axes and matrices lie, against where NumPy finds the elements; loaded alone, without CuPy."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

import minipaddle

FILE = Path(minipaddle.__file__).parent / "ops/kernels/gpu/axis_plan.py"


def _loaded():
    spec = importlib.util.spec_from_file_location("axis_plan_alone", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


plan = _loaded()


def _places(x):
    """Where the elements of ``x`` stand, in elements from the first one."""
    where = np.zeros(x.shape, int)
    for axis, step in enumerate(x.strides):
        line = np.arange(x.shape[axis]) * (step // x.itemsize)
        where = where + line.reshape(-1, *[1] * (x.ndim - axis - 1))
    return where


def _views(shape):
    """Arrays of one shape that lie in memory in different ways."""
    twice = tuple(2 * n for n in shape)
    yield np.zeros(shape)
    yield np.zeros(twice)[tuple(slice(None, None, 2) for _ in shape)]
    yield np.zeros(twice)[tuple(slice(0, n) for n in shape)]
    yield np.zeros(shape)[tuple(slice(None, None, -1) for _ in shape)]
    yield np.broadcast_to(np.zeros((1,) * len(shape)), shape)
    for order in itertools.permutations(range(len(shape))):
        yield np.zeros([shape[i] for i in order]).transpose(np.argsort(order))


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 4), (1, 4), (4, 1, 3), (2, 3, 4)])
def test_axes_that_are_one_have_one_distance(shape):
    for x in _views(shape):
        step = plan.one_step(x.shape, [s // x.itemsize for s in x.strides])
        along = _places(x).reshape(-1)
        apart = set(np.diff(along).tolist())
        if step is None:
            assert len(apart) > 1
        else:
            assert apart <= {step}


def _read(batch, x, leading):
    """The places that BLAS would read, by the rules of its documentation."""
    rows, columns = x.shape[-2:]
    i, j = np.ogrid[:rows, :columns]
    one = i + j * batch.lead if batch.transposed else i * batch.lead + j
    assert batch.lead >= max(1, rows if batch.transposed else columns)
    numbers = np.arange(int(np.prod(leading))).reshape(leading)
    return numbers[..., None, None] * batch.step + one


SHAPES = [
    (3, 4),
    (1, 4),
    (4, 1),
    (1, 1),
    (2, 3, 4),
    (2, 1, 3),
    (1, 3, 4),
    (2, 3, 4, 5),
    (2, 2, 1, 1),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_matrices_are_read_where_they_are(shape):
    taken = 0
    for x in _views(shape):
        batch = plan.matrices(x.shape, x.strides, x.itemsize, x.shape[:-2])
        if batch is not None:
            taken += 1
            np.testing.assert_array_equal(_read(batch, x, x.shape[:-2]), _places(x))
    assert taken > 1


@pytest.mark.parametrize(
    ("shape", "leading"),
    [((3, 4), (5,)), ((1, 3, 4), (5,)), ((3, 4), (2, 5)), ((1, 1, 3, 4), (2, 5))],
)
def test_a_matrix_that_all_of_a_batch_share_is_not_copied(shape, leading):
    x = np.zeros(shape)
    batch = plan.matrices(x.shape, x.strides, x.itemsize, leading)
    assert batch == (False, 4, 0)


def test_what_blas_cannot_take():
    for x, leading in (
        (np.zeros((6, 8))[::2, ::2], ()),
        (np.zeros((3, 4))[:, ::-1], ()),
        (np.broadcast_to(np.zeros((1, 4)), (3, 4)), ()),
        (np.zeros((2, 1, 3, 4)), (2, 5)),
        (np.zeros((2, 3, 4))[::-1], (2,)),
    ):
        assert plan.matrices(x.shape, x.strides, x.itemsize, leading) is None


def test_a_transposed_matrix_is_taken_as_it_is():
    x = np.zeros((3, 4)).T
    assert plan.matrices(x.shape, x.strides, x.itemsize, ()) == (True, 4, 0)
