"""Dropout as functions and as layers. Bounds on means are six standard errors, seeds are fixed."""

import math

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.nn import functional as F

EVERY = {
    "dropout": (F.dropout, [3, 4]),
    "dropout2d": (F.dropout2d, [2, 3, 4, 5]),
    "dropout3d": (F.dropout3d, [2, 3, 2, 2, 2]),
    "alpha_dropout": (F.alpha_dropout, [3, 4]),
    "feature_alpha_dropout": (F.feature_alpha_dropout, [3, 4, 5]),
}


@pytest.fixture(autouse=True)
def seeded():
    paddle.seed(2)


def wanting(shape):
    x = paddle.ones(shape)
    x.stop_gradient = False
    return x


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_dropped_elsewhere_than_in_training(name):
    drop, shape = EVERY[name]
    x = wanting(shape)
    assert drop(x, 0.5, training=False) is x
    assert drop(x, 0.0) is x
    state = paddle.get_rng_state()
    drop(x, 0.5, training=False)
    assert paddle.get_rng_state() == state


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("value", [1.0, math.inf, math.nan])
def test_with_probability_1_all_is_0(name, value):
    drop, shape = EVERY[name]
    x = paddle.full(shape, value)
    x.stop_gradient = False
    out = drop(x, 1.0)
    out.sum().backward()
    assert (out.numpy() == 0).all() and (x.grad.numpy() == 0).all()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("p", "error"),
    [(-0.1, ValueError), (1.5, ValueError), (math.nan, ValueError), ("1", TypeError)],
)
def test_a_wrong_p_is_refused(name, p, error):
    drop, shape = EVERY[name]
    for training in (True, False):
        with pytest.raises(error, match="p must be"):
            drop(paddle.ones(shape), p, training=training)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: F.dropout(paddle.ones([2]), mode="up"), "mode must be one of upscale_in_train"),
        (lambda: F.dropout(paddle.ones([2]), axis=1), "axis|range"),
        (lambda: F.dropout2d(paddle.ones([2, 3, 4])), "NCHW"),
        (lambda: F.dropout2d(paddle.ones([1, 1, 1, 1]), data_format="NCDHW"), "data_format"),
        (lambda: F.dropout3d(paddle.ones([1, 1, 1, 1])), "NCDHW"),
        (lambda: F.feature_alpha_dropout(paddle.ones([2])), "2 axes"),
    ],
)
def test_what_dropout_refuses(call, words):
    with pytest.raises((ValueError, IndexError), match=words):
        call()


def test_modes():
    x = paddle.ones([50_000])
    up, down = F.dropout(x, 0.25), F.dropout(x, 0.25, mode="downscale_in_infer")
    assert set(down.tolist()) == {0.0, 1.0}
    assert set(up.tolist()) == {0.0, float(np.float32(4 / 3))}
    for out, kept in ((up, 4 / 3), (down, 1.0)):
        share = (out.numpy() == 0).mean()
        assert abs(share - 0.25) <= 6 * math.sqrt(0.25 * 0.75 / 50_000)
        assert math.isclose(out.numpy().max(), kept, rel_tol=1e-6)
    later = F.dropout(x, 0.25, training=False, mode="downscale_in_infer")
    assert (later.numpy() == 0.75).all()


def test_gradients_of_two_orders_go_where_values_went():
    x = paddle.to_tensor(np.linspace(1, 2, 1000), stop_gradient=False)
    out = F.dropout(x * x, 0.5)
    kept = out.numpy() != 0
    (first,) = paddle.grad(out.sum(), x, create_graph=True)
    np.testing.assert_allclose(first.numpy(), np.where(kept, 4 * x.numpy(), 0))
    (second,) = paddle.grad((first * first).sum(), x)  # of (4 x)**2
    np.testing.assert_allclose(second.numpy(), np.where(kept, 32 * x.numpy(), 0))


def test_dropped_values_count_for_nothing():
    x = paddle.full([1000], math.nan, "float64")
    out = F.dropout(x, 0.5).numpy()
    assert 0 < (out == 0).sum() < 1000 and np.isnan(out[out != 0]).all()


@pytest.mark.parametrize("axis", [0, 1, [0, 1], -1, [0, 2], (1, -1)])
def test_along_other_axes_all_are_dropped_or_none(axis):
    out = F.dropout(paddle.ones([30, 20, 10]), 0.5, axis).numpy()
    axes = {a % 3 for a in np.atleast_1d(axis).tolist()}
    for a in range(3):
        same = (out == out.take([0], a)).all()
        assert same == (a not in axes)
    assert set(np.unique(out)) == {0.0, 2.0}


def test_whole_channels():
    image = F.dropout2d(paddle.ones([8, 16, 3, 3]), 0.5).numpy()
    assert (image == image[:, :, :1, :1]).all() and set(np.unique(image)) == {0.0, 2.0}
    last = F.dropout2d(paddle.ones([8, 3, 3, 16]), 0.5, data_format="NHWC").numpy()
    assert (last == last[:, :1, :1]).all() and set(np.unique(last)) == {0.0, 2.0}
    volume = F.dropout3d(paddle.ones([8, 16, 2, 2, 2])).numpy()
    assert (volume == volume[:, :, :1, :1, :1]).all() and set(np.unique(volume)) == {0.0, 2.0}


@pytest.mark.parametrize("drop", [F.alpha_dropout, F.feature_alpha_dropout])
def test_alpha_dropout_keeps_mean_and_variance(drop):
    x = paddle.randn([400, 500], "float64")
    x.stop_gradient = False
    out = drop(x, 0.3)
    found = out.numpy()
    # Of 200,000 independent results of mean 0 and variance 1; none beyond 6, so that squares have
    # a variance below 36.
    assert abs(found).max() < 6
    assert abs(found.mean()) <= 6 / math.sqrt(found.size)
    assert abs((found**2).mean() - 1) <= 6 * 6 / math.sqrt(found.size)
    lowest, count = np.unique(found, return_counts=True)
    dropped = found == lowest[count.argmax()]
    assert abs(dropped.mean() - 0.3) <= 6 * math.sqrt(0.21 / found.size)
    out.sum().backward()
    slope = x.grad.numpy()
    assert (slope[dropped] == 0).all() and len(np.unique(slope[~dropped])) == 1


LAYERS = {
    "Dropout": (paddle.nn.Dropout, [3, 40], "p=0.5, axis=None, mode=upscale_in_train"),
    "Dropout2D": (paddle.nn.Dropout2D, [6, 9, 2, 2], "p=0.5, data_format=NCHW"),
    "Dropout3D": (paddle.nn.Dropout3D, [6, 9, 2, 2, 2], "p=0.5, data_format=NCDHW"),
    "AlphaDropout": (paddle.nn.AlphaDropout, [3, 40], "p=0.5"),
    "FeatureAlphaDropout": (paddle.nn.FeatureAlphaDropout, [6, 9, 4], "p=0.5"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_follow_train_and_eval_of_the_net(name):
    make, shape, shown = LAYERS[name]
    net, x = paddle.nn.Sequential(make(), paddle.nn.ReLU()), paddle.ones(shape)
    assert f"{name}({shown})" in repr(net)
    assert len(np.unique(net(x).numpy())) == 2
    net.eval()
    assert (net(x).numpy() == 1).all()
    net.train()
    one, other = net(x).numpy(), net(x).numpy()
    assert (one != other).any()


def test_layers_take_the_functions_arguments():
    x = paddle.ones([20, 30])
    rows = paddle.nn.Dropout(0.5, axis=0)(x).numpy()
    assert (rows == rows[:, :1]).all()
    layer = paddle.nn.Dropout(0.25, mode="downscale_in_infer")
    layer.eval()
    assert (layer(x).numpy() == 0.75).all()
    last = paddle.nn.Dropout2D(0.5, data_format="NHWC")(paddle.ones([4, 2, 2, 8])).numpy()
    assert (last == last[:, :1, :1]).all()
