"""What the processes of a job on this machine are told: ranks, ports, devices, the job's token."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from minipaddle.device.flags import flag_environ, selected_flag_names, selection_environ
from minipaddle.device.parallel_env import trainer_environ
from minipaddle.device.selection import comm_of_kind

LOCAL_IP = "127.0.0.1"


def device_count(backend: Any) -> int:
    """Devices of the hardware; where devices have no ids, the cores that this process may use."""
    if backend.selected_devices_env is None:
        return len(os.sched_getaffinity(0))
    return int(backend.device_count())


class PortHold:
    """Free ports, bound so that no other job is given them; a child may still listen on its own."""

    def __init__(self, count: int, first: int | None) -> None:
        self._sockets: list[socket.socket] = []
        self.numbers: list[int] = []
        try:
            for rank in range(count):
                self._bind(0 if first is None else int(first) + rank)
        except BaseException:
            self.close()
            raise

    def _bind(self, port: int) -> None:
        held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._sockets.append(held)
        # With this set on both, a socket that does not listen leaves the port to one that does.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            held.bind((LOCAL_IP, port))
        except OSError as error:
            raise ValueError(f"port {port} cannot be used: {error}") from error
        self.numbers.append(held.getsockname()[1])

    def close(self) -> None:
        """Gives the ports back."""
        for held in self._sockets:
            held.close()


def job_environs(
    backend: Any, ids: Sequence[str], ports: Sequence[int], options: Mapping[str, Any]
) -> list[dict[str, str]]:
    """The environment of each process: a dict of its own, so that nothing leaks between them.

    Args:
        backend: The kind of device.
        ids: The device id of each process, an empty text for a kind without ids.
        ports: A port of this machine for each process.
        options: Options of spawn; ``backend`` counts here.

    Returns:
        What to set on top of the environment that the process inherits, by rank.
    """
    comm = options.get("backend") or "auto"
    comm = comm_of_kind(backend.name) if comm == "auto" else comm
    endpoints = [f"{LOCAL_IP}:{port}" for port in ports]
    token = os.urandom(16).hex()
    inherited = {k: v for k, v in selection_environ().items() if k in selected_flag_names() and v}
    common = {**flag_environ(), **dict.fromkeys(inherited, "")}
    told = []
    for rank, device_id in enumerate(ids):
        mine = {**common, **trainer_environ(rank, endpoints, comm, token)}
        if backend.selected_devices_env is not None:
            mine[backend.selected_devices_env] = device_id
        told.append(mine)
    return told
