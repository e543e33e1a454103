"""The PMI server: MPICH's ranks, started by nobody's mpiexec, form one job."""

import contextlib
import importlib.util
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence

import pytest

import minipaddle as paddle
from minipaddle.distributed.launch.pmi import PmiServer
from minipaddle.distributed.store import Store
from tests.distributed.launch.programs import environ
from tests.distributed.launch.test_launch import losses

needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed (extra mpi)"
)

PROGRAM = """
import numpy as np
from mpi4py import MPI
world = MPI.COMM_WORLD
array = np.full(100_000, world.rank + 1.0)
world.Allreduce(MPI.IN_PLACE, array)
assert (array == sum(range(1, world.size + 1))).all()
print(world.rank, world.size)
"""


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store.serve("127.0.0.1", 0, "the token", timeout=20)
    yield store
    store.close()


@contextlib.contextmanager
def nodes(store: Store, sizes: Sequence[int], timeout: float = 20) -> Iterator[list[PmiServer]]:
    starts = [sum(sizes[:node]) for node in range(len(sizes))]
    servers = [
        PmiServer(store, "job", range(start, start + size), sizes, timeout)
        for start, size in zip(starts, sizes, strict=True)
    ]
    try:
        yield servers
    finally:
        for server in servers:
            server.close()
            server.close()


@needs_mpi
@pytest.mark.parametrize("sizes", [[2], [1, 1], [4], [2, 2], [3, 1]], ids=str)
def test_ranks_of_all_nodes_form_one_world(store: Store, sizes: list[int]) -> None:
    processes = []
    with nodes(store, sizes) as servers:
        try:
            for server in servers:
                for rank in server._ours:
                    variables, descriptor = server.child(rank)
                    told = {**os.environ, **variables}
                    if len(sizes) > 1:  # as between hosts, although these share a kernel
                        told["UCX_TLS"] = "tcp,self"
                    command = [sys.executable, "-c", PROGRAM]
                    processes.append(
                        subprocess.Popen(
                            command, env=told, pass_fds=[descriptor], stdout=subprocess.PIPE
                        )
                    )
            said = [process.communicate(timeout=60)[0].decode() for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait(10)
    assert [process.returncode for process in processes] == [0] * sum(sizes)
    assert said == [f"{rank} {sum(sizes)}\n" for rank in range(sum(sizes))]


LOSSES = """
import minipaddle as paddle
from tests.distributed.launch.test_launch import losses
print(losses()[-1], type(paddle.distributed.get_group().process_group).__name__)
"""


@needs_mpi
def test_training_on_two_nodes_has_the_losses_of_spawn(store: Store) -> None:
    processes = []
    with nodes(store, [1, 1]) as servers:
        try:
            for rank, server in enumerate(servers):
                variables, descriptor = server.child(rank)
                told = {"PADDLE_TRAINER_ID": str(rank), "PADDLE_TRAINERS_NUM": "2"}
                told |= {"PADDLE_DISTRI_BACKEND": "mpi", "UCX_TLS": "tcp,self"}
                processes.append(
                    subprocess.Popen(
                        [sys.executable, "-c", LOSSES],
                        env=environ(**variables, **told),
                        pass_fds=[descriptor],
                        stdout=subprocess.PIPE,
                    )
                )
            said = [process.communicate(timeout=60)[0].decode() for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait(10)
    assert [process.returncode for process in processes] == [0, 0]
    expected = [box.get() for box in paddle.distributed.spawn(losses, nprocs=2).return_queues]
    assert said == [f"{steps[-1]} MpiGroup\n" for steps in expected]


def speaker(server: PmiServer, rank: int) -> socket.socket:
    _, descriptor = server.child(rank)
    sock = socket.socket(fileno=os.dup(descriptor))
    sock.settimeout(20)
    return sock


def say(sock: socket.socket, line: str) -> str:
    sock.sendall(f"{line}\n".encode())
    return hear(sock)


def hear(sock: socket.socket) -> str:
    return sock.recv(4096).decode()


def test_values_and_barriers_pass_between_nodes(store: Store) -> None:
    with nodes(store, [1, 2]) as servers, contextlib.ExitStack() as stack:
        zero, one, two = (
            stack.enter_context(speaker(servers[node], rank))
            for node, rank in ((0, 0), (1, 1), (1, 2))
        )
        assert "rc=0" in say(zero, "cmd=init pmi_version=1 pmi_subversion=1")
        mapping = say(two, "cmd=get kvsname=job key=PMI_process_mapping")
        assert "value=(vector,(0,1,1),(1,1,2))\n" in mapping
        assert "rc=0" in say(zero, "cmd=put kvsname=job key=a value=x=1,y")
        for sock in (zero, one, two):
            sock.sendall(b"cmd=barrier_in\n")
        assert [hear(sock) for sock in (zero, one, two)] == ["cmd=barrier_out rc=0\n"] * 3
        assert "value=x=1,y\n" in say(two, "cmd=get kvsname=job key=a")
        assert "rc=-1" in say(two, "cmd=get kvsname=job key=never")
        assert "rc=-1 msg=not_supported" in say(two, "cmd=publish_name service=s port=p")


def test_node_that_does_not_come_is_an_error(
    store: Store, capfd: pytest.CaptureFixture[str]
) -> None:
    with nodes(store, [1, 1], timeout=0.3) as servers, speaker(servers[0], 0) as rank:
        begin = time.monotonic()
        rank.sendall(b"cmd=barrier_in\n")
        assert hear(rank) == ""  # MPI_Init fails
        assert time.monotonic() - begin < 5
    assert "1 of 2 nodes came within 0.3 seconds" in capfd.readouterr().err


def test_close_ends_a_wait_for_other_nodes(store: Store) -> None:
    with nodes(store, [1, 1]) as servers, speaker(servers[0], 0) as rank:
        rank.sendall(b"cmd=barrier_in\n")
        begin = time.monotonic()
        servers[0].close()
        assert time.monotonic() - begin < 5
    assert "minipaddle-pmi" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("bad", [b"x" * (1 << 17), b"cmd=put\n", b"\xff\xfe\n\n"], ids=len)
def test_garbage_of_one_rank_leaves_the_others_served(store: Store, bad: bytes) -> None:
    with contextlib.ExitStack() as stack:
        (server,) = stack.enter_context(nodes(store, [2]))
        zero, one = (stack.enter_context(speaker(server, rank)) for rank in (0, 1))
        with contextlib.suppress(ConnectionError):
            zero.sendall(bad)
        assert "rc=0" in say(one, "cmd=get_maxes")
