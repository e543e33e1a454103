"""The launcher as its users meet it: options, devices, failures, signals, restarts."""

import json
import os
import re
import signal

import psutil
import pytest

import minipaddle as paddle
from examples import linear_net
from minipaddle.distributed.launch import main as launcher
from tests.distributed.launch.programs import launch, logs, program, ranks, started
from tests.distributed.leftovers import is_running, session_members, until

TOLD = """
    import json, os, sys
    import minipaddle as paddle
    env = paddle.distributed.ParallelEnv()
    names = ("PADDLE_RANK_IN_NODE", "PADDLE_LOCAL_DEVICE_IDS", "PADDLE_WORLD_DEVICE_IDS",
             "PADDLE_DISTRI_BACKEND", "FLAGS_selected_xpus", "OMP_NUM_THREADS", "https_proxy",
             "MINIPADDLE_RESTART_COUNT")
    print(json.dumps({
        "rank": env.rank, "world_size": env.world_size, "place": str(paddle.get_device()),
        "endpoint": env.current_endpoint, "endpoints": env.trainer_endpoints,
        "arguments": sys.argv, "path": sys.path[0], "main": __name__,
        **{name: os.environ.get(name) for name in names}}))
"""
# Until the others are there too, and then for ever, or as long as a test lasts.
WAITS = """
    import pathlib, signal, sys, time
    import minipaddle as paddle
    paddle.distributed.init_parallel_env()
    rank = paddle.distributed.get_rank()
    {before}
    pathlib.Path(f"ready-{{rank}}").touch()
    try:
        time.sleep(100)
    except KeyboardInterrupt:
        pathlib.Path(f"interrupted-{{rank}}").touch()
        raise
"""


def waiting(folder, before="pass"):
    return program(folder, WAITS.format(before=before))


def all_ready(folder):
    return until(lambda: all((folder / f"ready-{rank}").exists() for rank in range(2)))


def test_each_process_is_told_its_part(tmp_path):
    name = program(tmp_path, TOLD)
    status, printed, errors = launch(
        tmp_path, "--nproc_per_node", 2, name, "--epochs", "3", https_proxy="http://nowhere:1"
    )
    assert (status, errors) == (0, "")
    told = [json.loads(log) for log in logs(tmp_path, 2)]
    assert printed == f"[rank 0] {logs(tmp_path, 1)[0]}"
    for rank, one in enumerate(told):
        assert one["rank"] == rank
        assert one["world_size"] == 2
        assert one["endpoint"] == one["endpoints"][rank]
        assert one["arguments"] == [name, "--epochs", "3"]
        assert (one["path"], one["main"]) == (str(tmp_path), "__main__")
        assert one["PADDLE_RANK_IN_NODE"] == str(rank)
        assert one["PADDLE_DISTRI_BACKEND"] == "gloo"
        assert one["MINIPADDLE_RESTART_COUNT"] == "0"
        assert int(one["OMP_NUM_THREADS"]) >= 1
        assert one["https_proxy"] is None


def test_a_module_is_run_and_logs_go_where_they_are_to(tmp_path):
    program(tmp_path, "import sys; print('module', sys.argv[1:])", "mine.py")
    status, printed, _ = launch(
        tmp_path, "--nproc_per_node", 1, "--log_dir", "a/b", "-m", "mine", "x",
        PYTHONPATH=os.pathsep.join([str(tmp_path), *os.sys.path]),
    )  # fmt: skip
    assert (status, printed) == (0, "[rank 0] module ['x']\n")
    assert (tmp_path / "a" / "b" / "workerlog.0").read_text() == "module ['x']\n"


@pytest.mark.parametrize("option", ["--xpus", "--selected_xpus", "--devices", "--selected_devices"])
def test_ids_are_taken_whole(tmp_path, option):
    name = program(tmp_path, TOLD)
    status, _, errors = launch(
        tmp_path, option, "10,8,11", *(["--backend", "xpu"] if "devices" in option else []), name,
        MINIPADDLE_PLUGINS="tests.device.fake_xpu", XPU_VISIBLE_DEVICES="8,9,10,11",
    )  # fmt: skip
    assert (status, errors) == (0, "")
    told = [json.loads(log) for log in logs(tmp_path, 3)]
    assert [one["FLAGS_selected_xpus"] for one in told] == ["10", "8", "11"]
    assert [one["PADDLE_LOCAL_DEVICE_IDS"] for one in told] == ["10", "8", "11"]
    assert [one["place"] for one in told] == ["xpu:2", "xpu:0", "xpu:3"]
    assert {one["PADDLE_WORLD_DEVICE_IDS"] for one in told} == {"10,8,11"}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--nproc_per_node", "0", "p.py"], "--nproc_per_node must be at least 1; got 0"),
        (["--max_restart", "-1", "p.py"], "--max_restart must be at least 0; got -1"),
        (["--nnodes", "2", "p.py"], "--nnodes 2: the processes of a job run on one machine"),
        (["--ips", "10.0.0.1,10.0.0.2", "p.py"], "--ips 10.0.0.1,10.0.0.2: the processes of a job"),
        (["--gpus", "0", "--xpus", "0", "p.py"], "devices of different kinds"),
        (["--xpus", "0,0", "p.py"], "xpus names 0 more than once"),
        (["--xpus", "0", "p.py"], "no xpu on this machine"),
        (["--backend", "carrier-pigeon", "p.py"], "backend must be one of auto, gloo"),
        ([], "PROGRAM"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_started(tmp_path, arguments, text):
    status, printed, errors = launch(tmp_path, *arguments)
    assert (status, printed) == (2, "")
    assert text in errors
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_is_not_there(tmp_path):
    status, _, errors = launch(tmp_path, "--nproc_per_node", 1, "absent.py")
    assert status == 1
    assert "FileNotFoundError" in errors
    assert "absent.py" in errors


def test_linear_net_has_the_losses_of_spawn(tmp_path):
    name = program(
        tmp_path,
        """
        import json
        from tests.distributed.launch.test_launch import losses
        print(json.dumps(losses()))
        """,
    )
    status, _, errors = launch(tmp_path, "--nproc_per_node", 2, name)
    assert (status, errors) == (0, "")
    expected = [box.get() for box in paddle.distributed.spawn(losses, nprocs=2).return_queues]
    assert [json.loads(log) for log in logs(tmp_path, 2)] == expected


def losses():
    """Of five steps of LinearNet, as text that keeps every bit."""
    paddle.distributed.init_parallel_env()
    paddle.seed(7)
    model = paddle.DataParallel(linear_net.LinearNet())
    adam = paddle.optimizer.Adam(learning_rate=0.001, parameters=model.parameters())
    paddle.seed(paddle.distributed.get_rank())
    found = []
    for _ in range(5):
        loss = (model(paddle.randn([10, 10])) - paddle.randn([10, 1])).square().mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        found.append(loss.item().hex())
    return found


def test_the_first_failure_is_the_one_that_is_shown(tmp_path):
    name = program(
        tmp_path,
        """
        import minipaddle as paddle
        paddle.distributed.init_parallel_env()
        if paddle.distributed.get_rank() == 1:
            raise ValueError("no such thing")
        paddle.distributed.barrier()
        """,
    )
    status, printed, errors = launch(tmp_path, "--nproc_per_node", 2, name)
    assert status == 1
    assert re.match(
        r"minipaddle launch: Process 1 of 2 \(pid \d+\) failed with exit code 1", errors
    )
    assert 'program.py", line 5, in <module>' in errors
    assert "ValueError: no such thing" in errors
    assert "runpy" not in errors
    assert "the logs are in log/" in errors
    assert "ValueError: no such thing" in logs(tmp_path, 2)[1]
    assert printed.count("\n") == 1  # that of rank 0, which only heard of it
    assert "PeerError: rank 1 failed" in printed


def test_an_exit_status_is_passed_on(tmp_path):
    name = program(tmp_path, "import sys; sys.exit(7)")
    assert launch(tmp_path, "--nproc_per_node", 1, name)[0] == 7
    name = program(tmp_path, "import sys; sys.exit(0)")
    assert launch(tmp_path, "--nproc_per_node", 1, name)[0] == 0


def test_a_killed_rank_is_named_and_one_that_ignores_sigterm_is_killed(tmp_path):
    name = waiting(tmp_path, "if rank == 1: signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    with started(tmp_path, "--nproc_per_node", 2, name) as process:
        assert all_ready(tmp_path)
        first, second = sorted(ranks(process.pid), key=lambda one: one.pid)
        first.kill()
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "Process 0 of 2" in errors
        assert "was killed by SIGKILL" in errors
        assert not is_running(second.pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_passed_on_and_nothing_is_left(tmp_path, number):
    name = waiting(tmp_path)
    with started(tmp_path, "--nproc_per_node", 2, name, TMPDIR=str(tmp_path)) as process:
        assert all_ready(tmp_path)
        children = ranks(process.pid)
        assert len(children) == 2
        process.send_signal(number)
        process.communicate(timeout=60)
        assert process.returncode == 128 + number
        assert not any(is_running(one.pid) for one in children)
    interrupted = [(tmp_path / f"interrupted-{rank}").exists() for rank in range(2)]
    assert interrupted == [number == signal.SIGINT] * 2
    assert not list(tmp_path.glob("minipaddle-launch-*"))


def test_a_second_interrupt_waits_for_nobody(tmp_path):
    told = "lambda *_: pathlib.Path(f'told-{rank}').touch()"
    name = waiting(tmp_path, f"signal.signal(signal.SIGINT, {told})")
    with started(tmp_path, "--nproc_per_node", 2, name) as process:
        assert all_ready(tmp_path)
        children = ranks(process.pid)
        process.send_signal(signal.SIGINT)
        assert until(lambda: all((tmp_path / f"told-{rank}").exists() for rank in range(2)))
        process.send_signal(signal.SIGINT)
        process.wait(timeout=launcher.LEAVE_SECONDS / 2)
        assert process.returncode == 128 + signal.SIGINT
        assert not any(is_running(one.pid) for one in children)


def test_nobody_outlives_a_launcher_that_is_killed(tmp_path):
    name = waiting(tmp_path)
    with started(tmp_path, "--nproc_per_node", 2, name, TMPDIR=str(tmp_path)) as process:
        assert all_ready(tmp_path)
        children = ranks(process.pid)
        process.kill()
        assert until(lambda: not any(is_running(one.pid) for one in children))
        assert until(lambda: not session_members(process.pid))
        assert until(lambda: not list(tmp_path.glob("minipaddle-launch-*")))


def test_two_jobs_side_by_side(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        program(
            folder,
            """
            import minipaddle as paddle
            paddle.distributed.init_parallel_env()
            x = paddle.ones([3]) * (paddle.distributed.get_rank() + 1)
            for _ in range(50):
                paddle.distributed.all_reduce(x, paddle.distributed.ReduceOp.MAX)
            print(x.tolist())
            """,
        )
    with (
        started(folders[0], "--nproc_per_node", 2, "program.py") as one,
        started(folders[1], "--nproc_per_node", 2, "program.py") as other,
    ):
        for process in (one, other):
            assert process.communicate(timeout=60)[0] == "[rank 0] [2.0, 2.0, 2.0]\n"
            assert process.returncode == 0


def test_all_start_again_after_a_failure_as_often_as_is_allowed(tmp_path):
    name = program(
        tmp_path,
        """
        import os
        import minipaddle as paddle
        paddle.distributed.init_parallel_env()
        count = int(os.environ["MINIPADDLE_RESTART_COUNT"])
        if paddle.distributed.get_rank() == 1 and count < 2:
            os.kill(os.getpid(), 9)
        paddle.distributed.barrier()
        print("done at", count)
        """,
    )
    status, printed, errors = launch(tmp_path, "--nproc_per_node", 2, "--max_restart", 2, name)
    assert status == 0
    assert printed.splitlines()[-1] == "[rank 0] done at 2"
    assert errors.count("was killed by SIGKILL") == 2
    assert "starting all processes again (2 of 2)" in errors
    assert logs(tmp_path, 2)[1] == "done at 2\n"  # the logs of all starts follow one another
    status, _, errors = launch(tmp_path, "--nproc_per_node", 2, "--max_restart", 1, name)
    assert status == 1
    assert errors.count("was killed by SIGKILL") == 2


def test_a_child_of_a_rank_is_gone_as_well(tmp_path):
    name = program(
        tmp_path,
        """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
        print(child.pid)
        raise ValueError
        """,
    )
    assert launch(tmp_path, "--nproc_per_node", 1, name)[0] == 1
    child = int(logs(tmp_path, 1)[0].splitlines()[0])
    assert until(lambda: not psutil.pid_exists(child) or not is_running(child))
