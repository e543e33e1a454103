"""A job's node as its launcher sees it: what is agreed on, what has failed. Here: the only one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from minipaddle.distributed.launch.options import Options
from minipaddle.distributed.spawn import LOCAL_IP, PortHold


class NodesFailed(Exception):
    """Another node has reported a failure, or cannot be reached."""


class Report(NamedTuple):
    """What a node says of the failure that has ended its ranks.

    Attributes:
        when: Time of day in seconds: clocks of nodes are as good as their clock service.
        text: What a user is shown.
        of_peer: Whether it only tells that a process elsewhere has failed.
        final: Whether the job must not start anew.
    """

    when: float
    text: str
    of_peer: bool = False
    final: bool = False


class OneNode:
    """A job on this machine: nobody to agree with.

    Attributes:
        endpoints: ``"ip:port"`` of every rank.
        generation: How often the job has started anew.
    """

    def __init__(self, options: Options, host: str = LOCAL_IP) -> None:
        self.options = options
        self.generation = 0
        self._ports = PortHold(len(options.ids), None, host)
        self.endpoints = [f"{host}:{port}" for port in self._ports.numbers]

    def begin(self, ranks: Sequence[int]) -> None:
        """Prepares for a start of this node's ranks."""

    def child(self, rank: int) -> tuple[dict[str, str], list[int]]:
        """Variables and descriptors with which a rank finds those of other nodes."""
        return {}, []

    def end(self) -> None:
        """Takes back what ``begin`` has prepared."""

    def beat(self) -> None:
        """Tells the others that this node is there; raises nothing."""

    def check(self) -> None:
        """Raises NodesFailed if the ranks of another node have ended badly."""

    def finish(self, check: Callable[[], None]) -> None:
        """Waits until the ranks of all nodes have ended well; calls ``check`` meanwhile."""

    def agree(self, mine: Report | None) -> Report:
        """The root cause, the same on every node.

        Args:
            mine: How the ranks of this node failed; None if another node has had them ended.
        """
        assert mine is not None
        self.generation += 1
        return mine

    def close(self) -> None:
        """Gives the ports back."""
        self._ports.close()
