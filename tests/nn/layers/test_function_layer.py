"""FunctionLayer: settings by position and name, and those that must be given; small layers."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn

F = nn.functional


def test_settings_by_position_and_name() -> None:
    for layer in (nn.Unflatten(1, [2, -1]), nn.Unflatten(axis=1, shape=[2, -1], name="unused")):
        assert layer(paddle.ones([3, 4])).shape == [3, 2, 2]
        assert repr(layer) == "Unflatten(axis=1, shape=[2, -1])"


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Unflatten(1),
        lambda: nn.PixelShuffle(),
        lambda: nn.Maxout(2, groups=3),
        lambda: nn.Flatten(1, 2, None, 3),
        lambda: nn.CosineSimilarity(axes=1),
    ],
)
def test_settings_that_are_missing_or_unknown(make: Any) -> None:
    with pytest.raises(TypeError, match="takes"):
        make()


@pytest.mark.parametrize(
    "kind",
    [nn.MarginRankingLoss, nn.SoftMarginLoss, nn.PoissonNLLLoss, nn.MultiMarginLoss],
)
def test_a_reduction_is_checked_as_the_layer_is_made(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"mean.*sum.*none"):
        kind(reduction="average")


def test_weights_of_losses_are_moved_with_the_layer() -> None:
    loss = nn.MultiMarginLoss(weight=paddle.ones([3]))
    assert [name for name, _ in loss.named_buffers()] == ["weight"]
    assert loss.double().weight.dtype == paddle.float64
    x = paddle.ones([2, 3], "float64")
    assert loss(x, paddle.to_tensor([0, 1])).item() == pytest.approx(2 / 3)


def test_identity_takes_anything() -> None:
    x = paddle.ones([1])
    assert nn.Identity(3, key="value")(x) is x


def test_rrelu_draws_in_training_only() -> None:
    paddle.seed(1)
    layer, x = nn.RReLU(0.2, 0.6), -paddle.ones([10_000])
    factors = -layer(x).numpy()
    assert factors.min() >= 0.2 - 1e-6
    assert factors.max() <= 0.6 + 1e-6
    # The mean of so many even numbers spreads by 0.4 / sqrt(12 * 10,000) = 0.0012: five times that.
    assert abs(factors.mean() - 0.4) < 0.006
    assert layer.eval()(x).tolist()[:2] == pytest.approx([-0.4, -0.4])
    x.stop_gradient = False
    layer.train()
    out = layer(x)
    out.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), -out.numpy())


def test_gumbel_softmax_draws_by_the_probabilities() -> None:
    paddle.seed(2)
    probabilities = np.array([0.1, 0.2, 0.7])
    x = paddle.to_tensor(np.tile(np.log(probabilities), (20_000, 1)), stop_gradient=False)
    hard = F.gumbel_softmax(x, 0.5, hard=True)
    assert set(np.unique(hard.numpy().round(6))) == {0.0, 1.0}
    bound = 5 * np.sqrt(probabilities * (1 - probabilities) / 20_000)
    assert (abs(hard.numpy().mean(0) - probabilities) < bound).all()
    (hard[:, 0]).sum().backward()
    assert abs(x.grad.numpy()).max() > 0.0
    soft = F.gumbel_softmax(x, axis=0)
    np.testing.assert_allclose(soft.numpy().sum(0), 1.0)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: F.pixel_shuffle(paddle.ones([1, 3, 2, 2]), 2), "upscale_factor"),
        (lambda: F.pixel_shuffle(paddle.ones([4, 2, 2]), 2), "4 axes"),
        (lambda: F.pixel_unshuffle(paddle.ones([1, 3, 3, 2]), 2), "downscale_factor"),
        (lambda: F.channel_shuffle(paddle.ones([1, 3, 2, 2]), 2), "groups"),
        (lambda: F.channel_shuffle(paddle.ones([1, 4, 2, 2]), 2, "NCL"), "data_format"),
        (lambda: F.interpolate(paddle.ones([1, 1, 2, 2])), "size and scale_factor"),
        (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), [2, 2], 2), "size and scale_factor"),
        (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), [2]), "size"),
        (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), [2, 0]), "size"),
        (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), None, [2, 0]), "scale_factor"),
        (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), [2, 2], mode="cubic"), "mode"),
        (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), [2, 2], mode="linear"), "axes"),
        (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), [2, 2], align_mode=2), "align_mode"),
        (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), [2, 2], align_corners=True), "nearest"),
        (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), [2, 2], data_format="NCW"), "format"),
        (lambda: nn.Upsample([2, 2], recompute_scale_factor=True)(paddle.ones([1] * 4)), "recom"),
        (lambda: F.maxout(paddle.ones([1, 3]), 2), "groups"),
        (lambda: F.rrelu(paddle.ones([1]), 0.5, 0.1), "lower"),
        (lambda: F.gumbel_softmax(paddle.ones([1]), 0.0), "temperature"),
        (lambda: nn.Softmax2D()(paddle.ones([2, 2])), "axes"),
        (lambda: nn.Pad1D([1, 2, 3]), "padding"),
        (lambda: nn.Pad2D(1, data_format="NCL"), "data_format"),
        (lambda: nn.Pad1D(1)(paddle.ones([2, 2])), "axes"),
        (lambda: nn.Bilinear(2, 2, 1)(paddle.ones([1, 2]), paddle.ones([2, 2])), "x1"),
        (lambda: F.poisson_nll_loss(paddle.ones([1]), paddle.ones([2])), "shape"),
        (lambda: F.poisson_nll_loss(paddle.ones([1]), paddle.ones([1]), epsilon=0), "epsilon"),
        (lambda: F.gaussian_nll_loss(*[paddle.ones([1])] * 2, -paddle.ones([1])), "negative"),
        (lambda: F.gaussian_nll_loss(*[paddle.ones([2])] * 2, paddle.ones([3])), "variance"),
        (lambda: F.sigmoid_focal_loss(*[paddle.ones([1])] * 2, paddle.ones([1, 1])), "normalizer"),
        (lambda: F.dice_loss(paddle.ones([1, 2]), paddle.ones([1], "int64")), "label"),
        (lambda: F.multi_margin_loss(paddle.ones([1, 2]), paddle.ones([2], "int64")), "label"),
        (lambda: F.multi_label_soft_margin_loss(paddle.ones([2]), paddle.ones([1])), "shape"),
        (lambda: F.multi_label_margin_loss(
            paddle.ones([1, 2]), paddle.full([1, 2], 2, "int64")), "below 2"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(make: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        make()


@pytest.mark.parametrize("function", [F.multi_margin_loss, F.multi_label_margin_loss, F.dice_loss])
def test_labels_are_ints(function: Any) -> None:
    with pytest.raises(TypeError, match="int"):
        function(paddle.ones([1, 2]), paddle.ones([1, 2]))


def test_a_gaussian_loss_has_a_gradient_for_the_variance() -> None:
    x, y = paddle.zeros([1]), paddle.to_tensor([2.0])
    variance = paddle.to_tensor([1.0], stop_gradient=False)
    F.gaussian_nll_loss(x, y, variance).backward()
    assert variance.grad.item() == -1.5


def test_poisson_loss_of_no_events_is_finite() -> None:
    x = paddle.to_tensor([0.5], stop_gradient=False)
    F.poisson_nll_loss(x, paddle.zeros([1]), full=True).backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_circular_and_constant_padding() -> None:
    x = paddle.to_tensor([[[1.0, 2.0, 3.0]]])
    assert nn.CircularPad1D(1)(x).tolist() == [[[3.0, 1.0, 2.0, 3.0, 1.0]]]
    assert nn.ConstantPad1D([0, 1], 9.0)(x).tolist() == [[[1.0, 2.0, 3.0, 9.0]]]
    assert nn.ReplicationPad1D(1)(x).tolist() == [[[1.0, 1.0, 2.0, 3.0, 3.0]]]
    assert nn.ReflectionPad1D(1)(x).tolist() == [[[2.0, 1.0, 2.0, 3.0, 2.0]]]
    for kind in (nn.CircularPad2D, nn.ReflectionPad2D, nn.ReplicationPad2D, nn.ZeroPad2D):
        assert kind([1, 0, 0, 1])(paddle.ones([1, 1, 2, 2])).shape == [1, 1, 3, 3]
    for kind in (nn.CircularPad3D, nn.ReflectionPad3D, nn.ReplicationPad3D, nn.ZeroPad3D):
        assert kind(1)(paddle.ones([1, 1, 2, 2, 2])).shape == [1, 1, 4, 4, 4]
    for kind, rank in ((nn.ConstantPad2D, 2), (nn.ConstantPad3D, 3)):
        assert kind(1, 2.0)(paddle.ones([1] * (rank + 2))).sum().item() == 2 * 3**rank - 1
    last = nn.ZeroPad2D([1, 0, 0, 0], data_format="NHWC")(paddle.ones([1, 2, 2, 5]))
    assert last.shape == [1, 2, 3, 5]
