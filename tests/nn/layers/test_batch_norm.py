"""Batch normalization as layers: modes, running values, errors."""

import copy
import warnings

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn


def batch(*shape: int) -> paddle.Tensor:
    rng = np.random.default_rng(3)
    return paddle.to_tensor(rng.normal(3.0, 2.0, shape).astype("float32"))


def test_training_normalizes_and_keeps_running_values() -> None:
    layer, x = nn.BatchNorm1D(4), batch(50, 4)
    out = layer(x).numpy()
    np.testing.assert_allclose(out.mean(0), 0.0, atol=1e-6)
    np.testing.assert_allclose(out.std(0), 1.0, atol=1e-4)
    np.testing.assert_allclose(layer._mean.numpy(), 0.1 * x.numpy().mean(0), rtol=1e-5)
    np.testing.assert_allclose(layer._variance.numpy(), 0.9 + 0.1 * x.numpy().var(0), rtol=1e-5)


def test_evaluation_takes_running_values_and_leaves_them() -> None:
    layer = nn.BatchNorm1D(4, momentum=0.0)
    x = batch(50, 4)
    trained = layer(x).numpy()
    mean = layer._mean.numpy()
    layer.eval()
    np.testing.assert_allclose(layer(x).numpy(), trained, atol=1e-5)
    layer(batch(2, 4) * 100.0)
    np.testing.assert_array_equal(layer._mean.numpy(), mean)


def test_batch_values_may_be_taken_in_evaluation() -> None:
    layer, x = nn.BatchNorm1D(3, use_global_stats=False).eval(), batch(6, 3)
    x.stop_gradient = False
    layer._mean.set_value(np.full(3, 5.0))
    (layer(x) * batch(6, 3)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy().sum(0), 0.0, atol=1e-5)  # a shift changes nothing


def test_running_values_are_state_and_not_trained() -> None:
    layer = nn.BatchNorm1D(2, name="norm")
    assert list(layer.state_dict()) == ["weight", "bias", "_mean", "_variance"]
    assert [p.trainable for p in layer.parameters()] == [True, True, False, False]
    assert [layer._mean.name, layer._variance.name] == ["norm_mean", "norm_variance"]
    sgd = paddle.optimizer.SGD(0.1, layer.parameters())
    layer(batch(5, 2)).sum().backward()
    before = layer._mean.numpy()
    sgd.step()
    np.testing.assert_array_equal(layer._mean.numpy(), before)
    twin = nn.BatchNorm1D(2)
    twin.set_state_dict(copy.deepcopy(layer).state_dict())
    np.testing.assert_array_equal(twin._mean.numpy(), before)


def test_a_backward_after_the_running_values_moved() -> None:
    layer, x = nn.BatchNorm1D(3), batch(6, 3)
    x.stop_gradient = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = layer(x)
        layer(batch(6, 3))
    first.sum().backward()
    assert x.grad is not None


def test_half_types_are_computed_in_float32() -> None:
    layer = nn.BatchNorm2D(3)
    out = layer((batch(4, 3, 5, 5) * 100.0).astype("float16"))
    assert out.dtype == paddle.float16
    np.testing.assert_allclose(out.numpy().astype("float64").std((0, 2, 3)), 1.0, atol=1e-2)
    assert layer._mean.dtype == paddle.float32


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (nn.BatchNorm1D, [2, 3, 4, 5]),
        (nn.BatchNorm2D, [2, 3, 4]),
        (nn.BatchNorm3D, [2, 3, 4, 5]),
        (nn.InstanceNorm1D, [2, 3, 4, 5]),
        (nn.InstanceNorm2D, [2, 3]),
        (nn.InstanceNorm3D, [2, 3]),
    ],
)
def test_another_number_of_axes_is_refused(kind: type, shape: list[int]) -> None:
    with pytest.raises(ValueError, match="axes"):
        kind(3)(paddle.ones(shape))


def test_arguments_that_do_not_fit() -> None:
    for make in (
        lambda: nn.BatchNorm1D(0),
        lambda: nn.BatchNorm2D(3, data_format="NCL"),
        lambda: nn.InstanceNorm1D(3, data_format="NHWC"),
        lambda: nn.InstanceNorm1D(3, weight_attr=False),
        lambda: nn.GroupNorm(2, 3),
        lambda: nn.GroupNorm(0, 3),
        lambda: nn.GroupNorm(1, 3, data_format="CHW"),
        lambda: nn.BatchNorm1D(3)(paddle.ones([2, 4])),
        lambda: nn.GroupNorm(2, 4)(paddle.ones([2, 3, 4])),
        lambda: nn.LocalResponseNorm(0)(paddle.ones([1, 2])),
        lambda: nn.functional.batch_norm(paddle.ones([2]), paddle.ones([2]), paddle.ones([2])),
    ):
        with pytest.raises(ValueError, match=r".+"):
            make()
