"""The launcher's command line: what it means, and what is refused before anything starts."""

import pytest

from minipaddle.distributed.launch.options import TOKEN_VARIABLE, read_options
from tests.distributed.launch.launches import SCRIPT

TWO = ("--nnodes", "2", "--master", "127.0.0.1:5000")


def test_a_script_and_its_arguments():
    options = read_options(["--nproc_per_node", "2", SCRIPT, "--gpus", "7", "-m"])
    assert options.command == [SCRIPT, "--gpus", "7", "-m"]
    assert (options.ids, options.comm, options.world_size) == (["", ""], "gloo", 2)
    assert (options.max_restart, options.log_dir, options.first_rank) == (0, "log", 0)


def test_a_module():
    options = read_options(["--nproc_per_node=1", "-m", "package.module", "-v"])
    assert options.command == ["-m", "package.module", "-v"]


def test_a_node_of_several(monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "secret")
    options = read_options(
        [*TWO, "--rank", "1", "--nproc_per_node", "3", "--max_restart", "4", SCRIPT]
    )
    assert (options.node, options.nnodes, options.master) == (1, 2, ("127.0.0.1", 5000))
    assert (options.first_rank, options.world_size, options.comm) == (3, 6, "mpi")
    assert (options.token, options.max_restart) == ("secret", 4)


def test_the_token_of_a_job(monkeypatch):
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    public = ["--nnodes", "2", "--master", "10.1.2.3:5000", "--rank", "0", "--nproc_per_node", "1"]
    assert read_options([*public, "--job_id", "mine", SCRIPT]).token == "mine"
    local = ["--rank", "0", "--nproc_per_node", "1", SCRIPT]
    assert read_options([*TWO, *local]).token == read_options([*TWO, *local]).token
    assert read_options([SCRIPT]).token != read_options([SCRIPT]).token


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--nproc_per_node", "0", SCRIPT], "whole number >= 1; got '0'"),
        (["--nnodes", "2:4", SCRIPT], "whole number >= 1; got '2:4'"),
        (["--run_mode", "ps", SCRIPT], "invalid choice: 'ps'"),
        (["--max_restart", "-1", SCRIPT], "whole number >= 0"),
        (["--device", "1", SCRIPT], "unrecognized arguments: --device"),
        (["--ips", "10.0.0.1,10.0.0.2", SCRIPT], "run the same command on each"),
        (["--devices", "0", SCRIPT], "there is none to pick"),
        (["--gpus", "0", "--xpus", "1", SCRIPT], "different kinds"),
        (["--xpus", "10,", SCRIPT], "one comma"),
        (["--backend", "smoke", SCRIPT], "backend must be one of auto, gloo"),
        (["--meet_timeout", "0", SCRIPT], "positive seconds"),
        (["absent.py"], "no script 'absent.py'; -m runs a module"),
        (["--nnodes", "2", SCRIPT], "needs --master HOST:PORT"),
        (["--nnodes", "2", "--master", "here", SCRIPT], "got 'here'"),
        (["--nnodes", "2", "--master", "here:0", SCRIPT], "got 'here:0'"),
        ([*TWO, SCRIPT], "from 0 to 1; got None"),
        ([*TWO, "--rank", "2", SCRIPT], "from 0 to 1; got 2"),
        (["--nnodes", "2", "--master", "10.0.0.1:5", "--rank", "0", SCRIPT], TOKEN_VARIABLE),
    ],
)
def test_what_is_refused(arguments, says, capsys, monkeypatch):
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    with pytest.raises(SystemExit) as leaving:
        read_options(arguments)
    assert leaving.value.code == 2
    assert says in capsys.readouterr().err.replace("\n", " ")
