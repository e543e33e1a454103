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
import re
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tools.kernel_instances import FOLDER, Recording, cover, record, unreached
from tools.nvrtc import CompileError, Compiler

ROOT = Path(__file__).resolve().parent.parent
# Architectures by major version of CUDA; that of H100 and H200 first. CUDA 13 begins with 7.5.
ARCHITECTURES = {13: (90, 75, 80, 86, 89, 100, 120), 12: (70, 61)}
_SHOWN = 3  # instances of a file that are named


class Unit(NamedTuple):
    """One compilation; see ``Compiler.compile``."""

    path: Path
    expressions: list[str]
    architecture: int
    options: tuple[str, ...]
    mode: str
    cuda: int = 13


class Fault(NamedTuple):
    """Where something is wrong, file, architecture and instance, and what the compiler says."""

    where: str
    log: str


@cache
def _compiler(cuda: int) -> Compiler:
    return Compiler(cuda)


def work(unit: Unit) -> list[Fault]:
    """Compiles; what is wrong, for the first few instances that fail."""
    _path, expressions, architecture, options, mode, cuda = unit
    named = Path(os.path.relpath(unit.path))

    def log(of: list[str]) -> str:
        try:
            _compiler(cuda).compile(named, of, architecture, (*options, f"-I{FOLDER}"), mode)
        except CompileError as error:
            return str(error)
        return ""

    def failing(of: list[str], text: str) -> list[Fault]:
        if len(of) <= 1 or not text:
            return [Fault(f"{named}, sm_{architecture}, {one}", text) for one in of if text]
        found: list[Fault] = []
        for half in (of[: len(of) // 2], of[len(of) // 2 :]):
            if len(found) < _SHOWN:
                found += failing(half, log(half))
        return found

    text = log(expressions)
    if text and (alone := log([])):
        return [Fault(f"{named}, sm_{architecture}, whatever the instance", alone)]
    if text:
        return failing(expressions, text)[:_SHOWN] or [Fault(f"{named}, sm_{architecture}", text)]
    return []


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


def units(
    recording: Recording, architectures: tuple[int, ...], others: list[Path], cuda: int
) -> list[Unit]:
    """What is to be compiled, the longest first.

    Args:
        recording: The instances.
        architectures: The first is the one for which all instances are looked at.
        others: The files that are compiled for all other architectures.
        cuda: Major version.
    """
    first, *further = architectures
    found = []
    for path, expressions in recording.instances.items():
        some, options = cover(expressions), recording.options
        costs = [
            (len(expressions) / 8, first, "text", expressions),
            (len(some), first, "full", some),
        ]
        costs += [(len(some) / 3, one, "draft", some) for one in further if path in others]
        found += [
            (cost, Unit(path, of, architecture, options, mode, cuda))
            for cost, architecture, mode, of in costs
        ]
    return [unit for _cost, unit in sorted(found, key=lambda pair: -pair[0])]


def run(todo: list[Unit]) -> int:
    """Compiles with as many processes as there are cores, prints what is wrong, and counts it."""
    seen: set[str] = set()
    count = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for fault in (fault for faults in pool.map(work, todo) for fault in faults):
            count += 1
            errors = "\n".join(re.findall(r".*\berror\b: .*", fault.log)) or fault.log
            print(f"FAILED {fault.where}:", "as above" if errors in seen else f"\n{fault.log}")
            seen.add(errors)
    return count


def report_unreached(recording: Recording, in_tree: bool) -> int:
    """Prints what no instance names, and counts it."""
    headers = FOLDER.glob("*.cuh") if in_tree else ()
    found = unreached(recording.instances, headers)
    for path, names in found.items():
        print(f"FAILED {os.path.relpath(path)}: no sample of an op comes to {', '.join(names)}")
    return len(found)


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
    paths = list(recording.instances)
    if options.list:
        for path, expressions in recording.instances.items():
            print(*(f"{path.name} {one}" for one in expressions), sep="\n")
        return 0
    try:
        compiler = Compiler(options.cuda)
    except ModuleNotFoundError as error:
        print(error)
        return 1
    architectures = tuple(options.arch or ARCHITECTURES[options.cuda])
    if unknown := set(architectures) - set(compiler.architectures()):
        print(f"NVRTC {compiler.version()} does not compile for {sorted(unknown)}")
        return 1
    others = changed_since(options.changed, paths) if options.changed else paths
    if others is None:
        print(f"no branch {options.changed} here: sm_{architectures[0]} alone is compiled for")
    todo = units(recording, architectures, others or [], options.cuda)
    print(
        f"NVRTC {compiler.version()}: {sum(map(len, recording.instances.values()))} instances of "
        f"{len(paths)} file(s) for sm_{architectures[0]}; {len(others or [])} file(s) for "
        f"{', '.join(f'sm_{one}' for one in architectures[1:]) or 'no other'}",
        flush=True,
    )
    count = report_unreached(recording, options.ops is None) + run(todo)
    seconds = time.perf_counter() - begin
    print(f"{len(todo)} compilations, {count} faults, {seconds:.0f} s")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
