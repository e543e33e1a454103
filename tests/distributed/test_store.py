"""The TCP store: its calls, its ends, and strangers on its port."""

import contextlib
import os
import random
import secrets
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from minipaddle.distributed import store_server
from minipaddle.distributed.store import MAX_VALUE_BYTES, Store
from tests.distributed.leftovers import nothing_left, until

HOST = "127.0.0.1"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def served():
    with Store.serve(HOST, 0, "token", 20.0) as store:
        yield store


def client_of(store, token="token", timeout=20.0):
    return Store.connect(HOST, store.port, token, timeout)


def raw(store):
    return socket.create_connection((HOST, store.port), 10.0)


def frame(body):
    return struct.pack(">I", len(body)) + body


def test_values_counters_and_absent_keys(served):
    with client_of(served) as client:
        client.set("a", b"1\0\xff")
        assert served.get("a") == b"1\0\xff"
        served.set("a", b"")
        assert client.get("a") == b""
        assert [client.add("n", 5), served.add("n", -2), client.add("n", 0)] == [5, 3, 3]
        client.delete("a")
        client.delete("a")
        with pytest.raises(TimeoutError, match=r"'a'.*0\.05 seconds"):
            served.get("a", timeout=0.05)
        big = os.urandom(MAX_VALUE_BYTES)
        client.set("big", big)
        assert served.get("big") == big


def test_bad_keys_and_values_leave_the_store_usable(served):
    with pytest.raises(ValueError, match="at most"):
        served.set("a", bytes(MAX_VALUE_BYTES + 1))
    for key in ("", "k" * 256):
        with pytest.raises(ValueError, match="key must have"):
            served.get(key)
    assert served.add("n", 1) == 1


def test_what_is_no_counter_is_left_as_it_is(served):
    served.set("text", b"abc")
    with pytest.raises(ValueError, match="key 'text' holds no counter"):
        served.add("text", 1)
    assert served.get("text") == b"abc"
    served.set("number", b"-3")
    assert served.add("number", 1) == -2


def test_a_closed_client_says_so_though_the_server_lives(served):
    client = client_of(served)
    client.close()
    with pytest.raises(RuntimeError, match="this store was closed"):
        client.set("a", b"1")


def test_get_waits_while_other_threads_of_the_same_client_go_on(served):
    found = []
    with client_of(served) as client:
        thread = threading.Thread(target=lambda: found.append(client.get("late")))
        thread.start()
        assert until(lambda: any(p.waits_for for p in list(served._server.peers.values())))
        client.set("late", b"here")
        thread.join(10)
    assert found == [b"here"]


def test_barrier_again_and_again(served):
    order = []

    def work():
        with client_of(served) as client:
            for turn in range(20):
                order.append(turn)
                client.barrier("step", 3)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert order == sorted(order) and len(order) == 60
    assert len(served._server.values) == 2  # the counter and the last turn
    with pytest.raises(TimeoutError, match="barrier 'alone': 1 of 2 came"):
        served.barrier("alone", 2, timeout=0.05)


def test_a_job_with_another_token_is_refused_and_the_first_goes_on(served):
    served.set("mine", b"1")
    begin = time.monotonic()
    with pytest.raises(PermissionError, match=f"{HOST}:{served.port} belongs to another job"):
        client_of(served, token="other")
    with pytest.raises(OSError, match=f"cannot listen on {HOST}:{served.port}.*another port"):
        Store.serve(HOST, served.port, "other", 5.0)
    assert time.monotonic() - begin < 5
    assert served.get("mine") == b"1"


def test_no_store_there():
    with socket.create_server((HOST, 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(TimeoutError, match=f"{HOST}:{port} within 0.3 seconds"):
        Store.connect(HOST, port, "token", 0.3)


def test_something_else_there():
    with socket.create_server((HOST, 0)) as other:

        def greet():
            sock, _ = other.accept()
            with sock:
                sock.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")
                with contextlib.suppress(ConnectionError):
                    sock.recv(1)

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(ConnectionError, match="no store of this version"):
            Store.connect(HOST, other.getsockname()[1], "token", 5.0)
        thread.join(10)


def test_a_server_that_only_claims_to_know_the_token_is_refused():
    with socket.create_server((HOST, 0)) as impostor:

        def claim():
            sock, _ = impostor.accept()
            with sock:
                sock.sendall(frame(store_server.MAGIC + bytes(store_server.NONCE_BYTES)))
                sock.recv(4096)
                sock.sendall(frame(store_server.OK + bytes(store_server.PROOF_BYTES)))

        thread = threading.Thread(target=claim)
        thread.start()
        with pytest.raises(PermissionError, match="belongs to another job"):
            Store.connect(HOST, impostor.getsockname()[1], "token", 5.0)
        thread.join(10)


def test_connect_waits_for_the_server():
    with socket.create_server((HOST, 0)) as closed:
        port = closed.getsockname()[1]
    found = []
    thread = threading.Thread(target=lambda: found.append(Store.connect(HOST, port, "token", 20.0)))
    thread.start()
    with Store.serve(HOST, port, "token", 20.0):
        thread.join(20)
        found[0].close()


def test_a_killed_server_ends_every_call_at_once():
    program = (
        "from minipaddle.distributed.store import Store; import time\n"
        f"print(Store.serve('{HOST}', 0, 'token', 20.0).port, flush=True); time.sleep(60)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    try:
        port = int(child.stdout.readline())
        client = Store.connect(HOST, port, "token", 60.0)
        killer = threading.Timer(0.2, child.kill)
        killer.start()
        begin = time.monotonic()
        for _ in range(2):
            with pytest.raises(ConnectionError, match=f"{HOST}:{port} does not answer any more"):
                client.get("never")
        assert time.monotonic() - begin < 10
        killer.join()
        client.close()
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate(timeout=10)


def test_close_wakes_waiting_threads_and_leaves_nothing(monkeypatch, tmp_path):
    with nothing_left(monkeypatch, tmp_path):
        store = Store.serve(HOST, 0, "token", 20.0)
        client = client_of(store)
        errors = []

        def wait():
            try:
                client.get("never", 30.0)
            except RuntimeError as error:
                errors.append(str(error))

        thread = threading.Thread(target=wait)
        thread.start()
        assert until(lambda: any(p.waits_for for p in list(store._server.peers.values())))
        for one in (client, client, store, store):
            one.close()
        thread.join(10)
        assert errors == ["this store was closed"]
        with pytest.raises(RuntimeError, match="closed"):
            client.get("a")


def test_silent_strangers_are_dropped_in_time_and_in_number(served, monkeypatch):
    monkeypatch.setattr(store_server, "SECONDS_TO_PROVE", 0.5)
    monkeypatch.setattr(store_server, "MAX_STRANGERS", 8)
    strangers = [raw(served) for _ in range(50)]
    with client_of(served) as client:  # while they hold their places
        client.set("a", b"1")
    peers = served._server.peers
    assert sum(not p.proven for p in list(peers.values())) <= 8
    assert until(lambda: all(p.proven for p in list(peers.values())), 5.0)
    for sock in strangers:
        sock.close()


def recorded_hello(store):
    """The bytes with which a client of the job joined, as somebody on the wire sees them."""
    sent = []

    class Recorder(socket.socket):
        def sendall(self, data, *rest):
            sent.append(bytes(data))
            return super().sendall(data, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "socket", Recorder)
        client_of(store).close()
    assert len(sent) == 1 and b"token" not in sent[0]
    return sent[0]


def mutated(hello, dice):
    """One message of a stranger."""
    magic = store_server.MAGIC
    request = struct.pack(">BH", dice.randrange(6), 3) + b"key" + dice.randbytes(9)
    wrong = bytearray(hello)
    wrong[dice.randrange(len(wrong))] ^= 1 << dice.randrange(8)
    return dice.choice(
        [
            lambda: dice.randbytes(dice.randrange(1, 300)),
            lambda: hello[: dice.randrange(1, len(hello))],
            lambda: struct.pack(">I", dice.randrange(1 << 20, 1 << 32)) + dice.randbytes(60),
            lambda: frame(magic + dice.randbytes(64)),
            lambda: hello,
            lambda: bytes(wrong),
            lambda: frame(request),
            lambda: hello + frame(request) * 3,
            lambda: b"",
        ]
    )()


def send_as_stranger(store, messages):
    """Sends each on a connection of its own; returns the answers."""
    answers = []
    for message in messages:
        with raw(store) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            try:
                sock.sendall(message)
                sock.shutdown(socket.SHUT_WR)
                answers.append(b"".join(iter(lambda: sock.recv(4096), b"")))
            except OSError:
                continue  # it was thrown out while it still spoke
    return answers


def test_ten_thousand_messages_of_strangers(served):
    seed = secrets.randbits(32)
    dice = random.Random(seed)
    hello = recorded_hello(served)
    served.set("mine", b"1")
    server, process = served._server, psutil.Process()
    send_as_stranger(served, [mutated(hello, dice) for _ in range(500)])  # warms allocators
    assert until(lambda: len(server.peers) == 1)
    before = process.memory_info().rss, process.num_fds(), dict(server.values)
    answers = send_as_stranger(served, [mutated(hello, dice) for _ in range(10_000)])
    assert until(lambda: len(server.peers) == 1)
    after = process.memory_info().rss, process.num_fds(), dict(server.values)
    accepted = [a for a in answers if a[4 + 18 + 32 :] not in (b"", b"\0\0\0\1\2")]
    assert not accepted, seed
    assert after[1:] == before[1:], seed
    assert after[0] - before[0] < 4 << 20, (seed, before[0], after[0])
    with client_of(served) as client:
        assert client.get("mine") == b"1"
