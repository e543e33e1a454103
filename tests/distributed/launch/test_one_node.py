"""The launcher on one node: what ranks are told, failures, signals, and that nothing is left."""

import json
import os
import signal

import pytest

from examples import linear_net
from minipaddle.distributed.spawn import spawn
from tests.distributed.launch.launches import SCRIPT, launched, run

TWO = ("--nproc_per_node", "2")
XPUS = {"MINIPADDLE_PLUGINS": "tests.device.fake_xpu", "XPU_VISIBLE_DEVICES": "4,5,6,7,8,9,10,11"}


def told(folder, ranks):
    return [json.loads((folder / f"told-{rank}").read_text()) for rank in range(ranks)]


def test_what_ranks_are_told(tmp_path):
    code, printed, errors = run(
        tmp_path, *TWO, SCRIPT, "tell", str(tmp_path), "--nproc_per_node", http_proxy="http://no"
    )
    assert (code, errors) == (0, "")
    assert printed == "[rank 0] this is rank 0\n[rank 0] a word without an end\n"
    assert (tmp_path / "log" / "workerlog.1").read_text().startswith("this is rank 1\n")
    ranks = told(tmp_path, 2)
    for rank, one in enumerate(ranks):
        assert (one["rank"], one["world_size"], one["place"]) == (rank, 2, "cpu")
        assert one["endpoint"] == one["endpoints"][rank]
        assert one["told"]["PADDLE_RANK_IN_NODE"] == str(rank)
        assert one["told"]["PADDLE_RESTART_COUNT"] == "0"
        assert one["told"]["PADDLE_DISTRI_BACKEND"] == "gloo"
        assert one["argv"] == [SCRIPT, "tell", str(tmp_path), "--nproc_per_node"]
        assert one["path"] == os.path.dirname(SCRIPT)
        assert one["leads_group"]
        assert one["proxy"] is None
        assert all(one["threads"])
    assert ranks[0]["token"] == ranks[1]["token"]


@pytest.mark.parametrize("option", ["--xpus", "--selected_xpus", "--devices"])
def test_devices_8_to_11(option, tmp_path):
    more = ("--backend", "xpu") if option == "--devices" else ()
    code, _, errors = run(
        tmp_path, option, "8,9,10,11", *more, SCRIPT, "tell", str(tmp_path), **XPUS
    )
    assert (code, errors) == (0, "")
    for one, device in zip(told(tmp_path, 4), ("8", "9", "10", "11"), strict=True):
        assert one["told"]["FLAGS_selected_xpus"] == device
        assert one["told"]["PADDLE_LOCAL_DEVICE_IDS"] == device
        assert one["place"] == f"xpu:{int(device) - 4}"


def test_a_module_runs_as_main(tmp_path):
    arguments = ("-m", "tests.distributed.launch.scripts", "tell", str(tmp_path))
    code, _, errors = run(tmp_path, "--nproc_per_node", "1", *arguments)
    assert (code, errors) == (0, "")
    assert told(tmp_path, 1)[0]["argv"][1] == "tell"


def test_the_same_training_as_under_spawn(tmp_path):
    code, printed, errors = run(tmp_path, *TWO, SCRIPT, "train", str(tmp_path))
    assert (code, errors) == (0, "")
    assert printed.count("[rank 0] epoch") == 3
    context = spawn(linear_net.train_on_shard, args=(256, 3), nprocs=2)
    for rank, results in enumerate(context.return_queues):
        assert (tmp_path / f"digest-{rank}").read_text() == results.get()


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("exception", "failed with exit code 1:\n\nTraceback"),
        ("exit 3", "failed with exit code 3"),
        ("exit text", "SystemExit: the-reason"),
        ("_exit 7", "ended with exit code 7; its log log/workerlog.1 ends with\nthe last words"),
        ("signal", "was killed by SIGKILL; its log log/workerlog.1 ends with\nthe last words"),
    ],
)
def test_the_root_cause_is_shown(way, says, tmp_path):
    code, _, errors = run(tmp_path, *TWO, SCRIPT, "fail", str(tmp_path), way, "1")
    assert code == 1
    assert errors.startswith("launch: Process 1 of 2 (pid ")
    assert says in errors
    assert "After that" not in errors


def test_a_traceback_begins_in_the_script(tmp_path):
    with launched(tmp_path, *TWO, SCRIPT, "fail", str(tmp_path), "exception", "1") as launch:
        errors = launch.end()[2]
    for text in (errors, launch.log(1)):
        assert "ValueError: the-reason" in text
        assert "runpy" not in text
        assert "launch/script.py" not in text


def test_ranks_that_ignore_sigterm_are_killed(tmp_path):
    with launched(tmp_path, *TWO, SCRIPT, "deaf", str(tmp_path)) as launch:
        code, _, errors = launch.end()
        assert launch.is_gone()
    assert code == 1
    assert "ValueError: the-reason" in errors


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_is_passed_on(name, tmp_path):
    with launched(tmp_path, *TWO, SCRIPT, "farewell", str(tmp_path)) as launch:
        launch.has("ready-0", "ready-1")
        launch.process.send_signal(signal.Signals[name])
        code, _, errors = launch.end()
    assert code == 128 + signal.Signals[name]
    assert f"was ended by {name}" in errors
    assert [(tmp_path / f"told-{rank}").read_text() for rank in (0, 1)] == [name, name]


def test_a_second_ctrl_c_kills_at_once(tmp_path):
    with launched(tmp_path, *TWO, SCRIPT, "stubborn", str(tmp_path)) as launch:
        launch.has("ready-0", "ready-1")
        launch.process.send_signal(signal.SIGINT)
        with pytest.raises(TimeoutError):
            end_within(launch, 1.0)
        launch.process.send_signal(signal.SIGINT)
        end_within(launch, 4.0)  # less than any time of grace
        assert launch.end()[0] == 130


def end_within(launch, seconds):
    try:
        launch.process.wait(seconds)
    except Exception as error:
        raise TimeoutError(str(error)) from None


@pytest.mark.parametrize("what", ["wait", "stubborn"])
def test_no_orphan_when_the_launcher_is_killed(what, tmp_path):
    with launched(tmp_path, *TWO, SCRIPT, what, str(tmp_path)) as launch:
        launch.has("ready-0", "ready-1")
        assert len(launch.members()) == 5  # the launcher, two ranks, and a helper of each
        launch.process.kill()
        assert launch.is_gone()


def test_two_jobs_side_by_side(tmp_path):
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    with (
        launched(folders[0], *TWO, SCRIPT, "train", str(folders[0])) as one,
        launched(folders[1], *TWO, SCRIPT, "train", str(folders[1])) as other,
    ):
        assert one.end()[::2] == other.end()[::2] == (0, "")
    digests = {path.read_text() for folder in folders for path in folder.glob("digest-*")}
    assert len(digests) == 1


def test_a_job_starts_anew(tmp_path):
    arguments = (SCRIPT, "fail_first", str(tmp_path), "2", "1")
    code, _, errors = run(tmp_path, *TWO, "--max_restart", "2", *arguments)
    assert code == 0
    assert "ValueError: start 1" in errors
    assert "starting anew, 2 of at most 2 times" in errors
    assert (tmp_path / "starts-1").read_text() == "0\n1\n2\n"


def test_a_job_starts_anew_only_so_often(tmp_path):
    arguments = (SCRIPT, "fail_first", str(tmp_path), "9", "0")
    code, _, errors = run(tmp_path, *TWO, "--max_restart", "1", *arguments)
    assert code == 1
    assert errors.count("Process 0 of 2") == 2
    assert (tmp_path / "starts-0").read_text() == "0\n1\n"
