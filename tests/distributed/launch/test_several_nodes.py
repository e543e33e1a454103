"""Several launchers as one job: agreement, one root cause for all, lost nodes, training."""

import contextlib
import signal
import socket

import pytest

from examples import linear_net
from minipaddle.distributed.spawn import spawn
from tests.distributed.launch.launches import SCRIPT, Launch, launched


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def nodes(folder, *arguments, differing=((), ()), host="127.0.0.1", environs=({}, {})):
    """Two launchers of one rank each."""
    common = ("--nnodes", "2", "--master", f"{host}:{free_port()}", "--nproc_per_node", "1")
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                launched(
                    folder, *common, "--rank", str(rank), *differing[rank], *arguments,
                    **environs[rank],
                )
            )
            for rank in (0, 1)
        ]  # fmt: skip


def ends(pair: list[Launch]):
    """Exit codes and errors of both."""
    ended = [one.end() for one in pair]
    return [code for code, _, _ in ended], [errors for _, _, errors in ended]


def test_the_same_training_as_under_spawn(tmp_path):
    with nodes(tmp_path, SCRIPT, "train", str(tmp_path)) as pair:
        assert ends(pair) == ([0, 0], ["", ""])
    context = spawn(linear_net.train_on_shard, args=(256, 3), nprocs=2)
    for rank, results in enumerate(context.return_queues):
        assert (tmp_path / f"digest-{rank}").read_text() == results.get()


def test_the_root_cause_is_shown_on_every_node(tmp_path):
    with nodes(tmp_path, SCRIPT, "fail", str(tmp_path), "exception", "1") as pair:
        codes, errors = ends(pair)
    assert codes == [1, 1]
    assert errors[0] == errors[1]
    assert errors[0].startswith("launch: Process 1 of 2 (pid ")
    assert "ValueError: the-reason" in errors[0]


def test_a_job_starts_anew_on_all_nodes(tmp_path):
    arguments = ("--max_restart", "2", SCRIPT, "fail_first", str(tmp_path), "2", "1")
    with nodes(tmp_path, *arguments) as pair:
        codes, errors = ends(pair)
    assert codes == [0, 0]
    assert errors[0] == errors[1]
    assert "starting anew, 2 of at most 2 times" in errors[0]
    assert [(tmp_path / f"starts-{rank}").read_text() for rank in (0, 1)] == ["0\n1\n2\n"] * 2


def test_nodes_that_differ_say_so_on_both(tmp_path):
    differing = (("--max_restart", "3"), ())
    with nodes(tmp_path, SCRIPT, "tell", str(tmp_path), differing=differing) as pair:
        codes, errors = ends(pair)
    assert codes == [1, 1]
    assert errors == ["launch: node 1 has --max_restart 0, node 0 has 3\n"] * 2
    assert not list(tmp_path.glob("told-*"))


def test_a_node_that_does_not_come_is_named(tmp_path):
    master = f"127.0.0.1:{free_port()}"
    options = ("--nnodes", "3", "--nproc_per_node", "1", "--master", master)
    options = (*options, "--meet_timeout", "3", "--rank")
    with (
        launched(tmp_path, *options, "0", SCRIPT, "tell", str(tmp_path)) as first,
        launched(tmp_path, *options, "2", SCRIPT, "tell", str(tmp_path)) as third,
    ):
        codes, errors = ends([first, third])
    assert codes == [1, 1]
    assert errors[0] == errors[1]
    assert errors[0].startswith("launch: node 1 of 3 did not come within 3 seconds")


def test_two_launchers_for_one_node(tmp_path):
    differing = ((), ("--rank", "0"))
    more = ("--meet_timeout", "3", SCRIPT, "tell", str(tmp_path))
    with nodes(tmp_path, *more, differing=differing) as pair:
        codes, _ = ends(pair)
    assert codes == [1, 1]  # one of them because the port is taken


def test_a_port_in_use(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        taken_port = taken.getsockname()[1]
        master = f"127.0.0.1:{taken_port}"
        options = ("--nnodes", "2", "--nproc_per_node", "1", "--master", master, "--rank", "0")
        with launched(tmp_path, *options, SCRIPT, "tell", str(tmp_path)) as launch:
            code, _, errors = launch.end()
    assert code == 1
    assert str(taken_port) in errors
    assert "Traceback" not in errors


def test_a_wrong_token_joins_no_job(tmp_path):
    environs = ({"MINIPADDLE_JOB_TOKEN": "one"}, {"MINIPADDLE_JOB_TOKEN": "other"})
    more = ("--meet_timeout", "4", SCRIPT, "tell", str(tmp_path))
    with nodes(tmp_path, *more, environs=environs) as pair:
        codes, errors = ends(pair)
    assert codes == [1, 1]
    assert "node 1 of 2 did not come within 4 seconds" in errors[0]
    assert not list(tmp_path.glob("told-*"))


@pytest.mark.parametrize("lost", [0, 1])
def test_a_node_whose_launcher_is_killed(lost, tmp_path):
    with nodes(tmp_path, SCRIPT, "wait", str(tmp_path)) as pair:
        pair[0].has("ready-0", "ready-1")
        pair[lost].process.kill()
        code, _, errors = pair[1 - lost].end()
    assert code == 1
    assert errors.startswith(f"launch: Node {lost} ")


def test_a_signal_ends_all_nodes(tmp_path):
    with nodes(tmp_path, "--max_restart", "3", SCRIPT, "wait", str(tmp_path)) as pair:
        pair[0].has("ready-0", "ready-1")
        pair[1].process.send_signal(signal.SIGTERM)
        codes, errors = ends(pair)
    assert codes == [1, 128 + signal.SIGTERM]
    assert errors == ["launch: The launcher of node 1 was ended by SIGTERM\n"] * 2


def test_another_loopback_address(tmp_path):
    with nodes(tmp_path, SCRIPT, "tell", str(tmp_path), host="127.0.0.2") as pair:
        assert ends(pair) == ([0, 0], ["", ""])
