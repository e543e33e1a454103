"""Comparisons of what is special: NaN, infinities, numbers that a dtype rounds, large arrays."""

import numpy as np
import pytest

from minipaddle.device.dtype import FLOAT_NAMES, as_dtype
from minipaddle.imperative.functions import comparison
from minipaddle.imperative.tensor import to_tensor

NAN, INF = np.nan, np.inf
SPECIAL = np.array([-INF, -1.0, -0.0, 0.0, 1.0, INF, NAN])
BY_PAIRS = {
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "less_than": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater_than": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) is not bool(b),
}
LENGTHS = [1, 20_000]  # of which the second is worked by blocks


@pytest.mark.parametrize("dtype", FLOAT_NAMES)
@pytest.mark.parametrize("name", BY_PAIRS)
@pytest.mark.parametrize("length", LENGTHS)
def test_special_values_as_python_has_them(name, dtype, length, place):
    x = to_tensor(np.repeat(SPECIAL, length), dtype, place)
    y = to_tensor(SPECIAL[:, None], dtype, place)
    right = [[BY_PAIRS[name](a, b) for a in SPECIAL.tolist()] for b in SPECIAL.tolist()]
    found = getattr(comparison, name)(x, y)
    np.testing.assert_array_equal(found.numpy(), np.repeat(right, length, axis=1))


@pytest.mark.parametrize("dtype", FLOAT_NAMES)
@pytest.mark.parametrize("length", LENGTHS)
def test_kinds_of_values(dtype, length, place):
    x = to_tensor(np.tile([1.0, -0.0, INF, -INF, NAN], length), dtype, place)
    for name, right in {
        "isnan": [False, False, False, False, True],
        "isinf": [False, False, True, True, False],
        "isfinite": [True, True, False, False, False],
        "logical_not": [False, True, False, False, False],
    }.items():
        found = getattr(comparison, name)(x)
        assert found.tolist() == right * length, name


@pytest.mark.parametrize("dtype", FLOAT_NAMES)
@pytest.mark.parametrize("length", LENGTHS)
def test_a_number_is_rounded_as_the_tensor_was(dtype, length, place):
    x = to_tensor([0.1, 0.2] * length, dtype, place)
    assert comparison.equal(x, 0.1).tolist() == [True, False] * length
    assert comparison.less_than(0.1, x).tolist() == [False, True] * length


@pytest.mark.parametrize("dtype", FLOAT_NAMES)
def test_nan_is_close_to_nan_where_asked(dtype, place):
    x = to_tensor([1.0, NAN, NAN, INF], dtype, place)
    y = to_tensor([1.0, NAN, 1.0, NAN], dtype, place)
    assert comparison.isclose(x, y).tolist() == [True, False, False, False]
    assert comparison.isclose(x, y, equal_nan=True).tolist() == [True, True, False, False]
    assert comparison.allclose(x[:2], y[:2], equal_nan=True).item() is True
    assert comparison.allclose(x[:2], y[:2]).item() is False


def test_half_types_are_close_as_float32_says(place):
    """In float16 the tolerance of 1e-8 would be 0, and this difference infinite."""
    x, y = (to_tensor(v, "float16", place) for v in ([60000.0, 6e-8], [-60000.0, 0.0]))
    assert comparison.isclose(x, y, rtol=0.0, atol=1e-7).tolist() == [False, True]


@pytest.mark.parametrize("value", [NAN, 1.0])
def test_equal_all_of_large_tensors(value, place):
    host = np.ones(70_000, np.float32)
    host[-1] = value
    x = to_tensor(host, place=place)
    found = comparison.equal_all(x, x)
    assert found.shape == [] and found.item() is (value == value)


def test_dtypes_meet_at_the_wider_one(place):
    ints, floats = to_tensor([1, 2], place=place), to_tensor([1.5, 2.0], place=place)
    assert comparison.less_than(ints, floats).tolist() == [True, False]
    assert comparison.equal(ints, 2.0).tolist() == [False, True]
    assert comparison.equal(to_tensor([True, False], place=place), 1).tolist() == [True, False]
    mixed = comparison.bitwise_and(to_tensor([True, False], place=place), ints)
    assert mixed.dtype == np.int64 and mixed.tolist() == [1, 0]
    narrow = to_tensor([-1], "int8", place)
    assert comparison.bitwise_or(narrow, to_tensor([1], "int32", place)).dtype == np.int32
    assert comparison.less_than(narrow, 300).tolist() == [True]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_right_shift_that_is_not_arithmetic_fills_with_zeros(dtype, length, place):
    bits = 8 * as_dtype(dtype).itemsize
    x = to_tensor([-1, -2, 6] * length, dtype, place)
    found = comparison.bitwise_right_shift(x, 1, is_arithmetic=False)
    assert found.dtype == dtype
    assert found.tolist() == [2 ** (bits - 1) - 1, 2 ** (bits - 1) - 1, 3] * length
    assert comparison.bitwise_right_shift(x, 1).tolist() == [-1, -1, 3] * length
    places = to_tensor([bits - 1], dtype, place)
    assert comparison.bitwise_right_shift(x, places, False).tolist() == [1, 1, 0] * length
    assert comparison.bitwise_right_shift(-1, places, False).tolist() == [1]
