"""Layers give the values and gradients that Paddle gave when tools.record_layers ran it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from tools.layer_cases import CASES, measure

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
