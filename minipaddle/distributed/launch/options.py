"""The command line of the launcher, in Paddle's words, old and new."""

from __future__ import annotations

import argparse
import ipaddress
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minipaddle.device.flags import selection_environ
from minipaddle.device.selection import (
    choose_kind,
    comm_of_kind,
    find_kind,
    present_kinds,
    resolve_devices,
)
from minipaddle.distributed.spawn import LOCAL_IP, device_count

TOKEN_VARIABLE = "MINIPADDLE_JOB_TOKEN"


@dataclass(frozen=True)
class Options:
    """What the user has asked for, checked.

    Attributes:
        backend: The kind of device; a Backend.
        ids: Id of the device of each rank of this node; empty texts on the CPU.
        comm: Name of the collectives.
        nnodes: Number of nodes.
        node: Number of this one.
        master: Host and port at which node 0 serves the others.
        token: What all nodes know and no stranger does.
        log_dir: Folder of the ranks' logs.
        max_restart: How often the job may start anew after a failure.
        meet_timeout: Seconds until a node that does not come is an error.
        command: Arguments of Python that run the script: ``["train.py", ...]`` or ``["-m", ...]``.
    """

    backend: Any
    ids: list[str]
    comm: str
    nnodes: int
    node: int
    master: tuple[str, int]
    token: str
    log_dir: str
    max_restart: int
    meet_timeout: float
    command: list[str]

    @property
    def first_rank(self) -> int:
        """Rank of this node's first process."""
        return self.node * len(self.ids)

    @property
    def world_size(self) -> int:
        """Number of ranks of the job: every node has as many."""
        return self.nnodes * len(self.ids)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m minipaddle.distributed.launch",
        description="Runs a script as every rank of a job, on one node or several.",
        allow_abbrev=False,
    )
    devices = parser.add_argument_group("devices")
    devices.add_argument("--devices", dest="selected_devices", metavar="IDS", help="as in 8,9,10")
    devices.add_argument("--gpus", "--selected_gpus", dest="gpus", metavar="IDS")
    devices.add_argument("--xpus", "--selected_xpus", dest="xpus", metavar="IDS")
    devices.add_argument("--nproc_per_node", type=_at_least(1), default=-1, metavar="N")
    devices.add_argument("--backend", default="auto", help="auto, gloo, nccl, bkcl or a plug-in's")
    nodes = parser.add_argument_group("several nodes: the same command on each, with its --rank")
    nodes.add_argument("--nnodes", type=_at_least(1), default=1, metavar="N")
    nodes.add_argument("--master", metavar="HOST:PORT", help="where node 0 serves the others")
    nodes.add_argument("--rank", type=_at_least(0), metavar="R", help="number of this node, from 0")
    nodes.add_argument("--job_id", metavar="NAME", help=f"a token, if {TOKEN_VARIABLE} has none")
    nodes.add_argument("--meet_timeout", type=float, default=300.0, metavar="SECONDS")
    nodes.add_argument("--ips", metavar="HOST", help="this machine; for more see --master")
    parser.add_argument("--log_dir", default="log", help="gets workerlog.N for every rank N")
    parser.add_argument("--max_restart", type=_at_least(0), default=0, metavar="N")
    parser.add_argument("--run_mode", choices=("collective",), default="collective")
    parser.add_argument("-m", "--module", action="store_true", help="the script is a module's name")
    parser.add_argument("script")
    parser.add_argument("script_args", nargs=argparse.REMAINDER)
    return parser


def _at_least(low: int) -> Any:
    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < low:
            raise argparse.ArgumentTypeError(f"must be a whole number >= {low}; got {text!r}")
        return int(text)

    return parse


def read_options(argv: Sequence[str]) -> Options:
    """Reads and checks the command line; nothing has been started when it refuses one.

    Raises:
        SystemExit: With exit code 2, after a line that says what is wrong.
    """
    parser = _parser()
    given = parser.parse_args(argv)
    try:
        return _checked(given, selection_environ())
    except (OSError, RuntimeError, ValueError) as error:
        parser.error(str(error))


def _checked(given: argparse.Namespace, environ: Mapping[str, str]) -> Options:
    if len((given.ips or "").split(",")) > 1:
        raise ValueError(
            f"--ips must name this machine alone; got {given.ips!r}. For several, run the same "
            "command on each with --nnodes, --master HOST:PORT and --rank"
        )
    if not given.module and not os.path.isfile(given.script):
        raise ValueError(f"there is no script {given.script!r}; -m runs a module")
    if not 0 < given.meet_timeout < float("inf"):
        raise ValueError(f"--meet_timeout must be positive seconds; got {given.meet_timeout:g}")
    asked = {name: getattr(given, name) for name in ("selected_devices", "gpus", "xpus")}
    asked["backend"] = given.backend
    backend = find_kind(choose_kind(asked, environ, None, present_kinds))
    ids = resolve_devices(backend, given.nproc_per_node, asked, environ, device_count(backend))
    comm = comm_of_kind(backend.name) if given.backend == "auto" else given.backend
    token = os.urandom(16).hex()
    node, master = 0, (LOCAL_IP, 0)
    if given.nnodes > 1:
        node, master = _place_among_nodes(given)
        token = _shared_token(given, master[0], environ)
        if comm != "gloo":
            raise ValueError(
                f"several nodes work on CPUs only, and this job would run on {backend.name}s; "
                "give --backend gloo, or one node"
            )
        comm = "mpi"
    script = ["-m", given.script] if given.module else [given.script]
    return Options(
        backend, ids, comm, given.nnodes, node, master, token, given.log_dir, given.max_restart,
        given.meet_timeout, [*script, *given.script_args],
    )  # fmt: skip


def _place_among_nodes(given: argparse.Namespace) -> tuple[int, tuple[str, int]]:
    host, _, port = (given.master or "").rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(
            f"--nnodes {given.nnodes} needs --master HOST:PORT, an address of node 0 that all "
            f"nodes reach; got {given.master!r}"
        )
    if given.rank is None or given.rank >= given.nnodes:
        raise ValueError(
            f"--nnodes {given.nnodes} needs --rank, the number of this node from 0 to "
            f"{given.nnodes - 1}; got {given.rank}"
        )
    return given.rank, (host.strip("[]"), int(port))


def _shared_token(given: argparse.Namespace, host: str, environ: Mapping[str, str]) -> str:
    token = environ.get(TOKEN_VARIABLE) or given.job_id
    if token:
        return str(token)
    if not _is_loopback(host):
        raise ValueError(
            f"--master {given.master} can be reached by others: set {TOKEN_VARIABLE} to the same "
            "secret on every node (or give --job_id, which keeps jobs apart but is no secret)"
        )
    return "no token: loopback"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
