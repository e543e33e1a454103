"""Products composed of other functions: values, gradients of two orders, dtypes and refusals."""

import itertools

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.functions.einsum import einsum
from minipaddle.imperative.functions.geometry import cosine_similarity, cross
from minipaddle.imperative.functions.linalg import diagonal, dist, matmul
from minipaddle.imperative.functions.matrices import (
    corrcoef,
    cov,
    kron,
    matrix_power,
    matrix_transpose,
    multi_dot,
    trace,
)
from minipaddle.imperative.functions.products import (
    addmm,
    baddbmm,
    bmm,
    dot,
    inner,
    mm,
    mv,
    outer,
)
from tests.imperative.functions.composed import check
from tests.ops.samples.sample import values


def addition(beta, alpha):
    return lambda i, x, y: beta * i + alpha * (x @ y)


def cosine(x, y, axis=1, eps=1e-8):
    x, y = np.broadcast_arrays(x, y)
    lengths = np.sqrt((x * x).sum(axis)) * np.sqrt((y * y).sum(axis))
    return (x * y).sum(axis) / np.maximum(lengths, eps)


def covariance(x, ddof=1):
    centred = np.atleast_2d(x) - np.atleast_2d(x).mean(1, keepdims=True)
    return np.squeeze(centred @ centred.T / (np.shape(x)[-1] - ddof))


def correlation(x):
    c = covariance(x)
    return c / np.sqrt(np.outer(np.diag(c), np.diag(c)))


COMPOSED = {
    "mm": (mm, np.matmul, (2, 3), (3, 2)),
    "bmm": (bmm, np.matmul, (2, 2, 3), (2, 3, 2)),
    "bmm of nothing": (bmm, np.matmul, (0, 2, 3), (0, 3, 2)),
    "mv": (mv, np.matmul, (2, 3), (3,)),
    "dot": (dot, np.dot, (4,), (4,)),
    "dot of nothing": (dot, np.dot, (0,), (0,)),
    "dot of rows": (dot, lambda x, y: (x * y).sum(-1), (2, 3), (2, 3)),
    "inner": (inner, np.inner, (2, 3), (2, 2, 3)),
    "inner of vectors": (inner, np.inner, (3,), (3,)),
    "inner with one number": (inner, np.multiply, (2, 2), (1,)),
    "inner of nothing": (inner, np.inner, (2, 0), (3, 0)),
    "outer": (outer, np.outer, (3,), (2,)),
    "outer of matrices": (outer, np.outer, (2, 2), (2, 1)),
    "addmm": (addmm, addition(1, 1), (2, 2), (2, 3), (3, 2)),
    "addmm, row, factors": (
        lambda i, x, y: addmm(i, x, y, beta=0.5, alpha=-2.0),
        addition(0.5, -2.0),
        (2,),
        (2, 3),
        (3, 2),
    ),
    "baddbmm": (
        lambda i, x, y: baddbmm(i, x, y, 2.0, 0.5),
        addition(2.0, 0.5),
        (2, 1),
        (2, 2, 2),
        (2, 2, 2),
    ),
    "matrix_transpose": (matrix_transpose, lambda x: np.swapaxes(x, -1, -2), (2, 2, 3)),
    "matrix_power 1": (lambda x: matrix_power(x, 1), lambda x: x, (2, 2)),
    "matrix_power 3": (lambda x: matrix_power(x, 3), lambda x: x @ x @ x, (2, 2, 2)),
    "multi_dot": (lambda *x: multi_dot(x), lambda a, b, c: a @ b @ c, (2, 3), (3, 2), (2, 1)),
    "multi_dot of vectors": (
        lambda *x: multi_dot(x), lambda a, b, c, d: a @ b @ c @ d, (2,), (2, 3), (3, 2), (2,)
    ),
    "multi_dot of two": (lambda *x: multi_dot(x), np.matmul, (2, 3), (3,)),
    "kron": (kron, np.kron, (2, 2), (1, 3)),
    "kron of ranks": (kron, np.kron, (2,), (2, 1, 2)),
    "trace": (trace, np.trace, (3, 3)),
    "trace of axes": (lambda x: trace(x, 1, 0, 2), lambda x: np.trace(x, 1, 0, 2), (2, 2, 3)),
    "cross": (cross, np.cross, (2, 3), (2, 3)),
    "cross, first axis": (cross, lambda x, y: np.cross(x, y, axis=0), (3, 3), (3, 3)),
    "cross, axis": (
        lambda x, y: cross(x, y, axis=1), lambda x, y: np.cross(x, y, axis=1), (2, 3, 1), (2, 3, 1)
    ),
    "cross, broadcast": (lambda x, y: cross(x, y, -1), np.cross, (3,), (2, 3)),
    "cosine_similarity": (cosine_similarity, cosine, (2, 3), (2, 3)),
    "cosine_similarity, broadcast": (cosine_similarity, cosine, (1, 3), (2, 3)),
    "cosine_similarity, axis": (
        lambda x, y: cosine_similarity(x, y, axis=0), lambda x, y: cosine(x, y, 0), (3,), (3,)
    ),
    "cosine_similarity, large eps": (
        lambda x, y: cosine_similarity(x, y, eps=50.0), lambda x, y: cosine(x, y, 1, 50.0),
        (2, 3), (2, 3),
    ),
    "cov": (cov, covariance, (2, 4)),
    "cov of one": (cov, covariance, (4,)),
    "cov of columns, biased": (
        lambda x: cov(x, rowvar=False, ddof=False), lambda x: covariance(x.T, 0), (4, 2)
    ),
    "corrcoef": (corrcoef, correlation, (2, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPOSED)
def test_composed_functions(name):
    check(*COMPOSED[name])


def ones(*shape):
    return paddle.ones(list(shape))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: bmm(ones(2, 3), ones(2, 3, 4)), ValueError, ["bmm", "x", "rank 3", "[2, 3]"]),
        (lambda: bmm(ones(2, 2, 3), ones(1, 3, 4)), ValueError, ["bmm", "[2, 2, 3]", "[1, 3, 4]"]),
        (lambda: bmm(ones(2, 2, 3), ones(2, 4, 4)), ValueError, ["[2, 2, 3]", "[2, 4, 4]"]),
        (lambda: mv(ones(2, 3), ones(3, 1)), ValueError, ["mv", "vec", "rank 1", "[3, 1]"]),
        (lambda: mv(ones(2, 3), ones(2)), ValueError, ["[2, 3]", "[2]", "3", "2"]),
        (lambda: dot(ones(2), ones(3)), ValueError, ["dot", "[2]", "[3]"]),
        (lambda: dot(ones(1, 2, 3), ones(3)), ValueError, ["dot", "x", "rank 1 or 2"]),
        (lambda: dot([1.0], ones(1)), TypeError, ["dot", "x", "Tensor", "list"]),
        (lambda: inner(ones(2, 3), ones(2, 4)), ValueError, ["inner", "[2, 3]", "[2, 4]"]),
        (lambda: addmm(ones(3, 2), ones(2, 3), ones(3, 2)), ValueError, ["input", "[3, 2]"]),
        (lambda: addmm(ones(1, 2, 2), ones(2, 3), ones(3, 2)), ValueError, ["input", "[1, 2, 2]"]),
        (lambda: addmm(ones(2, 2), ones(3), ones(3, 2)), ValueError, ["addmm", "x", "rank 2"]),
        (
            lambda: addmm(ones(2).astype("float64"), ones(2, 3), ones(3, 2)),
            TypeError,
            ["addmm", "input: float64", "x: float32"],
        ),
        (
            lambda: addmm(*(ones(2, 2).astype("int64") for _ in range(3)), 0.5),
            ValueError,
            ["addmm", "beta", "0.5"],
        ),
        (
            lambda: baddbmm(ones(2, 2), ones(2, 2, 2), ones(3, 2, 2)),
            ValueError,
            ["baddbmm", "[2, 2, 2]", "[3, 2, 2]"],
        ),
        (lambda: matrix_transpose(ones(2)), ValueError, ["matrix_transpose", "[2]"]),
        (lambda: matrix_power(ones(2, 3), 2), ValueError, ["matrix_power", "square", "[2, 3]"]),
        (lambda: matrix_power(ones(2, 2), -1), ValueError, ["matrix_power", "negative", "-1"]),
        (lambda: matrix_power(ones(2, 2), 1.5), TypeError, ["float"]),
        (lambda: multi_dot([ones(2, 2)]), ValueError, ["multi_dot", "two", "1"]),
        (lambda: multi_dot([ones(2, 2), ones(2), ones(2)]), ValueError, ["x[1]", "[2]"]),
        (lambda: multi_dot([ones(2, 3), ones(2, 2)]), ValueError, ["[2, 3]", "[2, 2]"]),
        (lambda: trace(ones(3)), ValueError, ["diagonal", "[3]"]),
        (lambda: cross(ones(2, 4), ones(2, 4)), ValueError, ["cross", "length 3", "[2, 4]"]),
        (lambda: cross(ones(2, 3), ones(2, 3), 0), ValueError, ["cross", "axis", "0"]),
        (lambda: cross(ones(2, 3), ones(4, 3)), ValueError, ["cross", "[2, 3]", "[4, 3]"]),
        (
            lambda: cosine_similarity(ones(2, 3), ones(2, 4)),
            ValueError,
            ["cosine_similarity", "[2, 3]", "[2, 4]"],
        ),
        (lambda: cov(ones(2, 2, 2)), ValueError, ["cov", "[2, 2, 2]"]),
        (lambda: cov(ones(2, 3), fweights=ones(2)), ValueError, ["fweights", "[3]", "[2]"]),
    ],
)
def test_what_composed_functions_refuse(call, error, words):
    with pytest.raises(error) as caught:
        call()
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"


def test_matrix_power_0_is_the_identity(place):
    out = matrix_power(paddle.ones([2, 3, 3]), 0)
    np.testing.assert_array_equal(out.numpy(), np.broadcast_to(np.eye(3), (2, 3, 3)))


def test_composed_functions_on_every_device(place):
    x, y = values((2, 3), 1), values((3, 2), 2)
    a, b = (paddle.to_tensor(v, stop_gradient=False) for v in (x, y))
    out = einsum("ij,jk,lk->il", a, b, a[:, :2])
    np.testing.assert_allclose(out.numpy(), x @ y @ x[:, :2].T, rtol=1e-12)
    out.backward()
    assert a.grad.shape == [2, 3] and b.grad.shape == [3, 2]
    np.testing.assert_allclose(
        cosine_similarity(a, paddle.to_tensor(y.T)).numpy(), cosine(x, y.T), rtol=1e-12
    )
    np.testing.assert_allclose(cross(a, a).numpy(), np.zeros((2, 3)))
    np.testing.assert_allclose(addmm(a[:, :2], a, b).numpy(), x[:, :2] + x @ y, rtol=1e-12)
    np.testing.assert_allclose(cov(a).numpy(), np.cov(x), rtol=1e-12)


@pytest.mark.parametrize("ddof", [True, False])
@pytest.mark.parametrize(("frequent", "important"), [*itertools.product([False, True], repeat=2)])
def test_cov_of_weighted_observations(ddof, frequent, important):
    x = values((2, 5))
    often = np.array([1, 2, 3, 1, 2]) if frequent else None
    weight = np.array([0.5, 1.0, 0.25, 2.0, 1.0]) if important else None
    given = [None if w is None else paddle.to_tensor(w) for w in (often, weight)]
    out = cov(paddle.to_tensor(x), True, ddof, *given)
    right = np.cov(x, ddof=int(ddof), fweights=often, aweights=weight)
    np.testing.assert_allclose(out.numpy(), right, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_are_computed_in_float32_and_rounded_once(dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    arrays = [values(shape, i) for i, shape in enumerate([(4, 4), (4, 64), (64, 4)])]
    half = [paddle.to_tensor(a).astype(dtype) for a in arrays]
    wide = [x.astype("float32") for x in half]
    for function, count in ((addmm, 3), (cosine_similarity, 1), (dot, 1)):
        args, exact = (half, wide) if count == 3 else ([half[1]] * 2, [wide[1]] * 2)
        out = function(*args)
        assert out.dtype.name == dtype
        np.testing.assert_array_equal(
            out.astype("float32").numpy(), function(*exact).astype(dtype).astype("float32").numpy()
        )


def test_cosine_similarity_of_zeros_and_of_very_long_vectors():
    zero = paddle.to_tensor([[0.0, 0.0], [1e-6, 0.0]], stop_gradient=False)
    other = paddle.to_tensor([[3.0, 4.0], [1e-6, 0.0]], stop_gradient=False)
    out = cosine_similarity(zero, other)
    np.testing.assert_allclose(out.numpy(), [0.0, 1e-4], rtol=1e-5)  # 1e-12 by eps, not by itself
    out.backward()
    assert np.isfinite(zero.grad.numpy()).all() and np.isfinite(other.grad.numpy()).all()
    # Below eps the divisor is a constant, so the slope is the other vector by eps.
    np.testing.assert_allclose(zero.grad.numpy()[1], [1e-6 / 1e-8, 0.0], rtol=1e-5)
    long = paddle.to_tensor([[3e15, 4e15]])
    assert cosine_similarity(long, long).item() == pytest.approx(1.0)


def test_dist_neither_overflows_nor_vanishes():
    zero = paddle.to_tensor([0.0, 0.0])
    for size in (1e-30, 1.0, 1e30):
        for p in (2.0, 3.0):
            apart = dist(paddle.to_tensor([3 * size, 4 * size]), zero, p).item()
            assert apart == pytest.approx(size * (3**p + 4**p) ** (1 / p), rel=1e-6)
    assert dist(paddle.to_tensor([np.inf, 1.0]), zero).item() == np.inf
    assert np.isnan(dist(paddle.to_tensor([np.nan, 1.0]), zero).item())


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, float("inf")])
def test_the_slope_of_the_distance_of_equal_tensors_is_zero(p):
    x = paddle.to_tensor([1.0, -2.0], stop_gradient=False)
    out = dist(x, paddle.to_tensor([1.0, -2.0]), p)
    assert out.item() == 0.0
    out.backward()
    assert (x.grad.numpy() == 0).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("limit", [5, 100, 2**26, 2**62])
def test_large_int_products_are_exact_or_wrap(dtype, limit):
    """What goes through float64 is what sums in the dtype itself give, also where they wrap."""
    draw = np.random.default_rng(limit)
    most = min(limit, np.iinfo(dtype).max)
    least = -most - 1 if np.iinfo(dtype).min else 0
    x, y = (draw.integers(least, most, (40, 40), dtype, endpoint=True) for _ in range(2))
    x[0, 0] = least
    out = matmul(paddle.to_tensor(x), paddle.to_tensor(y))
    assert out.dtype == dtype
    np.testing.assert_array_equal(out.numpy(), np.matmul(x, y))


def test_views_of_matrices_multiply_without_a_copy_of_them():
    """Transposed, as BLAS takes them; with gaps or repeats, which take a copy, too."""
    x, y = values((64, 32), 1), values((64, 32), 2)
    a, b = paddle.to_tensor(x), paddle.to_tensor(y)
    views = {
        "transposed": (matrix_transpose(a), x.T, b, y),
        "rows left out": (a[::2], x[::2], matrix_transpose(b), y.T),
        "columns left out": (a[:, ::2], x[:, ::2], matrix_transpose(b[:, ::2]), y[:, ::2].T),
        "one row repeated": (a[:1].expand([8, 32]), x[:1].repeat(8, 0), matrix_transpose(b), y.T),
        "backwards": (a[::-1, ::-1], x[::-1, ::-1], matrix_transpose(b), y.T),
    }
    for name, (left, of_left, right, of_right) in views.items():
        np.testing.assert_allclose(
            matmul(left, right).numpy(), of_left @ of_right, rtol=1e-12, atol=1e-12, err_msg=name
        )


def test_a_diagonal_is_a_view_that_can_be_written_to():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    diagonal(x).add_(paddle.to_tensor([10.0, 20.0]))
    assert x.tolist() == [[11.0, 2.0], [3.0, 24.0]]
    assert x.inplace_version == 1


def test_public_names_of_paddle_linalg():
    from minipaddle import linalg

    assert linalg.matmul is matmul and linalg.diagonal is diagonal
    assert all(callable(getattr(linalg, name)) for name in linalg.__all__)
