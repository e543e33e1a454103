"""spawn: what a process is told, what comes back, what is refused before anything starts."""

import multiprocessing
import operator
import os
import pickle
import queue
import socket
import subprocess
import sys
import threading
import warnings

import pytest

from minipaddle.device import flags
from minipaddle.distributed.job_environ import PortHold
from minipaddle.distributed.spawn import _get_subprocess_env_list, spawn
from minipaddle.distributed.spawn_context import MultiprocessContext
from tests.distributed import spawn_targets as targets

CORES = len(os.sched_getaffinity(0))
METHODS = ["spawn", "fork", "forkserver"]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    monkeypatch.setattr(flags, "_set_values", {})
    for name in list(os.environ):
        if name.startswith(("PADDLE_", "FLAGS_")) or name.endswith("_NUM_THREADS"):
            monkeypatch.delenv(name)


def results(context):
    return [mailbox.get() for mailbox in context.return_queues]


@pytest.mark.parametrize("method", METHODS)
def test_each_process_knows_its_part(method, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy:1")
    flags.set_flags({"FLAGS_nccl_nrings": 3})
    told = results(spawn(targets.told, nprocs=2, start_method=method))
    assert [one["rank"] for one in told] == [0, 1]
    assert all(one["world_size"] == 2 for one in told)
    assert told[0]["endpoints"] == told[1]["endpoints"] == [one["endpoint"] for one in told]
    assert len({one["endpoint"] for one in told}) == 2
    assert told[0]["token"] == told[1]["token"]
    assert all(one["place"] == "cpu" and one["proxy"] is None for one in told)
    assert all(one["nrings"] == 3 and one["leads_group"] for one in told)
    assert len({one["pid"] for one in told} | {os.getpid()}) == 3


def test_a_process_gets_its_share_of_the_cores(monkeypatch):
    monkeypatch.setenv("MKL_NUM_THREADS", "7")
    share = str(max(1, CORES // 2))
    for one in results(spawn(targets.told, nprocs=2)):
        assert one["threads"] == [share, share, "7"]
    assert "OMP_NUM_THREADS" not in os.environ


@pytest.mark.skipif(CORES > 16, reason="one process a core is too many here")
def test_by_default_there_is_a_process_a_core():
    context = spawn(operator.add, args=(2, 3))
    assert results(context) == [5] * CORES


def test_one_process_is_a_process():
    (told,) = results(spawn(targets.told, nprocs=1))
    assert (told["rank"], told["world_size"]) == (0, 1)
    assert told["pid"] != os.getpid()


def test_large_values_travel_both_ways():
    (array,) = results(spawn(targets.big, args=(16,), nprocs=1))
    assert array.nbytes == 16 << 20 and (array == 0).all()
    assert results(spawn(targets.echo, args=(array,), nprocs=2))[1][0].nbytes == array.nbytes


def test_a_value_is_given_once():
    context = spawn(operator.add, args=(1, 1), nprocs=1)
    mailbox = context.return_queues[0]
    assert not mailbox.empty()
    assert mailbox.get() == 2
    assert mailbox.empty()
    with pytest.raises(queue.Empty, match="taken already"):
        mailbox.get()
    with pytest.raises(queue.Empty, match="left no error"):
        context.error_queues[0].get()


def test_values_outlive_the_context():
    assert spawn(operator.add, args=(1, 1), nprocs=1).return_queues[0].get() == 2


@pytest.mark.parametrize("method", METHODS)
def test_locks_can_be_arguments(method, tmp_path):
    lock = multiprocessing.get_context(method).Lock()
    context = spawn(targets.hold, (lock, str(tmp_path)), nprocs=2, start_method=method)
    assert results(context) == [0, 1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


@pytest.mark.parametrize("method", METHODS)
def test_pipes_can_be_arguments(method):
    ours, theirs = multiprocessing.Pipe()
    with ours, theirs:
        spawn(targets.answer, args=(theirs,), nprocs=1, start_method=method)
        assert ours.poll(10) and ours.recv() == "from rank 0"


def test_without_join_the_context_waits(tmp_path):
    context = spawn(targets.finish_late, args=(str(tmp_path),), nprocs=2, join=False)
    assert isinstance(context, MultiprocessContext)
    assert len(context.processes) == len(context.sentinels) == len(context.error_queues) == 2
    assert context.join(timeout=0) is False
    assert context.join(timeout=60) is True
    assert context.join() is True
    assert [process.exitcode for process in context.processes] == [0, 0]
    assert len(list(tmp_path.iterdir())) == 2


def test_sys_exit_without_a_code_is_a_good_end():
    assert results(spawn(targets.leave_politely, nprocs=1)) == [None]


def test_forked_processes_need_no_pickling():
    values = [1]
    context = spawn(lambda more: values + more, args=([2],), nprocs=2, start_method="fork")
    assert results(context) == [[1, 2]] * 2


def test_threads_can_spawn_at_once():
    tokens = []

    def job():
        tokens.extend(one["token"] for one in results(spawn(targets.told, nprocs=2)))

    threads = [threading.Thread(target=job) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(tokens) == 6 and len(set(tokens)) == 3
    assert "OMP_NUM_THREADS" not in os.environ


def test_print_config(capsys):
    spawn(operator.add, args=(1, 1), nprocs=2, print_config=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["rank 0", "rank 1"]
    assert "PADDLE_TRAINERS_NUM=2" in lines[1]


class Bad:
    def __reduce__(self):
        raise TypeError("cannot pickle Bad")


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"func": lambda: None}, ValueError, "func cannot be pickled.*top level"),
        ({"args": (Bad(),)}, ValueError, "args cannot be pickled.*cannot pickle Bad"),
        ({"args": (lambda: 1,)}, ValueError, "args cannot be pickled"),
        ({"func": 3}, TypeError, "func must be a function; got 3"),
        ({"args": 3}, TypeError, "args must be a tuple"),
        ({"args": "ab"}, TypeError, "args must be a tuple"),
        ({"nprocs": 0}, ValueError, "nprocs must be at least 1.*got 0"),
        ({"nprocs": -2}, ValueError, "nprocs must be at least 1"),
        ({"nprocs": 2.0}, TypeError, "nprocs must be an int"),
        ({"nprocs": True}, TypeError, "nprocs must be an int"),
        ({"foo": 1}, ValueError, "no option 'foo'; its options are .*gpus.*xpus"),
        ({"start_method": "thread"}, ValueError, "start_method must be one of spawn, fork"),
        ({"backend": "foo"}, ValueError, "backend must be one of auto"),
        ({"gpus": "0", "xpus": "1"}, ValueError, "gpus and xpus"),
        ({"gpus": "4,5"}, ValueError, "no gpu on this machine"),
        ({"xpus": "4,5"}, ValueError, "no xpu on this machine"),
        ({"selected_devices": "4,5"}, ValueError, "there is none to pick"),
        ({"backend": "nccl"}, ValueError, "no gpu on this machine"),
        ({"gpus": "4,4"}, ValueError, "more than once"),
        ({"gpus": "4,5,6"}, ValueError, "names 3 gpu"),
        ({"ips": "10.0.0.1,10.0.0.2"}, ValueError, "ips must name one machine"),
    ],
)
def test_nothing_starts_if_anything_is_wrong(arguments, error, says, monkeypatch):
    monkeypatch.setattr("minipaddle.device.selection.known_backends", lambda: ["cpu"])
    with pytest.raises(error, match=says):
        spawn(**{"func": operator.neg, "args": (1,), "nprocs": 2, **arguments})
    assert not multiprocessing.active_children()


def test_a_lock_can_be_pickled_only_while_a_process_starts():
    lock = multiprocessing.get_context("spawn").Lock()
    with pytest.raises(ValueError, match="args cannot be pickled"):
        spawn(operator.neg, args=(lock, lambda: 1), nprocs=1)
    with pytest.raises(RuntimeError, match="inheritance"):
        pickle.dumps(lock)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("selected_gpus", "0"),
        ("started_port", 1),
        ("node_ip", "127.0.0.1"),
        ("cluster_node_ips", "127.0.0.1"),
        ("use_paddlecloud", False),
    ],
)
def test_old_options_warn_where_spawn_is_called(option, value):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match=r"must be at least|no gpu|cannot be pickled"):
            spawn(lambda: None, nprocs=1, **{option: value})
    (warning,) = [one for one in caught if one.category is DeprecationWarning]
    assert option in str(warning.message) and warning.filename == __file__


def test_a_system_other_than_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(RuntimeError, match="several processes need Linux; this is darwin"):
        spawn(operator.neg, args=(1,), nprocs=2)


def test_a_daemon_process_cannot_spawn(monkeypatch):
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    with pytest.raises(RuntimeError, match="daemon"):
        spawn(operator.neg, args=(1,), nprocs=2)


def test_a_function_of_an_interactive_session():
    code = (
        "from minipaddle.distributed.spawn import spawn\n"
        "def train(): pass\n"
        "spawn(train, nprocs=2)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("ValueError: 'train' is defined in a notebook") and "module.py" in last


def test_a_program_without_the_guard(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import operator\nfrom minipaddle.distributed.spawn import spawn\n"
        "spawn(operator.neg, args=(1,), nprocs=2)\n"
    )
    ended = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ended.returncode == 1
    assert "put the call under `if __name__ == '__main__':`" in ended.stderr
    assert "ended with exit code 1 before its function began" in ended.stderr


@pytest.mark.parametrize(
    ("visible", "nprocs", "options", "ids"),
    [
        ("10,11", 2, {}, ["10", "11"]),
        ("8,9,10,11", 2, {"gpus": "10,11"}, ["10", "11"]),
        ("4,5,6,7", 2, {}, ["4", "5"]),
        ("0,1,12", 1, {"gpus": "12"}, ["12"]),
        ("GPU-1a,GPU-2b", -1, {}, ["GPU-1a", "GPU-2b"]),
    ],
)
def test_the_environment_of_processes_without_the_hardware(
    monkeypatch, visible, nprocs, options, ids
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    told = _get_subprocess_env_list(nprocs, {**options, "backend": "nccl"})
    assert [one["FLAGS_selected_gpus"] for one in told] == ids
    assert [one["PADDLE_TRAINER_ID"] for one in told] == [str(i) for i in range(len(ids))]
    assert all(one["PADDLE_DISTRI_BACKEND"] == "nccl" for one in told)
    assert all("CUDA_VISIBLE_DEVICES" not in one for one in told)
    told[0]["only"] = "here"
    assert "only" not in told[-1] or len(told) == 1


def test_flags_of_the_parent_do_not_select_for_a_child(monkeypatch):
    monkeypatch.setenv("FLAGS_selected_devices", "4,5")
    monkeypatch.setenv("FLAGS_selected_gpus", "1")
    told = _get_subprocess_env_list(2, {"backend": "bkcl"})
    assert [one["FLAGS_selected_xpus"] for one in told] == ["4", "5"]
    assert all(one["FLAGS_selected_devices"] == one["FLAGS_selected_gpus"] == "" for one in told)


def test_a_held_port_is_free_for_the_child_only():
    ports = PortHold(2, None)
    try:
        with socket.create_server(("127.0.0.1", ports.numbers[0])) as listener:
            assert listener.getsockname()[1] == ports.numbers[0]
        with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
            stranger.bind(("127.0.0.1", ports.numbers[1]))
    finally:
        ports.close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        first = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {first} cannot be used"):
            PortHold(1, first)


def test_without_room_for_its_files_a_job_holds_no_port(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        spawn(operator.neg, args=(1,), nprocs=2)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_start_that_fails_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    start = multiprocessing.process.BaseProcess.start
    started = []

    def start_one(process):
        if started:
            raise OSError("no more processes")
        started.append(process)
        start(process)

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", start_one)
    with pytest.raises(OSError, match="no more processes"):
        spawn(targets.sleep_with_helper, args=(str(tmp_path),), nprocs=2)
    assert started[0].exitcode is not None
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("minipaddle")]
