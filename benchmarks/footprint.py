"""``python -m benchmarks.footprint [--peer NAME=PYTHON ...] [--install] [--save]``.

What it costs to have a framework at all, each in processes of its own at one thread: import time
(best of several fresh interpreters), resident memory after the import and after the first training
step of LinearNet, the step, and the size of the installed package with its dependencies, bytecode
aside. With ``--install`` also the seconds from ``pip install`` in a fresh virtual environment to
the end of the first step; ``--spec NAME="ARGUMENTS OF PIP"`` says how else to install a peer.
Prints a Markdown table; ``--save`` writes it to benchmarks/results/footprint.md.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.runner import RESULTS, ROOT, THREAD_VARIABLES, machine
from benchmarks.workloads.first_step import PROGRAMS

DISTRIBUTIONS = {"paddle": "paddlepaddle"}  # others have the name of their module
IMPORTS, SECONDS, INSTALL_SECONDS = 7, 300, 1800
COLUMNS = {
    "import": ("import_s", "{:.2f} s", 1), "memory, imported": ("imported_mb", "{:.0f} MB", 1),
    "memory, 1 step": ("trained_mb", "{:.0f} MB", 1), "installed": ("installed_mb", "{:.0f} MB", 1),
    "LinearNet step": ("step_s", "{:.0f} us", 1e6), "pip to 1 step": ("install_s", "{:.1f} s", 1),
}  # fmt: skip

IMPORT = "from time import perf_counter as now; t = now(); import {}; print(now() - t)"
SIZE = """
import importlib.metadata as metadata, pathlib, re, sys
waiting, found, size = [sys.argv[1]], set(), 0
while waiting:
    name = re.sub("[-_.]+", "-", waiting.pop()).lower()
    if name in found:
        continue
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        continue  # one for another system
    found.add(name)
    files = [pathlib.Path(package.locate_file(file)) for file in package.files or []]
    size += sum(f.stat().st_size for f in files if f.suffix != ".pyc" and f.is_file())
    waiting += [re.match("[A-Za-z0-9._-]+", need)[0]
                for need in package.requires or [] if "extra ==" not in need]
print(size)
"""


def ask(python: str, arguments: list[str], isolated: bool = False) -> str:
    """What a Python program printed last, at one thread; ours is found in this checkout."""
    environ = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
    environ["PYTHONPATH"] = str(ROOT)
    if isolated:
        del environ["PYTHONPATH"]
    done = subprocess.run(
        [python, *arguments], cwd=tempfile.gettempdir(), env=environ,
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RuntimeError(f"{python} ... {arguments[-1]}: {reason}")
    return done.stdout.splitlines()[-1]


def measure(name: str, python: str) -> dict[str, Any]:
    """All figures of a framework but those of an installation; "lacks" says why any is missing."""
    imports = [float(ask(python, ["-c", IMPORT.format(name)])) for _ in range(IMPORTS)]
    figures = {"import_s": min(imports), "installed_mb": installed(name, python) / 1e6}
    try:
        step = json.loads(ask(python, ["-m", "benchmarks.workloads.first_step", name]))
    except RuntimeError as error:  # it may need a compiler that this machine lacks
        return {**figures, "lacks": str(error)}
    return {**figures, **step}


def installed(name: str, python: str) -> int:
    """Bytes of a package and of those that it needs."""
    if name != "minipaddle":
        return int(ask(python, ["-c", SIZE, DISTRIBUTIONS.get(name, name)]))
    own = (f for f in (ROOT / "minipaddle").rglob("*") if f.is_file() and f.suffix != ".pyc")
    needs = sum(int(ask(python, ["-c", SIZE, need])) for need in ("numpy", "pyyaml"))
    return needs + sum(f.stat().st_size for f in own)


def install(name: str, spec: str) -> float:
    """Seconds from ``pip install`` in a fresh environment to the end of the first step."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=SECONDS)
        python = str(Path(folder, "bin", "python"))
        program = Path(folder, "first_step.py")
        program.write_bytes((ROOT / "benchmarks/workloads/first_step.py").read_bytes())
        start = time.perf_counter()
        command = [python, "-m", "pip", "install", "--no-cache-dir", "-q", *shlex.split(spec)]
        subprocess.run(command, check=True, timeout=INSTALL_SECONDS, cwd=folder)
        ask(python, [str(program), name, "--once"], isolated=True)
        return time.perf_counter() - start


def lines(found: dict[str, dict[str, Any]]) -> list[str]:
    """The table, line by line; what was not measured is left open."""
    keys = {key for figures in found.values() for key in figures}
    shown = {title: column for title, column in COLUMNS.items() if column[0] in keys}
    table = [f"| | {' | '.join(shown)} |", "|---" * (len(shown) + 1) + "|"]
    for name, figures in found.items():
        cells = [
            form.format(figures[key] * scale) if key in figures else "-"
            for key, form, scale in shown.values()
        ]
        table.append(f"| {name} | {' | '.join(cells)} |")
    reasons = [f"{name}: {f['lacks']}" for name, f in found.items() if "lacks" in f]
    return [*table, *([""] if reasons else []), *reasons]


def pairs(given: list[str], option: str) -> dict[str, str]:
    """NAME=VALUE options by name."""
    found = dict(text.partition("=")[::2] for text in given)
    for name, value in found.items():
        if name not in PROGRAMS or not value:
            raise SystemExit(f"{option} {name}={value}: NAME=VALUE with one of {list(PROGRAMS)}")
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.footprint", description=__doc__)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--install", action="store_true", help="also time installations")
    parser.add_argument("--spec", action="append", default=[], metavar="NAME=ARGUMENTS")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/footprint.md")
    options = parser.parse_args(arguments)
    specs = {"minipaddle": shlex.quote(str(ROOT)), **DISTRIBUTIONS, **pairs(options.spec, "--spec")}
    found: dict[str, dict[str, Any]] = {}
    for name, python in {"minipaddle": sys.executable, **pairs(options.peer, "--peer")}.items():
        found[name] = measure(name, python)
        if options.install and "lacks" not in found[name]:
            found[name]["install_s"] = install(name, specs.get(name, name))
    where = ", ".join(f"{key} {value}" for key, value in machine().items())
    text = "\n".join([*lines(found), "", where]) + "\n"
    print(text)
    if options.save:
        (RESULTS / "footprint.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
