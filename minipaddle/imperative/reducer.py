"""Reducer: averages gradients over processes, bucket by bucket, while backward goes on.

The last op before a leaf fills the leaf's gradient, which lies in a bucket. When all members of a
bucket are there it is handed to the communication threads; buckets leave strictly in index order,
so that every rank launches the same ones in the same order. The end of backward waits for all.
"""

from __future__ import annotations

import itertools
import math
import time
import weakref
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, ClassVar

import numpy as np

from minipaddle.imperative.bucket import Bucket, plan_buckets
from minipaddle.imperative.communication import CommGroup, CommPool, Failure
from minipaddle.imperative.grad_node import FULL
from minipaddle.imperative.launching import LaunchOrder
from minipaddle.imperative.leaf_hook import LeafHook, owner_of
from minipaddle.imperative.run_end import queue_callback, watch_failures
from minipaddle.imperative.tensor import Parameter, trained_changes
from minipaddle.ops.op import namespace

# Seconds that the end of backward waits beyond the group's own limit, whose error says more.
_GRACE = 10.0
_numbers = itertools.count()


class Reducer(LaunchOrder):
    """Averages the gradients of some parameters over the ranks of a group.

    Args:
        parameters: Names and parameters, the same on every rank.
        group: The process group.
        limits: Bytes at which the first and each later bucket is closed; the first declared
            parameters are in the first, which is reduced last.
        find_unused_parameters: Whether a backward may leave parameters out.

    Attributes:
        on_event: Gets ``(reducer, kind, bucket, start, end)`` for each bucket that is ``"ready"``
            (end: the parameter that came last) or was in an ``"allreduce"``, and for each
            ``"wait"`` at the end of backward (bucket: None). Times in nanoseconds.
        broken: A backward has failed, here or on another rank, and ``renew`` is to be called.
        completed: How many backwards have been averaged.
        left_out: A backward has left a parameter out, which find_unused_parameters allows.
        comm_hook: ``comm_hook(bucket, ring, token)`` is called in place of averaging a bucket.
        ready: For each parameter when its gradient was final in this backward, in nanoseconds, or
            1 without ``on_event``; 0 if it is not.
        factor: Means are multiplied by it.
        renew: Makes the Reducer that goes on after a failure, on every rank. Without it, this one
            goes on with the same group.

    Raises:
        RuntimeError: A parameter is in a living Reducer already.
    """

    on_event: ClassVar[Callable[..., None] | None] = None
    group: CommGroup
    buckets: list[Bucket]

    def __init__(
        self,
        parameters: Sequence[tuple[str, Parameter]],
        group: CommGroup,
        limits: Sequence[int],
        find_unused_parameters: bool = False,
    ) -> None:
        super().__init__(group)
        self.number = next(_numbers)  # ranks make their Reducers in the same order
        self.names = [name for name, _ in parameters]
        self.nodes = [parameter.leaf_node() for _, parameter in parameters]
        self.find_unused_parameters = find_unused_parameters
        self.armed = False
        self.expected = 0  # the thread whose forward awaits its backward
        self.running = False
        self.broken = False
        self.completed = 0
        self.left_out = False
        self.comm_hook: Callable[[Bucket, int, Any], Any] | None = None
        self.factor = 1.0
        self.renew: Callable[[], Reducer] | None = None
        self.ready = [0] * len(self.nodes)
        self.limits = limits
        self.buckets = self._make_buckets(limits)
        self.bucket_of = {i: bucket for bucket in self.buckets for i in bucket.members}
        # Backward fills a bucket in one thread; reducing it must not hold that thread up. Each ring
        # has a thread of its own if the group blocks; a group that only enqueues gets one thread,
        # which issues all rings in bucket order.
        self.comm_pool_ = CommPool(group.nrings if group.blocking else 1)
        self._failure: Failure | None = None
        self.note = Reducer.on_event
        self._close = weakref.finalize(self, self.comm_pool_.close)
        self._weak = weakref.ref(self)
        self._take_leaves()
        _reducers.add(self)

    # ---- set-up ----

    def _make_buckets(self, limits: Sequence[int]) -> list[Bucket]:
        nodes = self.nodes
        sizes = [math.prod(node.shape) * node.dtype.itemsize for node in nodes]
        plan = plan_buckets(sizes, [(node.place, node.dtype) for node in nodes], limits)
        return [self._make_bucket(index, members) for index, members in enumerate(plan)]

    def _make_bucket(self, index: int, members: list[int]) -> Bucket:
        nodes = [self.nodes[i] for i in members]
        buffer = self.group.empty(sum(math.prod(node.shape) for node in nodes), nodes[0].dtype)
        return Bucket(index, members, buffer, nodes[0].place, [node.shape for node in nodes])

    def _take_leaves(self) -> None:
        for name, node in zip(self.names, self.nodes, strict=True):
            if owner_of(node) is not None:
                raise RuntimeError(f"parameter {name} is in another DataParallel already")
        for bucket in self.buckets:
            for position, i in enumerate(bucket.members):
                self.nodes[i].move_home(bucket.flat, position)
        self.hook_leaves()

    def hook_leaves(self) -> None:
        """Has backward tell this Reducer when a parameter's gradient is final."""
        for i, node in enumerate(self.nodes):
            node.reduce_hook = LeafHook(self._weak, i)

    def release(self) -> None:
        """Lets go of the parameters, so that another Reducer can take them."""
        for node in self.nodes:
            if getattr(node.reduce_hook, "reducer", None) is self._weak:
                node.reduce_hook = None
        self._close()

    # ---- one backward ----

    def prepare_for_backward(self, sync: bool) -> None:
        """Called by each forward: whether the backward of what it computes is averaged."""
        self.armed = sync
        self.expected = get_ident()
        self.note = Reducer.on_event

    def mark_var_ready(self, index: int) -> None:
        """Takes note that a parameter's gradient is final in this backward.

        Raises:
            RuntimeError: It was final before in the same backward.
        """
        if not self.armed:
            return
        if not self.running:
            if self.broken and self.renew is not None:
                self.renew().mark_var_ready(index)
                return
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
        self.ready[index] = 1 if self.note is None else time.perf_counter_ns()
        bucket = self.bucket_of[index]
        bucket.pending -= 1
        if not bucket.pending:
            if self.note is not None:
                self.note(self, "ready", bucket, self.ready[index], index)
            self.mark_group_ready()

    def fused_allreduce_schedule(
        self, bucket: Bucket, ring: int, token: Any, tell: bool = True
    ) -> None:
        """Reduces one bucket; runs in a communication thread.

        A failure is told to the other ranks at once, unless the caller wants to do it.
        """
        begin = 0 if self.note is None else time.perf_counter_ns()
        try:
            # After a failure nothing more is sent: a later bucket of this rank would meet the
            # others' earlier one.
            if self._failure is None:
                place = bucket.flat.place
                place.backend.set_device(place.index)
                if self.comm_hook is None:
                    bucket.token = self.group.allreduce_mean(bucket.buffer, ring, token)
                else:
                    bucket.token = self.comm_hook(bucket, ring, token)
                if self.note is not None:
                    self.note(self, "allreduce", bucket, begin, time.perf_counter_ns())
        except BaseException as error:
            with self.cv_:
                first = self._failure is None
                self._failure = self._failure or Failure(bucket, error, get_ident())
            if first and tell:
                self.group.abort(self._explained(self._failure))
        finally:
            with self.cv_:
                self.comm_op_count_ -= 1
                bucket.under_way = False
                self.cv_.notify_all()

    def _end_of_backward(self, error: BaseException | None) -> None:
        try:
            if error is None:
                self._finalize()
            else:
                self.abort(error)
        finally:
            self._reset()

    def _finalize(self) -> None:
        try:
            unused = [i for i, ready in enumerate(self.ready) if not ready]
            used = self._add_unused(unused)
            begin = 0 if self.note is None else time.perf_counter_ns()
            self.finalize_backward()
            if self.note is not None:
                self.note(self, "wait", None, begin, time.perf_counter_ns())
            if used is not None:
                self._settle_unused(unused, used)
            self.completed += 1
        except BaseException as raised:
            self.abort(raised)
            raise

    def finalize_backward(self) -> None:
        """Waits until every bucket is reduced, and re-raises what went wrong in a thread.

        Raises:
            TimeoutError: A bucket was not done within the group's limit.
        """
        if self._failure is None:
            self.launch_last()
        with self.cv_:
            if self.comm_op_count_ and self._failure is None:
                self._wait()
            failure = self._failure
        if failure is not None:
            if failure.thread == get_ident() and not isinstance(failure.error, Exception):
                raise failure.error  # Ctrl-C in the thread of backward stays what it is
            raise self._explained(failure)
        for bucket in self.buckets:
            self.group.wait_comm(bucket.token)
        if self.factor != 1.0:
            for flat in [bucket.flat for bucket in self.buckets]:
                F = namespace(flat.place)
                F.copy_(flat.array, F.multiply(flat.array, self.factor))

    def _wait(self) -> None:
        limit = self.group.timeout + _GRACE
        if not self.cv_.wait_for(lambda: not self.comm_op_count_ or self._failure, limit):
            stuck = next(bucket for bucket in self.buckets if bucket.under_way)
            raise TimeoutError(
                f"rank {self.group.rank}: allreduce of {self.describe(stuck)}: timeout, not done "
                f"after {limit:g} s"
            )

    def take_part(self) -> None:
        """A backward of a rank that has nothing to add: it averages zeros with the others."""
        for i, node in enumerate(self.nodes):
            node.clear(False)
            node.kernels.copy_(node.home, 0.0)
            self._member_done(i)
        self._end_of_backward(None)

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
        self.left_out = self.left_out or bool(unused)
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

    def abort(self, error: BaseException) -> None:
        """Makes this step void on every rank: each raises, and gradients are None.

        It frees the other ranks from waiting for this one, and this one's threads from them. Some
        gradients are averaged by now and others are not, so that all are forgotten.
        """
        failure = self._failure
        if failure is None or failure.thread == get_ident():
            self.group.abort(error)
        if self._held is not None:  # its group refuses it now; the count goes down all the same
            self.fused_allreduce_schedule(*self._held, tell=False)
            self._held = None
        with self.cv_:
            self.cv_.wait_for(lambda: self.comm_op_count_ == 0, _GRACE)
        self.broken = True
        trained_changes[0] += 1  # so that the next forward looks
        for node in self.nodes:
            node.clear(False)
        self._reset()

    def _reset(self) -> None:
        self.running = False
        self.expected = 0
        self.ready = [0] * len(self.nodes)
        self.next_group_ = 0
        self._failure = None
        for bucket in self.buckets:
            bucket.pending = len(bucket.members)

    def describe(self, bucket: Bucket) -> str:
        """A bucket's number, and the names of its parameters, for texts."""
        names = [self.names[i] for i in bucket.members]
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        return f"bucket {bucket.index} of {len(self.buckets)} (parameters {shown})"

    def _explained(self, failure: Failure) -> BaseException:
        where = f"rank {self.group.rank}: allreduce of {self.describe(failure.bucket)}"
        return failure.explained(where)


def _tell_reducers(error: BaseException) -> None:
    """A backward of this thread has failed, perhaps before it reached any parameter."""
    for reducer in list(_reducers):
        if reducer.expected == get_ident() and not reducer.running:
            reducer.abort(error)


_reducers: weakref.WeakSet[Reducer] = weakref.WeakSet()
watch_failures(_tell_reducers)
