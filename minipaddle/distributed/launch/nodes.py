"""How the launchers of a job's nodes agree: who takes part, what has failed, who is still there."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from minipaddle.distributed.launch.node import NodesFailed, OneNode, Report
from minipaddle.distributed.launch.options import Options
from minipaddle.distributed.store import Store

BEAT_SECONDS = 0.5
LOST_SECONDS = 8.0  # without a beat; a node is not silent while it ends its ranks
REPORT_SECONDS = 60.0  # longer than a node takes to end ranks that resist
LEAVE_SECONDS = 5.0
_LOOK_SECONDS = 0.05
_ANSWER_SECONDS = 30.0  # of node 0, to anything


class Pmi(Protocol):
    """What nodes need of the service over which MPI in their ranks finds the others."""

    def child(self, rank: int) -> tuple[dict[str, str], int]:
        """Variables of a rank, and the descriptor that it inherits."""

    def close(self) -> None:
        """Ends the service."""


# store, name of the start, ranks of this node, ranks of every node, seconds to wait
PmiMaker = Callable[[Store, str, Sequence[int], Sequence[int], float], Pmi]


class ManyNodes(OneNode):
    """One of several nodes. Node 0 serves the store and notices which of the others are lost.

    Making one meets the others.

    Raises:
        RuntimeError: Nodes do not agree; the text says in what, on all of them.
        TimeoutError: A node did not come; the text names it.
    """

    def __init__(self, options: Options, store: Store, make_pmi: PmiMaker) -> None:
        super().__init__(options, _address_towards(*options.master))
        self.store = store
        self._pmi: Pmi | None = None
        self._make_pmi = make_pmi
        self._beaten = 0.0
        self._seen = dict.fromkeys(range(1, options.nnodes), (0, time.monotonic()))
        self._lost: set[int] = set()
        self._failing = False
        try:
            self.endpoints = self._meet()
        except BaseException:
            self._ports.close()
            raise

    def _meet(self) -> list[str]:
        node = self.options.node
        if self.store.add(f"taken/{node}", 1) > 1:
            raise RuntimeError(
                f"another launcher is node {node} already; each node needs a --rank of its own"
            )
        self.store.set(f"node/{node}", json.dumps(self._terms()).encode())
        self.store.add(f"here/{node}", 1)
        if node == 0:
            verdict = json.dumps(self._compare()).encode()
            self.store.set("verdict", verdict)
        else:
            verdict = self.store.get("verdict", self.options.meet_timeout + _ANSWER_SECONDS)
        told = json.loads(verdict)
        if told["late"] or told["differences"]:
            self._leave()
            raise (TimeoutError if told["late"] else RuntimeError)(
                told["late"] or told["differences"]
            )
        return list(told["endpoints"])

    def _terms(self) -> dict[str, Any]:
        """What has to be equal on all nodes, and this one's endpoints."""
        options = self.options
        return {
            "--nnodes": options.nnodes,
            "--nproc_per_node": len(options.ids),
            "--backend": options.comm,
            "--max_restart": options.max_restart,
            "script": options.command,
            "endpoints": self.endpoints,
        }

    def _compare(self) -> dict[str, Any]:
        """Node 0 waits for the others and compares their terms with its own."""
        nodes = range(self.options.nnodes)
        deadline = time.monotonic() + self.options.meet_timeout
        while late := [n for n in nodes if not self.store.add(f"here/{n}", 0)]:
            if time.monotonic() > deadline:
                missing = " and ".join(f"node {node}" for node in late)
                text = (
                    f"{missing} of {len(nodes)} did not come within "
                    f"{self.options.meet_timeout:g} seconds: does its launcher run, with the same "
                    "--master and token, and does a firewall let it through?"
                )
                return {"late": text, "differences": "", "endpoints": []}
            time.sleep(_LOOK_SECONDS)
        terms = [json.loads(self.store.get(f"node/{node}")) for node in nodes]
        endpoints = [endpoint for one in terms for endpoint in one.pop("endpoints")]
        differences = [
            f"node {node} has {name} {theirs!r}, node 0 has {terms[0][name]!r}"
            for node, one in enumerate(terms)
            for name, theirs in one.items()
            if theirs != terms[0][name]
        ]
        return {"late": "", "differences": "; ".join(differences), "endpoints": endpoints}

    def begin(self, ranks: Sequence[int]) -> None:
        """Prepares for MPI to find the ranks of this start."""
        sizes = [len(ranks)] * self.options.nnodes
        name = f"start-{self.generation}"
        self._pmi = self._make_pmi(self.store, name, ranks, sizes, self.options.meet_timeout)

    def child(self, rank: int) -> tuple[dict[str, str], list[int]]:
        """Variables and a descriptor with which MPI in a rank finds the others."""
        assert self._pmi is not None
        told, fd = self._pmi.child(rank)
        return told, [fd]

    def end(self) -> None:
        """Ends MPI's service for this start."""
        if self._pmi is not None:
            self._pmi.close()
            self._pmi = None

    def beat(self) -> None:
        """Tells the others that this node is there, and learns whether they are."""
        now = time.monotonic()
        if now - self._beaten < BEAT_SECONDS or 0 in self._lost:
            return
        self._beaten = now
        try:
            self.store.add(f"beat/{self.options.node}", 1)
            if self.options.node == 0:
                self._find_lost(now)
            self._failing = self.store.add(self._key("failures"), 0) > 0
        except (OSError, RuntimeError):
            self._lost.add(0)

    def _find_lost(self, now: float) -> None:
        for node, (count, when) in self._seen.items():
            beats = self.store.add(f"beat/{node}", 0)
            if beats != count:
                self._seen[node] = (beats, now)
            elif now - when > LOST_SECONDS and node not in self._lost:
                self._lost.add(node)
                self._report(
                    node,
                    Report(
                        time.time() - (now - when),
                        f"Node {node} has not been heard of for {LOST_SECONDS:g} seconds: its "
                        "launcher has ended, or its host cannot be reached",
                        final=True,
                    ),
                )

    def _key(self, what: str) -> str:
        return f"{what}/{self.generation}"

    def check(self) -> None:
        """Raises NodesFailed if another node has failed or cannot be reached."""
        self.beat()
        if self._failing or 0 in self._lost:
            raise NodesFailed

    def finish(self, check: Callable[[], None]) -> None:
        """Waits until the ranks of all nodes have ended well."""
        done = self.store.add(self._key("done"), 1)
        while done < self.options.nnodes:
            check()
            time.sleep(_LOOK_SECONDS)
            done = self.store.add(self._key("done"), 0)

    def _report(self, node: int, report: Report | None) -> None:
        self.store.set(self._key(f"report/{node}"), json.dumps(report).encode())
        self.store.add(self._key(f"reported/{node}"), 1)
        self.store.add(self._key("failures"), 1)

    def agree(self, mine: Report | None) -> Report:
        """Waits until all nodes have ended their ranks and said why."""
        try:
            found = self._reports(mine)
        except (OSError, RuntimeError):
            self._lost.add(0)
            host, port = self.options.master
            text = f"Node 0 at {host}:{port} cannot be reached any more: its launcher has ended"
            if mine is None or mine.of_peer:
                mine = Report(time.time(), text)
            return mine._replace(final=True)
        root = min(found, key=lambda report: (report.of_peer, report.when))
        self.generation += 1
        self._failing = False
        return root._replace(final=any(report.final for report in found))

    def _reports(self, mine: Report | None) -> list[Report]:
        self._report(self.options.node, mine)
        nodes = range(self.options.nnodes)
        deadline = time.monotonic() + REPORT_SECONDS
        while late := [n for n in nodes if not self.store.add(self._key(f"reported/{n}"), 0)]:
            self.beat()
            if time.monotonic() > deadline:
                raise RuntimeError(f"nodes {late} did not report")
            time.sleep(_LOOK_SECONDS)
        told = [json.loads(self.store.get(self._key(f"report/{node}"))) for node in nodes]
        return [Report(*one) for one in told if one is not None]

    def _leave(self) -> None:
        """Node 0 serves until the others need it no more."""
        deadline = time.monotonic() + LEAVE_SECONDS
        left = self.store.add("left", 1)
        if self.options.node == 0:
            here = sum(self.store.add(f"here/{n}", 0) > 0 for n in range(self.options.nnodes))
            while left < here - len(self._lost) and time.monotonic() < deadline:
                time.sleep(_LOOK_SECONDS)
                left = self.store.add("left", 0)

    def close(self) -> None:
        """Leaves the others and gives everything back."""
        super().close()
        try:
            if 0 not in self._lost:
                self._leave()
        except (OSError, RuntimeError):
            pass  # node 0 was quicker
        finally:
            self.store.close()


def _address_towards(host: str, port: int) -> str:
    """This machine's address as ``host`` sees it."""
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as probe:
        probe.connect(address)  # sends nothing
        return str(probe.getsockname()[0])
