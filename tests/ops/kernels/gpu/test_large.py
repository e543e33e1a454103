"""Arrays of more than 2^31 elements, where an index of 32 bits would wrap around."""

import gc

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.backend import get_backend

pytestmark = [pytest.mark.gpu, pytest.mark.slow]

ROWS, COLUMNS = 2**15 + 1, 2**16 + 8  # 2^31 + 131,080 + 262,144 + 8 elements
SIZE = ROWS * COLUMNS
# Rows and columns of 1,000 elements and of the two ends.
_rng = np.random.default_rng(5)
AT_ROWS = np.concatenate([[0, ROWS - 1], _rng.integers(0, ROWS, 1000)])
AT_COLUMNS = np.concatenate([[0, COLUMNS - 1], _rng.integers(0, COLUMNS, 1000)])


@pytest.fixture(autouse=True)
def roomy():
    """Memory is given back before and after, for those that come next."""
    before = paddle.device.get_device()
    paddle.set_device("gpu:0")
    yield
    gc.collect()
    get_backend("gpu").xp.get_default_memory_pool().free_all_blocks()
    paddle.set_device(before)


def numbered(shape):
    """Small whole numbers of float16, different from each other along both axes."""
    rows = paddle.arange(shape[0], dtype="int64").reshape([-1, 1]) % 61
    columns = paddle.arange(shape[1], dtype="int64").reshape([1, -1]) % 67
    return rows.astype("float16") - columns.astype("float16")


def expected(shape, rows=AT_ROWS, columns=AT_COLUMNS):
    """What ``numbered`` has at the chosen places, or where it is broadcast."""
    rows = rows if shape[0] > 1 else np.zeros_like(rows)
    columns = columns if shape[1] > 1 else np.zeros_like(columns)
    return (rows % 61 - columns % 67).astype("float64")


def chosen(x):
    """The elements at the chosen places, by a look at the memory itself."""
    flat = AT_ROWS.astype("int64") * COLUMNS + AT_COLUMNS
    return x.data.reshape(-1)[get_backend("gpu").xp.asarray(flat)].get().astype("float64")


def test_elementwise():
    x = numbered((ROWS, COLUMNS))
    assert x.size == SIZE > 2**31
    want = expected((ROWS, COLUMNS))
    np.testing.assert_array_equal(chosen(x), want)
    np.testing.assert_array_equal(chosen(paddle.nn.functional.relu(x)), np.maximum(want, 0))
    np.testing.assert_array_equal(chosen(x + x), 2 * want)
    product = (want * expected((1, COLUMNS))).astype("float16")  # rounded, as the result is
    np.testing.assert_array_equal(chosen(x * numbered((1, COLUMNS))), product)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions(axis):
    x = numbered((ROWS, COLUMNS))
    rows, columns = np.arange(ROWS, dtype="int64") % 61, np.arange(COLUMNS, dtype="int64") % 67
    sums = {
        None: rows.sum() * COLUMNS - columns.sum() * ROWS,
        0: rows.sum() - columns * ROWS,
        1: rows * COLUMNS - columns.sum(),
    }
    found = paddle.mean(x.astype("float32"), axis=axis).numpy()
    count = {None: SIZE, 0: ROWS, 1: COLUMNS}[axis]
    np.testing.assert_allclose(found, sums[axis] / count, rtol=2e-6, atol=2e-6)
    most = paddle.max(x, axis=axis).numpy()
    top = {None: 60, 0: 60 - columns, 1: rows}[axis]
    np.testing.assert_array_equal(most.astype("int64"), top)


FORMS = {
    "same shape": ((ROWS, COLUMNS), (ROWS, COLUMNS)),
    "a row": ((1, COLUMNS), (ROWS, COLUMNS)),
    "a column": ((ROWS, 1), (ROWS, COLUMNS)),
    "one element": ((1, 1), (ROWS, COLUMNS)),
    "a row and a column": ((ROWS, 1), (1, COLUMNS)),
}


@pytest.mark.parametrize("form", FORMS)
def test_lerp_and_its_gradients(form):
    of_x, of_y = FORMS[form]
    x, y = numbered(of_x), numbered(of_y) + 1
    x.stop_gradient = y.stop_gradient = False
    out = paddle.lerp(x, y, 0.25)
    want_x, want_y = expected(of_x), expected(of_y) + 1
    np.testing.assert_array_equal(chosen(out), 0.75 * want_x + 0.25 * want_y)
    cotangent = (numbered((ROWS, COLUMNS)) % 3) - 1
    out.backward(cotangent)
    rows = np.arange(ROWS, dtype="int64")[:, None] % 61
    columns = np.arange(COLUMNS, dtype="int64") % 67
    g = expected((ROWS, COLUMNS)) % 3 - 1
    for tensor, shape, weight in ((x, of_x, 0.75), (y, of_y, 0.25)):
        if shape == (ROWS, COLUMNS):
            np.testing.assert_array_equal(chosen(tensor.grad), weight * g)
            continue
        axes = tuple(i for i in range(2) if shape[i] == 1)
        kinds = [np.bincount(k.reshape(-1), minlength=n) for k, n in ((rows, 61), (columns, 67))]
        table = (np.arange(61)[:, None] - np.arange(67)) % 3 - 1  # of each kind of row and column
        sums = weight * (table * kinds[0][:, None] * kinds[1]).sum(axes, keepdims=True)
        if shape[0] > 1:
            sums = (weight * (table * kinds[1]).sum(1))[rows[:, 0]][:, None]
        if shape[1] > 1:
            sums = (weight * (table * kinds[0][:, None]).sum(0))[columns][None]
        with np.errstate(over="ignore"):  # a sum may be too large for float16
            sums = sums.astype("float16")
        np.testing.assert_allclose(tensor.grad.numpy(), sums, rtol=2e-3, atol=1)
