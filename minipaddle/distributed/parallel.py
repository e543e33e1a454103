"""DataParallel: one model, trained by several processes on different data."""

from __future__ import annotations

import contextlib
import sys
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from minipaddle.distributed.agreement import (
    broadcast_state,
    check_agreement,
    description_of,
    find_trained,
    trained_parameters,
)
from minipaddle.distributed.comm_report import comm_report
from minipaddle.distributed.group import Group, default_group, members_of
from minipaddle.distributed.hooks import CommHook, GradBucket
from minipaddle.distributed.join import Join
from minipaddle.distributed.process_group.base import ProcessGroup
from minipaddle.distributed.strategy import ParallelStrategy
from minipaddle.distributed.waits import watch_waits
from minipaddle.imperative.bucket import Bucket
from minipaddle.imperative.grad_node import grad_state
from minipaddle.imperative.reducer import Reducer
from minipaddle.imperative.tensor import Tensor, trained_changes
from minipaddle.nn.layer import Layer
from minipaddle.ops.op import namespace

_MEGABYTE = 1024 * 1024


class DataParallel(Layer):
    """Wraps a layer so that backward leaves the mean gradient of all processes on each of them.

    Every process starts from process 0's parameters and buffers. Gradients are averaged in
    buckets, in the background, while backward goes on; after it all processes hold the same ones.

    Args:
        layers: The layer.
        strategy: Number of rings of this model; by default that of FLAGS_nccl_nrings.
        comm_buffer_size: Size of a bucket in MB.
        last_comm_buffer_size: Size in MB of the bucket that is reduced last, when there is nothing
            left to compute meanwhile.
        find_unused_parameters: Whether a backward may leave parameters out. It costs one small
            exchange per backward.
        group: The processes; all by default.
        gradient_predivide_factor: Each addend is divided by it before it is added, and the sum by
            the rest; by default each addend by the number of processes.
        broadcast_buffers: Whether each averaged forward begins with the buffers of process 0.

    Attributes:
        find_unused_parameters: As given.

    Raises:
        AssertionError: No parameter is to be trained.
        RuntimeError: ``init_parallel_env`` was not called, or the models differ between processes;
            the text names the parameter, and every process raises.
        TypeError: ``layers`` is no Layer.

    Example:
        >>> import minipaddle as paddle
        >>> def train():
        ...     paddle.distributed.init_parallel_env()
        ...     model = paddle.DataParallel(paddle.nn.Linear(10, 1))
        ...     model(paddle.randn([4, 10])).mean().backward()
    """

    def __init__(
        self,
        layers: Layer,
        strategy: ParallelStrategy | None = None,
        comm_buffer_size: float = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Group | None = None,
        gradient_predivide_factor: float | None = None,
        broadcast_buffers: bool = False,
    ) -> None:
        super().__init__(layers.full_name() + "_data_parallel" if isinstance(layers, Layer) else "")
        if not isinstance(layers, Layer):
            raise TypeError(f"layers must be a Layer; got {type(layers).__name__}")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        self._sync = True
        self._reducer: Reducer | None = None
        self._base: ProcessGroup | None = None
        self._release: Any = None
        self._begins: list[Callable[[], object]] = []  # called before each averaged forward
        self._hook: CommHook | None = None
        members = _members(group)
        if members is None:
            return
        self._options: dict[str, Any] = {
            "find_unused_parameters": find_unused_parameters,
            "comm_buffer_size": comm_buffer_size,
            "last_comm_buffer_size": last_comm_buffer_size,
            "gradient_predivide_factor": gradient_predivide_factor,
            "broadcast_buffers": broadcast_buffers,
            "nrings": members.nrings if strategy is None else strategy.nrings,
        }
        # Here ranks agree, apart from the user's collectives and when the Reducer's group is dead.
        self._base = members.new_group(range(members.world_size), 1)
        assert self._base is not None
        weakref.finalize(self, self._base.destroy)
        self._reducer = self._make_reducer()

    def _make_reducer(self, old: Reducer | None = None) -> Reducer:
        """Makes the Reducer together with all ranks; ``old`` is the one that it replaces."""
        assert self._base is not None
        # What is wrong on one rank alone must not leave the others waiting for it, so each rank
        # tells the others what it has, and what is wrong.
        trained, problem = find_trained(self._layers, self._options, self._reducer)
        check_agreement(self._base, description_of(self._layers, self._options), problem)
        if old is None:
            broadcast_state(self._base, self._layers)
            if self._options["broadcast_buffers"]:
                take = weakref.WeakMethod(self._take_buffers)
                self._begins.append(lambda: take()())  # type: ignore[misc]
        else:
            old.release()
        # Channels of its own: two models in one backward are then free to finish in any order.
        own = self._base.new_group(range(self._base.world_size), self._options["nrings"])
        assert own is not None
        sizes = (self._options["last_comm_buffer_size"], self._options["comm_buffer_size"])
        limits = [int(megabytes * _MEGABYTE) for megabytes in sizes]
        try:
            reducer = Reducer(trained, own, limits, self.find_unused_parameters)
        except BaseException:
            own.destroy()
            if old is not None:
                old.hook_leaves()  # no backward may pass by unnoticed
            raise
        factor = self._options["gradient_predivide_factor"]
        if factor is not None:
            own.divide_before(factor)
        watch_waits(reducer, own)
        renew = weakref.WeakMethod(self._renew)
        reducer.renew = lambda: renew()()  # type: ignore[misc]
        self._changes = trained_changes[0]
        if self._release is not None:
            self._release.detach()
        # At once, and not when the last communication thread has forgotten its last task.
        self._release = weakref.finalize(self, reducer.release)
        weakref.finalize(reducer, own.destroy)
        return reducer

    def _renew(self) -> Reducer:
        """Makes a new Reducer after a failure, or after a change of what is trained."""
        old = self._reducer
        assert old is not None and self._base is not None
        if not old.broken:
            # A rank without the change waits in its backward: it must not do so for ever.
            old.group.abort(
                RuntimeError(
                    f"rank {old.group.rank} has frozen or unfrozen parameters, so buckets are made "
                    "anew; every rank must do the same before its next forward"
                )
            )
            old.broken = True
        completed = self._base.all_gather_object(old.completed)
        new = self._make_reducer(old)
        new.armed, new.expected = old.armed, old.expected
        self._reducer = new
        self._install(self._hook)
        old.group.destroy()  # type: ignore[attr-defined]
        if len(set(completed)) > 1:
            told = ", ".join(f"rank {rank}: {count}" for rank, count in enumerate(completed))
            raise RuntimeError(
                "a rank failed after the gradients of its last step were averaged, so that other "
                f"ranks have made a step more ({told}) and may hold other parameters; load the "
                "last checkpoint on every rank and go on"
            )
        return new

    def _renewed(self) -> Reducer:
        """The Reducer: a new one if it has failed, or other parameters are trained now."""
        reducer = self._reducer
        assert reducer is not None
        trained = [parameter.leaf_node() for _, parameter in trained_parameters(self._layers)]
        if reducer.broken or trained != reducer.nodes:
            return self._renew()
        self._changes = trained_changes[0]
        return reducer

    def _take_buffers(self) -> None:
        """Takes over the buffers of process 0, into memory of their own.

        What earlier forwards have saved for their backward keeps its values.
        """
        assert self._base is not None
        for buffer in self._layers.buffers():
            if buffer.data.size:
                fresh = Tensor(namespace(buffer.place).assign(buffer.data), buffer.place)
                self._base.broadcast(fresh.data, 0)
                buffer.data, buffer.version = fresh.data, fresh.version

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Runs the wrapped layer; the backward of what it returns is averaged."""
        reducer = self._reducer
        if reducer is None or not grad_state.recording:
            return self._layers(*inputs, **kwargs)
        if self._changes != trained_changes[0]:  # or a backward has failed
            reducer = self._renewed()
        if self._begins and self._sync:
            for begin in self._begins:
                begin()
        try:
            outputs = self._layers(*inputs, **kwargs)
        except BaseException as error:
            reducer.abort(error)
            raise
        reducer.prepare_for_backward(self._sync)
        return outputs

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """The backward of forwards inside it only adds up gradients, in each process on its own.

        The next backward of a forward outside averages all that has been added up.

        Example:
            >>> import minipaddle as paddle
            >>> def accumulate(model, first, second):
            ...     with model.no_sync():
            ...         model(first).mean().backward()
            ...     model(second).mean().backward()
        """
        before, self._sync = self._sync, False
        try:
            yield
        finally:
            self._sync = before

    def join(
        self, divide_by_initial_world_size: bool = True, throw_on_early_termination: bool = False
    ) -> contextlib.AbstractContextManager[None]:
        """Inside it processes may have different numbers of batches.

        One that has no more takes part with zeros until the last one is done, and then gets its
        parameters and buffers; what its optimizer keeps stays as it was when its batches ended.

        Args:
            divide_by_initial_world_size: Means are over all processes; False: over those that
                still have batches.
            throw_on_early_termination: Raise a RuntimeError on every process as soon as one has no
                more batches.

        Example:
            >>> import minipaddle as paddle
            >>> def epoch(model, batches, optimizer):
            ...     with model.join():
            ...         for x in batches:
            ...             model(x).mean().backward()
            ...             optimizer.step()
            ...             optimizer.clear_grad()
        """
        if self._base is None:
            return contextlib.nullcontext()
        return Join(self, self._base, divide_by_initial_world_size, throw_on_early_termination)

    def register_comm_hook(self, hook: CommHook | None) -> None:
        """Has ``hook(bucket)`` do what averaging does otherwise; every process calls it.

        Args:
            hook: Gets a ``paddle.distributed.hooks.GradBucket`` in a communication thread and
                changes its ``array``; None goes back to averaging.

        Raises:
            TypeError: It cannot be called.
            RuntimeError: Processes have given different hooks.
        """
        if hook is not None and not callable(hook):
            raise TypeError(f"hook must be callable or None; got {type(hook).__name__}")
        if self._base is None:
            return
        check_agreement(self._base, {"hook": getattr(hook, "__qualname__", type(hook).__name__)})
        self._hook = hook
        self._install(hook)

    def _install(self, hook: CommHook | None) -> None:
        reducer = self._reducer
        assert reducer is not None
        weak = weakref.ref(reducer)

        def run(bucket: Bucket, ring: int, token: Any) -> None:
            alive = weak()
            assert alive is not None and hook is not None
            hook(GradBucket(alive, bucket, ring, token))

        reducer.comm_hook = None if hook is None else run

    def abort(self, error: BaseException) -> None:
        """Makes this step void on every process, as a failure in backward does.

        For what fails between forward and backward, such as a loss, and is caught: others hear of
        it at once, and go on with their next forward, as this process does.

        Example:
            >>> import minipaddle as paddle
            >>> def step(model, x, loss):
            ...     y = model(x)
            ...     try:
            ...         loss(y).backward()
            ...     except ArithmeticError as error:
            ...         model.abort(error)
        """
        if self._reducer is not None:
            self._reducer.abort(error)

    def comm_report(self, profile: Any = None) -> str:
        """Prints, and returns, which gradients travel together, when, and what could be better.

        Args:
            profile: A ``paddle.profiler.Profiler`` that has recorded some steps; without it there
                is the plan alone.

        Example:
            >>> import minipaddle as paddle
            >>> group = paddle.distributed.new_group([0])
            >>> model = paddle.DataParallel(paddle.nn.Linear(2, 1), group=group)
            >>> _ = model.comm_report()
            2 parameters in 1 buckets, over 1 ranks on 1 ring(s), in the order in which they leave:
              bucket 0 of 1 (parameters weight, bias): 12 bytes of float32
            Give it a paddle.profiler.Profiler that has recorded steps to see times.
        """
        alone = "this process is alone: nothing is sent"
        text = alone if self._reducer is None else comm_report(self._reducer, profile)
        sys.stdout.write(text + "\n")
        return text

    def scale_loss(self, loss: Tensor) -> Tensor:
        """``loss`` as it is: gradients are averaged without it. Deprecated."""
        warnings.warn("scale_loss is not needed any more", DeprecationWarning, stacklevel=2)
        return loss

    def apply_collective_grads(self) -> None:
        """Nothing: gradients are averaged in backward. Deprecated."""
        warnings.warn(
            "apply_collective_grads is not needed any more", DeprecationWarning, stacklevel=2
        )

    def state_dict(self, *args: Any, **kwargs: Any) -> OrderedDict[str, Tensor]:
        """The wrapped layer's state, under the wrapped layer's names."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Fills the wrapped layer's state; see ``Layer.set_state_dict``."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = set_state_dict
    load_dict = set_state_dict

    def __getattr__(self, name: str) -> Any:
        if "_layers" in self.__dict__ and hasattr(self._layers, name):
            raise AttributeError(
                f"DataParallel has no attribute {name!r}; the wrapped layer has: "
                f"use model._layers.{name}"
            )
        raise AttributeError(f"DataParallel has no attribute {name!r}")


def _members(group: Group | None) -> ProcessGroup | None:
    """The processes that train; None, with a warning, for one that nobody else is with."""
    members = members_of(group or default_group())
    if members is None:
        raise RuntimeError("this process is not in the group that DataParallel was given")
    if members.world_size > 1 or group is not None:
        return members
    warnings.warn(
        "DataParallel passes calls through: this process is alone. Start several with "
        "paddle.distributed.spawn",
        stacklevel=3,
    )
    return None
