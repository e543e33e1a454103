"""MSELoss."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_value_and_gradients(reduction: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4, 3)).astype(dtype)
    x, y = (paddle.to_tensor(v, stop_gradient=False) for v in (a, b))
    loss = nn.MSELoss(reduction)(x, y)
    squares = (a.astype("float64") - b) ** 2
    expected = {"mean": squares.mean(), "sum": squares.sum(), "none": squares}[reduction]
    rtol = 1e-6 if dtype == "float32" else 1e-14
    np.testing.assert_allclose(loss.numpy(), expected, rtol=rtol)
    assert loss.dtype.name == dtype
    loss.sum().backward()
    gradient = 2 * (a.astype("float64") - b) / (12 if reduction == "mean" else 1)
    np.testing.assert_allclose(x.grad.numpy(), gradient, rtol=rtol * 10)
    np.testing.assert_allclose(y.grad.numpy(), -gradient, rtol=rtol * 10)


def test_the_mean_is_the_default() -> None:
    assert nn.MSELoss()(paddle.ones([4]), paddle.zeros([4])).item() == 1.0


@pytest.mark.parametrize("reduction", ["average", "", None, 1])
def test_another_reduction_is_refused_when_the_layer_is_made(reduction: object) -> None:
    with pytest.raises(ValueError, match=r"mean.*sum.*none"):
        nn.MSELoss(reduction)  # type: ignore[arg-type]
