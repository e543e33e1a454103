"""Cross entropy and its kin as users call them: labels, weights, reductions, refusals."""

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from tests.imperative.functions.composed import check
from tests.ops.samples.sample import values

X = values((4, 5), 1)
LABEL = np.array([3, 0, 4, 0])
WEIGHT = np.array([0.5, 2.0, 1.0, 3.0, 0.25])


def _log_softmax(x, axis=-1):
    return x - np.logaddexp.reduce(x, axis=axis, keepdims=True)


def _losses(x):
    return -_log_softmax(x)[np.arange(4), LABEL]


def _tensor(array, dtype="float64"):
    return paddle.to_tensor(np.asarray(array), dtype=dtype)


def _label(array=LABEL):
    return paddle.to_tensor(array)


def test_reductions_and_their_gradients():
    for reduction, fold in (("mean", np.mean), ("sum", np.sum), ("none", lambda a: a)):
        check(
            lambda x, r=reduction: F.cross_entropy(x, _label(), reduction=r),
            lambda x, f=fold: f(_losses(x)),
            (4, 5),
        )


def test_the_mean_with_weights_is_divided_by_their_sum():
    chosen = WEIGHT[LABEL]
    check(
        lambda x: F.cross_entropy(x, _label(), _tensor(WEIGHT)),
        lambda x: np.sum(chosen * _losses(x)) / chosen.sum(),
        (4, 5),
    )
    check(
        lambda x: F.nll_loss(x, _label(), _tensor(WEIGHT)),
        lambda x: -np.sum(chosen * x[np.arange(4), LABEL]) / chosen.sum(),
        (4, 5),
    )


def test_ignored_labels_count_for_nothing():
    label = np.where(LABEL == 0, -100, LABEL)
    used = LABEL != 0
    for weight in (None, WEIGHT):
        chosen = used * (1.0 if weight is None else weight[LABEL])
        tensor = None if weight is None else _tensor(weight)
        check(
            lambda x, w=tensor: F.cross_entropy(x, _label(label), w),
            lambda x, c=chosen: np.sum(c * _losses(x)) / c.sum(),
            (4, 5),
        )
    losses = F.cross_entropy(_tensor(X), _label(), ignore_index=0, reduction="none")
    np.testing.assert_allclose(losses.numpy(), used * _losses(X), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_mean_of_nothing_is_zero(dtype):
    x = paddle.to_tensor(X.astype(dtype), stop_gradient=False)
    label = _label(np.full(4, -100))
    log_x = F.log_softmax(x)
    for loss in (F.cross_entropy(x, label), F.nll_loss(log_x, label)):
        assert loss.item() == 0.0 and loss.dtype.name == dtype
        loss.backward()
        assert not x.grad.numpy().any()


def test_a_row_that_is_ignored_may_hold_anything():
    x = paddle.to_tensor(np.array([[np.inf, np.nan], [0.0, 0.0]]), stop_gradient=False)
    loss = F.cross_entropy(x, _label(np.array([-100, 1])))
    loss.backward()
    np.testing.assert_allclose(loss.item(), np.log(2))
    np.testing.assert_array_equal(x.grad.numpy(), [[0.0, 0.0], [0.5, -0.5]])


def test_labels_may_keep_the_axis_of_the_classes():
    x = values((2, 3, 4), 3)
    label = np.array([[0, 2, 1, 1], [2, 2, 0, 1]])
    plain = F.cross_entropy(_tensor(x), _label(label), axis=1, reduction="none")
    kept = F.cross_entropy(_tensor(x), _label(label[:, None]), axis=1, reduction="none")
    right = -np.take_along_axis(_log_softmax(x, 1), label[:, None], 1)
    assert plain.shape == [2, 4] and kept.shape == [2, 1, 4]
    np.testing.assert_allclose(kept.numpy(), right, rtol=1e-14)
    np.testing.assert_array_equal(plain.numpy(), kept.numpy()[:, 0])
    nll = F.nll_loss(F.log_softmax(_tensor(x), 1), _label(label), reduction="none")
    np.testing.assert_allclose(nll.numpy(), right[:, 0], rtol=1e-14)


def test_soft_labels_have_gradients_too():
    for weight in (None, WEIGHT):
        tensor = None if weight is None else _tensor(weight)

        def right(x, y, w=weight):
            losses = -np.sum(y * _log_softmax(x), axis=1)
            factor = np.ones(4) if w is None else y @ w
            return np.sum(losses * factor) / factor.sum()

        check(
            lambda x, y, w=tensor: F.cross_entropy(x, y, w, soft_label=True), right, (4, 5), (4, 5)
        )
    kept = F.cross_entropy(_tensor(X), _tensor(X), soft_label=True, reduction="none")
    assert kept.shape == [4, 1]


def test_smoothing_is_a_soft_label():
    hot = np.eye(5)[LABEL]
    smooth = F.label_smooth(_tensor(hot), epsilon=0.2)
    np.testing.assert_allclose(smooth.numpy(), hot * 0.8 + 0.04)
    for weight in (None, _tensor(WEIGHT)):
        for use_softmax in (True, False):
            x = _tensor(X) if use_softmax else F.softmax(_tensor(X))
            settings = {"weight": weight, "use_softmax": use_softmax}
            right = F.cross_entropy(x, smooth, soft_label=True, **settings).item()
            again = F.cross_entropy(
                x, _tensor(hot), soft_label=True, label_smoothing=0.2, **settings
            )
            found = F.cross_entropy(x, _label(), label_smoothing=0.2, **settings)
            np.testing.assert_allclose([found.item(), again.item()], right, rtol=1e-13)
    prior = np.array([0.5, 0.5, 0.0, 0.0, 0.0])
    mixed = F.label_smooth(_tensor(hot), _tensor(prior), 0.5)
    np.testing.assert_allclose(mixed.numpy(), (hot + prior) / 2)


def test_probabilities_instead_of_scores():
    chances = F.softmax(_tensor(X))
    for reduction in ("none", "mean"):
        settings = {"reduction": reduction, "ignore_index": 0}
        right = F.cross_entropy(_tensor(X), _label(), **settings)
        found = F.cross_entropy(chances, _label(), use_softmax=False, **settings)
        np.testing.assert_allclose(found.numpy(), right.numpy(), rtol=1e-13)


def test_large_scores_keep_their_gradient():
    x = paddle.to_tensor(np.array([[1e4, 1e4 + 1.0, 1e4 - 2.0]], np.float32), stop_gradient=False)
    F.cross_entropy(x, _label(np.array([0]))).backward()
    e = np.exp([0.0, 1.0, -2.0])
    np.testing.assert_allclose(x.grad.numpy()[0], e / e.sum() - [1, 0, 0], rtol=0, atol=2e-7)


def test_half_types_count_beyond_their_range():
    x = paddle.to_tensor(np.zeros((70_000, 2), np.float16))
    loss = F.cross_entropy(x, paddle.to_tensor(np.zeros(70_000, np.int64)))
    np.testing.assert_allclose(loss.item(), np.log(2), rtol=1e-3)


def test_softmax_with_cross_entropy_keeps_the_axis():
    for label in (LABEL, LABEL[:, None]):
        loss, chances = F.softmax_with_cross_entropy(_tensor(X), _label(label), return_softmax=True)
        np.testing.assert_allclose(loss.numpy()[:, 0], _losses(X), rtol=1e-14)
        np.testing.assert_allclose(chances.numpy(), np.exp(_log_softmax(X)), rtol=1e-14)
    soft = F.softmax_with_cross_entropy(_tensor(X), chances, soft_label=True)
    assert soft.shape == [4, 1]


REFUSED = {
    "class": ((X, [3, 0, 5, 0]), {}, ValueError, r"label 5 .*5 classes.*\[0, 4\]"),
    "negative": ((X, [3, 0, -1, 0]), {}, ValueError, r"label -1 .*ignore_index, -100"),
    "rows": ((X, [3, 0]), {}, ValueError, r"label.*\[4\].*\[2\]"),
    "float label": ((X, [3.0, 0.0, 1.0, 0.0]), {}, TypeError, "soft_label=True"),
    "weight": ((X, LABEL), {"weight": _tensor([1.0])}, ValueError, r"weight.*\[5\].*\[1\]"),
    "reduction": ((X, LABEL), {"reduction": "average"}, ValueError, "'mean', 'sum' or 'none'"),
    "smoothing": ((X, LABEL), {"label_smoothing": 2.0}, ValueError, r"label_smoothing.*\[0, 1\]"),
    "axis": ((X, LABEL), {"axis": 2}, ValueError, "axis 2"),
    "soft": ((X, X[:, :2]), {"soft_label": True}, ValueError, r"\[4, 5\].*\[4, 2\]"),
    "ignored": ((X, X), {"soft_label": True, "ignore_index": 1}, ValueError, "ignore_index"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cross_entropy_refuses(name):
    (x, label), settings, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        F.cross_entropy(_tensor(x), paddle.to_tensor(np.asarray(label)), **settings)


def test_what_its_kin_refuse():
    with pytest.raises(ValueError, match=r"N, C.*\[5\]"):
        F.nll_loss(_tensor(X[0]), _label(np.array(1)))
    with pytest.raises(ValueError, match="nll_loss: reduction"):
        F.nll_loss(_tensor(X), _label(), reduction="all")
    with pytest.raises(ValueError, match="epsilon"):
        F.label_smooth(_tensor(X), epsilon=-0.1)
