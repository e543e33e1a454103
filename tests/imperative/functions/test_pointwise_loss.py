"""Losses of elements as users call them, and losses with margins."""

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from tests.imperative.functions.composed import check
from tests.ops.samples.sample import values

SIGN = np.where(values((3, 4), 8) > 0, 1.0, -1.0)
ZERO_ONE = (SIGN + 1) / 2
WEIGHT = abs(values((4,), 9)) + 0.5


def _tensor(array):
    return paddle.to_tensor(np.asarray(array))


def _chances(x):
    return (x + 5) / 10


def _bernoulli(p, y):
    return -y * np.log(p) - (1 - y) * np.log1p(-p)


def _softplus(x):
    return np.log1p(np.exp(x))


def _unit(x, axis):
    return np.sqrt(np.sum(x * x, axis=axis))


# Function of one tensor [3, 4], and the same in NumPy.
ONE = {
    "bce": (
        lambda x: F.binary_cross_entropy(_chances(x), _tensor(ZERO_ONE)),
        lambda x: np.mean(_bernoulli(_chances(x), ZERO_ONE)),
    ),
    "bce, weight": (
        lambda x: F.binary_cross_entropy(_chances(x), _tensor(ZERO_ONE), _tensor(WEIGHT), "sum"),
        lambda x: np.sum(WEIGHT * _bernoulli(_chances(x), ZERO_ONE)),
    ),
    "logits": (
        lambda x: F.binary_cross_entropy_with_logits(x, _tensor(ZERO_ONE)),
        lambda x: np.mean(_softplus(x) - x * ZERO_ONE),
    ),
    "logits, weights": (
        lambda x: F.binary_cross_entropy_with_logits(
            x, _tensor(ZERO_ONE), _tensor(WEIGHT), "none", _tensor(WEIGHT[::-1].copy())
        ),
        lambda x: (
            WEIGHT * (WEIGHT[::-1] * ZERO_ONE * _softplus(-x) + (1 - ZERO_ONE) * _softplus(x))
        ),
    ),
    "l1": (
        lambda x: F.l1_loss(x, _tensor(3 * SIGN)),
        lambda x: np.mean(abs(x - 3 * SIGN)),
    ),
    "soft margin": (
        lambda x: F.soft_margin_loss(x, _tensor(SIGN)),
        lambda x: np.mean(_softplus(-SIGN * x)),
    ),
    "square": (lambda x: F.square_error_cost(x, _tensor(SIGN)), lambda x: (x - SIGN) ** 2),
    "log": (
        lambda x: F.log_loss(_chances(x), _tensor(ZERO_ONE)),
        lambda x: (
            -ZERO_ONE * np.log(_chances(x) + 1e-4) - (1 - ZERO_ONE) * np.log(1 - _chances(x) + 1e-4)
        ),
    ),
    "hinge": (
        lambda x: F.hinge_embedding_loss(x, _tensor(SIGN), 3.0),
        lambda x: np.mean(np.where(SIGN == 1, x, 3.0 - x)),
    ),
    "normalize": (lambda x: F.normalize(x), lambda x: x / _unit(x, 1)[:, None]),
    "normalize by p": (
        lambda x: F.normalize(x, 3, 0),
        lambda x: x / np.sum(abs(x) ** 3, axis=0) ** (1 / np.asarray(3, x.dtype)),
    ),
    "layer_norm": (
        lambda x: F.layer_norm(x, [3, 4]),
        lambda x: (x - np.mean(x)) / np.sqrt(np.var(x) + np.asarray(1e-5, x.dtype)),
    ),
    "rms_norm": (
        lambda x: F.rms_norm(x, 4, epsilon=None),
        lambda x: x / np.sqrt(np.mean(x * x, axis=1) + np.asarray(2.0**-52, x.dtype))[:, None],
    ),
}


@pytest.mark.parametrize("name", ONE)
def test_of_one_tensor(name):
    check(*ONE[name], (3, 4))


def _kl(x, y):
    return np.sum((y + 3) * (np.log(y + 3) - x)) / 3


def _cosine(x, y):
    cosine = np.sum(x * y, axis=-1) / (_unit(x, -1) * _unit(y, -1))
    return np.mean(np.where(SIGN[:, 1] == 1, 1 - cosine, cosine + 1))


def _triplet(x, y, z):
    near, far, other = (_unit(a - b + 1e-6, -1) for a, b in ((x, y), (x, z), (y, z)))
    return near - np.minimum(far, other) + 9


def test_of_pairs_and_triples():
    check(lambda x, y: F.kl_div(x, y + 3.0, "batchmean"), _kl, (3, 4), (3, 4))
    check(
        lambda x, y: F.margin_ranking_loss(x, y, _tensor(SIGN), 9.0, "none"),
        lambda x, y: 9.0 - SIGN * (x - y),
        (3, 4),
        (3, 4),
    )
    label = _tensor(SIGN[:, 1].astype(int))
    check(lambda x, y: F.cosine_embedding_loss(x, y, label, -1.0), _cosine, (3, 4), (3, 4))
    check(
        lambda x, y, z: F.triplet_margin_loss(x, y, z, 9.0, swap=True, reduction="none"),
        _triplet,
        (3, 4),
        (3, 4),
        (3, 4),
    )


def test_margins_cut_off():
    x, y = _tensor([[1.0, 0.0]]), _tensor([[0.0, 1.0]])
    assert F.cosine_embedding_loss(x, y, _tensor([-1]), 0.5).item() == 0.0
    assert F.margin_ranking_loss(x, y - 9.0, _tensor([1.0])).item() == 0.0
    assert F.triplet_margin_loss(x, x, x + 9.0).item() == 0.0
    assert F.hinge_embedding_loss(x + 1.0, _tensor([-1.0])).item() == 0.0


def test_smooth_l1_on_both_sides_of_delta():
    x, zero = _tensor([0.5, -3.0]), _tensor([0.0, 0.0])
    assert F.smooth_l1_loss(x, zero, "none").tolist() == [0.125, 2.5]
    assert F.smooth_l1_loss(x, zero, "none", 2.0).tolist() == [0.125, 4.0]
    assert F.smooth_l1_loss(x, zero, "none", 2.0, is_huber=False).tolist() == [0.0625, 2.0]


def test_ends_of_probabilities():
    p = paddle.to_tensor(np.array([0.0, 1.0, 0.0]), stop_gradient=False)
    loss = F.binary_cross_entropy(p, _tensor([0.0, 1.0, 1.0]), reduction="none")
    assert loss.tolist() == [0.0, 0.0, 100.0]
    loss.sum().backward()
    np.testing.assert_allclose(p.grad.numpy(), [0.0, 0.0, -1e12])


def test_a_target_of_zero_has_no_divergence():
    x, y = _tensor([-1.0, -1.0]), paddle.to_tensor(np.array([0.0, 1.0]), stop_gradient=False)
    loss = F.kl_div(x, y, "none")
    assert loss.tolist() == [0.0, 1.0]
    loss.sum().backward()
    assert y.grad.tolist() == [0.0, 2.0]
    log_y = _tensor(np.log([0.25, 0.5]))
    both = F.kl_div(x, log_y, "sum", log_target=True), F.kl_div(x, log_y.exp(), "sum")
    np.testing.assert_allclose(both[0].item(), both[1].item(), rtol=1e-14)


def test_large_operands_broadcast():
    x = values((3, 60_000), 5)
    y = values((1, 60_000), 6)
    found = F.smooth_l1_loss(_tensor(x), _tensor(y), "none").numpy()
    right = F.smooth_l1_loss(_tensor(x), _tensor(np.repeat(y, 3, 0)), "none").numpy()
    np.testing.assert_array_equal(found, right)
    long = values((60_000,), 7)
    one = F.smooth_l1_loss(_tensor(long), _tensor(np.array([0.5])), "none").numpy()
    np.testing.assert_array_equal(one, np.where(abs(long - 0.5) < 1, (long - 0.5) ** 2 / 2, one))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_normalization_of_a_large_mean(dtype, place):
    far, spread = (2048.0, 2.0) if dtype == "float16" else (1e4, 1.0)
    x = (np.random.default_rng(1).normal(size=(300, 4096)) * spread + far).astype(dtype)
    found = (
        F.layer_norm(paddle.to_tensor(x, place=place), 4096, epsilon=0.0).numpy().astype(np.float64)
    )
    exact = x.astype(np.float64)
    exact = (exact - exact.mean(1, keepdims=True)) / exact.std(1, keepdims=True)
    # In units of the result: half a unit of float16 below 8, or a few roundings of float32.
    np.testing.assert_allclose(found, exact, rtol=0, atol=2.0**-9 if dtype == "float16" else 4e-6)


def test_gradients_of_many_rows():
    x = values((700, 1024), 3)
    w, g = values((1024,), 4), values((700, 1024), 5)
    single, double = [], []
    for dtype, found in (("float32", single), ("float64", double)):
        given = [paddle.to_tensor(a.astype(dtype), stop_gradient=False) for a in (x, w, w)]
        F.layer_norm(given[0], 1024, *given[1:]).backward(paddle.to_tensor(g.astype(dtype)))
        found.extend(t.grad.numpy() for t in given)
    c = x - x.mean(1, keepdims=True)
    normal = c / np.sqrt(np.mean(c * c, 1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(double[1], np.sum(g * normal, 0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(double[2], g.sum(0), rtol=1e-12, atol=1e-12)
    for one, other in zip(single, double, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-6 * max(1, abs(other).max()))


REFUSED = {
    "reduction": (lambda x: F.l1_loss(x, x, "all"), "l1_loss: reduction"),
    "kl reduction": (lambda x: F.kl_div(x, x, "all"), "'batchmean'"),
    "delta": (lambda x: F.smooth_l1_loss(x, x, delta=0.0), "delta"),
    "chance": (lambda x: F.binary_cross_entropy(x + 1.5, x), r"\[0, 1\]"),
    "shape": (lambda x: F.layer_norm(x, 3), r"layer_norm.*\[2, 4\].*\[3\]"),
    "no shape": (lambda x: F.rms_norm(x, []), "normalized_shape"),
    "axis": (lambda x: F.normalize(x, axis=2), "axis 2"),
    "cosine": (lambda x: F.cosine_embedding_loss(x, x, x), r"\[2, 4\]"),
    "cosine margin": (lambda x: F.cosine_embedding_loss(x, x, x[:, 0], 2.0), "margin"),
    "triplet margin": (lambda x: F.triplet_margin_loss(x, x, x, -1.0), "margin"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        call(paddle.zeros([2, 4]))
