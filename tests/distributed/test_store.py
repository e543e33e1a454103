"""The store: values, waits and counters; strangers, garbage and other jobs stay outside."""

import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from minipaddle.distributed import store_server
from minipaddle.distributed.store import Store

HOST = "127.0.0.1"


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store.serve(HOST, 0, "the token", timeout=20)
    yield store
    store.close()


@pytest.fixture
def other(store: Store) -> Iterator[Store]:
    other = Store.connect(HOST, store.port, "the token", timeout=20)
    yield other
    other.close()


def server_of(store: Store) -> Any:
    return store._end.peek()[1].__self__  # type: ignore[union-attr,index,attr-defined]


def test_values_are_shared(store: Store, other: Store) -> None:
    store.set("a", b"1")
    other.set("größe", bytes(range(256)) * 4096)
    assert other.get("a") == b"1"
    assert store.get("größe") == bytes(range(256)) * 4096
    other.set("a", b"")
    assert store.get("a") == b""


def test_get_waits_until_the_key_is_set(store: Store, other: Store) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(store.get, "late")
        assert store.add("meanwhile", 1) == 1  # a wait of one thread holds up no other
        other.set("late", b"here")
        assert waiting.result(10) == b"here"


def test_get_names_the_key_that_did_not_come(store: Store) -> None:
    with pytest.raises(TimeoutError, match=r"'never' was not set within 0.05 seconds"):
        store.get("never", timeout=0.05)
    store.set("never", b"after all")
    assert store.get("never", timeout=0) == b"after all"


def test_deleted_key_is_waited_for_again(store: Store, other: Store) -> None:
    store.set("a", b"1")
    other.delete("a")
    other.delete("a")
    with pytest.raises(TimeoutError):
        store.get("a", timeout=0)


def test_add_is_atomic(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        got = sorted(pool.map(lambda _: store.add("n", 1), range(200)))
    assert got == list(range(1, 201))
    assert store.add("n", -200) == 0
    store.set("text", b"abc")
    with pytest.raises(ValueError, match=r"'text'.*no counter"):
        store.add("text", 1)


def test_barrier_can_be_used_again_and_leaves_no_keys(store: Store) -> None:
    def pass_three_times(_: int) -> None:
        for _ in range(3):
            store.barrier("b", 4)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(pass_three_times, range(4)))
    assert sorted(server_of(store).values) == ["barrier/b", "barrier/b/2"]


def test_barrier_says_how_many_came(store: Store) -> None:
    with pytest.raises(TimeoutError, match=r"'b': 1 of 2 came within 0.05 seconds"):
        store.barrier("b", 2, timeout=0.05)


def test_bad_arguments_are_named_and_leave_the_store_usable(store: Store) -> None:
    with pytest.raises(ValueError, match="key must have"):
        store.set("", b"")
    with pytest.raises(ValueError, match="key must have"):
        store.get("k" * 2000)
    with pytest.raises(ValueError, match="value must have"):
        store.set("k", bytes(2 << 20))
    with pytest.raises(ValueError, match="token"):
        Store.serve(HOST, 0, "", timeout=1)
    with pytest.raises(ValueError, match="timeout"):
        Store.connect(HOST, store.port, "the token", timeout=0)
    assert store.add("n", 1) == 1


def test_port_in_use_names_host_and_port(store: Store) -> None:
    with pytest.raises(OSError, match=rf"{HOST}:{store.port}.*in use"):
        Store.serve(HOST, store.port, "the token", timeout=1)


def test_connect_names_a_server_that_is_not_there() -> None:
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(TimeoutError, match=f"{HOST}:{port}"):
        Store.connect(HOST, port, "the token", timeout=0.1)


def test_another_job_is_refused_and_the_first_goes_on(store: Store, other: Store) -> None:
    begin = time.monotonic()
    with pytest.raises(PermissionError, match=rf"{HOST}:{store.port} belongs to a job with anoth"):
        Store.connect(HOST, store.port, "another token", timeout=20)
    assert time.monotonic() - begin < 5
    store.set("a", b"1")
    assert other.get("a") == b"1"


def test_server_that_only_claims_to_know_the_token_is_refused() -> None:
    with socket.create_server((HOST, 0)) as listener, ThreadPoolExecutor(1) as pool:
        port = listener.getsockname()[1]
        joining = pool.submit(Store.connect, HOST, port, "the token", 10)
        link, _ = listener.accept()
        with link:
            link.sendall(struct.pack("<I", 40) + store_server.MAGIC + bytes(32))
            assert len(link.recv(100)) == 68
            link.sendall(struct.pack("<I", 32) + bytes(32))
            with pytest.raises(PermissionError, match="another token"):
                joining.result(10)


def test_dead_server_is_an_error_and_no_hang(store: Store, other: Store) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(other.get, "never")
        while not any(link.awaits for link in list(server_of(store)._links)):
            time.sleep(0.001)
        store.close()
        with pytest.raises(ConnectionError, match=r"gone.*'never'"):
            waiting.result(10)
    with pytest.raises(ConnectionError, match="gone"):
        other.set("a", b"1")


def test_close_ends_the_own_waits_and_the_server_thread(store: Store) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(store.get, "never")
        while not any(link.awaits for link in list(server_of(store)._links)):
            time.sleep(0.001)
        store.close()
        with pytest.raises(ConnectionError, match="closed"):
            waiting.result(10)
    with pytest.raises(ConnectionError, match="has closed it"):
        store.get("a")
    assert "minipaddle-store" not in [thread.name for thread in threading.enumerate()]


def stranger(port: int) -> tuple[socket.socket, bytes]:
    sock = socket.create_connection((HOST, port), 10)
    challenge = b""
    while len(challenge) < 44:
        challenge += sock.recv(44 - len(challenge))
    return sock, challenge[12:]


def hello(challenge: bytes, token: bytes) -> bytes:
    own = bytes(32)
    return struct.pack("<I", 64) + own + store_server.proof(token, b"client", challenge, own)


def garbage(rng: random.Random, challenge: bytes, replayed: bytes) -> bytes:
    good_size = struct.pack("<I", 64)
    return [
        lambda: rng.randbytes(rng.randrange(1, 200)),
        lambda: good_size + rng.randbytes(rng.randrange(64)),
        lambda: struct.pack("<I", rng.randrange(65, 1 << 32)) + rng.randbytes(30),
        lambda: hello(challenge, b"another token"),
        lambda: replayed,
        lambda: store_server.pack_request(store_server.Operation.SET, b"evil", 0, 0.0, b"x"),
        lambda: good_size + rng.randbytes(64)
        + store_server.pack_request(store_server.Operation.SET, b"evil", 0, 0.0, b"x"),
        lambda: bytes(rng.randrange(1, 100)),
    ][rng.randrange(8)]()  # fmt: skip


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_ten_thousand_messages_of_strangers(store: Store, other: Store) -> None:
    server, rng = server_of(store), random.Random(7)
    first, challenge = stranger(store.port)
    with first:
        replayed = hello(challenge, b"the token")  # as one would overhear it
    other.set("kept", b"1")
    links = len(server._links)
    before = 0
    for count in range(10_000):
        sock, challenge = stranger(store.port)
        with sock:
            sock.sendall(garbage(rng, challenge, replayed))
        if count == 1000:
            before = resident_bytes()
        if count % 1000 == 0:
            assert other.add("alive", 1) == count // 1000 + 1
    assert resident_bytes() - before < 4 << 20
    deadline = time.monotonic() + 10
    while len(server._links) > links and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(server._links) <= links and sorted(server.values) == ["alive", "kept"]
    assert store.get("kept") == b"1"


def test_silent_strangers_are_few_and_leave_soon(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = server_of(store)
    monkeypatch.setattr(store_server, "_STRANGER_SECONDS", 0.5)
    silent = [stranger(store.port)[0] for _ in range(100)]
    assert sum(not link.proven for link in list(server._links)) <= 64
    third = Store.connect(HOST, store.port, "the token", timeout=10)  # is let in all the same
    third.close()
    deadline = time.monotonic() + 10
    while any(not link.proven for link in list(server._links)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert all(link.proven for link in list(server._links))
    assert other.add("alive", 1) == 1
    for sock in silent:
        sock.close()


def test_huge_length_is_refused_before_its_data_comes(store: Store) -> None:
    sock, _ = stranger(store.port)
    with sock:
        sock.sendall(struct.pack("<I", 0xFFFFFFFF))
        assert sock.recv(10) == b""
