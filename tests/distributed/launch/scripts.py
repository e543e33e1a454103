"""The script of the launcher's tests: ``scripts.py WHAT FOLDER ARGS...`` runs one function."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from examples import linear_net
from tests.distributed import spawn_targets

RANK = int(os.environ["PADDLE_TRAINER_ID"])
START = int(os.environ["PADDLE_RESTART_COUNT"])
TOLD = ("PADDLE_", "FLAGS_", "OMP_NUM_THREADS", "http_proxy")


def tell(folder, *arguments):
    """Leaves what this rank knows of its part."""
    told = {name: value for name, value in os.environ.items() if name.startswith(TOLD)}
    known = {**spawn_targets.told(), "told": told, "argv": sys.argv, "path": sys.path[0]}
    Path(folder, f"told-{RANK}").write_text(json.dumps(known))
    print(f"this is rank {RANK}")
    print("a word without an end", end="")


def fail(folder, way, rank):
    """Rank ``rank`` fails when all are there; the others would go on for a long time."""
    Path(folder, f"here-{RANK}").touch()
    if int(rank) == RANK:
        count = int(os.environ["PADDLE_TRAINERS_NUM"])
        spawn_targets.wait_for_files(*(Path(folder, f"here-{one}") for one in range(count)))
        print("the last words", flush=True)
        spawn_targets.WAYS_TO_FAIL[way]()
    time.sleep(spawn_targets.FOREVER)


def fail_first(folder, starts, rank):
    """The first ``starts`` times, rank ``rank`` fails."""
    with Path(folder, f"starts-{RANK}").open("a") as log:
        log.write(f"{START}\n")
    if int(starts) > START and int(rank) == RANK:
        raise ValueError(f"start {START}")


def wait(folder):
    """Has a helper, and says when it is ready."""
    spawn_targets.sleep_with_helper(folder)


def deaf(folder):
    """Rank 0 fails once the others, deaf to SIGTERM as their helpers are, are ready."""
    if RANK:
        spawn_targets.sleep_deaf(folder)
    spawn_targets.wait_for_files(Path(folder, "ready-1"))
    raise ValueError("the-reason")


def farewell(folder):
    """Ends by itself after SIGINT."""

    def leave(number, frame):
        Path(folder, f"told-{RANK}").write_text(signal.Signals(number).name)
        sys.exit(0)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    Path(folder, f"ready-{RANK}").touch()
    time.sleep(spawn_targets.FOREVER)


def stubborn(folder):
    """Ends by none of the signals that can be ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({spawn_targets.FOREVER})"])
    Path(folder, f"ready-{RANK}").touch()
    time.sleep(spawn_targets.FOREVER)


def train(folder):
    """LinearNet's demo; rank 0 prints losses, each rank leaves the digest of its parameters."""
    Path(folder, f"digest-{RANK}").write_text(linear_net.train_on_shard(256, 3))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
