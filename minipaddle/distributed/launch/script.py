"""What runs in every rank around the user's script: report a failure, never outlive the launcher.

    python -m minipaddle.distributed.launch.script FOLDER NUMBER LINK LAUNCHER [-m] SCRIPT ARGS...

The script runs in this process as ``__main__``. Before any line of it a thread begins to watch the
launcher. A signal that the kernel sends at a parent's death would reach this process alone, not the
helpers that the script starts.
"""

from __future__ import annotations

import io
import os
import runpy
import sys
import threading
from pathlib import Path

from minipaddle.device.backend import set_device
from minipaddle.device.parallel_env import ParallelEnv
from minipaddle.device.process_end import wait_for_end
from minipaddle.distributed.spawn_child import (
    exit_code,
    failure_file,
    kill_own_group,
    report,
    user_frames,
)

_OURS = (__file__, runpy.__file__, "<frozen runpy>")


def main() -> None:
    """Runs the script, and leaves a Failure if it fails."""
    folder, number, link, launcher = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    os.set_inheritable(link, False)
    threading.Thread(
        target=_die_with_launcher,
        args=(folder, launcher, link),
        name="launcher-watcher",
        daemon=True,
    ).start()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)  # a log that is up to date when a rank dies
    try:
        env = ParallelEnv()
        set_device(f"{env.device_type}:{env.device_id}")
        _run(sys.argv[5:])
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            report(leaving, failure_file(folder, number), _OURS)
        raise
    except BaseException as error:
        report(error, failure_file(folder, number), _OURS)
        frames = user_frames(error, _OURS)
        sys.excepthook(type(error), error.with_traceback(frames), frames)
        sys.exit(exit_code(error))


def _run(command: list[str]) -> None:
    """As ``python COMMAND`` would."""
    if command[0] == "-m":
        sys.argv = command[1:]
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = command
        sys.path[0] = os.path.dirname(os.path.abspath(command[0]))
        runpy.run_path(command[0], run_name="__main__")


def _die_with_launcher(folder: Path, launcher: int, link: int) -> None:
    wait_for_end(launcher, link)
    kill_own_group(folder)


if __name__ == "__main__":
    main()
