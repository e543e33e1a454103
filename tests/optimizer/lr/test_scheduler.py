"""LRScheduler: steps, states, errors, and what an optimizer makes of it."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.optimizer import SGD, Adam, lr
from tests.optimizer.reference import leaf, send

MAKERS = {
    "noam": lambda: lr.NoamDecay(64, 10),
    "warmup": lambda: lr.LinearWarmup(lr.StepDecay(0.5, 3, 0.5), 4, 0.0, 0.5),
    "multiplicative": lambda: lr.MultiplicativeDecay(0.5, lambda epoch: 0.9),
    "cosine": lambda: lr.CosineAnnealingDecay(0.5, 7, 0.1),
    "restarts": lambda: lr.CosineAnnealingWarmRestarts(0.5, 3, 2),
    "one cycle": lambda: lr.OneCycleLR(0.5, 30),
    "cyclic": lambda: lr.CyclicLR(0.1, 0.5, 3, mode="exp_range", exp_gamma=0.9),
    "linear": lambda: lr.LinearLR(0.5, 10),
    "polynomial": lambda: lr.PolynomialDecay(0.5, 5, cycle=True),
}


def rates(scheduler: Any, count: int) -> list[float]:
    found = []
    for _ in range(count):
        found.append(scheduler())
        scheduler.step()
    return found


@pytest.mark.parametrize("name", MAKERS)
def test_a_restored_scheduler_goes_on_identically(name: str) -> None:
    scheduler, again = MAKERS[name](), MAKERS[name]()
    rates(scheduler, 9)
    again.set_state_dict(scheduler.state_dict())
    assert again() == scheduler() and again.last_epoch == 9
    assert rates(again, 12) == rates(scheduler, 12)


@pytest.mark.parametrize("name", MAKERS)
def test_a_jump_leads_to_the_rate_of_the_epoch(name: str) -> None:
    scheduler, jumping = MAKERS[name](), MAKERS[name]()
    expected = rates(scheduler, 20)
    for epoch in (13, 2, 0, 19):
        jumping.step(epoch)
        assert jumping() == pytest.approx(expected[epoch], rel=1e-14), epoch
        assert jumping.last_epoch == epoch


def test_a_plateau_is_restored() -> None:
    def new() -> Any:
        return lr.ReduceOnPlateau(0.5, factor=0.5, patience=2, cooldown=1)

    scheduler, again = new(), new()
    for loss in (1.0, 0.9, 0.9, 0.9):
        scheduler.step(loss)
    again.set_state_dict(scheduler.state_dict())
    found = []
    for each in (scheduler, again):
        path = []
        for _ in range(8):
            each.step(paddle.to_tensor([0.9]))
            path.append(each())
        found.append(path)
    assert found[0] == found[1] and found[0][-1] < found[0][0]


def test_a_plateau_takes_numbers_arrays_and_tensors_of_one_element() -> None:
    for measure in (1, 1.0, np.float32(1), np.ones(1), np.ones(()), paddle.ones([1])):
        scheduler = lr.ReduceOnPlateau(0.5)
        scheduler.step(measure)
        assert scheduler.best == 1.0 and type(scheduler.best) is float
    with pytest.raises(ValueError, match="metrics"):
        scheduler.step(paddle.ones([2]))
    for wrong in ("1", None, True):
        with pytest.raises(TypeError, match="metrics"):
            scheduler.step(wrong)
    assert scheduler.last_epoch == 1


def test_a_scheduler_of_the_user_may_keep_more() -> None:
    class Counting(lr.LRScheduler):
        def __init__(self) -> None:
            self.calls = 0
            super().__init__(1.0)

        def state_keys(self) -> None:
            self.keys = ["last_epoch", "last_lr", "calls"]

        def get_lr(self) -> float:
            self.calls += 1
            return self.base_lr / self.calls

    scheduler = Counting()
    rates(scheduler, 3)
    state = scheduler.state_dict()
    assert state == {"last_epoch": 3, "last_lr": 0.25, "calls": 4}
    again = Counting()
    again.set_dict(state)
    scheduler.step()
    again.step()
    assert again() == scheduler()


def test_a_state_that_lacks_something_or_has_too_much() -> None:
    scheduler = lr.StepDecay(0.5, 2)
    with pytest.raises(RuntimeError, match="last_lr"):
        scheduler.set_state_dict({"last_epoch": 5})
    assert scheduler.last_epoch == 0
    with pytest.warns(UserWarning, match="best"):
        scheduler.set_state_dict({"last_epoch": 5, "last_lr": 0.1, "best": 3})
    assert scheduler.last_epoch == 5
    nested = lr.LinearWarmup(lr.StepDecay(0.5, 2), 2, 0.0, 0.5)
    with pytest.raises(RuntimeError, match="LinearWarmup_LR"):
        nested.set_state_dict({"last_epoch": 5, "last_lr": 0.1})


def test_verbose_prints_each_rate(capsys: pytest.CaptureFixture[str]) -> None:
    scheduler = lr.StepDecay(0.5, 1, 0.5, verbose=True)
    scheduler.step()
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "Epoch 0: StepDecay set learning rate to 0.5.",
        "Epoch 1: StepDecay set learning rate to 0.25.",
    ]


def test_the_base_has_no_rate() -> None:
    with pytest.raises(TypeError, match="get_lr"):
        lr.LRScheduler(0.5)


WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda: lr.StepDecay("0.1", 2), TypeError, "learning_rate"),
    (lambda: lr.StepDecay(-0.1, 2), ValueError, "learning_rate"),
    (lambda: lr.StepDecay(0.1, 2.0), TypeError, "step_size"),
    (lambda: lr.StepDecay(0.1, 0), ValueError, "step_size"),
    (lambda: lr.StepDecay(0.1, 2, 1.0), ValueError, "gamma"),
    (lambda: lr.NoamDecay(0, 2), ValueError, "d_model"),
    (lambda: lr.NoamDecay(64, 0), ValueError, "warmup_steps"),
    (lambda: lr.PiecewiseDecay([], [0.1]), ValueError, "boundaries"),
    (lambda: lr.PiecewiseDecay([2], [0.1]), ValueError, "values must be 2"),
    (lambda: lr.NaturalExpDecay(0.1, 0.0), ValueError, "gamma"),
    (lambda: lr.ExponentialDecay(0.1, 1.0), ValueError, "gamma"),
    (lambda: lr.PolynomialDecay(0.1, 0), ValueError, "decay_steps"),
    (lambda: lr.PolynomialDecay(0.1, 2, power=0.0), ValueError, "power"),
    (lambda: lr.LinearWarmup("0.1", 2, 0.0, 1.0), TypeError, "learning_rate"),
    (lambda: lr.LinearWarmup(0.1, 2, 1.0, 1.0), ValueError, "end_lr"),
    (lambda: lr.LinearWarmup(0.1, 0, 0.0, 1.0), ValueError, "warmup_steps"),
    (lambda: lr.MultiStepDecay(0.1, 2), TypeError, "milestones"),
    (lambda: lr.MultiStepDecay(0.1, [3, 2]), ValueError, "milestones"),
    (lambda: lr.MultiStepDecay(0.1, [2], 1.5), ValueError, "gamma"),
    (lambda: lr.LambdaDecay(0.1, 2), TypeError, "lr_lambda"),
    (lambda: lr.MultiplicativeDecay(0.1, None), TypeError, "lr_lambda"),
    (lambda: lr.ReduceOnPlateau(0.1, mode="avg"), ValueError, "mode"),
    (lambda: lr.ReduceOnPlateau(0.1, threshold_mode="x"), ValueError, "threshold_mode"),
    (lambda: lr.ReduceOnPlateau(0.1, factor=1.0), ValueError, "factor"),
    (lambda: lr.ReduceOnPlateau(None), TypeError, "learning_rate"),
    (lambda: lr.CosineAnnealingDecay(0.1, 2.5), TypeError, "T_max"),
    (lambda: lr.CosineAnnealingWarmRestarts(0.1, 0), ValueError, "T_0"),
    (lambda: lr.CosineAnnealingWarmRestarts(0.1, 2, 0), ValueError, "T_mult"),
    (lambda: lr.CosineAnnealingWarmRestarts(0.1, 2).step(-1), ValueError, "epoch"),
    (lambda: lr.OneCycleLR("1", 2), TypeError, "max_learning_rate"),
    (lambda: lr.OneCycleLR(0.1, 2, end_learning_rate=-1), ValueError, "end_learning_rate"),
    (lambda: lr.OneCycleLR(0.1, 0), ValueError, "total_steps"),
    (lambda: lr.OneCycleLR(0.1, 9, phase_pct=1), TypeError, "phase_pct"),
    (lambda: lr.OneCycleLR(0.1, 9, phase_pct=1.5), ValueError, "phase_pct"),
    (lambda: lr.OneCycleLR(0.1, 9, phase_pct=0.5, three_phase=True), ValueError, "phase_pct"),
    (lambda: lr.OneCycleLR(0.1, 9, anneal_strategy="x"), ValueError, "anneal_strategy"),
    (lambda: rates(lr.OneCycleLR(0.1, 9), 12), ValueError, "9 steps"),
    (lambda: lr.CyclicLR(0.1, 0.5, 0), ValueError, "step_size_up"),
    (lambda: lr.CyclicLR(0.1, 0.5, 2, 1.5), TypeError, "step_size_down"),
    (lambda: lr.CyclicLR(0.1, 0.5, 2, mode="x"), ValueError, "mode"),
    (lambda: lr.CyclicLR(0.1, 0.5, 2, scale_mode="x"), ValueError, "scale_mode"),
    (lambda: lr.CyclicLR(0.1, 0.5, 2, exp_gamma="1"), TypeError, "exp_gamma"),
    (lambda: lr.LinearLR(0.1, 2, start_factor=0.0), ValueError, "start_factor"),
    (lambda: lr.LinearLR(0.1, 2, end_factor=1.5), ValueError, "end_factor"),
    (lambda: lr.LinearLR(0.1, 0), ValueError, "total_steps"),
]


@pytest.mark.parametrize(("make", "error", "words"), WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_arguments_that_do_not_fit(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_a_scale_function_of_the_user() -> None:
    flat = lr.CyclicLR(0.0, 1.0, 2, scale_fn=lambda cycle: 1 / cycle)
    assert rates(flat, 8) == [0.0, 0.5, 1.0, 0.5, 0.0, 0.25, 0.5, 0.25]
    by_epoch = lr.CyclicLR(0.0, 1.0, 2, scale_fn=lambda n: 0.5**n, scale_mode="iterations")
    assert rates(by_epoch, 3) == [0.0, 0.25, 0.25]


def test_restarts_may_be_asked_for_a_part_of_an_epoch() -> None:
    scheduler = lr.CosineAnnealingWarmRestarts(1.0, 2)
    scheduler.step(2.5)
    assert scheduler.last_epoch == 2
    assert scheduler() == pytest.approx((1 + 2**-0.5) / 2)
    scheduler.step()
    assert scheduler.last_epoch == 3 and scheduler() == pytest.approx(0.5)


# ---- in an optimizer ----


def test_an_optimizer_follows_its_scheduler() -> None:
    x = leaf([0.0])
    scheduler = lr.PiecewiseDecay([1, 2], [1.0, 0.5, 0.25])
    sgd = SGD(scheduler, [{"params": [x], "learning_rate": 0.5}])
    moved = []
    for _ in range(3):
        send([x], [[1.0]])
        before = x.item()
        sgd.step()
        sgd.clear_grad()
        scheduler.step()
        moved.append(before - x.item())
    assert moved == [0.5, 0.25, 0.125]
    assert sgd.get_lr() == 0.25


def test_setting_rates_and_schedulers() -> None:
    x = leaf([0.0])
    adam = Adam(lr.StepDecay(0.5, 2), parameters=[x])
    with pytest.raises(RuntimeError, match="StepDecay"):
        adam.set_lr(0.1)
    assert adam.get_lr() == 0.5
    adam.set_lr_scheduler(lr.StepDecay(0.25, 2))
    assert adam.get_lr() == 0.25
    fixed = Adam(0.5, parameters=[x])
    fixed.set_lr_scheduler(lr.StepDecay(0.25, 2))
    assert fixed.get_lr() == 0.25
    with pytest.raises(TypeError, match="LRScheduler"):
        fixed.set_lr_scheduler(0.1)
