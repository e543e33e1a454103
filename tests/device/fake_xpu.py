"""A complete third kind of device, as an outsider would add one: eight XPUs made of host memory.

Everything goes through the public registrations: a Backend, one kernel per op, a process group.
Its array shows shape, dtype, size and nbytes and refuses whatever else a NumPy array can do, so
that no code above the kernels works only because an array happens to be NumPy's. A kernel unwraps
its operands, has the CPU's kernel compute, and wraps the result.

Loaded by ``MINIPADDLE_PLUGINS=tests.device.fake_xpu`` or by importing it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from minipaddle.device.backend import Backend, register_backend
from minipaddle.device.flags import define_device_variables, visible_ids
from minipaddle.distributed.process_group import (
    DEFAULT_TIMEOUT,
    ProcessGroup,
    ReduceOp,
    SharedMemoryGroup,
    register_process_group,
)
from minipaddle.ops.declaration import Rows
from minipaddle.ops.op import OPS, kernel

KIND = "xpu"
DEVICES = 8
VISIBLE = "XPU_VISIBLE_DEVICES"
SELECTED = "FLAGS_selected_xpus"

# Gradients left to the formula: a device need not bring a fused kernel for any of them.
FORMULA_ONLY = frozenset({"lerp_grad"})


class XpuArray:
    """Memory of one XPU, opaque to everything but this module.

    Attributes:
        shape: Length of each axis.
        dtype: Element type.
        size: Number of elements.
        nbytes: Bytes that the elements take.
        index: The XPU it lies on.
    """

    __slots__ = ("__weakref__", "_memory", "dtype", "index", "nbytes", "shape", "size")

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, memory: np.ndarray[Any, Any], index: int) -> None:
        self._memory = memory
        self.index = index
        self.shape = memory.shape
        self.dtype = memory.dtype
        self.size = memory.size
        self.nbytes = memory.nbytes

    def _refuse(self, *args: Any, **options: Any) -> NoReturn:
        raise TypeError("an array of an XPU is opaque: only kernels of that device can use it")

    __array__ = __array_function__ = _refuse
    __bool__ = __eq__ = __ne__ = __reduce_ex__ = _refuse  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"XpuArray(shape={self.shape}, dtype={self.dtype.name}, index={self.index})"


def _memory(array: Any) -> np.ndarray[Any, Any]:
    if not isinstance(array, XpuArray):
        raise TypeError(f"needs an array of an XPU; got {type(array).__name__}")
    return array._memory


class XpuBackend(Backend):
    """Eight devices that compute at once; the contract of ``Backend`` and nothing more."""

    name = KIND
    xp = None
    visible_devices_env = VISIBLE
    selected_devices_env = SELECTED

    def __init__(self) -> None:
        self._current = threading.local()

    @property
    def current(self) -> int:
        """The XPU that the calling thread's kernels run on."""
        return getattr(self._current, "index", 0)

    def device_count(self) -> int:
        """As many as XPU_VISIBLE_DEVICES names, else eight."""
        return len(visible_ids(VISIBLE, os.environ, DEVICES) or ())

    def set_device(self, index: int) -> None:
        """Makes XPU ``index`` the calling thread's."""
        if not 0 <= index < self.device_count():
            raise ValueError(f"there is no xpu:{index}; this process sees {self.device_count()}")
        self._current.index = index

    def to_host(self, array: Any) -> Any:
        """A copy as a NumPy array."""
        return np.array(_memory(array))

    def from_host(self, array: Any, index: int) -> XpuArray:
        """A copy on XPU ``index``."""
        return XpuArray(np.array(array, order="C"), index)

    def is_view(self, array: Any, of: Any) -> bool:
        """Whether the two lie in one memory."""
        return np.may_share_memory(_memory(array), _memory(of))


BACKEND = XpuBackend()


class _Kernel:
    """A kernel of the CPU, for arrays of an XPU.

    An array that the kernel returns and that is one of its operands comes back as the same
    ``XpuArray``: in-place kernels return their operand, gradient kernels the array they wrote.
    """

    def __init__(self, name: str, compute: Callable[..., Any]) -> None:
        self.name = name
        self.compute = compute

    def __call__(self, *args: Any) -> Any:
        operands = list(_arrays(args))
        indices = {array.index for array in operands} or {BACKEND.current}
        if len(indices) > 1:
            raise RuntimeError(f"{self.name}: operands lie on the XPUs {sorted(indices)}")
        known = {id(array._memory): array for array in operands}
        result = self.compute(*(_unwrapped(arg) for arg in args))
        return self._wrapped(result, known, indices.pop())

    def _wrapped(self, result: Any, known: dict[int, XpuArray], index: int) -> Any:
        if result is None:
            return None
        if isinstance(result, Rows):
            return Rows(*(self._wrapped(item, known, index) for item in result))
        if isinstance(result, (list, tuple)):
            return [self._wrapped(item, known, index) for item in result]
        if type(result) is not np.ndarray:
            raise TypeError(f"kernel {self.name} must return arrays; got {type(result).__name__}")
        same = known.get(id(result))
        return XpuArray(result, index) if same is None else same


def _arrays(args: Sequence[Any]) -> Iterator[XpuArray]:
    for arg in args:
        if isinstance(arg, XpuArray):
            yield arg
        elif isinstance(arg, (list, tuple)):
            yield from _arrays(arg)
        elif isinstance(arg, np.ndarray):
            raise TypeError("a NumPy array has reached a kernel of an XPU")


def _unwrapped(arg: Any) -> Any:
    if isinstance(arg, XpuArray):
        return arg._memory
    if isinstance(arg, (list, tuple)) and any(isinstance(item, XpuArray) for item in arg):
        return type(arg)(_unwrapped(item) for item in arg)
    return arg


def _register_kernels() -> None:
    for name, op in OPS.items():
        tables = {name: op.kernels.registered, f"{name}_": op.inplace_kernels.registered}
        if op.backward is not None and op.backward.name not in FORMULA_ONLY:
            tables[op.backward.name] = op.backward.fused
        for kernel_name, table in tables.items():
            if "cpu" in table:
                kernel(kernel_name, KIND)(_Kernel(kernel_name, table["cpu"]))


class XpuBuffer:
    """A bucket in memory that all ranks reach.

    Attributes:
        array: This rank's memory, one-dimensional.
        shared: The same bucket as the host's group knows it.
    """

    __slots__ = ("array", "shared")

    def __init__(self, shared: Any) -> None:
        self.shared = shared
        self.array = XpuArray(shared.array, BACKEND.current)


class XpuGroup(ProcessGroup):
    """Blocking collectives: a group of host memory, with arrays of an XPU as arguments."""

    blocking = True

    def __init__(self, host: Any) -> None:
        self._host = host
        self.rank, self.world_size = host.rank, host.world_size
        self.nrings, self.timeout = host.nrings, host.timeout

    @classmethod
    def create(
        cls,
        rank: int,
        world_size: int,
        token: str,
        nrings: int = 1,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> XpuGroup:
        return cls(SharedMemoryGroup.create(rank, world_size, token, nrings, timeout))

    def new_group(self, ranks: Sequence[int], nrings: int | None = None) -> XpuGroup | None:
        host = self._host.new_group(ranks, nrings)
        return None if host is None else XpuGroup(host)

    def destroy(self) -> None:
        self._host.destroy()

    def abort(self, exc: BaseException) -> None:
        self._host.abort(exc)

    def report_waits(self, seconds: float, report: Any = None) -> None:
        self._host.report_waits(seconds, report)

    def empty(self, numel: int, dtype: Any) -> XpuBuffer:
        return XpuBuffer(self._host.empty(numel, dtype))

    def wait_compute(self, ring: int) -> Any:
        return self._host.wait_compute(ring)

    def allreduce_mean(self, buffer: XpuBuffer, ring: int, token: Any) -> Any:
        shared = buffer.shared if isinstance(buffer, XpuBuffer) else _memory(buffer)
        return self._host.allreduce_mean(shared, ring, token)

    def divide_before(self, factor: float) -> None:
        self._host.divide_before(factor)

    def wait_comm(self, token: Any) -> None:
        self._host.wait_comm(token)

    def allreduce_max(self, bitmap: Any) -> None:
        self._host.allreduce_max(bitmap)

    def all_reduce(self, array: XpuArray, op: int = ReduceOp.SUM) -> None:
        self._host.all_reduce(_memory(array), op)

    def reduce(self, array: XpuArray, dst: int, op: int = ReduceOp.SUM) -> None:
        self._host.reduce(_memory(array), dst, op)

    def broadcast(self, array: XpuArray, src: int) -> None:
        self._host.broadcast(_memory(array), src)

    def all_gather(self, array: XpuArray) -> list[XpuArray]:
        return [XpuArray(part, array.index) for part in self._host.all_gather(_memory(array))]

    def reduce_scatter(
        self, out: XpuArray, arrays: Sequence[XpuArray], op: int = ReduceOp.SUM
    ) -> None:
        self._host.reduce_scatter(_memory(out), [_memory(array) for array in arrays], op)

    def scatter(self, array: XpuArray, arrays: Sequence[XpuArray] | None, src: int) -> None:
        parts = None if arrays is None else [_memory(part) for part in arrays]
        self._host.scatter(_memory(array), parts, src)

    def alltoall(self, arrays: Sequence[XpuArray]) -> list[XpuArray]:
        came = self._host.alltoall([_memory(array) for array in arrays])
        return [XpuArray(part, arrays[0].index) for part in came]

    def send(self, array: XpuArray, dst: int) -> None:
        self._host.send(_memory(array), dst)

    def recv(self, array: XpuArray, src: int) -> None:
        self._host.recv(_memory(array), src)

    def barrier(self) -> None:
        self._host.barrier()

    def all_gather_object(self, obj: Any) -> list[Any]:
        return self._host.all_gather_object(obj)

    def broadcast_object(self, obj: Any, src: int) -> Any:
        return self._host.broadcast_object(obj, src)


define_device_variables(KIND, VISIBLE, SELECTED)
register_backend(BACKEND)
_register_kernels()
register_process_group(KIND, XpuGroup)
