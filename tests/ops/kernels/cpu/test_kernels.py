"""What kernels of the CPU promise beyond their record: NaN, overflow, memory, rounding."""

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.device.dtype import bfloat16
from minipaddle.ops.op import namespace

F = namespace(get_place("cpu"))


def test_relu_keeps_nan_and_has_no_negative_zero_in_its_gradient():
    x = np.array([np.nan, -1.0, 0.0, 2.0, -np.inf, np.inf])
    np.testing.assert_array_equal(F.relu(x), [np.nan, 0.0, 0.0, 2.0, 0.0, np.inf])


def test_assign_makes_contiguous_memory_of_its_own():
    x = np.arange(6.0).reshape(2, 3)
    for source in (x, x.T, x[::-1], x[:, ::2]):
        out = F.assign(source)
        assert out.flags.c_contiguous and out.flags.writeable
        assert not np.shares_memory(out, x)
        np.testing.assert_array_equal(out, source)


def test_cast_to_its_own_dtype_makes_a_copy():
    x = np.ones(3)
    assert not np.shares_memory(F.cast(x, x.dtype), x)


def test_expand_does_not_copy_and_cannot_be_written_to():
    x = np.ones(3)
    out = F.expand(x, (4, 3))
    assert np.shares_memory(out, x) and not out.flags.writeable


def test_put_slice_is_zero_elsewhere():
    out = F.put_slice(np.ones((2, 2)), (3, 4), (slice(1, 3), slice(None, None, 2)))
    np.testing.assert_array_equal(out, [[0, 0, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0]])


def test_copy_takes_numbers_arrays_and_other_dtypes():
    x = np.ones((2, 2), np.float32)
    F.copy_(x, 0.0)
    assert (x == 0).all()
    F.copy_(x, np.array([1.0, 2.0]))
    np.testing.assert_array_equal(x, [[1, 2], [1, 2]])
    with pytest.raises(ValueError):
        F.copy_(x, np.ones(3))


def test_the_mean_of_nothing_is_nan_without_a_warning():
    assert np.isnan(F.mean(np.zeros((0, 3))))
    np.testing.assert_array_equal(F.mean(np.zeros((0, 3)), (0,)), [np.nan] * 3)
    assert F.mean(np.zeros((0, 3)), (1,)).shape == (0,)
    assert np.isnan(F.mse_loss(np.zeros((0, 3)), np.zeros((0, 3))))
    assert F.sum(np.zeros((0, 3))) == 0.0


@pytest.mark.parametrize("dtype", [np.float16, bfloat16()])
def test_half_sums_do_not_stall_or_overflow_on_the_way(dtype):
    x = np.ones(5000, dtype)
    assert F.sum(x) == np.asarray(5000).astype(dtype)
    assert F.mean(x) == 1.0
    large = np.full(4, 40000).astype(dtype)  # their sum is beyond float16
    assert F.mean(large) == large[0]
    off = np.full(1000, 16).astype(dtype)  # 1000 * 256 is beyond float16, the mean is not
    assert F.mse_loss(off, np.zeros(1000, dtype)) == 256.0


@pytest.mark.parametrize("dtype", [np.float16, bfloat16()])
def test_half_products_are_summed_in_float32(dtype):
    x = np.ones((1, 4096), dtype)
    assert F.matmul(x, x.T)[0, 0] == 4096
    assert F.linear(x, x.T, np.ones(1, dtype))[0, 0] == np.asarray(4097).astype(dtype)


def test_a_bias_is_added_before_the_only_rounding():
    """2048 + 1 in float16: rounded before the bias it would lose the half that decides."""
    x = np.array([[2048.0, 1.0]], np.float16)
    weight = np.array([[1.0], [1.0]], np.float16)
    bias = np.array([0.5], np.float16)
    assert F.linear(x, weight, bias)[0, 0] == 2050.0


def test_matmul_of_nothing_is_zero():
    np.testing.assert_array_equal(F.matmul(np.zeros((2, 0)), np.zeros((0, 3))), np.zeros((2, 3)))


def test_integer_sums_do_not_wrap():
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.bool_):
        out = F.sum(np.full(300, np.asarray(100).astype(dtype)))
        assert out.dtype == np.int64
        assert out == (300 if dtype is np.bool_ else 30_000)


def test_transposed_views_of_every_rank_are_copied_right():
    x = np.arange(3 * 70 * 2 * 130, dtype=np.float32).reshape(3, 70, 2, 130)
    for perm in ((3, 2, 1, 0), (0, 3, 2, 1), (3, 0, 1, 2), (1, 3, 0, 2), (2, 1, 0, 3)):
        for view in (x.transpose(perm), x.transpose(perm)[::-1], x.transpose(perm)[..., ::2]):
            right = np.array(view, order="C")
            out = F.assign(view)
            assert out.flags.c_contiguous and not np.shares_memory(out, x)
            np.testing.assert_array_equal(out, right)
            F.copy_(out, view * 0)
            F.copy_(out, view)
            np.testing.assert_array_equal(out, right)
