"""The launcher's command line: Paddle's options, under their old and new names."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from minipaddle.device.selection import device_options

_DESCRIPTION = """Runs a program in several processes, each with a rank and a device of its own.
Options of the launcher come before the program, the program's own after it."""


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Reads the command line; ``devices`` of the result are options as spawn has them.

    Raises:
        SystemExit: An option is wrong; the reason has been printed.
    """
    parser = argparse.ArgumentParser(
        prog="python -m minipaddle.distributed.launch", description=_DESCRIPTION
    )
    _add_devices(parser)
    parser.add_argument(
        "--nproc_per_node", type=int, default=-1, metavar="N",
        help="processes; by default one on each device, or on each core",
    )  # fmt: skip
    parser.add_argument(
        "--log_dir", default="log", help='folder of the logs, workerlog.RANK; default "log"'
    )
    parser.add_argument(
        "--max_restart", type=int, default=0, metavar="N",
        help="times that all processes are started again after one has failed",
    )  # fmt: skip
    parser.add_argument("--backend", default="auto", help='collectives: "gloo", "nccl", "bkcl"')
    parser.add_argument("--nnodes", type=int, default=1, help="machines of the job: 1")
    parser.add_argument("--ips", default="127.0.0.1", help="address of this machine")
    parser.add_argument("--run_mode", default="collective", choices=("collective",))
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module")
    parser.add_argument("program", metavar="PROGRAM", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    given = parser.parse_args(argv)
    if given.nproc_per_node < 1 and given.nproc_per_node != -1:
        parser.error(f"--nproc_per_node must be at least 1; got {given.nproc_per_node}")
    if given.max_restart < 0:
        parser.error(f"--max_restart must be at least 0; got {given.max_restart}")
    if given.nnodes != 1 or len(given.ips.split(",")) > 1:
        asked = f"--nnodes {given.nnodes}" if given.nnodes != 1 else f"--ips {given.ips}"
        parser.error(f"{asked}: the processes of a job run on one machine, this one")
    return given


class _Devices(argparse.Action):
    """Collects ids under spawn's name of the option."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        namespace.devices = {**namespace.devices, self.dest: values}


def _add_devices(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(devices={})
    names = {option: [f"--{option}"] for option in device_options()}
    names["selected_devices"].append("--devices")
    names["xpus"].append("--selected_xpus")
    for option, flags in names.items():
        parser.add_argument(
            *flags, action=_Devices, dest=option, default=argparse.SUPPRESS, metavar="IDS",
            help='ids as in "4,5"; one process each',
        )  # fmt: skip
