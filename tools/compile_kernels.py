"""``python -m tools.compile_kernels`` compiles the GPU kernels of all ops, without a GPU.

Every .cu file is compiled with the instances of its templates that ops ask for
(tools/kernel_instances.py). For one architecture all of them go as far as PTX, which finds what is
wrong with the text and costs a tenth of the whole; and some of them, in which every functor,
element type and width occurs, to machine code as a GPU gets it. For other architectures the same
ones go to machine code that is hardly optimized. An error names file, line, architecture and
instance.

``python -m tools.compile_kernels my_ops.yaml`` does it for the ops of my_ops.yaml, with the
functors of my_ops.cu and the inputs of my_ops_samples.py.

``--changed main`` compiles for the other architectures only files that differ from that branch.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tools.kernel_instances import FOLDER, Recording, cover, record, unreached
from tools.nvrtc import CompileError, Compiler

ROOT = Path(__file__).resolve().parent.parent
# Architectures by major version of CUDA; that of H100 and H200 first. CUDA 13 begins with 7.5.
ARCHITECTURES = {13: (90, 75, 80, 86, 89, 100, 120), 12: (70, 61)}
_SHOWN = 3  # instances of a file whose logs are shown


class Unit(NamedTuple):
    """One compilation; see ``Compiler.compile``."""

    path: Path
    expressions: list[str]
    architecture: int
    options: tuple[str, ...]
    mode: str
    cuda: int = 13


@cache
def _compiler(cuda: int) -> Compiler:
    return Compiler(cuda)


def work(unit: Unit) -> list[str]:
    """Compiles; what is wrong, one text for each instance that fails, "" if none does."""
    _path, expressions, architecture, options, mode, cuda = unit
    named = Path(os.path.relpath(unit.path))

    def fault(of: list[str]) -> str:
        try:
            _compiler(cuda).compile(named, of, architecture, (*options, f"-I{FOLDER}"), mode)
        except CompileError as error:
            return str(error)
        return ""

    text = fault(expressions)
    if not text:
        return []
    head = f"FAILED {named}, sm_{architecture}"
    if alone := fault([]):
        return [f"{head}, whatever the instance:\n{alone}"]
    found = [(one, log) for one in expressions if (log := fault([one]))]
    texts = [f"{head}, {one}:\n{log}" for one, log in found[:_SHOWN]]
    if len(found) > _SHOWN:
        texts.append(f"{head}: so {len(found)} of {len(expressions)} instances")
    return texts or [f"{head}, all instances together:\n{text}"]


def changed_since(branch: str, paths: list[Path]) -> list[Path] | None:
    """Those .cu files that, with the headers they include, are not as on a branch.

    Returns:
        The files; None where there is no such branch here or at origin.
    """
    base = _git("merge-base", branch, "HEAD") or _git("merge-base", f"origin/{branch}", "HEAD")
    if not base:
        return None
    listed = _git("diff", "--name-only", base.strip())
    listed += _git("ls-files", "--others", "--exclude-standard")
    changed = {ROOT / name for name in listed.splitlines()}
    return [path for path in paths if changed & {path, *headers(path)}]


def _git(*args: str) -> str:
    """What git prints, "" where it fails or is not there."""
    try:
        command = ["git", "-C", str(ROOT), *args]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def headers(path: Path) -> set[Path]:
    """The headers of this project that a file includes, directly or not."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        for line in waiting.pop().read_text("utf-8").splitlines():
            if line.startswith('#include "'):
                header = FOLDER / line.split('"')[1]
                if header not in found:
                    found.add(header)
                    waiting.append(header)
    return found


def units(recording: Recording, architectures: tuple[int, ...], others: list[Path]) -> list[Unit]:
    """What is to be compiled, the longest first.

    Args:
        recording: The instances.
        architectures: The first is the one for which all instances are looked at.
        others: The files that are compiled for all other architectures.
    """
    first, *further = architectures
    found = []
    for path, expressions in recording.instances.items():
        some, options = cover(expressions), recording.options
        found.append((len(expressions) / 8, Unit(path, expressions, first, options, "text")))
        found.append((len(some), Unit(path, some, first, options, "full")))
        for one in further if path in others else ():
            found.append((len(some) / 3, Unit(path, some, one, options, "draft")))
    return [unit for _cost, unit in sorted(found, key=lambda pair: -pair[0])]


def run(todo: list[Unit]) -> Iterator[str]:
    """Compiles with as many processes as there are cores; what is wrong."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for texts in pool.map(work, todo):
            yield from texts


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.compile_kernels", description=__doc__)
    parser.add_argument("ops", type=Path, nargs="?", help="a YAML file of ops of your own")
    parser.add_argument("--arch", type=int, action="append", help="as 90; again for more")
    parser.add_argument("--cuda", type=int, choices=tuple(ARCHITECTURES), default=13)
    parser.add_argument("--changed", metavar="BRANCH", help="see above")
    parser.add_argument("--list", action="store_true", help="print the instances, compile nothing")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Compiles as the command line says; 0 if there is nothing wrong, else 1."""
    options = _parsed(arguments)
    begin = time.perf_counter()
    recording = record(options.ops)
    instances = recording.instances
    if options.list:
        for path, expressions in instances.items():
            print(*(f"{path.name} {one}" for one in expressions), sep="\n")
        return 0
    faults = [
        f"FAILED {os.path.relpath(path)}: no sample of an op comes to {', '.join(names)}"
        for path, names in unreached(instances, [] if options.ops else FOLDER.glob("*.cuh")).items()
    ]
    print(*faults, sep="\n", end="\n" if faults else "")
    try:
        compiler = Compiler(options.cuda)
    except ModuleNotFoundError as error:
        print(error)
        return 1
    architectures = tuple(options.arch or ARCHITECTURES[options.cuda])
    if unknown := set(architectures) - set(compiler.architectures()):
        print(f"NVRTC {compiler.version()} does not compile for {sorted(unknown)}")
        return 1
    others: list[Path] | None = list(instances)
    if options.changed:
        others = changed_since(options.changed, list(instances))
        if others is None:
            print(f"no branch {options.changed} here: sm_{architectures[0]} alone is compiled for")
    todo = [
        unit._replace(cuda=options.cuda) for unit in units(recording, architectures, others or [])
    ]
    print(
        f"NVRTC {compiler.version()}: {len(instances)} files, {sum(map(len, instances.values()))} "
        f"instances for sm_{architectures[0]}; {len(others or [])} files for "
        f"{', '.join(f'sm_{one}' for one in architectures[1:]) or 'no other'}"
    )
    for text in run(todo):
        faults.append(text)
        print(text)
    seconds = time.perf_counter() - begin
    print(f"{len(todo)} compilations, {len(faults)} faults, {seconds:.0f} s")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
