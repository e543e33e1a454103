"""The launcher of one node: starts its ranks, watches them and the other nodes, starts anew."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType, TracebackType

from minipaddle.device.parallel_env import script_environ, trainer_environ
from minipaddle.device.selection import device_environ
from minipaddle.distributed.launch.meeting import meet
from minipaddle.distributed.launch.node import NodesFailed, OneNode, Report
from minipaddle.distributed.launch.options import Options, read_options
from minipaddle.distributed.launch.ranks import Echo, ScriptJob, ScriptProcess
from minipaddle.distributed.spawn_job import ProcessFailedError

SIGNAL_GRACE_SECONDS = 10.0


class Interrupted(Exception):
    """A signal has reached the launcher, and its ranks have had it as well."""


class Signals:
    """Ctrl-C and its like: the first is passed on to the ranks, the second kills them at once."""

    def __init__(self) -> None:
        self.job: ScriptJob | None = None
        self.number = 0
        self._before = {}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                self._before[number] = signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        again, self.number = self.number, number
        if self.job is None:
            raise SystemExit(128 + number)
        self.job.signal_groups(signal.SIGKILL if again else number)

    def check(self) -> None:
        """Raises Interrupted after a signal, once the ranks have had time to end by themselves."""
        if not self.number or self.job is None:
            return
        deadline = time.monotonic() + SIGNAL_GRACE_SECONDS
        while self.job.alive() and time.monotonic() < deadline:
            self.job.pause(deadline - time.monotonic())
        raise Interrupted

    def restore(self) -> None:
        """Has signals do again what they did before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)


class Launcher:
    """Runs the ranks of one node until they have ended well or may not start anew."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.signals = Signals()
        self._ranks = range(options.first_rank, options.first_rank + len(options.ids))

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.signals.restore()

    def run(self) -> int:
        """The exit code: 0 if all ranks of all nodes have ended well.

        Raises:
            OSError, RuntimeError: The nodes did not meet, or a rank could not be started.
        """
        nodes = meet(self.options)
        try:
            while (root := self._once(nodes)) is not None:
                _say(root.text)
                count = nodes.generation
                if root.final or count > self.options.max_restart:
                    return 128 + self.signals.number if self.signals.number else 1
                _say(f"starting anew, {count} of at most {self.options.max_restart} times")
            return 0
        finally:
            nodes.close()

    def _once(self, nodes: OneNode) -> Report | None:
        """Runs all ranks once; the root cause if they failed."""
        failed: Report | None = None
        with ExitStack() as stack:
            try:
                self._run(nodes, stack)
                return None
            except ProcessFailedError as error:
                failed = self._report(error)
            except Interrupted:
                name = signal.Signals(self.signals.number).name
                text = f"The launcher of node {self.options.node} was ended by {name}"
                failed = Report(time.time(), text, final=True)
            except NodesFailed:
                pass
        return nodes.agree(failed)

    def _run(self, nodes: OneNode, stack: ExitStack) -> None:
        options = self.options
        job = ScriptJob(
            Path(tempfile.mkdtemp(prefix="minipaddle-launch-")),
            lambda: None,
            first_rank=options.first_rank,
            of=options.world_size,
            beat=nodes.beat,
        )
        stack.callback(self._end, job)
        self.signals.job = job
        job.logs = self._logs(anew=nodes.generation > 0)
        echo = Echo(job.logs[0], options.first_rank)
        stack.callback(echo.close)
        self._start(job, nodes, stack)

        def check() -> None:
            echo.pump()
            self.signals.check()
            nodes.check()

        job.check = check
        job.join(None)
        nodes.finish(check)

    def _end(self, job: ScriptJob) -> None:
        job.end()
        self.signals.job = None

    def _logs(self, anew: bool) -> list[Path]:
        """The log of each rank: empty, but for what it had to say before the job started anew."""
        folder = Path(self.options.log_dir)
        folder.mkdir(parents=True, exist_ok=True)
        logs = [folder / f"workerlog.{rank}" for rank in self._ranks]
        for log in logs:
            log.open("ab" if anew else "wb").close()
        return logs

    def _start(self, job: ScriptJob, nodes: OneNode, stack: ExitStack) -> None:
        options = self.options
        stack.callback(nodes.end)
        nodes.begin(self._ranks)
        share = max(1, len(os.sched_getaffinity(0)) // len(options.ids))
        for number, rank in enumerate(self._ranks):
            more, fds = nodes.child(rank)
            told = {**self._variables(nodes, number), **more}
            command = [str(job.folder), str(number), *options.command]
            environ = script_environ(told, share)
            job.processes.append(ScriptProcess(command, environ, job.logs[number], fds))

    def _variables(self, nodes: OneNode, number: int) -> dict[str, str]:
        """What a rank of this node is told: a dict of its own, so that nothing leaks."""
        options = self.options
        secret = f"{options.token} {nodes.endpoints} {nodes.generation}"
        token = hashlib.sha256(secret.encode()).hexdigest()[:32]
        rank = options.first_rank + number
        return {
            **device_environ(options.backend, options.ids[number]),
            **trainer_environ(rank, nodes.endpoints, options.comm, token),
            "PADDLE_RANK_IN_NODE": str(number),
            "PADDLE_LOCAL_DEVICE_IDS": options.ids[number],
            "PADDLE_RESTART_COUNT": str(nodes.generation),
        }

    def _report(self, error: ProcessFailedError) -> Report:
        assert self.signals.job is not None
        failure = self.signals.job.failures[error.rank - self.options.first_rank]
        when = time.time() - (time.monotonic() - failure.when)
        return Report(when, str(error), failure.of_peer)


def _say(text: str) -> None:
    sys.stderr.write(f"launch: {text}\n")
    sys.stderr.flush()


def main(argv: Sequence[str]) -> int:
    """Runs the launcher; returns its exit code."""
    options = read_options(argv)
    with Launcher(options) as launcher:
        try:
            return launcher.run()
        except (OSError, RuntimeError) as error:  # TimeoutError is an OSError
            _say(str(error))
            return 1
