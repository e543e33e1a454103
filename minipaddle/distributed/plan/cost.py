"""What an allreduce costs, by size and number of ranks: as measured, or from latency and rate."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from minipaddle.distributed.plan.sweep import Sweep

TOPOLOGIES = ("ring", "tree", "two-level")


class Cost(NamedTuple):
    """One allreduce.

    Attributes:
        latency: Seconds that pass however wide the link is.
        transfer: Seconds of the link, which allreduces that run at the same time share.
        stretch: How many times as long it takes while the process computes.
        slowdown: How many times as long computing takes meanwhile.
    """

    latency: float
    transfer: float
    stretch: float = 1.0
    slowdown: float = 1.0


class Link(NamedTuple):
    """n bytes from rank to rank take ``alpha + n * beta`` seconds, their addition included."""

    alpha: float
    beta: float

    @classmethod
    def fit(cls, sweep: Sweep) -> Link:
        """Least squares of relative errors, with the sweep taken for a ring's."""
        sizes = np.array([row.bytes for row in sweep.rows], np.float64)
        seconds = np.array([row.seconds for row in sweep.rows])
        columns = np.stack([np.ones_like(sizes), sizes], 1) / seconds[:, None]
        fixed, rate = np.linalg.lstsq(columns, np.ones_like(sizes), rcond=None)[0]
        if fixed < 0:
            fixed, rate = 0.0, 1.0 / np.mean(sizes / seconds)
        elif rate < 0:
            fixed, rate = 1.0 / np.mean(1.0 / seconds), 0.0
        steps = 2 * (sweep.nprocs - 1)
        return cls(float(fixed) / steps, float(rate) * sweep.nprocs / steps)


def ring(link: Link, nbytes: int, ranks: int) -> tuple[float, float]:
    """Latency and transfer of ``2 (p - 1)`` steps, in each of which a rank sends a p-th."""
    steps = 2 * (ranks - 1)
    return steps * link.alpha, steps * nbytes / ranks * link.beta


def tree(link: Link, nbytes: int, ranks: int) -> tuple[float, float]:
    """Latency and transfer of ``2 log2 p`` steps, in each of which a rank sends all."""
    steps = 2 * math.ceil(math.log2(ranks))
    return steps * link.alpha, steps * nbytes * link.beta


class CostModel:
    """Costs of allreduces.

    Args:
        sweep: What was measured, in one node if there are two levels. It is taken as it is for as
            many ranks as it had, between sizes on straight lines; for others a link is fitted.
        topology: ``"ring"``, ``"tree"`` or ``"two-level"``: a ring in each node, and for each of
            its ranks a ring of the nodes, which share the link of the node.
        per_node: Ranks in a node.
        between: What was measured between nodes with one rank each.

    Raises:
        ValueError: There is no such topology, or it needs another argument.
    """

    def __init__(
        self,
        sweep: Sweep,
        topology: str = "ring",
        per_node: int | None = None,
        between: Sweep | None = None,
    ) -> None:
        if topology not in TOPOLOGIES:
            raise ValueError(f"topology must be one of {', '.join(TOPOLOGIES)}; got {topology!r}")
        two_level = topology == "two-level"
        if two_level != (per_node is not None) or two_level != (between is not None):
            raise ValueError(
                "the topology two-level, and no other, needs per_node (ranks in a node) and "
                f"between (a sweep between nodes); got topology {topology!r}"
            )
        if per_node is not None and per_node < 1:
            raise ValueError(f"per_node must be at least 1; got {per_node}")
        self.sweep, self.topology, self.per_node = sweep, topology, per_node
        self.link = Link.fit(sweep)
        self.outer = None if between is None else Link.fit(between)

    def cost(self, nbytes: int, ranks: int) -> Cost:
        """Of an allreduce of some bytes over some ranks, two at least."""
        latency, transfer = self._times(nbytes, ranks)
        return Cost(latency, transfer, self._between(nbytes, "stretch"), self.slowdown(nbytes))

    def slowdown(self, nbytes: int) -> float:
        """How many times as long computing takes during an allreduce of that size."""
        return self._between(nbytes, "slowdown")

    def _times(self, nbytes: int, ranks: int) -> tuple[float, float]:
        if self.outer is not None and self.per_node is not None:
            inside, nodes = min(self.per_node, ranks), -(-ranks // self.per_node)
            if nodes > 1:
                near = ring(self.link, nbytes, inside)
                far = ring(self.outer, nbytes, nodes)
                return near[0] + far[0], near[1] + far[1]
        if ranks == self.sweep.nprocs:
            seconds = self._between(nbytes, "seconds")
            latency = min(ring(self.link, 0, ranks)[0], seconds)
            return latency, seconds - latency
        return (tree if self.topology == "tree" else ring)(self.link, nbytes, ranks)

    def _between(self, nbytes: int, what: str) -> float:
        rows = self.sweep.rows
        values = [getattr(row, what) for row in rows]
        if what == "seconds" and nbytes > rows[-1].bytes:
            rate = (values[-1] - values[-2]) / (rows[-1].bytes - rows[-2].bytes)
            return float(values[-1] + max(0.0, rate) * (nbytes - rows[-1].bytes))
        return float(np.interp(nbytes, [row.bytes for row in rows], values))
