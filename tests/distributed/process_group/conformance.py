"""What every process group must do, whatever the device.

Each check runs on all ranks at once: ``check(group, device)``. A device turns host arrays into
its own and back and names the dtypes that its reductions take. To test another group, give
``harness.Ranks`` a factory for it and run ``CHECKS`` with its device.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from minipaddle.distributed.process_group import ProcessGroup, ReduceOp

SIZES = [(), (0,), (1,), (7,), (33, 5), (4097,), (300, 1001)]


@dataclass(frozen=True)
class HostDevice:
    """NumPy arrays as they are; a device of another kind has the same members."""

    dtypes: Sequence[str] = field(
        default=("float16", "bfloat16", "float32", "float64", "uint8", "int32", "int64")
    )

    def array(self, host: np.ndarray) -> Any:
        return host

    def host(self, array: Any) -> np.ndarray:
        return array


def dtype_of(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def values(rank: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Small whole numbers that differ over ranks and positions; their sums are exact."""
    size = int(np.prod(shape))
    return ((np.arange(size) * 7 + rank * 3) % 11 + 1).reshape(shape).astype(dtype)


def expected(op: ReduceOp, world_size: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    stack = np.stack([values(r, shape, np.dtype(np.float64)) for r in range(world_size)])
    join = {
        ReduceOp.SUM: np.sum,
        ReduceOp.MAX: np.max,
        ReduceOp.MIN: np.min,
        ReduceOp.PROD: np.prod,
        ReduceOp.AVG: np.mean,
    }[op]
    return join(stack, axis=0).astype(dtype)


def assert_same(got: np.ndarray, want: np.ndarray, exact: bool = True) -> None:
    assert got.shape == want.shape and got.dtype == want.dtype, (got.shape, got.dtype, want.shape)
    if exact:
        assert got.tobytes() == want.tobytes(), (got, want)
        return
    eps = 4 * float(ml_dtypes.finfo(want.dtype).eps)
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=eps)


def assert_equal_on_all_ranks(group: ProcessGroup, host: np.ndarray) -> None:
    assert len(set(group.all_gather_object(host.tobytes()))) == 1


def every_case(device: Any) -> list[tuple[tuple[int, ...], np.dtype]]:
    return [(shape, dtype_of(name)) for name in device.dtypes for shape in SIZES]


def is_float(dtype: np.dtype) -> bool:
    return dtype.kind not in "iub"


def check_all_reduce(group: ProcessGroup, device: Any) -> None:
    for shape, dtype in every_case(device):
        for op in ReduceOp:
            if op is ReduceOp.AVG and not is_float(dtype):
                continue
            array = device.array(values(group.rank, shape, dtype))
            assert group.all_reduce(array, op) is None
            # 1/3 is rounded before it scales an addend; all else here is exact.
            exact = op is not ReduceOp.AVG
            host = device.host(array)
            assert_same(host, expected(op, group.world_size, shape, dtype), exact)
            assert_equal_on_all_ranks(group, host)


def check_all_reduce_takes_plain_numbers_for_op(group: ProcessGroup, device: Any) -> None:
    array = device.array(np.full(3, group.rank + 1, np.float32))
    group.all_reduce(array, 1)
    assert device.host(array).tolist() == [group.world_size] * 3


def check_reduce(group: ProcessGroup, device: Any) -> None:
    for shape, dtype in every_case(device):
        for dst in range(group.world_size):
            array = device.array(values(group.rank, shape, dtype))
            group.reduce(array, dst, ReduceOp.SUM)
            if group.rank == dst:
                want = expected(ReduceOp.SUM, group.world_size, shape, dtype)
            else:
                want = values(group.rank, shape, dtype)
            assert_same(device.host(array), want)


def check_broadcast(group: ProcessGroup, device: Any) -> None:
    for shape, dtype in [*every_case(device), ((5000,), np.dtype(bool))]:
        for src in range(group.world_size):
            array = device.array(values(group.rank, shape, dtype))
            group.broadcast(array, src)
            assert_same(device.host(array), values(src, shape, dtype))


def check_all_gather(group: ProcessGroup, device: Any) -> None:
    for shape, dtype in [*every_case(device), ((5000,), np.dtype(bool))]:
        parts = group.all_gather(device.array(values(group.rank, shape, dtype)))
        assert len(parts) == group.world_size
        for rank, part in enumerate(parts):
            assert_same(device.host(part), values(rank, shape, dtype))


def check_reduce_scatter(group: ProcessGroup, device: Any) -> None:
    for shape, dtype in every_case(device):
        arrays = [
            device.array(values(group.rank + 10 * q, shape, dtype)) for q in range(group.world_size)
        ]
        out = device.array(np.zeros(shape, dtype))
        group.reduce_scatter(out, arrays, ReduceOp.MAX)
        ranks = range(10 * group.rank, 10 * group.rank + group.world_size)
        want = np.max([values(r, shape, np.dtype(np.float64)) for r in ranks], axis=0)
        assert_same(device.host(out), want.astype(dtype))
        for q, array in enumerate(arrays):
            assert_same(device.host(array), values(group.rank + 10 * q, shape, dtype))


def check_scatter(group: ProcessGroup, device: Any) -> None:
    for shape, dtype in every_case(device):
        for src in range(group.world_size):
            arrays = [device.array(values(q + 5, shape, dtype)) for q in range(group.world_size)]
            out = device.array(np.zeros(shape, dtype))
            group.scatter(out, arrays if group.rank == src else None, src)
            assert_same(device.host(out), values(group.rank + 5, shape, dtype))


def check_alltoall(group: ProcessGroup, device: Any) -> None:
    for shape, dtype in every_case(device):
        arrays = [
            device.array(values(group.rank + 10 * q, shape, dtype)) for q in range(group.world_size)
        ]
        for rank, part in enumerate(group.alltoall(arrays)):
            assert_same(device.host(part), values(rank + 10 * group.rank, shape, dtype))


def check_send_and_recv(group: ProcessGroup, device: Any) -> None:
    for shape, dtype in every_case(device):
        for src in range(group.world_size):
            dst = (src + 1) % group.world_size
            if src == dst or group.rank not in (src, dst):
                continue
            array = device.array(values(group.rank, shape, dtype))
            if group.rank == src:
                group.send(array, dst)
            else:
                group.recv(array, src)
            assert_same(device.host(array), values(src, shape, dtype))
    group.barrier()


def check_objects(group: ProcessGroup, device: Any) -> None:
    for size in (0, 10, 300_000):
        own = {"rank": group.rank, "text": "x" * (size * (group.rank + 1))}
        every = group.all_gather_object(own)
        assert [item["rank"] for item in every] == list(range(group.world_size))
        assert [len(item["text"]) for item in every] == [
            size * (r + 1) for r in range(group.world_size)
        ]
        for src in range(group.world_size):
            assert group.broadcast_object(own if group.rank == src else None, src) == every[src]


def check_buckets(group: ProcessGroup, device: Any) -> None:
    names = [name for name in device.dtypes if is_float(dtype_of(name))]
    for name in names:
        for numel in (0, 1, 100, 5000, 300_001):
            for ring in range(group.nrings):
                buffer = group.empty(numel, dtype_of(name))
                mine = device.array(values(group.rank, (numel,), dtype_of(name)))
                for _ in range(2):
                    buffer.array[...] = mine
                    token = group.wait_compute(ring)
                    group.wait_comm(group.allreduce_mean(buffer, ring, token))
                    got = device.host(buffer.array)
                    want = expected(ReduceOp.AVG, group.world_size, (numel,), dtype_of(name))
                    assert_same(got, want, exact=False)
                    assert_equal_on_all_ranks(group, got)


def check_mean_of_large_half_values(group: ProcessGroup, device: Any) -> None:
    for numel in (3, 50_000):
        buffer = group.empty(numel, np.float16)
        buffer.array[...] = 40000.0
        group.wait_comm(group.allreduce_mean(buffer, 0, group.wait_compute(0)))
        got = device.host(buffer.array)
        if group.world_size <= 2:
            assert (got == np.float16(40000.0)).all()
        np.testing.assert_allclose(got.astype(np.float64), 40000.0, rtol=1e-3)


def check_random_means_have_equal_bits(group: ProcessGroup, device: Any) -> None:
    random = np.random.default_rng(group.rank)
    for numel in (17, 100_003):
        buffer = group.empty(numel, np.float32)
        for _ in range(20):
            mine = (random.standard_normal(numel) * 10.0 ** random.integers(-20, 20)).astype("f4")
            buffer.array[...] = device.array(mine)
            group.wait_comm(group.allreduce_mean(buffer, 0, group.wait_compute(0)))
            assert_equal_on_all_ranks(group, device.host(buffer.array))


def check_bitmap(group: ProcessGroup, device: Any) -> None:
    bitmap = np.zeros(group.world_size + 1, np.uint8)
    bitmap[group.rank] = 1
    group.allreduce_max(bitmap)
    assert bitmap.tolist() == [1] * group.world_size + [0]


def check_rings_work_beside_the_users_collectives(group: ProcessGroup, device: Any) -> None:
    rounds = 60
    buffers = [group.empty(20_000 * (ring + 1), np.float32) for ring in range(group.nrings)]
    errors: list[BaseException] = []

    def reduce_on(ring: int) -> None:
        try:
            for number in range(rounds):
                buffers[ring].array[...] = number + group.rank * (ring + 1)
                token = group.wait_compute(ring)
                group.wait_comm(group.allreduce_mean(buffers[ring], ring, token))
                want = number + (ring + 1) * (group.world_size - 1) / 2
                np.testing.assert_allclose(device.host(buffers[ring].array), want, rtol=1e-6)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=reduce_on, args=(r,)) for r in range(group.nrings)]
    for thread in threads:
        thread.start()
    for number in range(rounds):
        array = device.array(np.full(10_000, number + group.rank, np.float32))
        group.all_reduce(array)
        total = group.world_size * number + group.world_size * (group.world_size - 1) // 2
        assert (device.host(array) == total).all()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert not errors, errors


def check_ring_out_of_range(group: ProcessGroup, device: Any) -> None:
    buffer = group.empty(4, np.float32)
    for ring in (-1, group.nrings):
        try:
            group.allreduce_mean(buffer, ring, None)
        except ValueError as error:
            assert str(ring) in str(error) and str(group.nrings) in str(error)
        else:
            raise AssertionError(f"ring {ring} was accepted")
    group.barrier()


def check_new_group(group: ProcessGroup, device: Any) -> None:
    size = group.world_size
    everyone = list(range(size))
    for ranks in ([0], everyone, everyone[::-1], everyone[1:], everyone[:-1]):
        if not ranks:
            continue
        part = group.new_group(ranks)
        assert (part is None) == (group.rank not in ranks)
        if part is None:
            continue
        assert (part.rank, part.world_size) == (ranks.index(group.rank), len(ranks))
        array = device.array(np.full(5000, 2.0**group.rank, np.float32))
        part.all_reduce(array)
        assert (device.host(array) == sum(2.0**r for r in ranks)).all()
        assert part.all_gather_object(group.rank) == ranks
        part.destroy()
        part.destroy()
    group.barrier()


def check_overlapping_groups(group: ProcessGroup, device: Any) -> None:
    size = group.world_size
    groups = [group.new_group(sorted({first, (first + 1) % size})) for first in range(size)]
    for _ in range(3):
        for first, part in enumerate(groups):
            if part is not None:
                assert sorted(part.all_gather_object(group.rank)) == sorted(
                    {first, (first + 1) % size}
                )
    for part in groups:
        if part is not None:
            part.destroy()
    group.barrier()


CHECKS: list[Callable[[ProcessGroup, Any], None]] = [
    check for name, check in sorted(globals().items()) if name.startswith("check_")
]
