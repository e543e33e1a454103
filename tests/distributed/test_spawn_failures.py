"""Every bad end of a process reaches the caller, and the others end with it."""

import pickle
import signal
import time

import pytest

from minipaddle.distributed import spawn_job
from minipaddle.distributed.spawn import spawn
from minipaddle.distributed.spawn_job import ProcessFailedError
from tests.distributed import spawn_targets as targets
from tests.distributed.leftovers import is_running, nothing_left, until

METHODS = ["spawn", "fork", "forkserver"]


@pytest.mark.parametrize(
    ("method", "rank"), [("spawn", 0), ("spawn", 1), ("fork", 1), ("forkserver", 1)]
)
@pytest.mark.parametrize(
    ("way", "code", "says"),
    [
        ("exception", 1, "ValueError: the-reason"),
        ("base exception", 1, "Skipped: the-reason"),
        ("keyboard interrupt", 1, "KeyboardInterrupt"),
        ("exit 3", 3, "SystemExit: 3"),
        ("exit text", 1, "SystemExit: the-reason"),
        ("exit 256", 1, "SystemExit: 256"),
        ("_exit 7", 7, "ended with exit code 7 and no traceback"),
        ("_exit 0", 0, "ended with exit code 0 before its function returned"),
        ("signal", -signal.SIGKILL, "was killed by SIGKILL"),
        ("nasty", 1, "Nasty: <exception str() failed>"),
        ("long", 1, "the-reason"),
    ],
)
def test_every_bad_end_is_an_error(way, code, says, rank, method, monkeypatch, tmp_path):
    with nothing_left(monkeypatch, tmp_path, method):
        before = time.monotonic()
        with pytest.raises(ProcessFailedError) as caught:
            spawn(targets.fail, args=(way, rank), nprocs=2, start_method=method)
        seconds = time.monotonic() - before
    error = caught.value
    assert isinstance(error, RuntimeError)
    assert (error.rank, error.exitcode) == (rank, code)
    assert str(error).startswith(f"Process {rank} of 2 (pid {error.pid}) ")
    assert says in str(error) and "After that" not in str(error)
    silent = way in ("_exit 7", "_exit 0", "signal")
    assert error.traceback_text.startswith("Traceback") != silent
    assert seconds < 20
    assert not is_running(error.pid)


def test_a_traceback_shows_the_users_frames_only():
    with pytest.raises(ProcessFailedError) as caught:
        spawn(targets.fail, args=("exception", 0), nprocs=1)
    text = caught.value.traceback_text
    assert text.startswith("Traceback (most recent call last):\n")
    assert "in fail\n" in text and "spawn_child.py" not in text


def test_a_long_text_arrives_whole():
    with pytest.raises(ProcessFailedError) as caught:
        spawn(targets.fail, args=("long", 1), nprocs=2)
    assert "x" * 3_000_000 + " the-reason" in str(caught.value)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_the_earliest_failure_is_shown_first(first, monkeypatch, tmp_path):
    monkeypatch.setattr(spawn_job, "REPORTER_GRACE_SECONDS", 30.0)
    with (
        nothing_left(monkeypatch, tmp_path),
        pytest.raises(ProcessFailedError, match=f"ValueError: by rank {first}") as caught,
    ):
        spawn(targets.fail_one_after_the_other, args=(first, str(tmp_path)), nprocs=3)
    assert (caught.value.rank, caught.value.exitcode) == (first, 1)


def test_the_cause_is_shown_before_what_it_caused(monkeypatch, tmp_path):
    with (
        nothing_left(monkeypatch, tmp_path),
        pytest.raises(ProcessFailedError, match="ValueError: the-cause") as caught,
    ):
        monkeypatch.setattr(spawn_job, "REPORTER_GRACE_SECONDS", 30.0)
        spawn(targets.fail_with_clean_up, args=(1, str(tmp_path / "gone")), nprocs=3)
    assert (caught.value.rank, caught.value.exitcode) == (1, 1)
    assert "PeerError: rank 1 is gone" in str(caught.value)


def test_a_failure_is_raised_again_and_its_text_is_in_the_error_queue():
    context = spawn(targets.fail, args=("exception", 1), nprocs=2, join=False)
    for _ in range(2):
        with pytest.raises(ProcessFailedError, match="the-reason"):
            context.join(timeout=60)
    with pytest.raises(ProcessFailedError, match="the-reason"):
        context.return_queues[1].get()
    assert context.error_queues[1].get().endswith("ValueError: the-reason\n")
    assert [process.exitcode for process in context.processes] == [-signal.SIGTERM, 1]


def test_a_value_that_cannot_travel_is_an_error():
    with pytest.raises(ProcessFailedError, match="that return_unpicklable returned cannot be pick"):
        spawn(targets.return_unpicklable, nprocs=1)


def test_the_error_can_be_pickled():
    error = ProcessFailedError("message", 1, -9, 4711, "text")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.rank, copy.exitcode) == ("message", 1, -9)
    assert (copy.pid, copy.traceback_text) == (4711, "text")


@pytest.mark.parametrize("method", METHODS)
def test_a_helper_that_keeps_the_sentinel_open_hides_nothing(method, monkeypatch, tmp_path):
    before = time.monotonic()
    with (
        nothing_left(monkeypatch, tmp_path, method),
        pytest.raises(ProcessFailedError, match=r"Process 1 of 2 .* was killed by SIGKILL"),
    ):
        spawn(targets.die_while_helper_lives, nprocs=2, start_method=method)
    assert time.monotonic() - before < 20


def test_a_failure_counts_before_its_process_has_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(spawn_job, "REPORTER_GRACE_SECONDS", 0.3)
    with (
        nothing_left(monkeypatch, tmp_path),
        pytest.raises(ProcessFailedError, match="the-reason") as caught,
    ):
        spawn(targets.fail_but_never_end, nprocs=2)
    assert caught.value.rank == 0


@pytest.mark.parametrize("method", METHODS)
def test_who_ignores_the_request_is_killed_with_its_helpers(method, monkeypatch, tmp_path):
    monkeypatch.setattr(spawn_job, "TERMINATE_GRACE_SECONDS", 0.3)
    with (
        nothing_left(monkeypatch, tmp_path, method),
        pytest.raises(ProcessFailedError, match="the-reason") as caught,
    ):
        spawn(targets.fail_when_ready, args=(str(tmp_path),), nprocs=2, start_method=method)
    assert caught.value.rank == 0


@pytest.mark.parametrize("method", METHODS)
def test_helpers_of_the_process_that_failed_end_too(method, tmp_path):
    with pytest.raises(ProcessFailedError, match="the-reason"):
        spawn(targets.fail_with_helper, args=(str(tmp_path),), nprocs=1, start_method=method)
    helper = int((tmp_path / "helper-0").read_text())
    assert until(lambda: not is_running(helper), 5.0)


def test_a_silent_death_counts_before_the_complaints_of_its_peers(tmp_path):
    job = spawn_job.Job(tmp_path, lambda: None)
    noticed = 100.0
    job.ends = {1: (noticed, -signal.SIGKILL)}
    job.processes = [Silent(), Silent()]
    complaint = spawn_job.Failure(noticed - 0.1, "RuntimeError: rank 1 is gone", "Traceback")
    early = spawn_job.Failure(noticed - 5.0, "ValueError: long ago", "Traceback")
    for reported, rank in ((complaint, 1), (early, 0)):
        job.failures = {**{r: job._failure(r) for r in (1,)}, 0: reported}
        assert job._error().rank == rank


class Silent:
    pid = 1


@pytest.mark.parametrize(
    ("code", "says"), [(-signal.SIGSEGV, "killed by SIGSEGV"), (-63, "killed by signal 63")]
)
def test_signals_have_names(code, says, tmp_path):
    assert says in spawn_job.Job(tmp_path, lambda: None).end_in_words(0, code)


def test_peers_in_a_collective_learn_of_the_failure_at_once(monkeypatch, tmp_path):
    monkeypatch.setattr(spawn_job, "REPORTER_GRACE_SECONDS", 30.0)
    with pytest.raises(ProcessFailedError, match="ValueError: the-reason") as caught:
        spawn(targets.fail_beside_a_collective, args=(str(tmp_path),), nprocs=2)
    assert (caught.value.rank, caught.value.exitcode) == (1, 1)
    assert "ValueError: the-reason" in (tmp_path / "told").read_text()


def test_a_killed_rank_is_named_before_the_peer_that_waited_for_it(monkeypatch, tmp_path):
    with (
        nothing_left(monkeypatch, tmp_path),
        pytest.raises(ProcessFailedError, match=r"Process 1 of 2 .* was killed by SIGKILL"),
    ):
        spawn(targets.die_beside_a_collective, nprocs=2)


def test_a_group_that_cannot_be_aborted_hides_nothing():
    with pytest.raises(ProcessFailedError, match="ValueError: the-reason"):
        spawn(targets.fail_with_broken_group, nprocs=1)
