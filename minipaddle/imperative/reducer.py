"""Reducer: averages gradients over processes, bucket by bucket, while backward goes on.

The last op before a leaf fills the leaf's gradient, which lies in a bucket. When all members of a
bucket are there it is handed to the communication threads; buckets leave strictly in index order,
so that every rank launches the same ones in the same order. The end of backward waits for all.
"""

from __future__ import annotations

import functools
import itertools
import math
import queue
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from minipaddle.imperative.bucket import Bucket, assign_buckets
from minipaddle.imperative.engine import queue_callback
from minipaddle.imperative.grad_node import FULL, AccumulationNode
from minipaddle.imperative.tensor import Parameter

# Seconds that the end of backward waits beyond the group's own limit, whose error says more.
_GRACE = 10.0
_numbers = itertools.count()


class CommGroup(Protocol):
    """What the Reducer needs of a process group.

    Attributes:
        rank: This process's number.
        world_size: How many processes there are.
        nrings: How many allreduces may be under way at once.
        blocking: ``allreduce_mean`` returns when the result is there, and not before.
        timeout: Seconds after which a wait for another rank is an error.
    """

    rank: int
    world_size: int
    nrings: int
    blocking: bool
    timeout: float

    def empty(self, numel: int, dtype: Any) -> Any:
        """A resident buffer; its ``array`` is 1-D."""

    def wait_compute(self, ring: int) -> Any:
        """Marks, in the thread of backward, the work that an allreduce has to wait for."""

    def allreduce_mean(self, buffer: Any, ring: int, token: Any) -> Any:
        """Averages a buffer over the ranks, after ``token``; called by the ring's thread."""

    def wait_comm(self, token: Any) -> None:
        """Makes later work of the calling thread wait for an allreduce."""

    def allreduce_max(self, bitmap: Any) -> None:
        """Elementwise maximum over the ranks, in place."""

    def abort(self, exc: BaseException) -> None:
        """Tells the other ranks that this one has failed, so that none waits for it."""


class CommPool:
    """Communication threads, one a lane; a lane's tasks run one after another, in order."""

    def __init__(self, lanes: int) -> None:
        self._queues: list[queue.SimpleQueue[Callable[[], None] | None]] = [
            queue.SimpleQueue() for _ in range(lanes)
        ]
        for lane, tasks in enumerate(self._queues):
            threading.Thread(target=_work, args=(tasks,), name=f"comm-{lane}", daemon=True).start()

    def submit(self, lane: int, task: Callable[[], None]) -> None:
        """Puts ``task``, which must not raise, at the end of a lane."""
        self._queues[lane].put(task)

    def close(self) -> None:
        """Lets the threads end when their lanes are empty."""
        for tasks in self._queues:
            tasks.put(None)


def _work(tasks: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while (task := tasks.get()) is not None:
        task()
        del task  # a waiting thread must keep nothing alive


class _Failure(NamedTuple):
    """What went wrong with a bucket, and in which thread."""

    bucket: Bucket
    error: BaseException
    thread: int


class Reducer:
    """Averages the gradients of some parameters over the ranks of a group.

    Args:
        parameters: Names and parameters, the same on every rank.
        group: The process group.
        limits: Bytes at which the first and each later bucket is closed; the first declared
            parameters are in the first, which is reduced last.
        find_unused_parameters: Whether a backward may leave parameters out.

    Raises:
        RuntimeError: A parameter is in a living Reducer already.
    """

    def __init__(
        self,
        parameters: Sequence[tuple[str, Parameter]],
        group: CommGroup,
        limits: Sequence[int],
        find_unused_parameters: bool = False,
    ) -> None:
        self.group = group
        self.number = next(_numbers)  # ranks make their Reducers in the same order
        self.names = [name for name, _ in parameters]
        self.nodes = [parameter.leaf_node() for _, parameter in parameters]
        self.find_unused_parameters = find_unused_parameters
        self.armed = False
        self.running = False
        self.ready = [False] * len(self.nodes)
        self.next_group_ = 0
        self.buckets = self._make_buckets(limits)
        self.bucket_of = {i: bucket for bucket in self.buckets for i in bucket.members}
        # Backward fills a bucket in one thread; reducing it must not hold that thread up. Each ring
        # has a thread of its own if the group blocks; a group that only enqueues gets one thread,
        # which issues all rings in bucket order.
        self.comm_pool_ = CommPool(group.nrings if group.blocking else 1)
        self.comm_op_count_ = 0
        self.cv_ = threading.Condition()
        self._failure: _Failure | None = None
        self._held: Callable[[], None] | None = None
        self._close = weakref.finalize(self, self.comm_pool_.close)
        self._weak = weakref.ref(self)
        self._hook_leaves()

    # ---- set-up ----

    def _make_buckets(self, limits: Sequence[int]) -> list[Bucket]:
        nodes = self.nodes
        sizes = [_numel(node) * node.dtype.itemsize for node in nodes]
        plan = assign_buckets(sizes, [(node.place, node.dtype) for node in nodes], limits)
        plan.reverse()  # backward reaches the parameters declared last first
        return [self._make_bucket(index, members) for index, members in enumerate(plan)]

    def _make_bucket(self, index: int, members: list[int]) -> Bucket:
        nodes = [self.nodes[i] for i in members]
        buffer = self.group.empty(sum(map(_numel, nodes)), nodes[0].dtype)
        return Bucket(index, members, buffer, nodes[0].place, [node.shape for node in nodes])

    def _hook_leaves(self) -> None:
        for name, node in zip(self.names, self.nodes, strict=True):
            owner = getattr(node.reduce_hook, "reducer", None)
            if owner is not None and owner() is not None:
                raise RuntimeError(f"parameter {name} is in another DataParallel already")
        for bucket in self.buckets:
            for position, i in enumerate(bucket.members):
                self.nodes[i].move_home(bucket.flat, position)
        for i, node in enumerate(self.nodes):
            node.reduce_hook = _LeafHook(self._weak, i)

    def release(self) -> None:
        """Lets go of the parameters, so that another Reducer can take them."""
        for node in self.nodes:
            if getattr(node.reduce_hook, "reducer", None) is self._weak:
                node.reduce_hook = None

    # ---- one backward ----

    def prepare_for_backward(self, sync: bool) -> None:
        """Called by each forward: whether the backward of what it computes is averaged."""
        self.armed = sync

    def mark_var_ready(self, index: int) -> None:
        """Takes note that a parameter's gradient is final in this backward.

        Raises:
            RuntimeError: It was final before in the same backward.
        """
        if not self.armed:
            return
        if not self.running:
            self.running = True
            queue_callback(self._end_of_backward, self.number)
        if self.ready[index]:
            raise RuntimeError(
                f"the gradient of {self.names[index]} was complete before in this backward: it is "
                "used in a backward that runs inside another one; run the inner one under no_sync()"
            )
        node = self.nodes[index]
        if node.replaced is not None:
            node.rehome()
        self._member_done(index)

    def _member_done(self, index: int) -> None:
        self.ready[index] = True
        bucket = self.bucket_of[index]
        bucket.pending -= 1
        if not bucket.pending:
            self.mark_group_ready()

    def mark_group_ready(self) -> None:
        """Launches the buckets that are complete, in index order and no further."""
        while self.next_group_ < len(self.buckets):
            bucket = self.buckets[self.next_group_]
            if bucket.pending:
                return
            ring = bucket.index % self.group.nrings
            token = self.group.wait_compute(ring)
            # Bucket and ring go by value: next_group_ has moved on when the worker starts.
            launch = functools.partial(self.fused_allreduce_schedule, bucket, ring, token)
            with self.cv_:
                self.comm_op_count_ += 1
                bucket.under_way = True
                alone = self.comm_op_count_ == 1
            self.next_group_ += 1
            if alone and bucket is self.buckets[-1]:
                # Nothing is left to compute meanwhile. The thread of backward reduces it at the
                # end: to wake another thread costs more than a small allreduce.
                self._held = launch
            else:
                self.comm_pool_.submit(ring if self.group.blocking else 0, launch)

    def fused_allreduce_schedule(self, bucket: Bucket, ring: int, token: Any) -> None:
        """Reduces one bucket; runs in a communication thread."""
        try:
            # After a failure nothing more is sent: a later bucket of this rank would meet the
            # others' earlier one.
            if self._failure is None:
                place = bucket.flat.place
                place.backend.set_device(place.index)
                bucket.token = self.group.allreduce_mean(bucket.buffer, ring, token)
        except BaseException as error:
            with self.cv_:
                self._failure = self._failure or _Failure(bucket, error, threading.get_ident())
        finally:
            with self.cv_:
                self.comm_op_count_ -= 1
                bucket.under_way = False
                self.cv_.notify_all()

    def _end_of_backward(self, error: BaseException | None) -> None:
        try:
            if error is not None:
                self._abort(error)
            else:
                self._finalize()
        finally:
            self._reset()

    def _finalize(self) -> None:
        try:
            unused = [i for i, ready in enumerate(self.ready) if not ready]
            used = self._add_unused(unused)
            self.finalize_backward()
            if used is not None:
                self._settle_unused(unused, used)
        except BaseException as raised:
            self._abort(raised)
            raise

    def finalize_backward(self) -> None:
        """Waits until every bucket is reduced, and re-raises what went wrong in a thread.

        Raises:
            TimeoutError: A bucket was not done within the group's limit.
        """
        if self._held is not None and self._failure is None:
            held, self._held = self._held, None
            held()
        limit = self.group.timeout + _GRACE
        with self.cv_:
            in_time = self.cv_.wait_for(
                lambda: self.comm_op_count_ == 0 or self._failure is not None, limit
            )
            failure = self._failure
            under_way = [bucket for bucket in self.buckets if bucket.under_way]
        if failure is not None:
            if failure.thread == threading.get_ident() and not isinstance(failure.error, Exception):
                raise failure.error  # Ctrl-C in the thread of backward stays what it is
            raise _explained(failure.error, self._describe(failure.bucket)) from failure.error
        if not in_time:
            raise TimeoutError(
                f"{self._describe(under_way[0])}: timeout, not done after {limit:g} s"
            )
        for bucket in self.buckets:
            self.group.wait_comm(bucket.token)

    def _add_unused(self, unused: list[int]) -> Any:
        """Lets parameters that this backward did not reach take part, with what they hold.

        Returns:
            With find_unused_parameters the map of parameters that some rank has used, else None.

        Raises:
            RuntimeError: There are such parameters and find_unused_parameters is False.
        """
        if not self.find_unused_parameters:
            if unused:
                names = ", ".join(self.names[i] for i in unused)
                raise RuntimeError(
                    f"rank {self.group.rank}: this backward gave no gradient to the parameter(s) "
                    f"{names}: unused in forward, or their part of the output is not in the loss. "
                    "Pass find_unused_parameters=True to DataParallel if that is meant"
                )
            return None
        # FULL counts as used: also a gradient that was summed up under no_sync since.
        used = np.array([node.status is FULL for node in self.nodes], dtype=np.int8)
        for i in unused:
            node = self.nodes[i]
            if node.replaced is not None:
                node.rehome()
            elif node.status is not FULL:
                node.kernels.copy_(node.home, 0.0)
            self._member_done(i)
        self.group.allreduce_max(used)
        return used

    def _settle_unused(self, unused: list[int], used: Any) -> None:
        """What no rank has used keeps its state; what another has used has a gradient here too."""
        for i in unused:
            if used[i]:
                self.nodes[i].status = FULL
                self.nodes[i].version[0] += 1

    def _abort(self, error: BaseException) -> None:
        """Frees the other ranks from waiting for this one, and this one's threads from them."""
        self.group.abort(error)
        if self._held is not None:  # its group refuses it now; the count goes down all the same
            self._held()
            self._held = None
        with self.cv_:
            self.cv_.wait_for(lambda: self.comm_op_count_ == 0, _GRACE)

    def _reset(self) -> None:
        self.running = False
        self.ready = [False] * len(self.nodes)
        self.next_group_ = 0
        self._failure = None
        for bucket in self.buckets:
            bucket.pending = len(bucket.members)

    def _describe(self, bucket: Bucket) -> str:
        names = [self.names[i] for i in bucket.members]
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        return (
            f"rank {self.group.rank}: allreduce of bucket {bucket.index} of {len(self.buckets)} "
            f"(parameters {shown})"
        )


class _LeafHook:
    """The reduce hook of one leaf. It does not keep the Reducer alive, so that no cycle forms."""

    __slots__ = ("index", "reducer")

    def __init__(self, reducer: weakref.ref[Reducer], index: int) -> None:
        self.reducer = reducer
        self.index = index

    def __call__(self) -> None:
        reducer = self.reducer()
        if reducer is not None:
            reducer.mark_var_ready(self.index)


def _numel(node: AccumulationNode) -> int:
    return math.prod(node.shape)


def _explained(error: BaseException, where: str) -> BaseException:
    """An error of the same kind whose text says which bucket it struck."""
    try:
        reason = str(error)
    except Exception:  # a broken __str__ must not hide what it belongs to
        reason = "(its text cannot be made)"
    text = f"{where} failed: {type(error).__name__}: {reason}"
    kind = TimeoutError if isinstance(error, TimeoutError) else RuntimeError
    return kind(text)
