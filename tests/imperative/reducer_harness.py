"""Process groups without processes, and other tools for tests of the Reducer."""

import threading
import time
from types import SimpleNamespace

import numpy as np

import minipaddle as paddle
from minipaddle.device.backend import get_place
from minipaddle.imperative.reducer import Reducer
from minipaddle.imperative.tensor import Parameter

CPU = get_place("cpu")
SMALL = [0]  # every parameter is a bucket of its own
SHAPES = [(3,), (2, 2), (), (5,)]


class LoneGroup:
    """A group of one rank that notes what it is asked for.

    ``on_reduce(buffer)``, if set, runs in the communication thread before the reduction.
    """

    def __init__(self, nrings=1, blocking=True, timeout=5.0):
        self.rank, self.world_size = 0, 1
        self.nrings, self.blocking, self.timeout = nrings, blocking, timeout
        self.buffers = []
        self.computed = []  # (ring, thread) of every wait_compute
        self.reduced = []  # (buffer's number, ring, token, thread's name)
        self.aborts = []  # type and arguments: an exception keeps the Reducer alive
        self.on_reduce = None

    def empty(self, numel, dtype):
        buffer = SimpleNamespace(array=np.zeros(numel, dtype), number=len(self.buffers))
        self.buffers.append(buffer)
        return buffer

    def wait_compute(self, ring):
        self.computed.append((ring, threading.current_thread()))
        return ("computed", ring, len(self.computed))

    def allreduce_mean(self, buffer, ring, token):
        self.reduced.append((buffer.number, ring, token, threading.current_thread().name))
        if self.on_reduce is not None:
            self.on_reduce(buffer)
        return ("reduced", buffer.number)

    def wait_comm(self, token):
        pass

    def allreduce_max(self, bitmap):
        pass

    def abort(self, exc):
        self.aborts.append((type(exc), exc.args))


class World:
    """What the ranks of a ThreadGroup share."""

    def __init__(self, size, nrings=1, timeout=5.0):
        self.size, self.nrings, self.timeout = size, nrings, timeout
        self.barriers = [threading.Barrier(size) for _ in range(nrings + 1)]
        self.slots = [[None] * size for _ in range(nrings + 1)]
        self.failure = None
        self.groups = [ThreadGroup(self, rank) for rank in range(size)]


class ThreadGroup(LoneGroup):
    """One rank of a world whose ranks are threads of this process."""

    def __init__(self, world, rank):
        super().__init__(world.nrings, timeout=world.timeout)
        self.world, self.rank, self.world_size = world, rank, world.size

    def allreduce_mean(self, buffer, ring, token):
        super().allreduce_mean(buffer, ring, token)
        shares = self._swap(ring, (buffer.number, buffer.array.copy()))
        assert len({number for number, _ in shares}) == 1, "the ranks reduce different buckets"
        buffer.array[...] = sum(array for _, array in shares) / self.world_size

    def allreduce_max(self, bitmap):
        bitmap[...] = np.max(self._swap(-1, bitmap.copy()), axis=0)

    def abort(self, exc):
        super().abort(exc)
        self.world.failure = self.world.failure or f"rank {self.rank} failed: {exc}"
        for barrier in self.world.barriers:
            barrier.abort()

    def _swap(self, channel, mine):
        barrier, slots = self.world.barriers[channel], self.world.slots[channel]
        try:
            slots[self.rank] = mine
            barrier.wait(self.timeout)
            shares = list(slots)
            barrier.wait(self.timeout)
        except threading.BrokenBarrierError:
            if self.world.failure is not None:
                raise RuntimeError(self.world.failure) from None
            raise TimeoutError(f"timeout: rank {self.rank} waited {self.timeout:g} s") from None
        return shares


class QueueingGroup(LoneGroup):
    """A group that only queues, as on a GPU: a reduction is done when somebody waits for it.

    What it reduces is what was in the buffer when ``wait_compute`` gave the token, so it is wrong
    to reduce without one; the mean with an absent second rank, whose gradients are all zero.
    """

    def __init__(self, nrings=1):
        super().__init__(nrings, blocking=False)
        self.queued = {}

    def wait_compute(self, ring):
        super().wait_compute(ring)
        return [buffer.array.copy() for buffer in self.buffers]

    def allreduce_mean(self, buffer, ring, token):
        super().allreduce_mean(buffer, ring, None)
        found = np.zeros_like(buffer.array) if token is None else token[buffer.number]
        self.queued[buffer.number] = (buffer, found / 2)
        return buffer.number

    def wait_comm(self, token):
        buffer, mean = self.queued.pop(token)
        buffer.array[...] = mean


def make_parameters(shapes, dtype="float32", seed=0):
    """Names and parameters p0, p1, ... with random values."""
    rng = np.random.default_rng(seed)
    return [
        (f"p{i}", Parameter(rng.standard_normal(shape).astype(dtype), CPU, f"p{i}"))
        for i, shape in enumerate(shapes)
    ]


def on_ranks(size, function, seconds=60.0):
    """Runs ``function(rank)`` in a thread for each rank; returns results, or raises what failed."""
    results, errors = [None] * size, [None] * size

    def work(rank):
        try:
            results[rank] = function(rank)
        except BaseException as error:
            errors[rank] = error

    threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
        assert not thread.is_alive(), f"a rank was not done after {seconds:g} s"
    for error in errors:
        if error is not None:
            raise error
    return results


def wrap(parameters, group, limits=SMALL, cls=Reducer, **options):
    reducer = cls(parameters, group, limits, **options)
    reducer.prepare_for_backward(True)
    return reducer


def loss_of(parameters, factor=1.0):
    """A scalar whose gradient is ``factor`` times each parameter's number plus 1."""
    total = paddle.zeros([], dtype=parameters[0][1].dtype)
    for name, parameter in parameters:
        total = total + (parameter * (factor * (int(name[1:]) + 1))).sum()
    return total


def check_gradients(parameters, factor=1.0):
    for name, parameter in parameters:
        np.testing.assert_array_equal(parameter.grad.numpy(), factor * (int(name[1:]) + 1))


def comm_threads():
    return [t for t in threading.enumerate() if t.name.startswith("comm-")]


def wait_until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not come true in time"
        time.sleep(0.001)


class Counted(Reducer):
    """Notes every value of the count, whether it was locked, and who looked at next_group_."""

    @property
    def comm_op_count_(self):
        self.locked.append(self.cv_._is_owned())
        return self.counts[-1]

    @comm_op_count_.setter
    def comm_op_count_(self, value):
        if "cv_" not in self.__dict__:  # the first value, from the constructor
            self.counts, self.locked = [value], []
            return
        self.locked.append(self.cv_._is_owned())
        self.counts.append(value)

    @property
    def next_group_(self):
        self.lookers.add(threading.current_thread())
        return self.__dict__["next_group_"]

    @next_group_.setter
    def next_group_(self, value):
        self.__dict__.setdefault("lookers", set()).add(threading.current_thread())
        self.__dict__["next_group_"] = value
