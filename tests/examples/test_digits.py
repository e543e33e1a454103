"""examples/digits.py: accuracy, the same parameters after kills as without, messages."""

import contextlib
import functools
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import minipaddle as paddle
from examples import digits
from tests.distributed.launch import programs
from tests.distributed.leftovers import until

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "digits.py"
SECONDS_PER_RUN = 60.0
# Threads of BLAS that wait for a core make tiny products a hundred times slower.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# 4 steps an epoch, so that a checkpoint comes within an epoch and another at its end.
TINY = ("--samples", "100", "--batch", "20", "--width", "16", "--every", "3", "--curve", "")
TINY = (*TINY, "--epochs", "60")


@contextlib.contextmanager
def started(folder, *arguments):
    """The program as a user starts it, in a process group that is gone afterwards."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("PADDLE_", "FLAGS_"))}
    process = subprocess.Popen(
        [sys.executable, "-W", "error", PROGRAM, *arguments],
        cwd=folder,
        env={**environ, "PYTHONPATH": str(ROOT), **ONE_THREAD},
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


def digests(printed):
    return re.findall(r"^rank \d   parameters sha256 ([0-9a-f]{64})$", printed, re.MULTILINE)


def inode(path):
    return path.stat().st_ino if path.exists() else None


def wait_for_checkpoints(process, path, count):
    """Until ``path`` was replaced ``count`` times or the program is at its end."""
    deadline = time.monotonic() + SECONDS_PER_RUN
    before = inode(path)
    while count > 0 and process.poll() is None:
        assert time.monotonic() < deadline, "no checkpoint came"
        now = inode(path)
        count, before = count - (now != before), now
        time.sleep(0.0005)


def kill_at_random(folder, chance, *arguments):
    """Starts the program and kills it, with all its processes; whether it was still at work."""
    with started(folder, *arguments) as process:
        # After none, it is killed while it starts.
        wait_for_checkpoints(process, folder / "digits.ckpt", chance.randrange(10))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=chance.uniform(0.0, 0.02))
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait(timeout=SECONDS_PER_RUN) == -signal.SIGKILL


@functools.cache
def undisturbed(processes):
    """The digests of a run that is left alone."""
    with tempfile.TemporaryDirectory(prefix="minipaddle-digits-") as folder:
        found = digests(run(folder, *TINY, "--processes", str(processes)))
    assert len(found) == processes
    assert len(set(found)) == 1
    return found


def check_kills(folder, processes, moments):
    """A run killed at so many random moments ends as one that was left alone."""
    arguments = (*TINY, "--processes", str(processes), "--resume")

    seed = random.randrange(2**32)
    print(f"moments of seed {seed}")  # shown where the test fails
    chance = random.Random(seed)
    for _ in range(moments):
        assert kill_at_random(folder, chance, *arguments), "it had ended already"
    assert digests(run(folder, *arguments)) == undisturbed(processes)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_run_killed_three_times_ends_with_the_same_bits(processes, tmp_path):
    check_kills(tmp_path, processes, moments=3)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_a_run_killed_ten_times_ends_with_the_same_bits(processes, tmp_path):
    check_kills(tmp_path, processes, moments=10)


def started_after(launcher, ended):
    """The two ranks that a launcher runs now, none of them among those whose pids have ended."""
    found = []

    def are_there():
        found[:] = [one for one in programs.ranks(launcher.pid) if one.pid not in ended]
        return len(found) == 2

    assert until(are_there, SECONDS_PER_RUN)
    return found


def check_restarts(folder, moments):
    """A launched run whose ranks are killed so many times ends as one that was left alone."""
    seed = random.randrange(2**32)
    print(f"moments of seed {seed}")
    chance = random.Random(seed)
    with programs.started(
        folder, "--nproc_per_node", 2, "--max_restart", moments, PROGRAM, *TINY, "--resume",
        **ONE_THREAD,
    ) as process:  # fmt: skip
        ended = set()
        for _ in range(moments):
            # After none, it is killed while it starts.
            wait_for_checkpoints(process, folder / "digits.ckpt", chance.randrange(10))
            victims = started_after(process, ended)
            time.sleep(chance.uniform(0.0, 0.02))
            ended.update(one.pid for one in victims)
            victims[chance.randrange(2)].kill()
        printed, errors = process.communicate(timeout=SECONDS_PER_RUN)
        assert process.returncode == 0, printed + errors
    assert errors.count("was killed by SIGKILL") == moments
    assert digests(re.sub(r"^\[rank 0\] ", "", printed, flags=re.MULTILINE)) == undisturbed(2)


def test_a_launched_run_whose_ranks_are_killed_ends_with_the_same_bits(tmp_path):
    check_restarts(tmp_path, moments=3)


@pytest.mark.slow
def test_a_launched_run_whose_ranks_are_killed_ten_times_ends_with_the_same_bits(tmp_path):
    check_restarts(tmp_path, moments=10)


def test_the_comparison_sees_other_random_numbers(tmp_path):
    arguments = (*TINY, "--epochs", "20")
    expected = digests(run(tmp_path, *arguments))
    with started(tmp_path, *arguments) as process:
        path = tmp_path / "digits.ckpt"
        wait_for_checkpoints(process, path, 2)  # the old one goes, the first comes
    state = paddle.load(path)
    assert 0 < state["step"] < 80
    paddle.seed(99)
    state["ranks"][0]["random"] = paddle.get_rng_state()
    paddle.save(state, path)
    resumed = digests(run(tmp_path, *arguments, "--resume"))
    assert len(resumed) == 1
    assert resumed != expected


def test_default_settings_read_97_percent(tmp_path):
    printed = run(tmp_path)
    assert float(re.search(r"^held-out accuracy ([\d.]+)%$", printed, re.MULTILINE)[1]) >= 97.0
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")
    assert len(paddle.load(tmp_path / "digits.ckpt")["history"]) == 40


def test_a_checkpoint_of_another_run_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = digits.arguments([])
    settings = {name: getattr(given, name) for name in digits.FIXED}
    paddle.save({"settings": {**settings, "width": 8}}, "digits.ckpt")
    with pytest.raises(SystemExit, match=r"digits.ckpt is of a run with --width 8; --width 256"):
        digits.main(["--resume"])
    Path("digits.ckpt").write_bytes(b"no checkpoint")
    with pytest.raises(SystemExit, match=r"digits.py: .*digits.ckpt"):
        digits.main(["--resume"])


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SystemExit, match=r"matplotlib.figure.*\n.*pip install .*matplotlib"):
        digits.main([])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--epochs", "0"), "--epochs is 0"),
        (("--processes", "2", "--batch", "5"), "--batch 5 does not divide"),
        (("--samples", "20"), "--batch 32 is more"),
        (("--processes", "3"), "--processes"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, told, capsys):
    with pytest.raises(SystemExit) as leaving:
        digits.main(list(arguments))
    assert leaving.value.code == 2
    assert told in capsys.readouterr().err
