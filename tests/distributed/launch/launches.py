"""Starts launchers as users do, and sees to it that nothing of them is left."""

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import psutil

from tests.distributed.leftovers import is_running, until

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = str(Path(__file__).with_name("scripts.py"))
SECONDS = 60.0
_MARK = "MINIPADDLE_TEST_MARK"  # in the environment of all that a launcher starts, in any depth


class Launch:
    """One launcher and its ranks.

    Attributes:
        process: The launcher.
        folder: Where it runs; ``log/workerlog.N`` are its logs.
    """

    def __init__(self, folder, *arguments, **environ):
        self.folder = folder
        self.mark = uuid.uuid4().hex
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PADDLE_", "FLAGS_"))}
        self.temporary = folder / f"tmp-{self.mark}"
        self.temporary.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "minipaddle.distributed.launch", *arguments],
            cwd=folder,
            env={
                **kept,
                "PYTHONPATH": str(ROOT),
                "TMPDIR": str(self.temporary),
                "PADDLE_PG_TIMEOUT": "30000",
                _MARK: self.mark,
                **environ,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self):
        """Waits for its end; returns its exit code, what it printed and its errors."""
        printed, errors = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, printed, errors

    def members(self):
        """Processes that run on behalf of the launcher, itself included."""
        found = []
        for one in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if one.environ().get(_MARK) == self.mark and is_running(one.pid):
                    found.append(one.pid)
        return found

    def has(self, *names):
        """Waits until the ranks have left these files."""
        assert until(lambda: all((self.folder / name).exists() for name in names), 30.0), names

    def log(self, rank):
        return (self.folder / "log" / f"workerlog.{rank}").read_text()

    def is_gone(self):
        """Nothing runs any more, and no temporary folder is left."""
        return until(lambda: not self.members() and not list(self.temporary.iterdir()), 10.0)


@contextlib.contextmanager
def launched(folder, *arguments, **environ):
    """A launcher of which nothing may be left at the end, and nothing is."""
    launch = Launch(folder, *arguments, **environ)
    try:
        yield launch
        launch.process.communicate(timeout=SECONDS)
        assert launch.is_gone(), launch.members()
    finally:
        for pid in launch.members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        launch.process.communicate(timeout=SECONDS)


def run(folder, *arguments, **environ):
    """Exit code, output and errors of a launcher that is left alone."""
    with launched(folder, *arguments, **environ) as launch:
        return launch.end()
