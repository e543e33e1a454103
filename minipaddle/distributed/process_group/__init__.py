"""Process groups: collectives over NumPy arrays, without tensors or gradients."""

from minipaddle.distributed.process_group.base import (
    DEFAULT_TIMEOUT,
    CollectiveMismatchError,
    PeerError,
    ProcessGroup,
    ReduceOp,
    process_group_class,
    register_process_group,
)
from minipaddle.distributed.process_group.mpi import MpiGroup
from minipaddle.distributed.process_group.shm import SharedMemoryGroup

register_process_group("cpu", SharedMemoryGroup)
register_process_group("mpi", MpiGroup)


__all__ = [
    "DEFAULT_TIMEOUT",
    "CollectiveMismatchError",
    "MpiGroup",
    "PeerError",
    "ProcessGroup",
    "ReduceOp",
    "SharedMemoryGroup",
    "process_group_class",
    "register_process_group",
]
