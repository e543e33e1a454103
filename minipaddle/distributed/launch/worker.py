"""One process of a launched job: runs the user's program, reports how it ended."""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from minipaddle.distributed.spawn_child import Call, Failure, failure_file, run_child


class Launcher(NamedTuple):
    """The process that has started this one, and a descriptor whose other end it holds."""

    pid: int
    sentinel: int


def command(rank: int, link: int, folder: Path, program: Sequence[str]) -> list[str]:
    """What starts this module as process ``rank``.

    Args:
        rank: Number of the process.
        link: A descriptor, inherited, whose other end this process holds.
        folder: Where the process leaves what came of it.
        program: ``["-m"]`` or nothing, then the program and its arguments.
    """
    own = [str(rank), str(os.getpid()), str(link), str(folder)]
    return [sys.executable, "-m", __name__, *own, *program]


def main(argv: Sequence[str]) -> None:
    """Runs the program that ``command`` has named."""
    rank, parent, link, folder, *program = argv
    os.set_inheritable(int(link), False)
    call = Call(run_program, (program,))
    try:
        run_child(int(rank), call, {}, Path(folder), Launcher(int(parent), int(link)))
    except SystemExit:
        _print_failure(failure_file(Path(folder), int(rank)))
        raise


def _print_failure(path: Path) -> None:
    """Puts the failure into the log; of one that only tells of another's, a line is enough."""
    if path.exists():
        failure = Failure(**json.loads(path.read_bytes()))
        print(failure.summary.split("\n")[0] if failure.of_peer else failure.text, file=sys.stderr)


def run_program(program: Sequence[str]) -> None:
    """Runs a file or a ``-m`` module as Python does."""
    as_module = program[0] == "-m"
    name, *arguments = program[1:] if as_module else program
    sys.argv = [name, *arguments]
    if as_module:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(name).resolve().parent)
        runpy.run_path(name, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
