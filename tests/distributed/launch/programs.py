"""Starting the launcher on programs that a test writes, with nothing left afterwards."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap

import psutil

SECONDS = 60.0


def environ(**changes):
    """This process's environment without what selects devices or names a job."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FLAGS_", "PADDLE_", "MINIPADDLE_")) and "VISIBLE" not in name
    }
    return {**kept, "PYTHONPATH": os.pathsep.join(sys.path), **changes}


@contextlib.contextmanager
def started(folder, *arguments, **changes):
    """The launcher at work in ``folder``; it and all that it has started are gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "minipaddle.distributed.launch", *map(str, arguments)],
        cwd=folder,
        env=environ(**changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        for one in [*ranks(process.pid), process]:
            with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
                os.killpg(one.pid, signal.SIGKILL)
        process.communicate(timeout=SECONDS)


def launch(folder, *arguments, **changes):
    """The launcher's exit status, what it printed, and what it said of errors."""
    with started(folder, *arguments, **changes) as process:
        printed, errors = process.communicate(timeout=SECONDS)
    return process.returncode, printed, errors


def ranks(launcher):
    """The processes that a launcher has started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(launcher).children()
    return []


def program(folder, text, name="program.py"):
    """Writes a program; its name."""
    (folder / name).write_text(textwrap.dedent(text))
    return name


def logs(folder, count):
    """What the ranks have printed."""
    return [(folder / "log" / f"workerlog.{rank}").read_text() for rank in range(count)]
