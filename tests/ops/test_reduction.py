"""Reductions where the records do not go: NaN, infinities, ties, and arrays of many blocks."""

import numpy as np
import pytest

from minipaddle.imperative.autograd import grad
from minipaddle.imperative.functions import cumulative, reduction, statistics
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import to_tensor
from minipaddle.ops.kernels.cpu import block, fold

INF, NAN = float("inf"), float("nan")


def leaf(values, dtype="float64"):
    return to_tensor(np.array(values, dtype), stop_gradient=False)


def gradient(function, x, seed=None):
    (found,) = grad(function(x), [x], seed)
    return found.numpy()


def test_ties_max_gives_the_whole_gradient_to_each_and_amax_shares_it():
    x = leaf([[3.0, 3.0, 1.0], [2.0, 1.0, 1.0]])
    right = {
        "max": [[1, 1, 0], [1, 0, 0]],
        "amax": [[0.5, 0.5, 0], [1, 0, 0]],
        "min": [[0, 0, 1], [0, 1, 1]],
        "amin": [[0, 0, 1], [0, 0.5, 0.5]],
    }
    for name, wanted in right.items():
        for axis in (1, [1]):
            found = gradient(lambda x, f=FUNCTIONS[name], a=axis: f(x, a), x)
            np.testing.assert_array_equal(found, wanted, name)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("columns", [3, 200_000])
def test_nan_wins_in_extremes_and_is_left_out_where_the_name_says_so(dtype, columns):
    x = np.zeros((3, columns))
    x[1, -1] = NAN
    x[:, 0] = 4.0
    given = to_tensor(x).astype(dtype)
    for name in ("max", "min", "amax", "amin", "sum", "logsumexp", "var", "norm"):
        found = FUNCTIONS[name](given, axis=1).astype("float64").numpy()
        np.testing.assert_array_equal(np.isnan(found), [False, True, False], name)
    assert reduction.nansum(given, axis=1).tolist() == [4.0, 4.0, 4.0]
    if columns == 3:
        means = reduction.nanmean(given, axis=1).astype("float64").numpy()
        np.testing.assert_allclose(means, [4 / 3, 2, 4 / 3], rtol=0.01)


def test_gradients_of_nansum_and_nanmean_pass_by_nan():
    x = leaf([[NAN, 1.0, 2.0], [NAN, NAN, NAN]])
    np.testing.assert_array_equal(
        gradient(lambda x: reduction.nansum(x, axis=1), x), [[0, 1, 1], [0, 0, 0]]
    )
    np.testing.assert_array_equal(
        gradient(lambda x: reduction.nanmean(x, axis=1), x), [[0, 0.5, 0.5], [0, 0, 0]]
    )
    assert np.isnan(reduction.nanmean(x, axis=1).numpy()[1])


def test_logsumexp_of_large_numbers_and_of_minus_infinity():
    x = leaf([[1e4, 1e4, -INF], [-INF, -INF, -INF], [INF, 0.0, 0.0]], "float32")
    out = statistics.logsumexp(x, axis=1)
    np.testing.assert_allclose(out.numpy(), [1e4 + np.log(2), -INF, INF])
    for way in ({}, {"create_graph": True}):
        with np.errstate(invalid="ignore"):  # of multiply, which the recorded way goes through
            (found,) = grad(statistics.logsumexp(x[:2], axis=1), [x], **way)
        np.testing.assert_allclose(found.numpy()[:2], [[0.5, 0.5, 0], [0, 0, 0]], atol=1e-3)


def test_logcumsumexp_after_minus_infinity():
    x = leaf([-INF, -INF, -500.0, 1000.0])
    out = cumulative.logcumsumexp(x)
    np.testing.assert_array_equal(out.numpy(), [-INF, -INF, -500.0, 1000.0])
    for way in ({}, {"create_graph": True}):
        with np.errstate(invalid="ignore"):  # of subtract, which the recorded way goes through
            (found,) = grad(cumulative.logcumsumexp(x), [x], **way)
        np.testing.assert_allclose(found.numpy(), [0, 0, 1, 1])


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_variance_far_from_zero(axis):
    x = np.random.default_rng(1).normal(1e4, 1.0, (600, 500)).astype(np.float32)
    right = np.var(x.astype(np.float64), axis=axis, ddof=1)
    # The mean is off by half a unit of 1e4, 5e-4 at most, and its square is what that costs.
    np.testing.assert_allclose(statistics.var(to_tensor(x), axis).numpy(), right, rtol=1e-5)
    np.testing.assert_allclose(statistics.std(to_tensor(x), axis).numpy(), right**0.5, rtol=1e-5)


def test_the_deviation_of_equal_numbers_has_the_gradient_zero():
    x = leaf([2.0, 2.0, 2.0])
    assert gradient(statistics.std, x).tolist() == [0, 0, 0]
    assert gradient(statistics.norm, leaf([0.0, 0.0])).tolist() == [0, 0]
    assert np.isnan(statistics.var(leaf([1.0])).item())
    assert np.isnan(statistics.std(leaf([])).item())


def test_a_product_whose_value_overflows_still_has_the_gradient_of_the_others():
    x = leaf([1e200, 1e200, 1e-100])
    np.testing.assert_allclose(gradient(reduction.prod, x), [1e100, 1e100, INF])


SHAPES = [
    ((1000, 700), None), ((1000, 700), 0), ((1000, 700), 1), ((70, 50, 130), 1),
    ((70, 50, 130), (0, 2)), ((3, 300_001), 1), ((2, 300_000), 0), ((400_003,), 0),
    ((40_000, 9), 0), ((1, 2048, 300), 1), ((300, 2048), -1),
]  # fmt: skip
LARGE = {
    "sum": (np.sum, 1.0),
    "mean": (np.mean, 1.0),
    "max": (np.max, 0.0),
    "amin": (np.min, 0.0),
    "prod": (np.prod, 30.0),
    "nansum": (np.sum, 1.0),
    "logsumexp": (lambda x, axis: np.log(np.sum(np.exp(x), axis=axis)), 1.0),
    "var": (lambda x, axis: np.var(x, axis=axis, ddof=1), 4.0),
    "std": (lambda x, axis: np.std(x, axis=axis, ddof=1), 4.0),
    "norm": (lambda x, axis: np.sqrt(np.sum(x * x, axis=axis)), 1.0),
    "all": (np.all, 0.0),
    "any": (np.any, 0.0),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", LARGE)
def test_arrays_of_many_blocks(name, threads, monkeypatch):
    monkeypatch.setattr(block, "thread_count", lambda: threads)
    reference, roundings = LARGE[name]
    for shape, axis in SHAPES:
        x = np.random.default_rng(2).uniform(0.999, 1.001, shape).astype(np.float32)
        for given in (x, x[..., ::-1]):
            attributes = {} if name != "norm" else {"p": 2}
            found = FUNCTIONS[name](to_tensor(given), axis=axis, **attributes).numpy()
            right = reference(given.astype(np.float64), axis=axis)
            assert found.shape == right.shape, (shape, axis)
            # Sums are short, in float64 between blocks: some 16 units whatever the length; a
            # product walks. A deviation of numbers near 1 is off by half a unit of these.
            limit = roundings * 16 * 6e-8 * (1 if name != "prod" else len(x.reshape(-1)) ** 0.5)
            near = {"std": 6e-8, "var": 6e-11}.get(name, 0.0)
            np.testing.assert_allclose(
                found, right, rtol=limit, atol=near, err_msg=f"{shape} {axis}"
            )


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("shape", "axis"), [(s, a) for s, a in SHAPES if not isinstance(a, tuple)])
def test_cumulative_ops_over_many_blocks(shape, axis, threads, monkeypatch):
    monkeypatch.setattr(block, "thread_count", lambda: threads)
    x = np.random.default_rng(3).uniform(0.999, 1.001, shape).astype(np.float32)
    g = np.random.default_rng(4).uniform(0.5, 1.5, shape).astype(np.float32)
    wide = x.astype(np.float64)
    given = to_tensor(x, stop_gradient=False)
    summed = cumulative.cumsum(given, axis)
    np.testing.assert_allclose(summed.numpy(), np.cumsum(wide, axis), rtol=1e-7)
    multiplied = cumulative.cumprod(given, axis)
    np.testing.assert_allclose(multiplied.numpy(), np.cumprod(wide, axis), rtol=1e-7)
    at = 0 if axis is None else axis
    seed = g.reshape(-1) if axis is None else g
    (found,) = grad(summed, [given], to_tensor(seed))
    right = np.flip(np.cumsum(np.flip(seed.astype(np.float64), at), at), at).reshape(shape)
    np.testing.assert_allclose(found.numpy(), right, rtol=1e-7)
    # Without a zero the gradient is a cumulative sum from the end, divided by the element.
    (found,) = grad(multiplied, [given], to_tensor(seed))
    terms = np.cumprod(wide, axis) * seed
    right = np.flip(np.cumsum(np.flip(terms, at), at), at).reshape(shape) / wide
    np.testing.assert_allclose(found.numpy(), right, rtol=2e-5)


def test_groups_cover_every_element_once():
    for shape in [(3, 5, 7), (1, 10**6, 1), (2, 3, 10**6), (10**5, 3, 4), (1, 5000, 9000)]:
        seen = sum(
            len(range(*g.outer.indices(shape[0])))
            * len(range(*piece.indices(shape[1])))
            * len(range(*g.inner.indices(shape[2])))
            for g in fold.groups(shape, 4)
            for piece in g.pieces
        )
        assert seen == np.prod(shape)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((3, 200001), 1), ((701, 1001), 1), ((210, 1000, 3), 1), ((300007,), None), ((40000, 33), 1)],
)
def test_a_large_product_has_every_element_once(shape, axis):
    """Lengths that can not be halved; powers of two are multiplied without rounding."""
    x = np.random.default_rng(5).choice([0.5, 2.0, -0.5, -2.0], shape)
    out = reduction.prod(to_tensor(x), axis).numpy()
    exponent, negative = np.log2(np.abs(x)).sum(axis), np.count_nonzero(x < 0, axis) % 2
    np.testing.assert_array_equal(out, np.exp2(exponent) * (1 - 2 * negative))
