"""What the conformance suite of process groups needs to run on arrays of an XPU."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minipaddle.device.backend import get_place
from minipaddle.ops.op import namespace
from tests.device.fake_xpu import BACKEND, XpuArray, XpuBuffer, XpuGroup


class FillableArray(XpuArray):
    """The suite fills a bucket by ``array[...] = values``; here a kernel of the device does it."""

    __slots__ = ()

    def __setitem__(self, index: Any, value: Any) -> None:
        assert index is Ellipsis
        namespace(get_place(f"xpu:{self.index}")).copy_(self, value)


class FillableGroup(XpuGroup):
    """The group under test, with buckets that the suite can fill."""

    def empty(self, numel: int, dtype: Any) -> XpuBuffer:
        buffer = super().empty(numel, dtype)
        buffer.array = FillableArray(buffer.array._memory, buffer.array.index)
        return buffer


def make_group(rank: int, world_size: int, token: str, **options: Any) -> XpuGroup:
    """The group of this rank, whose arrays lie on an XPU of its own."""
    BACKEND.set_device(rank)
    return FillableGroup.create(rank, world_size, token, **options)


@dataclass(frozen=True)
class XpuDevice:
    """Arrays of one XPU a process."""

    dtypes: Sequence[str] = field(default=("float16", "bfloat16", "float32", "float64", "int64"))

    def array(self, host: np.ndarray) -> Any:
        return BACKEND.from_host(host, BACKEND.current)

    def host(self, array: Any) -> np.ndarray:
        return BACKEND.to_host(array)
