"""PmiServer: lets MPICH's ranks find each other although mpiexec did not start them."""

from __future__ import annotations

import selectors
import socket
import sys
import threading
import time
from collections.abc import Sequence

from minipaddle.distributed.store import Store

_LOOK_SECONDS = 0.2  # how soon a wait for other nodes notices that the server is closed
_MAX_LINE_BYTES = 1 << 16
_MAXES = "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=4096"


class PmiServer:
    """Answers the ranks of one node in PMI-1, the line protocol between mpiexec and MPICH.

    Each rank talks over a socket pair that it inherits, so no port is open. What a rank publishes,
    and the barriers, go through the job's store; so the servers of all nodes work as one.

    Args:
        store: The job's store, of which this server uses keys that begin with ``job``.
        job: Name of the job, equal on all nodes; another one for every restart.
        ranks: The ranks of this node.
        node_sizes: How many ranks each node has; ranks count node by node.
        timeout: Seconds that the ranks of this node wait for those of other nodes.

    Example:
        >>> from minipaddle.distributed.launch.pmi import PmiServer
        >>> from minipaddle.distributed.store import Store
        >>> store = Store.serve("127.0.0.1", 0, token="secret", timeout=10)
        >>> server = PmiServer(store, "job", ranks=[0, 1], node_sizes=[2], timeout=10)
        >>> variables, descriptor = server.child(1)  # for Popen's env and pass_fds
        >>> variables["PMI_RANK"], variables["PMI_SIZE"]
        ('1', '2')
        >>> server.close(); store.close()
    """

    def __init__(
        self,
        store: Store,
        job: str,
        ranks: Sequence[int],
        node_sizes: Sequence[int],
        timeout: float,
    ) -> None:
        self._store, self._job, self._timeout = store, job, timeout
        self._nodes, self._size = len(node_sizes), sum(node_sizes)
        blocks = ",".join(f"({node},1,{size})" for node, size in enumerate(node_sizes))
        self._mapping = f"(vector,{blocks})"
        self._inboxes = {rank: bytearray() for rank in ranks}
        self._waiting: set[int] = set()
        self._barriers = 0
        self._ours: dict[int, socket.socket] = {}
        self._theirs: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        for rank in ranks:
            self._ours[rank], self._theirs[rank] = socket.socketpair()
            self._selector.register(self._ours[rank], selectors.EVENT_READ, rank)
        self._bell, self._wake = socket.socketpair()
        self._selector.register(self._bell, selectors.EVENT_READ)
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="minipaddle-pmi", daemon=True)
        self._thread.start()

    def child(self, rank: int) -> tuple[dict[str, str], int]:
        """The environment variables of a rank, and the descriptor that it has to inherit."""
        fd = self._theirs[rank].fileno()
        return {"PMI_RANK": str(rank), "PMI_SIZE": str(self._size), "PMI_FD": str(fd)}, fd

    def close(self) -> None:
        """Ends the service; ranks that still meet get an error. A second call does nothing."""
        if not self._closing:
            self._closing = True
            self._wake.close()
            self._thread.join()
            self._bell.close()
            for sock in self._theirs.values():
                sock.close()

    def _run(self) -> None:
        try:
            while not self._closing:
                for key, _ in self._selector.select():
                    if key.data is not None and key.fd >= 0:
                        self._read(key.data)
        except (ConnectionError, TimeoutError) as error:
            if not self._closing:
                sys.stderr.write(f"minipaddle: MPI's ranks cannot meet: {error}\n")
        finally:
            self._selector.close()
            for sock in self._ours.values():
                sock.close()

    def _read(self, rank: int) -> None:
        try:
            data = self._ours[rank].recv(1 << 12)
        except ConnectionError:
            data = b""
        inbox = self._inboxes[rank]
        inbox += data
        if not data or len(inbox) > _MAX_LINE_BYTES:
            self._selector.unregister(self._ours[rank])
            return
        while b"\n" in inbox:
            line, _, rest = bytes(inbox).partition(b"\n")
            inbox[:] = rest
            self._answer(rank, line.decode(errors="replace"))

    def _answer(self, rank: int, line: str) -> None:
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        command = words.get("cmd", "")
        if command == "barrier_in":
            self._waiting.add(rank)
            if len(self._waiting) == len(self._ours):
                self._pass_barrier()
            return
        if command == "get":
            reply = self._get(words.get("key", ""))
        elif command == "put":
            key = self._key(f"value/{words.get('key', '')}")
            self._store.set(key, words.get("value", "").encode())
            reply = "cmd=put_result rc=0 msg=success"
        else:
            reply = {
                "init": "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1",
                "get_maxes": _MAXES,
                "get_appnum": "cmd=appnum rc=0 appnum=0",
                "get_my_kvsname": "cmd=my_kvsname rc=0 kvsname=job",
                "get_universe_size": f"cmd=universe_size rc=0 size={self._size}",
                "finalize": "cmd=finalize_ack rc=0",
            }.get(command, f"cmd={command}_result rc=-1 msg=not_supported")
        self._send(rank, reply)

    def _send(self, rank: int, reply: str) -> None:
        try:
            self._ours[rank].sendall(f"{reply}\n".encode())
        except ConnectionError:  # it has ended; whoever started it knows
            pass

    def _get(self, key: str) -> str:
        value = self._mapping if key == "PMI_process_mapping" else None
        if value is None:
            try:  # what is published before a barrier is there after it
                value = self._store.get(self._key(f"value/{key}"), timeout=0).decode()
            except TimeoutError:
                return "cmd=get_result rc=-1 msg=key_not_found"
        return f"cmd=get_result rc=0 msg=success value={value}"

    def _pass_barrier(self) -> None:
        self._barriers += 1
        go = self._key(f"go/{self._barriers}")
        if self._store.add(self._key(f"in/{self._barriers}"), 1) == self._nodes:
            self._store.set(go, b"")
        deadline = time.monotonic() + self._timeout
        while not self._closing:
            try:
                self._store.get(go, timeout=_LOOK_SECONDS)
                break
            except TimeoutError:
                if time.monotonic() > deadline:
                    came = self._store.add(self._key(f"in/{self._barriers}"), 0)
                    raise TimeoutError(
                        f"{came} of {self._nodes} nodes came within {self._timeout:g} seconds"
                    ) from None
        waiting, self._waiting = self._waiting, set()
        for rank in waiting:
            self._send(rank, "cmd=barrier_out rc=0")

    def _key(self, name: str) -> str:
        return f"{self._job}/pmi/{name}"
