"""Every optimizer against its definition, and what becomes of a gradient before it is used."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn
from minipaddle.optimizer import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Momentum, RMSProp
from minipaddle.regularizer import L1Decay, L2Decay
from tests.optimizer.reference import (
    ReferenceAdadelta,
    ReferenceAdagrad,
    ReferenceAdam,
    ReferenceAdamax,
    ReferenceAdamW,
    ReferenceAMSGrad,
    ReferenceMomentum,
    ReferenceRMSProp,
    ReferenceSGD,
    leaf,
    leaves,
    send,
)

Array = np.ndarray[Any, Any]
SHAPES = [(3, 4), (), (5,), (0, 2), (1, 1)]
KINDS: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
    "SGD": (lambda p, **k: SGD(0.01, p, **k), lambda: ReferenceSGD(0.01)),
    "Momentum": (
        lambda p, **k: Momentum(0.01, 0.8, p, **k),
        lambda: ReferenceMomentum(0.01, 0.8),
    ),
    "Nesterov": (
        lambda p, **k: Momentum(0.01, 0.8, p, use_nesterov=True, **k),
        lambda: ReferenceMomentum(0.01, 0.8, True),
    ),
    "Adam": (lambda p, **k: Adam(0.01, parameters=p, **k), lambda: ReferenceAdam(0.01)),
    "AMSGrad": (
        lambda p, **k: Adam(0.01, 0.5, 0.6, parameters=p, amsgrad=True, **k),
        lambda: ReferenceAMSGrad(0.01, 0.5, 0.6),
    ),
    "Adagrad": (
        lambda p, **k: Adagrad(0.1, parameters=p, initial_accumulator_value=0.1, **k),
        lambda: ReferenceAdagrad(0.1, first=0.1),
    ),
    "Adadelta": (
        lambda p, **k: Adadelta(0.5, 1e-4, 0.9, p, **k),
        lambda: ReferenceAdadelta(0.5, 1e-4, 0.9),
    ),
    "Adamax": (
        lambda p, **k: Adamax(0.01, 0.8, 0.9, 1e-3, p, **k),
        lambda: ReferenceAdamax(0.01, 0.8, 0.9, 1e-3),
    ),
    "RMSProp": (
        lambda p, **k: RMSProp(0.01, momentum=0.5, parameters=p, **k),
        lambda: ReferenceRMSProp(0.01, momentum=0.5),
    ),
    "RMSProp centered": (
        lambda p, **k: RMSProp(0.01, 0.9, 1e-3, centered=True, parameters=p, **k),
        lambda: ReferenceRMSProp(0.01, 0.9, 1e-3, centered=True),
    ),
    # Penalties on AdamW come from the parameters alone; here there is none.
    "AdamW": (
        lambda p, **k: AdamW(0.01, parameters=p, **{"weight_decay": 0.1, **k}),
        lambda: ReferenceAdamW(0.01, weight_decay=0.1),
    ),
}
PENALIZED = [kind for kind in KINDS if kind != "AdamW"]


def clipped(grads: list[Array], by: str | None) -> list[Array]:
    if by == "value":
        return [np.clip(g, -0.3, 0.5) for g in grads]
    if by == "norm":
        return [g * min(1.0, 0.7 / max(np.linalg.norm(g.ravel()), 1e-300)) for g in grads]
    if by == "global":
        return [g * min(1.0, 0.7 / np.sqrt(sum((h**2).sum() for h in grads))) for g in grads]
    return grads


CLIPS = {
    None: None,
    "value": nn.ClipGradByValue(0.5, -0.3),
    "norm": nn.ClipGradByNorm(0.7),
    "global": nn.ClipGradByGlobalNorm(0.7),
}


def compare(kind: str, dtype: str, rtol: float, by: str | None, l1: float, l2: float) -> None:
    make, reference = KINDS[kind]
    params = leaves(SHAPES, dtype)
    decay = L1Decay(l1) if l1 else l2 or None
    options = {} if decay is None else {"weight_decay": decay}
    optimizer = make(params, grad_clip=CLIPS[by], **options)
    references = [reference() for _ in params]
    expected = [p.numpy().astype("float64") for p in params]
    rng = np.random.default_rng(0)
    for _ in range(200):
        grads = [(rng.normal(size=p.shape) + 0.1).astype(dtype) for p in params]
        send(params, grads)
        optimizer.step()
        for param, grad in zip(params, grads, strict=True):  # neither clip nor penalty is in it
            np.testing.assert_array_equal(param.grad.numpy(), grad)
        optimizer.clear_grad()
        treated = clipped([g.astype("float64") for g in grads], by)
        expected = [
            r.step(p, g + l2 * p + l1 * np.sign(p))
            for r, p, g in zip(references, expected, treated, strict=True)
        ]
    for param, value in zip(params, expected, strict=True):
        assert param.dtype.name == dtype
        np.testing.assert_allclose(param.numpy(), value, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-12), ("float32", 5e-5)])
@pytest.mark.parametrize("kind", KINDS)
def test_as_defined(kind: str, dtype: str, rtol: float) -> None:
    compare(kind, dtype, rtol, None, 0.0, 0.0)


@pytest.mark.parametrize("by", ["value", "norm", "global"])
@pytest.mark.parametrize("kind", KINDS)
def test_clipped(kind: str, by: str) -> None:
    compare(kind, "float64", 1e-12, by, 0.0, 0.0)


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.2), (0.01, 0.0)])
@pytest.mark.parametrize("by", [None, "value", "global"])
@pytest.mark.parametrize("kind", PENALIZED)
def test_clipped_and_then_penalized(kind: str, by: str | None, l1: float, l2: float) -> None:
    compare(kind, "float64", 1e-11, by, l1, l2)


def test_an_infinite_norm_zeroes_what_is_finite_and_marks_what_is_not() -> None:
    for clip in (nn.ClipGradByGlobalNorm(1.0), nn.ClipGradByNorm(1.0)):
        x = leaf([1.0, 1.0])
        send([x], [[np.inf, 1.0]])
        SGD(1.0, [x], grad_clip=clip).step()
        np.testing.assert_array_equal(x.numpy(), [np.nan, 1.0])
        send([x], [[np.nan, 1.0]])


def test_large_float32_gradients_do_not_overflow_the_norm() -> None:
    x = leaf([0.0, 0.0], "float32")
    send([x], [[3e30, 4e30]])
    SGD(1.0, [x], grad_clip=nn.ClipGradByGlobalNorm(5.0)).step()
    np.testing.assert_allclose(x.numpy(), [-3.0, -4.0], rtol=1e-6)


def test_need_clip_keeps_a_parameter_out_of_the_norm_and_of_the_clip() -> None:
    for clip in (nn.ClipGradByGlobalNorm(5.0), nn.ClipGradByNorm(10.0), nn.ClipGradByValue(5.0)):
        attr = paddle.ParamAttr(need_clip=False, initializer=nn.initializer.Constant(0.0))
        free = paddle.create_parameter([1], "float64", attr=attr)
        a, b = leaf([0.0]), leaf([0.0])
        send([a, free, b], [[6.0], [100.0], [8.0]])
        SGD(1.0, [a, free, b], grad_clip=clip).step()
        assert free.item() == -100.0
        right = {"ClipGradByGlobalNorm": (-3, -4), "ClipGradByNorm": (-6, -8)}
        np.testing.assert_allclose((a.item(), b.item()), right.get(type(clip).__name__, (-5, -5)))


def test_the_norm_is_taken_anew_in_every_step() -> None:
    x = leaf([0.0])
    sgd = SGD(1.0, [x], grad_clip=nn.ClipGradByGlobalNorm(1.0))
    for grad, right in ((10.0, -1.0), (0.5, -1.5), (-4.0, -0.5)):
        send([x], [[grad]])
        sgd.step()
        sgd.clear_grad()
        assert x.item() == right


def test_a_parameters_own_regularizer_goes_before_the_optimizers() -> None:
    def param(regularizer: Any) -> paddle.Tensor:
        constant = nn.initializer.Constant(2.0)
        attr = paddle.ParamAttr(regularizer=regularizer, initializer=constant)
        return paddle.create_parameter([1], "float64", attr=attr)

    for groups in (False, True):
        params = [param(None), param(L1Decay(0.25)), param(L2Decay(0.25)), param(L2Decay(0.0))]
        send(params, [[0.0]] * 4)
        given = [{"params": [p]} for p in params] if groups else params
        SGD(1.0, given, weight_decay=0.5).step()
        assert [p.item() for p in params] == [1.0, 1.75, 1.5, 2.0]


def test_an_own_regularizer_is_beside_the_decay_of_adamw() -> None:
    """As in Paddle: it goes through the moments."""
    attr = paddle.ParamAttr(regularizer=L2Decay(10.0), initializer=nn.initializer.Constant(-2.0))
    x = paddle.create_parameter([1], "float64", attr=attr)
    send([x], [[4.0]])
    AdamW(1.0, parameters=[x], weight_decay=0.5, epsilon=0.0).step()
    np.testing.assert_allclose(x.item(), -2.0 * 0.5 + 1.0, atol=1e-12)


def test_adamw_asks_which_parameters_decay_and_how_fast_they_go() -> None:
    params = leaves([(1,), (1,)])
    for p, name in zip(params, ("weight", "bias"), strict=True):
        p.set_value([1.0])
        p.name = name
    asked: list[Any] = []

    def decays(name: str) -> bool:
        asked.append(name)
        return name == "weight"

    adamw = AdamW(
        0.1, parameters=params, weight_decay=0.5, epsilon=0.0, apply_decay_param_fun=decays,
        lr_ratio=lambda p: 0.5 if p.name == "bias" else 1.0,
    )  # fmt: skip
    for _ in range(2):
        send(params, [[1.0], [1.0]])
        adamw.step()
        adamw.clear_grad()
    assert asked == ["weight", "bias"]
    np.testing.assert_allclose(params[0].item(), (1 * 0.95 - 0.1) * 0.95 - 0.1, rtol=1e-12)
    np.testing.assert_allclose(params[1].item(), 1 - 0.05 - 0.05, rtol=1e-12)


def test_rescale_grad_is_on_the_clipped_gradient_and_not_on_the_decay() -> None:
    x = leaf([2.0])
    clip = nn.ClipGradByValue(4.0)
    momentum = Momentum(1.0, 0.0, [x], weight_decay=0.25, rescale_grad=0.25, grad_clip=clip)
    send([x], [[10.0]])
    momentum.step()
    assert x.item() == 2 - 4 * 0.25 - 2 * 0.25


def test_parameters_larger_than_a_block_on_all_threads() -> None:
    """Clip, penalty and decay block by block; parameters of many sizes."""
    shapes = [(7,), (300, 1001), (3, 2), (500_003,), (), (64, 1024)]
    for kind in KINDS:
        make, reference = KINDS[kind]
        params = leaves(shapes)
        options = {"weight_decay": 0.25} if kind in PENALIZED else {}
        optimizer = make(params, grad_clip=CLIPS["global"], **options)
        values, references = [p.numpy() for p in params], [reference() for _ in params]
        for step in range(2):
            rng = np.random.default_rng(step)
            grads = [rng.normal(size=shape) for shape in shapes]
            send(params, grads)
            optimizer.step()
            optimizer.clear_grad()
            l2 = options.get("weight_decay", 0.0)
            values = [
                r.step(v, g + l2 * v)
                for r, v, g in zip(references, values, clipped(grads, "global"), strict=True)
            ]
        for param, value in zip(params, values, strict=True):
            np.testing.assert_allclose(param.numpy(), value, rtol=1e-10, atol=1e-11, err_msg=kind)


def test_a_gradient_of_another_size_is_refused_before_anything_changes() -> None:
    x, y = leaf([1.0, 1.0]), leaf([1.0])
    momentum = Momentum(0.5, parameters=[x, y])
    send([x, y], [[1.0, 1.0], [1.0]])
    momentum.step()
    before = momentum.state_dict()[f"{x.name}_velocity_0"].tolist()
    x.data = np.ones(3)
    with pytest.raises(ValueError, match=r"3 elements.*4"):
        momentum.step()
    assert momentum.state_dict()[f"{x.name}_velocity_0"].tolist() == before
