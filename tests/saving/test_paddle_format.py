"""Paddle's layout: which dicts are state_dicts, and arrays cut into slices."""

import io
import pickle

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.saving import CheckpointError, paddle_format
from minipaddle.saving.paddle_format import NAME_TABLE, SLICES, is_state_dict
from tests.saving.pickles import load

ONE = paddle.ones([1])


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ({}, True),
        ({"w": ONE}, True),
        ({"w": ONE, "LR_Scheduler": {"last_lr": 0.1, "more": [1, {"a": np.arange(2)}]}}, True),
        ({"w": ONE, "epoch": 3}, False),
        ({"w": np.arange(3)}, False),
        ({"w": ONE, "master_weights": {"w": ONE}}, False),
        ({"w": ONE, "deep": {"a": [({"b": ONE},)]}}, False),
        ([ONE], False),
    ],
)
def test_which_dicts_are_state_dicts(value, is_one):
    assert is_state_dict(value) == is_one


@pytest.mark.parametrize("protocol", [2, 3])
def test_large_arrays_are_cut_as_paddle_cuts_them(protocol, monkeypatch):
    monkeypatch.setattr(paddle_format, "SLICE_BYTES", 23)
    large = paddle.arange(12, dtype="float32").reshape([3, 4])
    file = io.BytesIO()
    paddle.save({"w": large, "b": ONE}, file, protocol=protocol)
    written = pickle.loads(file.getvalue())  # by Python's own reader, as in Paddle
    assert list(written) == ["b", NAME_TABLE, "w@@.0", "w@@.1", "w@@.2", SLICES]
    assert written["w@@.0"].tolist() == [0, 1, 2, 3, 4]
    assert written[SLICES] == {"w": {"OriginShape": (3, 4), "slices": ["w@@.0", "w@@.1", "w@@.2"]}}
    found = load(file.getvalue())
    assert set(found) == {"w", "b"} and found["w"].tolist() == large.tolist()
    assert found["w"].name == large.name


def test_protocol_4_cuts_nothing(monkeypatch):
    monkeypatch.setattr(paddle_format, "SLICE_BYTES", 23)
    file = io.BytesIO()
    paddle.save({"w": paddle.ones([100])}, file)
    assert set(pickle.loads(file.getvalue())) == {"w", NAME_TABLE}


@pytest.mark.parametrize(
    "state",
    [
        {NAME_TABLE: 3},
        {NAME_TABLE: {"w": 3}, "w": np.arange(3)},
        {NAME_TABLE: {"w": "name"}},
        {SLICES: 3},
        {SLICES: {"w": {"OriginShape": (3,), "slices": ["gone"]}}},
        {SLICES: {"w": {"OriginShape": (3,), "slices": ["b"]}}, "b": np.arange(2)},
        {SLICES: {"w": {"OriginShape": (3,), "slices": ["b"]}}, "b": "text"},
    ],
)
def test_tables_that_do_not_fit(state):
    with pytest.raises(CheckpointError, match="<BytesIO>: it is damaged"):
        load(pickle.dumps(state, protocol=4))


def test_arrays_that_have_no_name_stay_arrays_in_a_state_dict():
    state = {NAME_TABLE: {"w": "name"}, "w": np.arange(3), "pair": ("name", np.arange(2))}
    found = load(pickle.dumps(state, protocol=4))
    assert type(found["w"]) is paddle.Tensor and type(found["pair"]) is tuple
    assert type(found["pair"][1]) is np.ndarray
