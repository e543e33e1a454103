"""examples/charlm.py: the loss falls, samples, resuming, and what the model may look at."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import minipaddle as paddle
from examples import charlm

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "charlm.py"
SECONDS_PER_RUN = 60.0
# Threads of BLAS that wait for a core make tiny products a hundred times slower.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
TINY = ("--batch", "8", "--context", "16", "--width", "32", "--layers", "1", "--length", "20")
TINY = (*TINY, "--rate", "0.01")


@contextlib.contextmanager
def started(folder, *arguments):
    """The program as a user starts it, in a process group that is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", PROGRAM, *TINY, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **ONE_THREAD},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=SECONDS_PER_RUN)


def run(folder, *arguments):
    """What a run that is left alone prints."""
    with started(folder, *arguments) as process:
        printed, errors = process.communicate(timeout=SECONDS_PER_RUN)
        assert process.returncode == 0, printed + errors
        assert errors == ""
    return printed


def test_the_loss_falls_and_samples_are_printed(tmp_path):
    printed = run(tmp_path, "--steps", "200", "--every", "50")
    found = re.findall(r"^step (\d+)   loss ([\d.]+)   \d+ ms per step$", printed, re.MULTILINE)
    assert [step for step, _ in found] == ["50", "100", "150", "200"]
    losses = paddle.load(tmp_path / "charlm.ckpt")["losses"]
    assert len(losses) == 200
    begin, end = np.mean(losses[:5]), np.mean(losses[-50:])
    assert begin > 4.0  # nearly the logarithm of the number of characters
    assert end < begin - 1.2


def test_a_run_killed_and_resumed_ends_with_the_same_bits(tmp_path):
    (whole := tmp_path / "whole").mkdir()
    (parts := tmp_path / "parts").mkdir()
    arguments = ("--steps", "200", "--every", "10", "--seed", "3", "--resume")
    assert "starting at the beginning" in run(whole, *arguments)
    with started(parts, *arguments) as process:
        deadline = time.monotonic() + SECONDS_PER_RUN
        while not (parts / "charlm.ckpt").exists():
            assert time.monotonic() < deadline, "no checkpoint came"
            assert process.poll() is None, "it ended without a checkpoint"
            time.sleep(0.001)
    step = len(paddle.load(parts / "charlm.ckpt")["losses"])
    assert 0 < step < 200
    assert f"resuming after step {step}\n" in run(parts, *arguments)
    expected, state = (paddle.load(folder / "charlm.ckpt") for folder in (whole, parts))
    assert state["losses"] == expected["losses"]
    assert list(state["model"]) == list(expected["model"])
    for name, value in expected["model"].items():
        assert state["model"][name].numpy().tobytes() == value.numpy().tobytes(), name


def test_a_place_sees_none_that_comes_after_it():
    given = charlm.arguments([*TINY])
    model = charlm.CharacterModel(10, given)
    numbers = paddle.randint(0, 10, [2, 16])
    changed = numbers.clone()
    changed[:, 9:] = (numbers[:, 9:] + 1) % 10
    before, after = model(numbers).numpy(), model(changed).numpy()
    np.testing.assert_array_equal(after[:, :9], before[:, :9])
    assert (np.abs(after[:, 9:] - before[:, 9:]).max(axis=-1) > 0).all()


def test_batches_are_pieces_of_the_text_and_what_follows():
    text = charlm.Text()
    numbers, following = text.batch(3, 12)
    whole = text.written(text.numbers.tolist())
    assert numbers.shape == following.shape == [3, 12]
    for piece, after in zip(numbers.tolist(), following.tolist(), strict=True):
        assert text.written([piece[0], *after]) in whole
        assert piece[1:] == after[:-1]


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = str(tmp_path / "charlm.ckpt")
    settings = {name: getattr(charlm.arguments([]), name) for name in charlm.FIXED}
    paddle.save({"settings": {**settings, "width": 8}}, path)
    with pytest.raises(SystemExit, match=r"charlm.ckpt is of a run with --width 8; --width 96"):
        charlm.main(["--resume", "--checkpoint", path])


@pytest.mark.parametrize("arguments", [("--steps", "0"), ("--width", "30"), ("--seed", "x")])
def test_arguments_that_do_not_fit_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as leaving:
        charlm.main(list(arguments))
    assert leaving.value.code == 2
    assert f"{arguments[0]}" in capsys.readouterr().err
