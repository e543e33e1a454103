"""What an optimizer is told: groups with settings of their own, and errors."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn
from minipaddle.optimizer import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Momentum, RMSProp
from minipaddle.regularizer import L1Decay, L2Decay
from tests.optimizer.reference import ReferenceAdam, ReferenceAdamW, leaf, leaves, send


def test_groups_have_a_decay_a_rate_and_a_clip_of_their_own() -> None:
    a, b, c = leaf([1.0]), leaf([1.0]), leaf([1.0])
    clip = nn.ClipGradByValue(0.5)
    groups = [
        {"params": [a]},
        {"params": [b], "weight_decay": L1Decay(0.125), "learning_rate": 0.5},
        {"params": c, "weight_decay": None, "grad_clip": clip},
    ]
    sgd = SGD(1.0, groups, weight_decay=0.25)
    send([a, b, c], [[1.0]] * 3)
    sgd.step()
    assert [p.item() for p in (a, b, c)] == [1 - 1.25, 1 - 0.5 * 1.125, 1 - 0.5]


def test_a_global_norm_is_that_of_a_group() -> None:
    a, b, c = leaf([0.0]), leaf([0.0]), leaf([0.0])
    groups = [{"params": [a, b]}, {"params": [c]}]
    sgd = SGD(1.0, groups, grad_clip=nn.ClipGradByGlobalNorm(5.0))
    send([a, b, c], [[6.0], [8.0], [20.0]])
    sgd.step()
    np.testing.assert_allclose([p.item() for p in (a, b, c)], [-3.0, -4.0, -5.0])


def test_groups_of_adam_and_adamw_have_betas_of_their_own() -> None:
    for kind, reference in ((Adam, ReferenceAdam), (AdamW, ReferenceAdamW)):
        params = leaves([(3,), (2, 2)])
        own: dict[str, Any] = {"beta1": 0.5, "beta2": 0.6, "epsilon": 1e-3}
        if kind is AdamW:
            own["weight_decay"] = 0.3
        groups = [{"params": params[:1]}, {"params": params[1:], **own}]
        optimizer = kind(0.01, parameters=groups)
        references = [reference(0.01), reference(0.01, **own)]
        values = [p.numpy() for p in params]
        rng = np.random.default_rng(0)
        for _ in range(10):
            grads = [rng.normal(size=p.shape) for p in params]
            send(params, grads)
            optimizer.step()
            optimizer.clear_grad()
            values = [r.step(v, g) for r, v, g in zip(references, values, grads, strict=True)]
        for param, value in zip(params, values, strict=True):
            np.testing.assert_allclose(param.numpy(), value, rtol=1e-12)


def test_groups_of_the_other_kinds_have_options_of_their_own() -> None:
    def moved(optimizer: Any, params: list[paddle.Tensor]) -> list[float]:
        before = [p.item() for p in params]
        for _ in range(2):
            send(params, [[1.0]] * 2)
            optimizer.step()
            optimizer.clear_grad()
        return [one - p.item() for one, p in zip(before, params, strict=True)]

    a, b = leaf([1.0]), leaf([1.0])
    momentum = Momentum(1.0, 0.5, [{"params": [a]}, {"params": [b], "momentum": 0.0}])
    assert moved(momentum, [a, b]) == [2.5, 2.0]
    adagrad = Adagrad(
        1.0, 0.0, [{"params": [a]}, {"params": [b], "initial_accumulator_value": 3.0}]
    )
    found = moved(adagrad, [a, b])
    np.testing.assert_allclose(found, [1 + 0.5**0.5, 4**-0.5 + 5**-0.5])
    rmsprop = RMSProp(1.0, 0.0, 0.0, parameters=[{"params": [a]}, {"params": [b], "epsilon": 3.0}])
    np.testing.assert_allclose(moved(rmsprop, [a, b]), [2.0, 1.0])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"weight_decay": "0.1"}, TypeError, "weight_decay"),
        ({"weight_decay": True}, TypeError, "weight_decay"),
        ({"grad_clip": 1.0}, TypeError, "grad_clip"),
        ({"grad_clip": L2Decay(0.1)}, TypeError, "grad_clip.*L2Decay"),
    ],
)
def test_wrong_values_for_all_or_for_a_group(
    options: dict[str, Any], error: type[Exception], words: str
) -> None:
    for kind in (SGD, Momentum, Adam, AdamW, RMSProp):
        with pytest.raises(error, match=words):
            kind(learning_rate=0.1, parameters=[leaf([1.0])], **options)
        with pytest.raises(error, match=words):
            kind(learning_rate=0.1, parameters=[{"params": [leaf([1.0])], **options}])


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (Adam, {"beta1": 1.0}, "beta1"),
        (AdamW, {"beta2": -0.5}, "beta2"),
        (Adam, {"epsilon": -1.0}, "epsilon"),
        (RMSProp, {"rho": -0.5}, "rho"),
        (RMSProp, {"epsilon": -1.0}, "epsilon"),
        (RMSProp, {"momentum": float("nan")}, "momentum"),
        (Adagrad, {"epsilon": -1.0}, "epsilon"),
        (Adadelta, {"rho": -1.0}, "rho"),
        (Adamax, {"beta1": 1.0}, "beta1"),
        (Adamax, {"epsilon": -1.0}, "epsilon"),
        (Adagrad, {"initial_accumulator_value": -1.0}, "initial_accumulator_value"),
    ],
)
def test_numbers_out_of_range(kind: Any, options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        kind(learning_rate=0.1, parameters=[leaf([1.0])], **options)
    with pytest.raises(ValueError, match=words):
        kind(learning_rate=0.1, parameters=[{"params": [leaf([1.0])], **options}])


def test_an_option_of_another_kind_is_no_key_of_a_group() -> None:
    with pytest.raises(ValueError, match="unknown key 'momentum'"):
        SGD(0.1, [{"params": [leaf([1.0])], "momentum": 0.9}])


def test_the_decay_of_adamw_is_a_number() -> None:
    x = leaf([1.0])
    for wrong in (L2Decay(0.1), None, "0.1"):
        with pytest.raises(TypeError, match="weight_decay"):
            AdamW(0.1, parameters=[x], weight_decay=wrong)
    for wrong in (L1Decay(0.1), None):
        with pytest.raises(TypeError, match="weight_decay"):
            AdamW(0.1, parameters=[{"params": [x], "weight_decay": wrong}])
    with pytest.raises(TypeError, match="lr_ratio"):
        AdamW(0.1, parameters=[x], lr_ratio=0.5)
    with pytest.raises(TypeError, match="apply_decay_param_fun"):
        AdamW(0.1, parameters=[x], apply_decay_param_fun="weight")


def test_numbers_may_be_tensors() -> None:
    x, y = leaf([1.0]), leaf([1.0])
    beta = paddle.to_tensor(0.5, "float64")
    one = Adam(0.1, beta, parameters=[x])
    two = Adam(0.1, 0.5, parameters=[y])
    decay = paddle.to_tensor(0.5, "float64")
    AdamW(0.1, parameters=[x], weight_decay=decay)
    for _ in range(2):
        send([x, y], [[1.0], [1.0]])
        one.step()
        two.step()
    assert x.item() == y.item()


def test_equal_settings_are_one_stretch_and_others_are_not() -> None:
    params = leaves([(2,)] * 6)
    for p in params[3:]:
        p.stop_gradient = False
    clip = nn.ClipGradByNorm(1.0)
    groups = [{"params": params[:3]}, {"params": params[3:], "weight_decay": 0.25}]
    for optimizer, count in (
        (SGD(0.1, params, weight_decay=0.25), 1),
        (SGD(0.1, groups), 2),
        (SGD(0.1, groups, weight_decay=0.25), 1),
        (SGD(0.1, params, grad_clip=nn.ClipGradByGlobalNorm(1.0)), 1),
        (SGD(0.1, groups, weight_decay=0.25, grad_clip=nn.ClipGradByGlobalNorm(1.0)), 2),
        (SGD(0.1, params, grad_clip=clip), 6),
    ):
        send(params, [np.ones(2)] * 6)
        optimizer.step()
        assert len(optimizer._stretches) == count
