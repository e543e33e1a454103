"""Functions that tests start in other processes; each stands at the top level of a module."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

import minipaddle as paddle
import minipaddle.distributed as dist
from minipaddle.device.backend import get_device
from minipaddle.device.flags import get_flags
from minipaddle.device.parallel_env import ParallelEnv
from minipaddle.distributed import spawn_child
from minipaddle.distributed.process_group.base import PeerError
from minipaddle.distributed.spawn import spawn

FOREVER = 600.0


def told():
    """All that a started process knows of its part."""
    env = ParallelEnv()
    return {
        "rank": env.rank,
        "world_size": env.world_size,
        "endpoint": env.current_endpoint,
        "endpoints": env.trainer_endpoints,
        "token": env.job_token,
        "place": get_device(),
        "flags": get_flags(
            ["FLAGS_selected_devices", "FLAGS_selected_gpus", "FLAGS_selected_xpus"]
        ),
        "nrings": env.nrings,
        "threads": [os.environ.get(f"{name}_NUM_THREADS") for name in ("OMP", "OPENBLAS", "MKL")],
        "proxy": os.environ.get("http_proxy"),
        "leads_group": os.getpgrp() == os.getpid(),
        "pid": os.getpid(),
    }


def echo(*args):
    return args


def big(megabytes):
    return np.full(megabytes << 18, ParallelEnv().rank, "float32")


def hold(lock, folder):
    with lock:
        Path(folder, str(ParallelEnv().rank)).touch()
    return ParallelEnv().rank


def answer(connection):
    connection.send(f"from rank {ParallelEnv().rank}")


class Skipped(BaseException):
    pass


class Nasty(Exception):
    """Can be neither pickled nor printed."""

    def __str__(self):
        raise RuntimeError("no text")

    def __reduce__(self):
        raise RuntimeError("no pickle")


def _leave_by_signal():
    os.kill(os.getpid(), signal.SIGKILL)


def _raise(error):
    raise error


WAYS_TO_FAIL = {
    "exception": lambda: _raise(ValueError("the-reason")),
    "base exception": lambda: _raise(Skipped("the-reason")),
    "keyboard interrupt": lambda: _raise(KeyboardInterrupt()),
    "exit 3": lambda: sys.exit(3),
    "exit text": lambda: sys.exit("the-reason"),
    "exit 256": lambda: sys.exit(256),
    "_exit 7": lambda: os._exit(7),
    "_exit 0": lambda: os._exit(0),
    "signal": _leave_by_signal,
    "nasty": lambda: _raise(Nasty()),
    "long": lambda: _raise(ValueError("x" * 3_000_000 + " the-reason")),
}


def fail(way, rank):
    """Process ``rank`` fails; the others would go on for a long time."""
    if ParallelEnv().rank == rank:
        WAYS_TO_FAIL[way]()
    time.sleep(FOREVER)


def leave_politely():
    sys.exit(0)


def return_unpicklable():
    return lambda: None


def wait_for_files(*paths):
    deadline = time.monotonic() + 60
    while not all(Path(path).exists() for path in paths) and time.monotonic() < deadline:
        time.sleep(0.01)


def fail_one_after_the_other(first, folder):
    """Every process fails, ``first`` a little before the others, and is the last to end."""
    rank = ParallelEnv().rank
    if rank == first:
        others = [Path(folder, f"failing-{other}") for other in range(3) if other != first]
        # No daemon: the process waits for it before it ends.
        threading.Thread(target=wait_for_files, args=others).start()
    else:
        wait_for_files(Path(folder, f"failing-{first}"))
        time.sleep(0.5)
    Path(folder, f"failing-{rank}").touch()
    raise ValueError(f"by rank {rank}")


def fail_with_clean_up(rank, path):
    """Peers learn of the failure from the clean-up, before the failure itself is reported."""
    if ParallelEnv().rank == rank:
        try:
            raise ValueError("the-cause")
        finally:
            Path(path).touch()
            time.sleep(0.7)
    wait_for_files(path)
    raise PeerError(f"rank {rank} is gone", rank, "closed")


def fail_beside_a_collective(folder):
    """Rank 1 fails, and ends only when rank 0 has left its collective."""
    told = Path(folder, "told")
    dist.init_parallel_env()
    if ParallelEnv().rank == 1:
        threading.Thread(target=wait_for_files, args=(told,)).start()
        raise ValueError("the-reason")
    try:
        dist.all_reduce(paddle.ones([4]))
    except PeerError as error:
        told.with_suffix(".part").write_text(str(error))
        told.with_suffix(".part").rename(told)
        raise


def die_beside_a_collective():
    dist.init_parallel_env()
    if ParallelEnv().rank == 1:
        _leave_by_signal()
    dist.all_reduce(paddle.ones([4]))


def fail_with_broken_group():
    def refuse(error):
        raise RuntimeError("cannot abort")

    spawn_child.abort_default_group = refuse
    raise ValueError("the-reason")


def die_while_helper_lives():
    """The helper holds everything that the process had open, its sentinel too."""
    if ParallelEnv().rank == 1:
        if os.fork() == 0:
            time.sleep(FOREVER)
        _leave_by_signal()
    time.sleep(FOREVER)


def fail_but_never_end():
    """Reports a failure while a thread keeps the process from ending."""
    if ParallelEnv().rank == 0:
        threading.Thread(target=time.sleep, args=(FOREVER,)).start()
        raise ValueError("the-reason")
    time.sleep(FOREVER)


def sleep_deaf(folder):
    """Ignores SIGTERM, has a helper that ignores it too, and says when it is ready."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({FOREVER})"])
    Path(folder, f"ready-{ParallelEnv().rank}").touch()
    time.sleep(FOREVER)


def sleep_with_helper(folder):
    subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({FOREVER})"])
    Path(folder, f"ready-{ParallelEnv().rank}").touch()
    time.sleep(FOREVER)


def fail_with_helper(folder):
    helper = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({FOREVER})"])
    Path(folder, f"helper-{ParallelEnv().rank}").write_text(str(helper.pid))
    raise ValueError("the-reason")


def close_everything(folder):
    """As programs do that detach themselves: the sentinel looks as if the process had ended."""
    os.closerange(3, 256)
    Path(folder, "ready-0").touch()
    time.sleep(FOREVER)


KEPT = []


def forget():
    """A forked process drops its copy of what the parent holds."""
    KEPT.clear()


def fail_when_ready(folder):
    """Rank 0 fails once rank 1, deaf to SIGTERM, is ready."""
    if ParallelEnv().rank == 1:
        sleep_deaf(folder)
    wait_for_files(Path(folder, "ready-1"))
    raise ValueError("the-reason")


def finish_late(folder):
    time.sleep(0.5)
    Path(folder, f"done-{ParallelEnv().rank}").touch()


def spawn_again(folder):
    """A job inside a job."""
    Path(folder, "child").write_text(str(os.getpid()))
    spawn(sleep_with_helper, (folder,), nprocs=2)
