"""Collectives on tensors: every process of a group calls the same ones in the same order."""

from __future__ import annotations

from typing import Any

from minipaddle.distributed.group import Group, default_group, members_of
from minipaddle.distributed.process_group.base import ReduceOp
from minipaddle.imperative.tensor import Tensor


def _checked(tensor: Any, name: str = "tensor") -> Tensor:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a Tensor; got {type(tensor).__name__}")
    return tensor


def _checked_list(tensors: Any, name: str, length: int) -> list[Tensor]:
    if not isinstance(tensors, (list, tuple)) or len(tensors) != length:
        raise ValueError(f"{name} must be a list of {length} tensors, one for each member")
    return [_checked(tensor, f"{name}[{i}]") for i, tensor in enumerate(tensors)]


def _position(rank: Any, name: str, group: Group | None) -> int:
    """The group's own number of the process whose rank in the job is ``rank``."""
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise ValueError(f"{name} must be an int, a rank in the job; got {rank!r}")
    position = (group or default_group()).get_group_rank(rank)
    if position < 0:
        raise AssertionError(f"{name}={rank} is not in the group {group or default_group()}")
    return position


def _op(op: Any) -> ReduceOp:
    try:
        return ReduceOp(op)
    except ValueError:
        names = ", ".join(f"ReduceOp.{one.name}" for one in ReduceOp)
        raise ValueError(f"op must be one of {names}; got {op!r}") from None


def _written(tensor: Tensor) -> None:
    tensor.version[0] += 1


def all_reduce(
    tensor: Tensor, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> None:
    """Replaces ``tensor`` on every process by its reduction over the processes.

    Args:
        tensor: Equal in shape and dtype everywhere; changed in place.
        op: ReduceOp.SUM, MAX, MIN, PROD or AVG.
        group: The processes; all by default. On others nothing happens.
        sync_op: For Paddle's signature: the result is there on return either way.

    Raises:
        CollectiveMismatchError: The processes called it with different tensors.
        TimeoutError: A process did not come in time.
        ValueError: ``op`` is none of these.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.ones([2])
        >>> paddle.distributed.all_reduce(x)
        >>> x.tolist()
        [1.0, 1.0]
    """
    members, op = members_of(group), _op(op)
    if members is not None:
        members.all_reduce(_checked(tensor).data, op)
        _written(tensor)


def reduce(
    tensor: Tensor,
    dst: int,
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
) -> None:
    """Replaces ``tensor`` on process ``dst`` by its reduction; the others keep theirs.

    Args:
        tensor: Equal in shape and dtype everywhere.
        dst: A rank in the job.
        op: See ``all_reduce``.
        group: See ``all_reduce``.
        sync_op: See ``all_reduce``.

    Raises:
        AssertionError: ``dst`` is not in the group.
        ValueError: ``dst`` is no int.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.distributed.reduce(paddle.ones([2]), dst=0)
    """
    members = members_of(group)
    if members is not None:
        position = _position(dst, "dst", group)
        members.reduce(_checked(tensor).data, position, _op(op))
        if position == members.rank:
            _written(tensor)


def broadcast(tensor: Tensor, src: int, group: Group | None = None, sync_op: bool = True) -> None:
    """Replaces ``tensor`` on every process by that of process ``src``.

    Args:
        tensor: Equal in shape and dtype everywhere.
        src: A rank in the job.
        group: See ``all_reduce``.
        sync_op: See ``all_reduce``.

    Raises:
        AssertionError: ``src`` is not in the group.
        ValueError: ``src`` is no int.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.distributed.broadcast(paddle.ones([2]), src=0)
    """
    members = members_of(group)
    if members is not None:
        members.broadcast(_checked(tensor).data, _position(src, "src", group))
        _written(tensor)


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Group | None = None, sync_op: bool = True
) -> None:
    """Appends the tensors of all processes, by rank, to ``tensor_list``.

    Args:
        tensor_list: A list, usually empty.
        tensor: Equal in shape and dtype everywhere.
        group: See ``all_reduce``.
        sync_op: See ``all_reduce``.

    Raises:
        TypeError: ``tensor_list`` is no list.

    Example:
        >>> import minipaddle as paddle
        >>> found = []
        >>> paddle.distributed.all_gather(found, paddle.ones([2]))
        >>> len(found)
        1
    """
    if not isinstance(tensor_list, list):
        raise TypeError(f"tensor_list must be a list; got {type(tensor_list).__name__}")
    members = members_of(group)
    if members is not None:
        arrays = members.all_gather(_checked(tensor).data)
        tensor_list.extend(Tensor(array, tensor.place) for array in arrays)


def reduce_scatter(
    tensor: Tensor,
    tensor_list: list[Tensor],
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
) -> None:
    """Writes the reduction of every process's ``tensor_list[rank]`` into ``tensor``.

    Args:
        tensor: Takes the result.
        tensor_list: One tensor of its shape and dtype for each member.
        op: See ``all_reduce``.
        group: See ``all_reduce``.
        sync_op: See ``all_reduce``.

    Raises:
        ValueError: ``tensor_list`` is not as long as the group.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.zeros([2])
        >>> paddle.distributed.reduce_scatter(x, [paddle.ones([2])])
        >>> x.tolist()
        [1.0, 1.0]
    """
    members = members_of(group)
    if members is not None:
        parts = _checked_list(tensor_list, "tensor_list", members.world_size)
        members.reduce_scatter(_checked(tensor).data, [part.data for part in parts], _op(op))
        _written(tensor)


def scatter(
    tensor: Tensor,
    tensor_list: list[Tensor] | None = None,
    src: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
) -> None:
    """Writes ``tensor_list[rank]`` of process ``src`` into ``tensor``.

    Args:
        tensor: Takes the result.
        tensor_list: On ``src`` one tensor for each member; ignored elsewhere.
        src: A rank in the job.
        group: See ``all_reduce``.
        sync_op: See ``all_reduce``.

    Raises:
        AssertionError: ``src`` is not in the group.
        ValueError: ``tensor_list`` is not as long as the group.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.zeros([2])
        >>> paddle.distributed.scatter(x, [paddle.ones([2])], src=0)
        >>> x.tolist()
        [1.0, 1.0]
    """
    members = members_of(group)
    if members is not None:
        position, arrays = _position(src, "src", group), None
        if position == members.rank:
            parts = _checked_list(tensor_list, "tensor_list", members.world_size)
            arrays = [part.data for part in parts]
        members.scatter(_checked(tensor).data, arrays, position)
        _written(tensor)


def alltoall(
    out_tensor_list: list[Tensor],
    in_tensor_list: list[Tensor],
    group: Group | None = None,
    sync_op: bool = True,
) -> None:
    """Sends ``in_tensor_list[i]`` to member i, and appends what came to ``out_tensor_list``.

    Args:
        out_tensor_list: A list, usually empty.
        in_tensor_list: One tensor for each member.
        group: See ``all_reduce``.
        sync_op: See ``all_reduce``.

    Raises:
        ValueError: ``in_tensor_list`` is not as long as the group.

    Example:
        >>> import minipaddle as paddle
        >>> found = []
        >>> paddle.distributed.alltoall(found, [paddle.ones([2])])
        >>> len(found)
        1
    """
    members = members_of(group)
    if members is not None:
        parts = _checked_list(in_tensor_list, "in_tensor_list", members.world_size)
        arrays = members.alltoall([part.data for part in parts])
        out_tensor_list.extend(Tensor(array, parts[0].place) for array in arrays)


def send(tensor: Tensor, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> None:
    """Sends ``tensor`` to process ``dst``, which calls ``recv``.

    Args:
        tensor: The tensor.
        dst: A rank in the job.
        group: See ``all_reduce``.
        sync_op: See ``all_reduce``.

    Raises:
        AssertionError: ``dst`` is not in the group.
        ValueError: ``dst`` is no int, or this process itself.

    Example:
        >>> import minipaddle as paddle
        >>> def give(x):
        ...     if paddle.distributed.get_rank() == 0:
        ...         paddle.distributed.send(x, dst=1)
        ...     else:
        ...         paddle.distributed.recv(x, src=0)
    """
    members = members_of(group)
    if members is not None:
        members.send(_checked(tensor).data, _position(dst, "dst", group))


def recv(tensor: Tensor, src: int = 0, group: Group | None = None, sync_op: bool = True) -> None:
    """Replaces ``tensor`` by what process ``src`` sends.

    Args:
        tensor: Equal in shape and dtype to what is sent.
        src: A rank in the job.
        group: See ``all_reduce``.
        sync_op: See ``all_reduce``.

    Raises:
        AssertionError: ``src`` is not in the group.
        ValueError: ``src`` is no int, or this process itself.

    Example:
        >>> import minipaddle as paddle
        >>> def take(x):
        ...     if paddle.distributed.get_rank() == 1:
        ...         paddle.distributed.recv(x, src=0)
        ...     else:
        ...         paddle.distributed.send(x, dst=1)
    """
    members = members_of(group)
    if members is not None:
        members.recv(_checked(tensor).data, _position(src, "src", group))
        _written(tensor)


def barrier(group: Group | None = None) -> None:
    """Returns when every process of the group has called it.

    Raises:
        TimeoutError: A process did not come in time.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.distributed.barrier()
    """
    members = members_of(group)
    if members is not None:
        members.barrier()


def wait(tensor: Tensor, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Returns when the work on ``tensor``'s device that was given so far is done.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.distributed.wait(paddle.ones([2]))
    """
    place = _checked(tensor).place
    place.backend.synchronize(place.index)


def all_gather_object(object_list: list[Any], obj: Any, group: Group | None = None) -> None:
    """Appends the objects of all processes, by rank, to ``object_list``; they are pickled.

    Example:
        >>> import minipaddle as paddle
        >>> found = []
        >>> paddle.distributed.all_gather_object(found, {"loss": 0.5})
        >>> found
        [{'loss': 0.5}]
    """
    members = members_of(group)
    if members is not None:
        object_list.extend(members.all_gather_object(obj))


def broadcast_object_list(object_list: list[Any], src: int, group: Group | None = None) -> None:
    """Replaces the objects in ``object_list`` by those of process ``src``; they are pickled.

    Example:
        >>> import minipaddle as paddle
        >>> found = ["a"]
        >>> paddle.distributed.broadcast_object_list(found, src=0)
        >>> found
        ['a']
    """
    members = members_of(group)
    if members is not None:
        position = _position(src, "src", group)
        object_list[:] = members.broadcast_object(list(object_list), position)


__all__ = [
    "ReduceOp",
    "all_gather",
    "all_gather_object",
    "all_reduce",
    "alltoall",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "recv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send",
    "wait",
]
