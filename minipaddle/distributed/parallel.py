"""DataParallel: one model, trained by several processes on different data."""

from __future__ import annotations

import contextlib
import sys
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from minipaddle.device.flags import RING_BOUNDS, get_flag
from minipaddle.device.parallel_env import ParallelEnv
from minipaddle.distributed.agreement import check_agreement, description_of
from minipaddle.distributed.group import Group, default_group, members_of
from minipaddle.distributed.process_group.base import ProcessGroup
from minipaddle.imperative.grad_node import grad_state
from minipaddle.imperative.reducer import Reducer, owner_of
from minipaddle.imperative.tensor import Parameter, Tensor, trained_changes
from minipaddle.nn.layer import Layer

_MEGABYTE = 1024 * 1024


@dataclass
class ParallelStrategy:
    """How the processes of a job work together; read from the environment by default.

    Args:
        nranks: Number of processes.
        local_rank: Number of this one.
        nrings: Number of communication rings, from 1 to 8.
    """

    nranks: int = field(default_factory=lambda: ParallelEnv().world_size)
    local_rank: int = field(default_factory=lambda: ParallelEnv().rank)
    nrings: int = field(default_factory=lambda: ParallelEnv().nrings)


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
        members = members_of(group or default_group())
        if members is None:
            raise RuntimeError("this process is not in the group that DataParallel was given")
        if members.world_size < 2 and group is None:
            warnings.warn(
                "DataParallel passes calls through: this process is alone. Start several with "
                "paddle.distributed.spawn",
                stacklevel=2,
            )
            return
        self._options: dict[str, Any] = {
            "find_unused_parameters": find_unused_parameters,
            "comm_buffer_size": comm_buffer_size,
            "last_comm_buffer_size": last_comm_buffer_size,
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
        trained, problem = self._find_trained()
        check_agreement(self._base, description_of(self._layers, self._options), problem)
        if old is None:
            _broadcast_state(self._base, self._layers)
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
            raise
        _watch_waits(reducer, own)
        renew = weakref.WeakMethod(self._renew)
        reducer.renew = lambda: renew()()  # type: ignore[misc]
        self._changes = trained_changes[0]
        if self._release is not None:
            self._release.detach()
        # At once, and not when the last communication thread has forgotten its last task.
        self._release = weakref.finalize(self, reducer.release)
        weakref.finalize(reducer, own.destroy)
        return reducer

    def _find_trained(self) -> tuple[list[tuple[str, Parameter]], Exception | None]:
        """The parameters to average, and what speaks against it."""
        trained = [
            (name, parameter)
            for name, parameter in self._layers.named_parameters()
            if parameter.trainable and not parameter.no_sync
        ]
        problem: Exception | None = None
        if not trained:
            problem = AssertionError(
                f"{self._layers.full_name()} has no parameter to train, so DataParallel has "
                "nothing to do: use the layer itself"
            )
        for name, parameter in trained:
            if owner_of(parameter.leaf_node()) not in (None, self._reducer):
                taken = f"parameter {name} is in another DataParallel already"
                problem = problem or RuntimeError(taken)
            if parameter.size == 0:
                problem = ValueError(
                    f"parameter {name} has no elements: its shape is {parameter.shape}"
                )
        low, high = RING_BOUNDS
        nrings = self._options["nrings"]
        if not low <= nrings <= high:
            problem = ValueError(f"strategy.nrings must lie in {low}..{high}; got {nrings}")
        return trained, problem

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
        old.group.destroy()  # type: ignore[attr-defined]
        if len(set(completed)) > 1:
            told = ", ".join(f"rank {rank}: {count}" for rank, count in enumerate(completed))
            raise RuntimeError(
                "a rank failed after the gradients of its last step were averaged, so that other "
                f"ranks have made a step more ({told}) and may hold other parameters; load the "
                "last checkpoint on every rank and go on"
            )
        return new

    def _is_stale(self, reducer: Reducer) -> bool:
        """Whether the Reducer has failed, or other parameters are trained than it knows."""
        if reducer.broken:
            return True
        self._changes = trained_changes[0]
        return [p.leaf_node() for _, p in self._find_trained()[0]] != reducer.nodes

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Runs the wrapped layer; the backward of what it returns is averaged."""
        reducer = self._reducer
        if reducer is None or not grad_state.recording:
            return self._layers(*inputs, **kwargs)
        if (reducer.broken or self._changes != trained_changes[0]) and self._is_stale(reducer):
            reducer = self._renew()
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


def _watch_waits(reducer: Reducer, group: ProcessGroup) -> None:
    """Has waits for late ranks reported with the bucket and its parameters."""
    weak, rank = weakref.ref(reducer), reducer.group.rank

    def report(late: list[int], seconds: float, number: int) -> None:
        alive = weak()
        buckets = [] if alive is None else alive.buckets
        where = [b for b in buckets if getattr(b.buffer, "number", None) == number]
        what = alive.describe(where[0]) if alive is not None and where else "unused parameters"
        whom = " and ".join(f"rank {one}" for one in late)
        sys.stderr.write(
            f"minipaddle: rank {rank} has been waiting for {whom} for {seconds:g} s: {what}\n"
        )
        sys.stderr.flush()

    group.report_waits(float(get_flag("FLAGS_comm_wait_warning")), report)


def _broadcast_state(members: ProcessGroup, layers: Layer) -> None:
    """Gives every rank the parameters and buffers of rank 0."""
    skipped = {id(p) for p in layers.parameters() if p.no_sync}
    for tensor in [*layers.parameters(), *layers.buffers()]:
        if id(tensor) not in skipped:
            members.broadcast(tensor.data, 0)
            tensor.version[0] += 1
