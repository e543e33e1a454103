"""Communication hooks: what a user has done with a bucket in place of averaging it as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minipaddle.device.backend import Array
from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.bucket import Bucket
from minipaddle.imperative.reducer import Reducer
from minipaddle.ops.op import Namespace, namespace


class GradBucket:
    """One bucket in the hands of a hook, in a communication thread.

    Attributes:
        array: The gradients, 1-D; the hook leaves in it what every rank shall have.
        index: The bucket's number, in the order in which buckets leave.
        parameters: Names of the parameters, in the order in which they lie in ``array``.
        is_last: No bucket follows.
        world_size: Number of ranks.
        kernels: The kernels of the array's place, for casts and the like.
    """

    __slots__ = ("_channel", "_reducer", "array", "index", "is_last", "kernels", "parameters",
                 "world_size")  # fmt: skip

    def __init__(self, reducer: Reducer, bucket: Bucket, ring: int, token: Any) -> None:
        self._reducer = reducer
        self._channel = (bucket.buffer, ring, token)
        self.array: Array = bucket.flat.array
        self.index = bucket.index
        self.parameters = [reducer.names[i] for i in bucket.members]
        self.is_last = bucket is reducer.buckets[-1]
        self.world_size = reducer.group.world_size
        self.kernels: Namespace = namespace(bucket.flat.place)

    def mean(self, array: Array | None = None) -> None:
        """Replaces an array on every rank by its mean over the ranks.

        Args:
            array: Of the same shape and dtype on every rank; the bucket itself by default.
        """
        buffer, ring, token = self._channel
        group = self._reducer.group
        group.wait_comm(group.allreduce_mean(buffer if array is None else array, ring, token))


CommHook = Callable[[GradBucket], None]


def allreduce(bucket: GradBucket) -> None:
    """The mean over the ranks: what happens without a hook.

    Example:
        >>> import minipaddle as paddle
        >>> def set_up(model):
        ...     model.register_comm_hook(paddle.distributed.hooks.allreduce)
    """
    bucket.mean()


def fp16_compress(bucket: GradBucket) -> None:
    """The mean of gradients rounded to float16; its sum is formed in float32.

    It halves what is sent. Gradients above 65504 become infinite.

    Example:
        >>> import minipaddle as paddle
        >>> def set_up(model):
        ...     model.register_comm_hook(paddle.distributed.hooks.fp16_compress)
    """
    _mean_as(bucket, "float16")


def bf16_compress(bucket: GradBucket) -> None:
    """The mean of gradients rounded to bfloat16, which has float32's range; see fp16_compress.

    Example:
        >>> import minipaddle as paddle
        >>> def set_up(model):
        ...     model.register_comm_hook(paddle.distributed.hooks.bf16_compress)
    """
    _mean_as(bucket, "bfloat16")


def _mean_as(bucket: GradBucket, name: str) -> None:
    dtype = as_dtype(name)
    if bucket.array.dtype.itemsize <= dtype.itemsize:
        bucket.mean()
        return
    small = bucket.kernels.cast(bucket.array, dtype)
    bucket.mean(small)
    bucket.kernels.copy_(bucket.array, bucket.kernels.cast(small, bucket.array.dtype))
