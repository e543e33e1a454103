"""Differences of neighbours."""

import numpy as np
import pytest

from minipaddle.imperative.autograd import grad
from minipaddle.imperative.functions.cumulative import diff
from minipaddle.imperative.tensor import to_tensor

X = np.array([[1.0, 4.0, 9.0, 16.0], [2.0, 3.0, 5.0, 9.0]])


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("n", [1, 2])
def test_diff_is_that_of_numpy(n, axis, place):
    np.testing.assert_array_equal(diff(to_tensor(X), n, axis).numpy(), np.diff(X, n, axis))


def test_diff_with_something_put_before_and_after(place):
    before, after = X[:, :1] - 1, X[:, :2] * 3
    found = diff(to_tensor(X), prepend=to_tensor(before), append=to_tensor(after))
    np.testing.assert_array_equal(found.numpy(), np.diff(X, prepend=before, append=after))


def test_diff_has_a_gradient(place):
    x = to_tensor(X[0], stop_gradient=False)
    y = to_tensor(X[1], stop_gradient=False)
    seed = to_tensor(np.arange(1.0, 8.0))
    found = grad(diff(x, prepend=y), [x, y], seed)
    assert found[0].tolist() == [-1.0, -1.0, -1.0, 7.0]
    assert found[1].tolist() == [-1.0, -1.0, -1.0, -1.0]


@pytest.mark.parametrize(("n", "axis"), [(0, 0), (1, 2), (1, -3)])
def test_what_diff_refuses(n, axis):
    with pytest.raises(ValueError, match="diff"):
        diff(to_tensor(X), n, axis)
