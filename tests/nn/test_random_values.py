"""Initializers that draw: their spread, with bounds that follow from the number of values."""

import math
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.nn import initializer

COUNT = 40_000
SIGMAS = 5.0  # a bound that a sound generator breaks once in two million times


def drawn(made: initializer.Initializer, shape: list[int], dtype: str = "float64") -> Any:
    paddle.seed(17)
    return made(shape, dtype).numpy().astype("float64")


def check(values: Any, mean: float, std: float, fourth: float) -> None:
    """Mean and deviation of a sample, where ``fourth`` is E[(x - mean)^4] / std^4."""
    n = values.size
    assert abs(values.mean() - mean) < SIGMAS * std / math.sqrt(n)
    assert abs(values.std() / std - 1.0) < SIGMAS * math.sqrt((fourth - 1.0) / (4.0 * n))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_normal(dtype: str) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    check(drawn(initializer.Normal(3.0, 0.5), [COUNT], dtype), 3.0, 0.5, 3.0)


def truncated(mean: float, std: float, a: float, b: float) -> tuple[float, float, float]:
    """Mean, deviation and fourth moment of a cut normal distribution, by summing its density."""
    grid = np.linspace(a, b, 200_001)
    middle = (grid[1:] + grid[:-1]) / 2
    squares = ((middle - mean) / std) ** 2 / 2
    weight = np.exp(squares.min() - squares)
    weight /= weight.sum()
    centre = (weight * middle).sum()
    spread = math.sqrt((weight * (middle - centre) ** 2).sum())
    return centre, spread, (weight * (middle - centre) ** 4).sum() / spread**4


@pytest.mark.parametrize(
    "cut",
    [
        (0.0, 1.0, -2.0, 2.0),
        (3.0, 2.0, 1.0, 7.0),
        (0.0, 1.0, 0.5, 0.6),
        (0.0, 1.0, 3.0, 4.0),
        (0.0, 1.0, 8.0, 100.0),
        (0.0, 1.0, -30.0, -20.0),
        (0.0, 0.02, -2.0, 2.0),
        (5.0, 1.0, -2.0, 2.0),
    ],
)
def test_truncated_normal(cut: tuple[float, float, float, float]) -> None:
    values = drawn(initializer.TruncatedNormal(*cut), [COUNT])
    assert cut[2] <= values.min()
    assert values.max() <= cut[3]
    check(values, *truncated(*cut))


def test_truncated_normal_stays_inside_after_rounding() -> None:
    values = drawn(initializer.TruncatedNormal(0.0, 1.0, -0.1, 0.1), [COUNT], "float16")
    assert abs(values).max() <= float(np.float16(0.1))
    assert drawn(initializer.TruncatedNormal(), [0]).shape == (0,)
    assert drawn(initializer.TruncatedNormal(), []).shape == ()


@pytest.mark.parametrize(
    ("made", "shape", "std"),
    [
        (initializer.XavierUniform(), [200, 200], math.sqrt(2 / 400)),
        (initializer.XavierNormal(), [200, 200], math.sqrt(2 / 400)),
        (initializer.XavierNormal(gain=3.0), [100, 400], 3 * math.sqrt(2 / 500)),
        (initializer.XavierNormal(fan_in=10, fan_out=40), [200, 200], math.sqrt(2 / 50)),
        (initializer.XavierUniform(fan_in=50), [200, 200], math.sqrt(2 / 250)),
        (initializer.XavierNormal(), [40, 100, 5, 2], math.sqrt(2 / 1400)),
        (initializer.KaimingNormal(), [100, 400], math.sqrt(2 / 100)),
        (initializer.KaimingUniform(), [100, 400], math.sqrt(2 / 100)),
        (initializer.KaimingUniform(mode="fan_out"), [100, 400], math.sqrt(2 / 400)),
        (initializer.KaimingNormal(mode="fan_out"), [40, 100, 5, 2], math.sqrt(2 / 400)),
        (initializer.KaimingNormal(), [40, 100, 5, 2], math.sqrt(2 / 1000)),
        (initializer.KaimingNormal(fan_in=7, nonlinearity="tanh"), [200, 200], 5 / 3 / 7**0.5),
        (initializer.KaimingUniform(None, 0.5, "leaky_relu"), [100, 400], math.sqrt(1.6 / 100)),
    ],
)
def test_the_spread_follows_from_the_fans(made: Any, shape: list[int], std: float) -> None:
    even = "Uniform" in type(made).__name__
    values = drawn(made, shape)
    check(values, 0.0, std, 1.8 if even else 3.0)
    if even:
        assert abs(values).max() <= std * math.sqrt(3)


def test_shapes_without_elements_have_a_spread_too() -> None:
    for kind in (initializer.XavierNormal, initializer.KaimingNormal, initializer.KaimingUniform):
        for shape in ([], [0, 3], [1]):
            assert kind()(shape, "float32").shape == shape


@pytest.mark.parametrize(
    ("nonlinearity", "param", "gain"),
    [
        ("linear", None, 1.0),
        ("conv2d", None, 1.0),
        ("conv1d_transpose", None, 1.0),
        ("conv_transpose3d", None, 1.0),
        ("sigmoid", None, 1.0),
        ("tanh", None, 5 / 3),
        ("relu", None, math.sqrt(2)),
        ("leaky_relu", None, math.sqrt(2 / 1.0001)),
        ("leaky_relu", 1, 1.0),
        ("selu", None, 0.75),
    ],
)
def test_gains(nonlinearity: str, param: Any, gain: float) -> None:
    assert initializer.calculate_gain(nonlinearity, param) == pytest.approx(gain)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: initializer.calculate_gain("swish"), "nonlinearity"),
        (lambda: initializer.Uniform(1.0, 0.0), "low"),
        (lambda: initializer.Normal(0.0, -1.0), "std"),
        (lambda: initializer.TruncatedNormal(std=0.0), "std"),
        (lambda: initializer.TruncatedNormal(a=1.0, b=1.0), "a must"),
        (lambda: initializer.KaimingNormal(mode="fan_avg"), "mode"),
        (lambda: initializer.KaimingNormal(3, mode="fan_out"), "fan_in"),
        (lambda: initializer.KaimingUniform(nonlinearity="swish"), "nonlinearity"),
    ],
)
def test_arguments_that_make_no_sense(make: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        make()


def test_a_seed_repeats_all() -> None:
    for made in (initializer.TruncatedNormal(a=3.0, b=4.0), initializer.Orthogonal()):
        assert (drawn(made, [5, 6]) == drawn(made, [5, 6])).all()
