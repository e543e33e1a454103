"""Large arrays are worked in blocks that stay in a core's cache, on as many threads as there are.

NumPy lets go of the interpreter while it computes, so threads help as soon as a block takes longer
than the Python code around it.
"""

from __future__ import annotations

import contextvars
import math
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from minipaddle.device.cpu import thread_count
from minipaddle.ops.op import Array

R = TypeVar("R")
T = TypeVar("T")

# Bytes of one operand in a block. What one pass writes and the next one reads should fit the 1 to
# 2 MB that a core's own cache has today, and small blocks let the Python code around them be felt:
# lerp of [16, 102400] float32, forward and backward, takes 2.8, 2.4, 2.3, 2.4 and 2.8 ms with 128,
# 256, 512, 1024 and 2048 KB.
BLOCK_BYTES = 512 * 1024

# Where a gradient kernel is asked to write its results; an entry is None if it is free to choose.
Into = Sequence[Array | None] | None

# One entry an axis of the whole, from the first: which part of it the block covers.
Block = tuple[slice, ...]
WHOLE: Block = ()


class _Quiet(threading.local):
    """A context of its own for each thread, in which NumPy has no floating-point warnings on.

    NumPy keeps what it warns of in a context variable. To enter a context costs a tenth of a
    microsecond; ``np.errstate`` costs as much as the addition of two small arrays.
    """

    def __init__(self) -> None:
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


_quiet = _Quiet()


def quiet(function: Callable[..., R], *args: Any) -> R:
    """``function(*args)`` without NumPy's floating-point warnings: an infinity is a result."""
    try:
        return _quiet.run(function, *args)
    except RuntimeError as error:
        if "cannot enter context" not in str(error):
            raise
        with np.errstate(all="ignore"):  # inside another such call
            return function(*args)


def narrowed(x: Array, dtype: Any) -> Array:
    """``x`` in a type that may be narrower: what is too large for it becomes infinite."""
    return x if x.dtype == dtype else quiet(x.astype, dtype)


def blocks(shape: tuple[int, ...], itemsize: int, threads: int = 1) -> Iterator[Block]:
    """Cuts an array of ``shape`` into pieces of about BLOCK_BYTES, in memory order.

    They are as equal as can be, and where one axis alone is cut a multiple of ``threads``.
    """
    inner = math.prod(shape)
    if inner * itemsize <= BLOCK_BYTES:
        yield WHOLE
        return
    limit = max(1, BLOCK_BYTES // itemsize)
    axis = 0
    while axis < len(shape) and inner > limit:
        inner //= shape[axis]
        axis += 1
    count = math.ceil(shape[axis - 1] / max(1, limit // inner))
    if axis == 1:
        count = math.ceil(count / threads) * threads
    step = math.ceil(shape[axis - 1] / count)
    for outer in np.ndindex(*shape[: axis - 1]):
        for start in range(0, shape[axis - 1], step):
            yield (*(slice(at, at + 1) for at in outer), slice(start, start + step))


def cut(array: Array, block: Block, ndim: int) -> Array:
    """The part of ``array`` that meets ``block`` of a broadcast result of rank ``ndim``.

    Every axis is kept, so that parts of operands of different rank still broadcast together.
    """
    if block is WHOLE:
        return array
    if ndim == 1:
        return array[block] if array.size > 1 else array
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


def home(into: Into, i: int, shape: tuple[int, ...], dtype: Any) -> Array:
    """An array for result ``i`` of a gradient kernel: the one in ``into`` if that fits."""
    found = into[i] if into is not None else None
    if found is not None and found.shape == shape and found.flags.c_contiguous:
        return found
    return np.empty(shape, dtype)


def for_each_block(
    work: Callable[[Iterable[Block]], R], shape: tuple[int, ...], itemsize: int
) -> list[R]:
    """Calls ``work`` with the blocks of an array of ``shape``, shared out over the threads.

    ``work`` must do with any neighbouring blocks, on any thread, without regard to the others.
    NumPy's floating-point warnings are off meanwhile.

    Returns:
        What ``work`` returned for each share, in the order of the shares.
    """
    count = math.prod(shape) * itemsize // BLOCK_BYTES
    threads = min(count, thread_count()) if count > 1 else 1
    if threads == 1:
        return [quiet(work, blocks(shape, itemsize))]
    # Equal shares also where the last block of an axis is short.
    return share_out(work, list(blocks(shape, itemsize, threads)))


def share_out(work: Callable[[Iterable[T]], R], tasks: list[T]) -> list[R]:
    """Calls ``work`` with shares of ``tasks``, each on a thread; neighbours go to one thread.

    NumPy's floating-point warnings are off meanwhile.

    Returns:
        What ``work`` returned for each share, in the order of the shares. What it raises on another
        thread is raised here.
    """
    threads = min(len(tasks), thread_count()) if len(tasks) > 1 else 1
    if threads == 1:
        return [quiet(work, tasks)]
    ends = [len(tasks) * i // threads for i in range(threads + 1)]
    futures = [_Future(work, tasks[first:last]) for first, last in pairwise(ends)]
    for future in futures[1:]:
        _helpers().put(future)
    futures[0].run()
    outcomes = [future.done.get() for future in futures]  # all, before an error leaves
    for _, error in outcomes:
        if error is not None:
            raise error
    return [value for value, _ in outcomes]  # type: ignore[misc]


def blockwise(
    compute: Callable[..., Any],
    operands: Sequence[Any],
    dtype: Any = None,
    out: Array | None = None,
) -> Array:
    """An array of the operands' broadcast shape, filled by ``compute(out, *operands)``.

    A large one is filled block by block, on all threads. NumPy's floating-point warnings are off
    meanwhile: an infinity or NaN is a result.

    Args:
        compute: Called with parts of the result and of the operands that broadcast together, in
            any order and on any thread; numbers and None are handed on as they are.
        operands: Arrays, numbers and None; at least one array.
        dtype: Type of the result; by default that of the first array.
        out: Array of the broadcast shape to fill; by default a new one. It may be an operand, but
            may not overlap another.
    """
    arrays = [a for a in operands if isinstance(a, np.ndarray)]
    shape = arrays[0].shape
    if any(a.shape != shape for a in arrays):
        shape = np.broadcast_shapes(*[a.shape for a in arrays])
    if out is None:
        out = np.empty(shape, dtype or arrays[0].dtype)
    if max(out.nbytes, arrays[0].nbytes) <= BLOCK_BYTES:
        quiet(compute, out, *operands)
        return out
    flat = iter(flattened([out, *arrays]))
    whole = next(flat)
    parts = [next(flat) if isinstance(a, np.ndarray) else a for a in operands]

    def work(share: Iterable[Block]) -> None:
        for block in share:
            compute(
                cut(whole, block, whole.ndim),
                *(cut(a, block, whole.ndim) if isinstance(a, np.ndarray) else a for a in parts),
            )

    for_each_block(work, whole.shape, max(a.itemsize for a in (out, *arrays)))
    return out


class _Future(Generic[R]):
    """One share of the tasks, and what came of it."""

    def __init__(self, work: Callable[[Iterable[Any]], R], share: list[Any]) -> None:
        self.work = work
        self.share = share
        self.done: queue.SimpleQueue[tuple[R | None, BaseException | None]] = queue.SimpleQueue()

    def run(self) -> None:
        """Does the work in the calling thread."""
        try:
            self.done.put((quiet(self.work, self.share), None))
        except BaseException as error:
            self.done.put((None, error))


_tasks: queue.SimpleQueue[_Future[Any]] = queue.SimpleQueue()
_owner = 0
_start = threading.Lock()


def _helpers() -> queue.SimpleQueue[_Future[Any]]:
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


def _help(tasks: queue.SimpleQueue[_Future[Any]]) -> None:
    while True:
        future = tasks.get()
        future.run()
        del future  # a waiting thread must keep nothing alive
