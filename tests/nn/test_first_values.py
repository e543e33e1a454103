"""Initializers whose values are given: Constant, Assign, Orthogonal, Dirac; and fans."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.nn import initializer
from minipaddle.nn.first_values import fans


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ([], (1, 1)),
        ([7], (7, 7)),
        ([3, 5], (3, 5)),
        ([4, 2, 3], (6, 12)),
        ([4, 2, 3, 5], (30, 60)),
    ],
)
def test_fans_are_those_of_paddle(shape: list[int], expected: tuple[int, int]) -> None:
    assert fans(shape) == expected


def test_a_constant_is_a_number() -> None:
    with pytest.raises(ValueError, match="None"):
        initializer.Constant(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [[[1.0, 2.0]], ((1, 2),), np.array([[1, 2]]), paddle.to_tensor([[1.0, 2.0]])]
)
def test_assign(value: Any) -> None:
    made = initializer.Assign(value)([1, 2], "float32")
    assert (made.dtype, made.tolist()) == (paddle.float32, [[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"\[1, 2\].*\[2, 1\]"):
        initializer.Assign(value)([2, 1], "float32")


def test_assign_copies() -> None:
    array = np.ones(2)
    assign = initializer.Assign(array)
    array[:] = 5.0
    first = assign([2], "float64")
    first.set_value([7.0, 7.0])
    assert assign([2], "float64").tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="str"):
        initializer.Assign("text")


@pytest.mark.parametrize("shape", [[4, 6], [6, 4], [5, 5], [4, 3, 2]])
def test_orthogonal(shape: list[int]) -> None:
    paddle.seed(5)
    matrix = initializer.Orthogonal(gain=2.0)(shape, "float64").numpy().reshape(shape[0], -1)
    short = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    np.testing.assert_allclose(short @ short.T, 4.0 * np.eye(len(short)), atol=1e-12)


def test_orthogonal_has_no_preferred_sign() -> None:
    paddle.seed(5)
    signs = [initializer.Orthogonal()([2, 2], "float64").numpy()[0, 0] > 0 for _ in range(100)]
    assert 25 < sum(signs) < 75  # 5 standard deviations of 100 tosses of a coin
    with pytest.raises(ValueError, match="two axes"):
        initializer.Orthogonal()([4], "float32")


def test_dirac_hands_channels_on() -> None:
    values = initializer.Dirac(groups=2)([4, 2, 3], "float32").numpy()
    expected = np.zeros((4, 2, 3))
    for unit, channel in ((0, 0), (1, 1), (2, 0), (3, 1)):
        expected[unit, channel, 1] = 1.0
    np.testing.assert_array_equal(values, expected)
    wide = initializer.Dirac()([2, 3, 2, 2], "float64").numpy()
    assert wide.sum() == 2.0
    assert wide[0, 0, 1, 1] == wide[1, 1, 1, 1] == 1.0


@pytest.mark.parametrize("shape", [[2, 2], [3, 1, 1], [2] * 6])
def test_dirac_needs_a_kernel(shape: list[int]) -> None:
    with pytest.raises(ValueError, match="3 to 5 axes"):
        initializer.Dirac(groups=2)(shape, "float32")
    with pytest.raises(ValueError, match="groups"):
        initializer.Dirac(groups=0)
