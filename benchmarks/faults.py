"""Data-parallel jobs in which something goes wrong, and what must come of each.

``FAULTS`` holds a function for every fault: it runs a job of two ranks and raises if the job does
not end, or says something else than it should. ``tests/distributed/test_faults.py`` runs each once,
``python -m benchmarks.soak`` twenty times.
"""

import contextlib
import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

import minipaddle as paddle
from minipaddle import distributed as dist

nn = paddle.nn
JOB_SECONDS = 60.0
TOKEN = "MINIPADDLE_JOB_TOKEN"
LIMIT = "PADDLE_PG_TIMEOUT"
KINDS = [(sparse, unused) for sparse in (False, True) for unused in (False, True)]


class Net(nn.Layer):
    """A table and some layers, of which every other one may be left out of a forward."""

    def __init__(self, sparse: bool, unused: bool) -> None:
        super().__init__()
        self.unused = unused
        self.table = nn.Embedding(30, 6, sparse=sparse)
        self.layers = nn.LayerList([nn.Linear(6, 6) for _ in range(4)])
        rng = np.random.default_rng(1)
        for parameter in self.parameters():
            parameter.set_value(rng.standard_normal(parameter.shape) / 3)

    def forward(self, ids: paddle.Tensor, step: int) -> paddle.Tensor:
        """The mean square of what the layers in use make of some rows."""
        x = self.table(ids)
        for i, layer in enumerate(self.layers):
            if not self.unused or (i + step) % 2:
                x = x + paddle.tanh(layer(x))
        return paddle.mean(paddle.square(x))


class Pauses:
    """Random short sleeps, in whichever thread comes by."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, *_: object) -> None:
        """Sleep now and then."""
        if self._random.random() < 0.3:
            time.sleep(self._random.random() * 3e-4)


def train(steps: int, sparse: bool, unused: bool, seed: int | None) -> str:
    """Train on the rank that calls it, with pauses if there is a seed; a digest of the end."""
    group = dist.new_group([0]) if dist.get_world_size() == 1 else dist.init_parallel_env()
    rank = dist.get_rank()
    net = Net(sparse, unused)
    options = {"comm_buffer_size": 3e-4, "last_comm_buffer_size": 1e-4}
    model = paddle.DataParallel(net, group=group, find_unused_parameters=unused, **options)
    sgd = paddle.optimizer.SGD(0.05, parameters=net.parameters())
    if seed is not None:
        delay(model, seed + 10 * rank)
    rng, begin = np.random.default_rng(rank), digest(net)
    for step in range(steps):
        ids = paddle.to_tensor(rng.integers(0, 30, (3, 4)))
        model(ids, step + rank).backward()
        sgd.step()
        sgd.clear_grad(step % 3 == 0)
    assert digest(net) != begin and all(np.isfinite(p.numpy()).all() for p in net.parameters())
    return digest(net)


def delay(model: paddle.DataParallel, seed: int) -> None:
    """Have the communication threads, and the hooks of some parameters, pause at random."""
    group, pause, in_hooks = model._reducer.group, Pauses(seed), Pauses(-seed - 1)
    whole = group.allreduce_mean

    def late(*args: object) -> object:
        pause()
        return whole(*args)

    group.allreduce_mean = late
    for parameter in model.parameters()[::2]:
        parameter.register_hook(in_hooks)


def digest(layer: nn.Layer) -> str:
    """Equal for equal bits of all parameters."""
    values = b"".join(parameter.numpy().tobytes() for parameter in layer.parameters())
    return hashlib.sha256(values).hexdigest()


def train_every_kind(steps: int, seed: int | None) -> list[str]:
    """Train dense and sparse, with and without unused parameters."""
    return [train(steps, sparse, unused, seed) for sparse, unused in KINDS]


def check_delays(world_size: int, steps: int, seed: int = 1) -> None:
    """Replicas are the same, and the same as those of a run without pauses."""
    ends = []
    for given in (None, seed):
        if world_size == 1:
            ends.append([train_every_kind(steps, given)])
            continue
        context = start(train_every_kind, steps, given, nprocs=world_size)
        finish(context, JOB_SECONDS + steps * 0.1)
        ends.append([results.get() for results in context.return_queues])
    first = ends[0][0]
    assert all(end == first for run in ends for end in run), f"{world_size} ranks differ: {ends}"


# ---- faults ----


def start(target: Callable[..., object], *args: object, nprocs: int = 2) -> object:
    """Begin a job."""
    return dist.spawn(target, args, nprocs=nprocs, join=False)


def finish(context: object, seconds: float = JOB_SECONDS) -> None:
    """Wait until a job is over; raises its failure."""
    assert context.join(seconds), f"the job was not over after {seconds:g} s"


def run(target: Callable[..., object], *args: object) -> list[object]:
    """Run a job of two ranks; what they return."""
    context = start(target, *args)
    finish(context)
    return [results.get() for results in context.return_queues]


def fails(target: Callable[..., object], *parts: str, rank: int | None = None) -> None:
    """Run a job that must fail, with some words in the error."""
    try:
        run(target)
    except dist.ProcessFailedError as error:
        missing = [part for part in parts if part not in str(error)]
        assert not missing, f"no {missing} in: {error}"
        assert rank is None or error.rank == rank, f"rank {error.rank} is blamed: {error}"
    else:
        raise AssertionError(f"{target.__name__} failed unheard")


@contextlib.contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set variables for the jobs that are started inside."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def wrapped(net: nn.Layer | None = None) -> tuple[nn.Layer, paddle.DataParallel]:
    """A model of many buckets."""
    dist.init_parallel_env()
    net = net or nn.Sequential(*[nn.Linear(4, 4) for _ in range(3)])
    sizes = {"comm_buffer_size": 0, "last_comm_buffer_size": 0}
    return net, paddle.DataParallel(net, **sizes)


def step_of(model: paddle.DataParallel) -> None:
    """One forward and backward."""
    model(paddle.full([2, 4], dist.get_rank() + 1.0)).sum().backward()


def fail_in_turn(where: str, rounds: int) -> str:
    """Fail on one rank after the other, and make a good step after each failure."""
    net, model = wrapped()
    for i in range(rounds):
        mine, group, undo = i % 2 == dist.get_rank(), model._reducer.group, []
        if mine and where == "backward":
            undo.append(net[i % 3].weight.register_hook(lambda _: {}["on purpose"]).remove)
        elif mine and where == "thread":
            group.allreduce_mean = lambda *_: {}["on purpose"]
        elif mine:
            net[i % 3].register_forward_pre_hook(lambda *_: {}["on purpose"])
        begin = time.monotonic()
        try:
            step_of(model)
        except (KeyError, RuntimeError) as error:
            assert "on purpose" in str(error), error
            assert mine or "Traceback" in str(error), error
            assert time.monotonic() - begin < 2.0, "the failure was long on its way"
        else:
            raise AssertionError("a failure was not told")
        for one in undo:
            one()
        for layer in net:
            layer._forward_pre_hooks.clear()
        for _ in range(2):
            step_of(model)
        with paddle.no_grad():
            for parameter in net.parameters():
                parameter.set_value(parameter - parameter.grad * 0.001)
        net.clear_gradients()
    return digest(net)


def survive(where: str, rounds: int = 4) -> None:
    """After failures of one kind the ranks go on, with the same parameters."""
    ends = run(fail_in_turn, where, rounds)
    assert ends[0] == ends[1], f"the replicas differ after failures in {where}"


def die_in_a_collective() -> None:
    """Rank 1 is killed while it joins its slice of a bucket."""
    _, model = wrapped(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 5000)))
    step_of(model)
    if dist.get_rank() == 1:
        for algorithms in model._reducer.group._algorithms:
            algorithms._reduction.join = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    for _ in range(1000):
        step_of(model)


def die_between_steps() -> None:
    """Rank 1 is killed while rank 0 waits for it."""
    _, model = wrapped()
    for i in range(1000):
        if i == 3 and dist.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        step_of(model)


def die_while_others_recover() -> None:
    """A step fails, and rank 1 is killed before it takes part in making the buckets anew."""
    net, model = wrapped()
    net[0].weight.register_hook(lambda _: {}["on purpose"])
    with contextlib.suppress(KeyError, RuntimeError):
        step_of(model)
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    step_of(model)


def find_no_memory() -> None:
    """The system refuses memory to rank 1 while buckets are made."""
    dist.init_parallel_env()
    if dist.get_rank() == 1:

        def refuse(*_: object) -> None:
            raise OSError(12, "Cannot allocate memory")

        os.posix_fallocate = refuse
    paddle.DataParallel(nn.Linear(4, 4))


def disagree_in_a_collective() -> list[str]:
    """Ranks call different things, each is told what both did, and all can go on."""
    dist.init_parallel_env()
    rank, told = dist.get_rank(), []
    calls = [
        lambda: dist.all_reduce(paddle.zeros([2, 3] if rank else [3, 2])),
        lambda: dist.all_reduce(paddle.zeros([6], dtype="float64" if rank else "float32")),
        lambda: dist.barrier() if rank else dist.broadcast(paddle.zeros([2]), 0),
        lambda: dist.all_reduce(
            paddle.zeros([2]), dist.ReduceOp.MAX if rank else dist.ReduceOp.SUM
        ),
    ]
    for call in calls:
        try:
            call()
        except RuntimeError as error:
            told.append(str(error))
    x = paddle.ones([2])
    dist.all_reduce(x)
    assert x.tolist() == [2.0, 2.0]
    return told


def check_disagreement() -> None:
    """Both ranks hear of both calls."""
    for told in run(disagree_in_a_collective):
        words = [("[2, 3]", "[3, 2]"), ("float64", "float32"), ("barrier", "broadcast"),
                 ("op MAX", "op SUM")]  # fmt: skip
        assert len(told) == len(words), told
        for text, pair in zip(told, words, strict=True):
            assert all(word in text for word in (*pair, "rank 0", "rank 1")), text


def meet_with_another_token() -> None:
    """Rank 1 has the token of another job."""
    if os.environ["PADDLE_TRAINER_ID"] == "1":
        os.environ[TOKEN] = "another"
    dist.init_parallel_env()


def meet_with_a_rank_that_is_taken() -> None:
    """Rank 1 says that it is rank 0."""
    first = os.environ["PADDLE_TRAINER_ID"] == "0"
    os.environ["PADDLE_TRAINER_ID"] = "0"
    if not first:
        time.sleep(0.3)
    dist.init_parallel_env()


def wrong_token() -> None:
    """The ranks never meet, and say for whom they wait."""
    with environment(**{LIMIT: "1500"}):
        fails(meet_with_another_token, "timeout", "to join the job of 2 ranks", "token")


def taken_rank() -> None:
    """A second process with a rank is refused."""
    with environment(**{LIMIT: "3000"}):
        fails(meet_with_a_rank_that_is_taken, "rank 0 of this job is already taken")


def two_jobs() -> None:
    """Two jobs at a time do not notice each other."""
    contexts = [start(train_every_kind, 5, seed) for seed in (1, 2)]
    ends = []
    for context in contexts:
        finish(context)
        ends += [results.get() for results in context.return_queues]
    assert all(end == ends[0] for end in ends), "two jobs have disturbed each other"


FAULTS: dict[str, Callable[[], None]] = {
    "exceptions in forward": lambda: survive("forward"),
    "exceptions in backward": lambda: survive("backward"),
    "exceptions in communication threads": lambda: survive("thread"),
    "SIGKILL inside a collective": lambda: fails(die_in_a_collective, "SIGKILL", rank=1),
    "SIGKILL between steps": lambda: fails(die_between_steps, "SIGKILL", rank=1),
    "SIGKILL after a failure": lambda: fails(die_while_others_recover, "SIGKILL", rank=1),
    "no memory": lambda: fails(find_no_memory, "cannot reserve", "bytes of shared memory", rank=1),
    "different collectives": check_disagreement,
    "another job's token": wrong_token,
    "a rank that is taken": taken_rank,
    "two jobs side by side": two_jobs,
}


@contextlib.contextmanager
def busy_cores() -> Iterator[None]:
    """Keep every processor busy meanwhile, with a process each that ends with this one."""
    spin = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    busy = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
