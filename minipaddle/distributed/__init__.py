"""Several processes: starting them, moving data between them, training with them."""

from minipaddle.device.parallel_env import ParallelEnv
from minipaddle.distributed import fleet, hooks
from minipaddle.distributed.collective import (
    ReduceOp,
    all_gather,
    all_gather_object,
    all_reduce,
    alltoall,
    barrier,
    broadcast,
    broadcast_object_list,
    recv,
    reduce,
    reduce_scatter,
    scatter,
    send,
    wait,
)
from minipaddle.distributed.group import (
    Group,
    destroy_process_group,
    get_group,
    get_rank,
    get_world_size,
    init_parallel_env,
    is_initialized,
    new_group,
)
from minipaddle.distributed.parallel import DataParallel
from minipaddle.distributed.process_group import register_process_group
from minipaddle.distributed.spawn import spawn
from minipaddle.distributed.spawn_job import ProcessFailedError
from minipaddle.distributed.strategy import ParallelStrategy

__all__ = [
    "DataParallel",
    "Group",
    "ParallelEnv",
    "ParallelStrategy",
    "ProcessFailedError",
    "ReduceOp",
    "all_gather",
    "all_gather_object",
    "all_reduce",
    "alltoall",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "fleet",
    "get_group",
    "get_rank",
    "get_world_size",
    "hooks",
    "init_parallel_env",
    "is_initialized",
    "new_group",
    "recv",
    "reduce",
    "reduce_scatter",
    "register_process_group",
    "scatter",
    "send",
    "spawn",
    "wait",
]
