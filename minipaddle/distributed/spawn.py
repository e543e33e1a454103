"""``spawn``: runs a function in several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import context as mp_context
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

from minipaddle.device import backend as devices
from minipaddle.device.flags import selection_environ
from minipaddle.device.parallel_env import cpu_threads
from minipaddle.device.selection import (
    choose_kind,
    device_options,
    find_kind,
    present_kinds,
    resolve_devices,
)
from minipaddle.distributed.job_environ import LOCAL_IP, PortHold, device_count, job_environs
from minipaddle.distributed.spawn_child import Call, run_child
from minipaddle.distributed.spawn_context import MultiprocessContext
from minipaddle.distributed.spawn_job import Job

_START_METHODS = ("spawn", "fork", "forkserver")
_DEPRECATED = {
    "selected_gpus": "use gpus",
    "started_port": "ports are found by themselves",
    "node_ip": "spawn starts processes on this machine only",
    "cluster_node_ips": "spawn starts processes on this machine only",
    "use_paddlecloud": "spawn starts processes on this machine only",
}


def spawn(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = -1,
    join: bool = True,
    daemon: bool = False,
    **options: Any,
) -> MultiprocessContext:
    """Runs ``func(*args)`` in several processes, each with a device and a rank of its own.

    A failure of one process ends the others and is raised here with its rank and traceback.

    Args:
        func: Function at the top level of a module. It gets no rank:
            ``paddle.distributed.get_rank()`` tells it. The call of spawn in a program stands under
            ``if __name__ == "__main__":``.
        args: Its arguments; they must be picklable, as its return value.
        nprocs: Number of processes; -1 for one on each selected or visible device, and on a
            machine with nothing but a CPU for one on each core.
        join: Whether to wait for the end. If not, hold on to the result and call its ``join()``:
            the processes are ended when nobody holds it.
        daemon: Whether the processes are ended with this program instead of waited for.
        **options: ``gpus="4,5"`` or ``xpus="4,5"`` or ``selected_devices="4,5"``: ids of the
            devices as in CUDA_VISIBLE_DEVICES. ``backend``: "auto", "gloo", "nccl", "bkcl" or the
            name of a plug-in device. ``start_method``: "spawn", "fork" or "forkserver"; a forked
            process keeps the BLAS threads of its parent. ``print_config=True`` prints what each
            process is told. ``ips``: this machine's address. Deprecated: ``selected_gpus``,
            ``started_port``, ``node_ip``, ``cluster_node_ips``, ``use_paddlecloud``.

    Returns:
        The processes; ``return_queues[rank].get()`` gives what ``func`` returned.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: An option is unknown, a device is not there, or ``func`` or ``args`` cannot
            reach another process. Nothing has been started then.
        RuntimeError: There are fewer devices than processes, or the system is not Linux.
        ProcessFailedError: A process failed; a RuntimeError with ``rank`` and ``exitcode``.

    Example:
        >>> import operator
        >>> import minipaddle as paddle
        >>> context = paddle.distributed.spawn(operator.add, args=(2, 3), nprocs=2)
        >>> [results.get() for results in context.return_queues]
        [5, 5]
    """
    method = _check_call(func, args, nprocs, options)
    environ = selection_environ()
    chosen = devices.chosen_place()
    place = None if chosen is None else str(chosen)
    backend = find_kind(choose_kind(options, environ, place, present_kinds))
    ids = resolve_devices(backend, nprocs, options, environ, device_count(backend))
    if method != "fork":
        _check_picklable(func, tuple(args))
    ports = PortHold(len(ids), options.get("started_port"))
    try:
        variables = job_environs(backend, ids, ports.numbers, options)
        if options.get("print_config"):
            for rank, told in enumerate(variables):
                shown = {k: v for k, v in sorted(told.items()) if not k.endswith("_TOKEN")}
                print(f"rank {rank}: " + " ".join(f"{k}={v}" for k, v in shown.items()))
        folder = Path(tempfile.mkdtemp(prefix="minipaddle-spawn-"))
    except BaseException:
        ports.close()
        raise
    job = Job(folder, ports.close, daemon)
    try:
        _start(job, Call(func, tuple(args)), variables, method)
        context = MultiprocessContext(job)
    except BaseException:
        job.end()
        raise
    if join:
        context.join()
    return context


def _get_subprocess_env_list(nprocs: int, options: Mapping[str, Any]) -> list[dict[str, str]]:
    """What each process would be told; looks at options and environment, never at the hardware."""
    environ = selection_environ()
    backend = find_kind(choose_kind(options, environ, None, list))
    ids = resolve_devices(backend, nprocs, options, environ)
    ports = PortHold(len(ids), options.get("started_port"))
    ports.close()
    return job_environs(backend, ids, ports.numbers, options)


def _check_call(func: Any, args: Any, nprocs: Any, options: Mapping[str, Any]) -> str:
    """Refuses what is wrong whatever the devices are; returns the start method."""
    if sys.platform != "linux":
        raise RuntimeError(f"several processes need Linux; this is {sys.platform}")
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(
            "spawn was called while a started process imports the main module; put the call under "
            "`if __name__ == '__main__':`"
        )
    if multiprocessing.current_process().daemon:
        raise RuntimeError("a daemon process cannot start processes; start it with daemon=False")
    if not callable(func):
        raise TypeError(f"func must be a function; got {func!r}")
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"args must be a tuple of func's arguments; got {args!r}")
    if isinstance(nprocs, bool) or not isinstance(nprocs, int):
        raise TypeError(f"nprocs must be an int; got {nprocs!r}")
    if nprocs < 1 and nprocs != -1:
        raise ValueError(f"nprocs must be at least 1, or -1 for all devices; got {nprocs}")
    _check_options(options)
    method = options.get("start_method") or "spawn"
    if method not in _START_METHODS:
        raise ValueError(f"start_method must be one of {', '.join(_START_METHODS)}; got {method!r}")
    return str(method)


def _check_options(options: Mapping[str, Any]) -> None:
    known = [*device_options(), "start_method", "backend", "print_config", "ips", *_DEPRECATED]
    for name in options:
        if name not in known:
            listed = ", ".join(dict.fromkeys(known))
            raise ValueError(f"spawn has no option {name!r}; its options are {listed}")
        if name in _DEPRECATED:
            warnings.warn(
                f"option {name} of spawn is deprecated: {_DEPRECATED[name]}",
                DeprecationWarning,
                stacklevel=4,
            )
    if options.get("backend") == "mpi":
        raise ValueError(
            "backend='mpi' needs processes that mpiexec or python -m minipaddle.distributed.launch "
            "has started; spawn's processes use 'gloo'"
        )
    for name in ("ips", "cluster_node_ips"):
        if len(str(options.get(name) or LOCAL_IP).split(",")) > 1:
            raise ValueError(
                f"{name} must name one machine, because spawn starts processes on this machine "
                f"only; got {options[name]!r}"
            )
    if options.get("use_paddlecloud"):
        raise ValueError("use_paddlecloud must be False: spawn works on this machine only")


class _Sink:
    """Takes what a pickler writes, and what it does to open files, and keeps none of it."""

    def write(self, content: Any) -> int:
        return len(content)

    def duplicate_for_child(self, handle: int) -> int:
        return handle

    def DupFd(self, handle: int) -> int:
        return handle


def _check_picklable(func: Any, args: tuple[Any, ...]) -> None:
    """Refuses what cannot travel; locks and queues can, but only while a process starts."""
    main = sys.modules.get("__main__")
    if getattr(func, "__module__", None) == "__main__" and not (
        getattr(main, "__file__", None) or getattr(main, "__spec__", None)
    ):
        raise ValueError(
            f"{getattr(func, '__qualname__', func)!r} is defined in a notebook or an interactive "
            "session, where a started process cannot import it. Put it at the top level of a file "
            "module.py and import it from there, or use start_method='fork'"
        )
    sink: Any = _Sink()
    mp_context.set_spawning_popen(sink)
    try:
        _try_pickle(sink, func, "func", "it must stand at the top level of a module")
        _try_pickle(sink, args, "args", "pass what is picklable, and make the rest in func")
    finally:
        mp_context.set_spawning_popen(None)


def _try_pickle(sink: Any, part: Any, name: str, advice: str) -> None:
    try:
        ForkingPickler(sink, None).dump(part)
    except Exception as error:
        raise ValueError(
            f"{name} cannot be pickled to be sent to another process ({error}); {advice}"
        ) from error


def _start(job: Job, call: Call, variables: Sequence[dict[str, str]], method: str) -> None:
    maker = multiprocessing.get_context(method)
    share = max(1, len(os.sched_getaffinity(0)) // len(variables))
    for rank, told in enumerate(variables):
        process: BaseProcess = maker.Process(  # type: ignore[attr-defined]
            target=run_child,
            args=(rank, call, told, job.folder),
            name=f"minipaddle-rank-{rank}",
            daemon=job.daemon,
        )
        job.processes.append(process)
        with cpu_threads(share):
            process.start()
