"""The same as Paddle and PyTorch, whose parameters, states and rates tools/ has recorded."""

import json
import math
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from tools import optimizer_sequences as sequences

PADDLE, TORCH = (
    json.loads((sequences.FOLDER / f"{name}.json").read_text("utf-8"))
    for name in ("paddle", "torch")
)
RUNS = [(record, case) for record in (PADDLE, TORCH) for case in record["parameters"]]


def ids(value: Any) -> str:
    return value if isinstance(value, str) else "paddle" if value is PADDLE else "torch"


@pytest.mark.parametrize(("record", "case"), RUNS, ids=ids)
def test_two_hundred_steps(record: dict[str, Any], case: str) -> None:
    found = sequences.parameters(paddle, case)
    assert list(found) == [str(step) for step in sequences.SHOWN]
    for step, values in record["parameters"][case].items():
        for one, other in zip(found[step], values, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=f"step {step}")


def test_the_record_is_complete() -> None:
    assert set(PADDLE["parameters"]) == set(PADDLE["states"]) == set(sequences.CASES)
    assert set(PADDLE["rates"]) == set(sequences.SCHEDULERS)
    assert {entry[0] for entry in sequences.CASES.values()} == (
        set(paddle.optimizer.__all__) - {"Optimizer", "lr"}
    )
    named = {entry[0] for entry in sequences.SCHEDULERS.values()}
    assert named == set(paddle.optimizer.lr.__all__) - {"LRScheduler"}


@pytest.mark.parametrize("case", sequences.CASES)
def test_training_goes_on_from_a_state_of_paddle(case: str) -> None:
    record = PADDLE["states"][case]
    values = [
        np.reshape(value, first.shape)
        for value, first in zip(record["parameters"], sequences.START, strict=True)
    ]
    # Other names than those of the state: it goes by position.
    params, optimizer = sequences.training(paddle, case, values)
    state = {
        name: np.asarray(value, dtype).reshape(shape)
        for name, (dtype, shape, value) in record["state"].items()
    }
    if record["LR_Scheduler"] is not None:
        state["LR_Scheduler"] = record["LR_Scheduler"]
    optimizer.set_state_dict(state)
    for step in range(5, 10):
        sequences.advance(paddle, params, optimizer, step)
    for one, other in zip(sequences.lists(params), record["after"], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", sequences.CASES)
def test_the_state_is_the_one_that_paddle_gives(case: str) -> None:
    """The same names, types, shapes and values, so that Paddle takes it too."""
    found, right = sequences.halfway(paddle, case), PADDLE["states"][case]
    assert set(found["state"]) == set(right["state"])
    for name, (dtype, shape, value) in right["state"].items():
        assert found["state"][name][:2] == [dtype, shape], name
        np.testing.assert_allclose(found["state"][name][2], value, rtol=1e-12, atol=1e-15)
    assert found["LR_Scheduler"] == right["LR_Scheduler"]


@pytest.mark.parametrize("case", sequences.SCHEDULERS)
def test_rates_of_sixty_epochs(case: str) -> None:
    found = sequences.rates(paddle, case)
    np.testing.assert_allclose(found, PADDLE["rates"][case], rtol=1e-12, atol=1e-14)
    assert all(math.isfinite(rate) for rate in found)
