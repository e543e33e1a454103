"""ParallelStrategy: how the processes of a job work together."""

from __future__ import annotations

from dataclasses import dataclass, field

from minipaddle.device.parallel_env import ParallelEnv


@dataclass
class ParallelStrategy:
    """How the processes of a job work together; read from the environment by default.

    Args:
        nranks: Number of processes.
        local_rank: Number of this one.
        nrings: Number of communication rings, from 1 to 8; also called ``nccl_comm_num`` and
            ``bkcl_comm_num``.
    """

    nranks: int = field(default_factory=lambda: ParallelEnv().world_size)
    local_rank: int = field(default_factory=lambda: ParallelEnv().rank)
    nrings: int = field(default_factory=lambda: ParallelEnv().nrings)

    @property
    def nccl_comm_num(self) -> int:
        """Number of communication rings."""
        return self.nrings

    @nccl_comm_num.setter
    def nccl_comm_num(self, nrings: int) -> None:
        self.nrings = nrings

    bkcl_comm_num = nccl_comm_num
