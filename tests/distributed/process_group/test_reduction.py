"""The arithmetic of reductions, without processes."""

import ml_dtypes
import numpy as np
import pytest

from minipaddle.distributed.process_group import ReduceOp, reduction


def join(values: list[np.ndarray], op: ReduceOp) -> np.ndarray:
    sources = [value.copy() for value in values]
    outs = [np.empty_like(sources[0]) for _ in range(2)]
    reduction.Reduction().join(sources, outs, op)
    assert outs[0].tobytes() == outs[1].tobytes()
    return outs[0]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_mean_over_block_borders(dtype: type, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "BLOCK_BYTES", 256)
    random = np.random.default_rng(0)
    values = [random.standard_normal(1001).astype(dtype) for _ in range(count)]
    want = np.mean([value.astype(np.float64) for value in values], axis=0)
    eps = float(ml_dtypes.finfo(dtype).eps)
    got = join(values, ReduceOp.AVG).astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=eps, atol=2 * eps)


def test_half_sums_are_rounded_once() -> None:
    # In float16 steps 2048 + 1 stays 2048; in float32 the three ones arrive.
    values = [np.full(5, v, np.float16) for v in (2048, 1, 1, 2)]
    assert join(values, ReduceOp.SUM).tolist() == [2052.0] * 5


def test_mean_scales_before_it_adds() -> None:
    large = np.full(3, np.finfo(np.float32).max, np.float32)
    assert np.isfinite(join([large, large], ReduceOp.AVG)).all()
    half = np.full(3, 40000.0, np.float16)
    assert join([half, half], ReduceOp.AVG).tolist() == [40000.0] * 3


def test_infinite_and_nan_values_pass_without_warnings() -> None:
    values = [np.array([np.inf, np.nan, 65504], np.float16), np.array([-np.inf, 1, 65504], "f2")]
    got = join(values, ReduceOp.SUM)
    assert np.isnan(got[:2]).all() and np.isposinf(got[2])


@pytest.mark.parametrize(
    ("op", "want"),
    [(ReduceOp.SUM, 6), (ReduceOp.MAX, 3), (ReduceOp.MIN, 1), (ReduceOp.PROD, 6)],
)
def test_whole_numbers(op: ReduceOp, want: int) -> None:
    values = [np.full(10, v, np.int64) for v in (1, 2, 3)]
    assert join(values, op).tolist() == [want] * 10


def test_result_may_lie_in_the_sources() -> None:
    sources = [np.full(9, v, np.float32) for v in (1.0, 3.0)]
    reduction.Reduction().join(sources, sources, ReduceOp.AVG)
    assert [source.tolist() for source in sources] == [[2.0] * 9] * 2


def test_plain_bytes_are_not_numbers() -> None:
    with pytest.raises(TypeError, match="needs a float or integer dtype"):
        reduction.check_reducible(np.dtype("V4"), ReduceOp.SUM)
