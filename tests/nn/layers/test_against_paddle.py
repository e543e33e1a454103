"""Layers give the values and gradients that Paddle gave when tools.record_layers ran it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from tools.layer_cases import CASES, measure, prepare, weighted_sum

RECORDED = json.loads(Path(__file__).with_name("paddle_layers.json").read_text("utf-8"))["cases"]


def as_array(recorded: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.array(recorded["values"]).reshape(recorded["shape"])


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_are_those_of_paddle(case: str) -> None:
    found, recorded = measure(paddle, case), RECORDED[case]
    assert len(found["outputs"]) == len(recorded["outputs"])
    pairs = [
        (f"{kind} {i}", here, there)
        for kind in ("outputs", "inputs")
        for i, (here, there) in enumerate(zip(found[kind], recorded[kind], strict=True))
    ]
    for kind in ("parameters", "kept"):
        assert set(found[kind]) == set(recorded[kind]), kind
        pairs += [(f"{kind} {n}", found[kind][n], recorded[kind][n]) for n in recorded[kind]]
    for what, here, there in pairs:
        assert list(here.shape) == there["shape"], what
        tolerance = 1e-4 if here.dtype == "float32" else 2e-6
        np.testing.assert_allclose(
            here, as_array(there), rtol=tolerance, atol=tolerance / 10, err_msg=f"{case}: {what}"
        )


def test_every_recorded_case_is_there() -> None:
    assert list(RECORDED) == list(CASES)


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_slopes(case: str) -> None:
    """The change along one direction in all inputs and parameters is what the gradients say."""
    if "float32" in CASES[case][0]:
        return  # too coarse for differences
    made, inputs, named = prepare(paddle, case)
    leaves = [x for x in inputs if isinstance(x, paddle.Tensor) and not x.stop_gradient]
    leaves += [p for _, p in named if not p.stop_gradient]
    kept = [(p, p.numpy()) for _, p in named if p.stop_gradient]
    weighted_sum(paddle, made, inputs)[0].backward()
    rng = np.random.default_rng(1)
    leaves = [x for x in leaves if x.grad is not None]
    ways = [rng.standard_normal(x.shape) for x in leaves]
    slope = sum(float((x.grad.numpy() * way).sum()) for x, way in zip(leaves, ways, strict=True))
    starts, values, step = [x.numpy() for x in leaves], [], 1e-6
    for sign in (1.0, -1.0):
        for running, value in kept:  # running statistics are written by each run
            running.set_value(value)
        with paddle.no_grad():
            for x, start, way in zip(leaves, starts, ways, strict=True):
                x.set_value(start + sign * step * way)
            values.append(weighted_sum(paddle, made, inputs)[0].item())
    found = (values[0] - values[1]) / (2 * step)
    assert found == pytest.approx(slope, rel=1e-5, abs=1e-6), case
