"""Large arrays are worked in blocks that stay in a core's cache, on as many threads as there are.

NumPy lets go of the interpreter while it computes, so threads help as soon as a block takes longer
than the Python code around it.
"""

from __future__ import annotations

import math
import os
import queue
import threading
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from minipaddle.device.cpu import thread_count
from minipaddle.ops.op import Array

# Bytes of one operand in a block. The parts that one pass writes and the next one reads should fit
# the 1 to 2 MB that a core's own cache has today; below 256 KB the Python code around a block is
# felt: lerp of [16, 102400] float32 takes 0.78, 0.70 and 0.57 ms with 128, 256 and 512 KB.
BLOCK_BYTES = 512 * 1024
# Fewer blocks than this are not worth waking a thread for.
MIN_BLOCKS_A_THREAD = 2

# One entry an axis of the whole, from the first: which part of it the block covers.
Block = tuple[slice, ...]
WHOLE: Block = ()


def blocks(shape: tuple[int, ...], itemsize: int) -> Iterator[Block]:
    """Cuts an array of ``shape`` into pieces of about BLOCK_BYTES, in memory order."""
    inner = math.prod(shape)
    if inner * itemsize <= BLOCK_BYTES:
        yield WHOLE
        return
    limit = max(1, BLOCK_BYTES // itemsize)
    axis = 0
    while axis < len(shape) and inner > limit:
        inner //= shape[axis]
        axis += 1
    step = max(1, limit // inner)
    for outer in np.ndindex(*shape[: axis - 1]):
        for start in range(0, shape[axis - 1], step):
            yield (*(slice(at, at + 1) for at in outer), slice(start, start + step))


def cut(array: Array, block: Block, ndim: int) -> Array:
    """The part of ``array`` that meets ``block`` of a broadcast result of rank ``ndim``.

    Every axis is kept, so that parts of operands of different rank still broadcast together.
    """
    if block is WHOLE:
        return array
    shape = array.shape
    if len(shape) == ndim and 1 not in shape:
        return array[block]
    missing = ndim - len(shape)
    parts = block[missing:]
    return array[tuple([p if n != 1 else slice(None) for p, n in zip(parts, shape, strict=False)])]


def flattened(arrays: list[Array]) -> list[Array]:
    """Large arrays as 1-D views, where all are C-contiguous and of one shape; else as they are.

    One long axis makes the longest blocks and the cheapest cuts.
    """
    shape = arrays[0].shape
    if arrays[0].nbytes <= BLOCK_BYTES or len(shape) < 2:
        return arrays
    if all(a.shape == shape and a.flags.c_contiguous for a in arrays):
        return [a.reshape(-1) for a in arrays]
    return arrays


def for_each_block(
    work: Callable[[Iterator[Block]], None], shape: tuple[int, ...], itemsize: int
) -> None:
    """Calls ``work`` with the blocks of an array of ``shape``, shared out over the threads.

    ``work`` must do with any of the blocks, on any thread, without regard to the others. What it
    raises on another thread is raised here.
    """
    count = math.prod(shape) * itemsize // (BLOCK_BYTES * MIN_BLOCKS_A_THREAD)
    threads = min(count, thread_count()) if count > 1 else 1
    if threads == 1:
        work(blocks(shape, itemsize))
        return
    shares = [islice(blocks(shape, itemsize), i, None, threads) for i in range(threads)]
    done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    for share in shares[1:]:
        _helpers().put((work, share, done))
    try:
        work(shares[0])
    finally:
        failures = [done.get() for _ in shares[1:]]
    for failure in failures:
        if failure is not None:
            raise failure


_Task = tuple[
    Callable[[Iterator[Block]], None], Iterator[Block], "queue.SimpleQueue[BaseException | None]"
]
_tasks: queue.SimpleQueue[_Task] = queue.SimpleQueue()
_owner = 0
_start = threading.Lock()


def _helpers() -> queue.SimpleQueue[_Task]:
    """The queue that the helper threads of this process take from; a fork starts its own."""
    global _owner, _tasks
    with _start:
        if _owner != os.getpid():
            _owner, _tasks = os.getpid(), queue.SimpleQueue()
            for i in range(thread_count() - 1):
                threading.Thread(
                    target=_help, args=(_tasks,), name=f"block-{i}", daemon=True
                ).start()
    return _tasks


def _help(tasks: queue.SimpleQueue[_Task]) -> None:
    while True:
        work, share, done = tasks.get()
        failure: BaseException | None = None
        try:
            work(share)
        except BaseException as error:
            failure = error
        done.put(failure)
        del work, share, done, failure  # a waiting thread must keep nothing alive
