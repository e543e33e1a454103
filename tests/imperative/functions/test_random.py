"""Random numbers as users draw them: signatures, dtypes, filling in place, chunks, samples.

Every test has its seed. A bound on a mean is six standard errors of the distribution drawn from:
of right draws two in a billion would pass it.
"""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import minipaddle as paddle


@pytest.fixture(autouse=True)
def seeded():
    paddle.seed(1)


def near(drawn, mean, deviation):
    """Whether the mean of independent draws is right."""
    drawn = np.asarray(drawn, np.float64)
    return abs(drawn.mean() - mean) <= 6 * deviation / math.sqrt(drawn.size)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("make", ["rand", "randn", "standard_normal", "uniform"])
def test_random_numbers_come_in_every_float_type(make, dtype):
    tensor = getattr(paddle, make)([3, 2], dtype)
    assert tensor.dtype.name == dtype and tensor.shape == [3, 2] and tensor.stop_gradient


@pytest.mark.parametrize("make", [paddle.rand_like, paddle.randn_like])
def test_like_another_tensor(make):
    x = paddle.zeros([2, 3], "float64")
    assert make(x).shape == [2, 3] and make(x).dtype == np.float64
    assert make(x, "float32").dtype == np.float32
    ints = paddle.randint_like(x, 2, 9)
    assert ints.dtype == np.float64 and set(ints.numpy().ravel()) <= set(range(2, 9))
    assert paddle.randint_like(x, 5, dtype="int32").dtype == np.int32
    assert paddle.randint_like(x, 2, dtype="bool").dtype == np.bool_


def test_ranges():
    assert set(paddle.randint(3, shape=[200]).tolist()) == {0, 1, 2}
    assert paddle.randint(5).shape == [1] and paddle.randint(5).dtype == np.int64
    assert sorted(paddle.randperm(100).tolist()) == list(range(100))
    assert paddle.randperm(4, "float32").dtype == np.float32
    drawn = paddle.rand([100_000]).numpy()
    assert drawn.min() >= 0 and drawn.max() < 1


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda: paddle.randn([2], "int64"), TypeError, "float dtype"),
        (lambda: paddle.randint(3, shape=[2], dtype="float32"), TypeError, "int dtype"),
        (lambda: paddle.randint(3, 3), ValueError, "low must be less than high"),
        (lambda: paddle.randint(0), ValueError, "low must be less than high"),
        (lambda: paddle.randint(0, 300, [2], "uint8"), ValueError, "high"),
        (lambda: paddle.randperm(0), ValueError, "n must be at least 1"),
        (lambda: paddle.normal(0.0, -1.0, [2]), ValueError, "std must not be negative"),
        (lambda: paddle.normal(paddle.ones([2]), -1.0), ValueError, "std must not be negative"),
        (lambda: paddle.uniform([2], min=1.0, max=0.0), ValueError, "min must not be larger"),
        (lambda: paddle.rand([2, -1]), ValueError, "negative length"),
        (lambda: paddle.ones([2], "int64").normal_(), TypeError, "float dtype"),
        (lambda: paddle.ones([2]).exponential_(0.0), ValueError, "lam"),
        (lambda: paddle.ones([2]).geometric_(0.0), ValueError, "probs"),
        (lambda: paddle.ones([2]).bernoulli_(1.5), ValueError, r"1\.5"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, error, words):
    with pytest.raises(error, match=words):
        draw()


def test_normal_with_tensors_has_their_means_deviations_and_gradients():
    mean = paddle.to_tensor(np.linspace(-5, 5, 40_000, dtype=np.float32), stop_gradient=False)
    std = paddle.full([40_000], 0.5)
    std.stop_gradient = False
    drawn = paddle.normal(mean, std)
    rest = (drawn - mean).numpy() / 0.5
    assert near(rest, 0, 1) and near(rest**2, 1, math.sqrt(2))
    drawn.sum().backward()
    assert (mean.grad.numpy() == 1).all()
    np.testing.assert_allclose(std.grad.numpy(), rest, 1e-5, 1e-5)
    assert paddle.normal(mean, 0.0).tolist() == mean.tolist()
    assert paddle.normal(3.0, paddle.zeros([2, 2])).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert paddle.normal().shape == []


def test_logarithms_of_log_normal_numbers_are_normal():
    logs = paddle.log_normal(1.0, 0.5, [40_000]).log().numpy()
    assert near(logs, 1, 0.5) and near((logs - 1) ** 2, 0.25, 0.25 * math.sqrt(2))


FILLED = {  # mean and deviation
    "uniform_": ((-1.0, 3.0), 1.0, 4 / math.sqrt(12)),
    "normal_": ((2.0, 3.0), 2.0, 3.0),
    "log_normal_": ((0.0, 0.5), math.exp(0.125), math.sqrt((math.exp(0.25) - 1) * math.exp(0.25))),
    "bernoulli_": ((0.3,), 0.3, math.sqrt(0.21)),
    "exponential_": ((2.0,), 0.5, 0.5),
    "geometric_": ((0.25,), 4.0, math.sqrt(0.75) / 0.25),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", FILLED)
def test_filling_in_place(name, dtype):
    args, mean, deviation = FILLED[name]
    x = paddle.full([3, 20_000], 7.0, dtype)
    data, version = x.data, x.inplace_version
    assert getattr(x, name)(*args) is x
    assert x.data is data and x.inplace_version == version + 1 and x.dtype.name == dtype
    # To nearest a half type's elements are rounded by up to 2**-8 of them, either way.
    assert near(x.numpy(), mean, deviation)
    assert (x.numpy()[0] != x.numpy()[1]).any()


def test_filling_other_types_and_views():
    ints = paddle.zeros([1000], "int64").bernoulli_(0.5)
    assert ints.dtype == np.int64 and set(ints.tolist()) == {0, 1}
    chances = paddle.to_tensor([0.0, 1.0, 0.0])
    assert paddle.ones([3]).bernoulli_(chances).tolist() == [0.0, 1.0, 0.0]
    x = paddle.zeros([2, 3])
    x[1].normal_(5.0, 0.0)
    assert x.tolist() == [[0.0] * 3, [5.0] * 3]
    np.testing.assert_array_equal(
        paddle.zeros([4]).uniform_(seed=3).numpy(), paddle.ones([4]).uniform_(seed=3).numpy()
    )


def test_no_gradient_flows_to_what_was_overwritten():
    x = paddle.ones([3])
    x.stop_gradient = False
    with pytest.raises(ValueError, match="leaf"):
        x.normal_()
    with paddle.no_grad():
        x.normal_(2.0, 0.0)
    y = x * 3.0
    y.uniform_()
    y.sum().backward()
    assert x.tolist() == [2.0] * 3 and x.grad.tolist() == [0.0] * 3


def test_large_half_types_never_become_infinite():
    assert np.isfinite(paddle.zeros([100_000], "float16").exponential_().numpy()).all()


DRAWS = """
import hashlib
import minipaddle as paddle
paddle.seed(5)
x = paddle.ones([1000, 1000])
draws = [paddle.randn([700, 900]), paddle.uniform([900, 900], "float16"), paddle.rand([3]),
         paddle.randint(9, shape=[10**6]), paddle.bernoulli(x * 0.5), paddle.poisson(x),
         paddle.nn.functional.dropout(x, 0.3), paddle.zeros([999, 999]).exponential_()]
print(hashlib.sha256(b"".join(d.numpy().tobytes() for d in draws)).hexdigest())
"""


def test_draws_do_not_depend_on_the_number_of_threads():
    found = set()
    for threads in ("1", "2", "5"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads}
        run = subprocess.run(
            [sys.executable, "-c", DRAWS],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(run.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_chunks_are_unlike_one_another(dtype):
    rows = paddle.randn([6, 128 * 1024], dtype).numpy()
    ties = np.corrcoef(rows)[np.triu_indices(6, 1)]
    assert abs(ties).max() <= 6 / math.sqrt(rows.shape[1])
    assert len(np.unique(rows)) > (0.9 if dtype == "float32" else 0.999) * rows.size


def test_odd_numbers_of_normals_are_normal_too():
    drawn = np.concatenate([paddle.randn([3]).numpy() for _ in range(5000)])
    assert near(drawn, 0, 1) and near(drawn**2, 1, math.sqrt(2)) and near(drawn**4, 3, 10)
    columns = drawn.reshape(-1, 3)
    assert abs(np.corrcoef(columns.T)[np.triu_indices(3, 1)]).max() <= 6 / math.sqrt(5000)


def test_samples_without_replacement():
    """The first has the chance of its weight, the second that of its weight among the rest."""
    weights = np.array([1.0, 2.0, 0.0, 5.0])
    pairs = paddle.multinomial(paddle.to_tensor(np.tile(weights, (20_000, 1))), 2).numpy()
    assert (pairs[:, 0] != pairs[:, 1]).all() and pairs.dtype == np.int64
    for i in range(4):
        for j in range(4):
            chance = weights[i] * weights[j] / 8 / (8 - weights[i]) if i != j else 0.0
            hits = (pairs == [i, j]).all(1)
            assert near(hits, chance, math.sqrt(chance * (1 - chance))), (i, j)


def test_each_row_is_sampled_by_its_own_weights():
    rows = paddle.to_tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    drawn = paddle.multinomial(rows, 50, True).numpy()
    assert set(drawn[0]) == {1, 2} and set(drawn[1]) == {0}
    assert sorted(paddle.multinomial(paddle.ones([5]), 5).tolist()) == list(range(5))
    assert paddle.to_tensor([0.0, 1.0]).multinomial(1).tolist() == [1]


def test_every_permutation_is_as_likely():
    orders = [tuple(paddle.randperm(3).tolist()) for _ in range(6000)]
    assert len(set(orders)) == 6
    for order in set(orders):
        assert near([one == order for one in orders], 1 / 6, math.sqrt(5) / 6)


def test_randint_says_what_stands_in_the_place_of_high():
    with pytest.raises(TypeError, match=r"must be ints, and lengths shape=; got 2 and \[3\]"):
        paddle.randint(2, [3])
    assert paddle.randint(np.int64(3), paddle.to_tensor(4)).tolist() == [3]
