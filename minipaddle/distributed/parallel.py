"""DataParallel: one model, trained by several processes on different data."""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from minipaddle.device.flags import RING_BOUNDS
from minipaddle.device.parallel_env import ParallelEnv
from minipaddle.distributed.group import Group, default_group, members_of
from minipaddle.distributed.process_group.base import ProcessGroup
from minipaddle.imperative.grad_node import grad_state
from minipaddle.imperative.reducer import Reducer
from minipaddle.imperative.tensor import Parameter, Tensor
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
        options: dict[str, Any] = {
            "find_unused_parameters": find_unused_parameters,
            "comm_buffer_size": comm_buffer_size,
            "last_comm_buffer_size": last_comm_buffer_size,
            "nrings": members.nrings if strategy is None else strategy.nrings,
        }
        self._reducer = self._make_reducer(members, options)
        # At once, and not when the last communication thread has forgotten its last task.
        weakref.finalize(self, self._reducer.release)

    def _make_reducer(self, members: ProcessGroup, options: dict[str, Any]) -> Reducer:
        # What is wrong on one rank alone must not leave the others waiting for it, so each rank
        # tells the others what it has before it looks at what is wrong.
        _check_same_models(members, self._layers, options)
        _check_rings(options["nrings"])
        trained = self._trained_parameters()
        _broadcast_state(members, self._layers)
        # Channels of its own: two models in one backward are then free to finish in any order.
        own = members.new_group(range(members.world_size), options["nrings"])
        assert own is not None
        sizes = (options["last_comm_buffer_size"], options["comm_buffer_size"])
        limits = [int(megabytes * _MEGABYTE) for megabytes in sizes]
        reducer = Reducer(trained, own, limits, options["find_unused_parameters"])
        weakref.finalize(reducer, own.destroy)
        return reducer

    def _trained_parameters(self) -> list[tuple[str, Parameter]]:
        trained = [
            (name, parameter)
            for name, parameter in self._layers.named_parameters()
            if parameter.trainable and not parameter.no_sync
        ]
        if not trained:
            raise AssertionError(
                f"{self._layers.full_name()} has no parameter to train, so DataParallel has "
                "nothing to do: use the layer itself"
            )
        for name, parameter in trained:
            if parameter.size == 0:
                raise ValueError(
                    f"parameter {name} has no elements: its shape is {parameter.shape}"
                )
        return trained

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Runs the wrapped layer; the backward of what it returns is averaged."""
        outputs = self._layers(*inputs, **kwargs)
        if self._reducer is not None and grad_state.recording:
            self._reducer.prepare_for_backward(self._sync)
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


def _check_rings(nrings: Any) -> None:
    low, high = RING_BOUNDS
    if not low <= nrings <= high:
        raise ValueError(f"strategy.nrings must lie in {low}..{high}; got {nrings}")


def _check_same_models(members: ProcessGroup, layers: Layer, options: dict[str, Any]) -> None:
    """Refuses, on every rank, models or options that differ between ranks."""
    mine = {f"option {name}": str(value) for name, value in options.items()}
    for name, parameter in layers.named_parameters():
        trained = parameter.trainable and not parameter.no_sync
        mine[f"parameter {name}"] = f"{_shape_and_dtype(parameter)}, trained {trained}"
    for name, buffer in layers.named_buffers():
        mine[f"buffer {name}"] = _shape_and_dtype(buffer)
    first, *others = members.all_gather_object(mine)
    for rank, other in enumerate(others, 1):
        for name in [*first, *other]:
            a, b = first.get(name, "absent"), other.get(name, "absent")
            if a != b:
                raise RuntimeError(
                    "DataParallel needs the same model and options on every rank, but "
                    f"{name} is: {a} on rank 0; {b} on rank {rank}"
                )
        if list(first) != list(other):
            raise RuntimeError(
                f"DataParallel needs parameters in the same order on every rank; rank {rank} "
                "declares them in another order than rank 0"
            )


def _shape_and_dtype(tensor: Tensor) -> str:
    return f"shape {tensor.shape}, dtype {tensor.dtype.name}"


def _broadcast_state(members: ProcessGroup, layers: Layer) -> None:
    """Gives every rank the parameters and buffers of rank 0."""
    skipped = {id(p) for p in layers.parameters() if p.no_sync}
    for tensor in [*layers.parameters(), *layers.buffers()]:
        if id(tensor) not in skipped:
            members.broadcast(tensor.data, 0)
            tensor.version[0] += 1
