"""Workloads in PyTorch."""

import os
import tempfile
from collections.abc import Callable
from datetime import timedelta
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from benchmarks.workloads import large
from benchmarks.workloads.timing import (
    LEARNING_RATE,
    MLPS,
    POOL,
    batches,
    linear_net_weights,
    loop,
    mlp_batches,
    mlp_weights,
    uniform,
)

Run = Callable[[int], float]


def version() -> str:
    return f"torch {torch.__version__}"


def spawn(entry: Callable[..., None], args: tuple[Any, ...], processes: int) -> Any:
    """Start the ranks of a gloo job, which meet through a file."""
    os.environ["WORLD_SIZE"] = str(processes)
    os.environ["MEET_AT"] = f"{tempfile.gettempdir()}/minipaddle-bench-{os.getpid()}"
    return torch.multiprocessing.spawn(enter, (entry, args), nprocs=processes, join=False)


def enter(rank: int, entry: Callable[..., None], args: tuple[Any, ...]) -> None:
    os.environ["RANK"] = str(rank)
    entry(*args)


def start() -> int:
    """Join the job; return this rank."""
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    meet = f"file://{os.environ['MEET_AT']}"
    dist.init_process_group("gloo", meet, timedelta(seconds=60), world, rank)
    return rank


def build_net() -> nn.Module:
    net = nn.Sequential(nn.Linear(10, 10), nn.Linear(10, 1))
    with torch.no_grad():
        for parameter, value in zip(net.parameters(), linear_net_weights(), strict=True):
            parameter.copy_(torch.from_numpy(value.T))
    return net


def training(net: nn.Module, rank: int, fused: bool = False) -> Run:
    loss_fn = nn.MSELoss()
    adam = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE, fused=fused or None)
    pool = cycle([(torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches(rank, POOL)])

    def step() -> None:
        x, y = next(pool)
        loss = loss_fn(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()

    return loop(step)


def linear_net(fused: bool = False) -> Run:
    return training(build_net(), 0, fused)


def dp() -> Run:
    net = nn.parallel.DistributedDataParallel(build_net())
    return training(net, dist.get_rank())


def build_mlp(size: str) -> nn.Module:
    sizes = MLPS[size]
    layers: list[nn.Module] = []
    for rows, columns in pairwise(sizes):
        layers += [nn.Linear(rows, columns), nn.ReLU()]
    net = nn.Sequential(*layers[:-1])
    with torch.no_grad():
        for parameter, value in zip(net.parameters(), mlp_weights(size), strict=True):
            parameter.copy_(torch.from_numpy(value.T))
    return net


def mlp_training(net: nn.Module, data: tuple[str, int, int], fused: bool = False) -> Run:
    """Steps of an MLP on the data of (size, rank, batch)."""
    loss_fn = nn.CrossEntropyLoss() if data[0] == "small" else nn.MSELoss()
    adam = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE, fused=fused or None)
    pool = cycle([(torch.from_numpy(x), torch.from_numpy(y)) for x, y in mlp_batches(*data)])

    def step() -> None:
        x, y = next(pool)
        loss = loss_fn(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()

    return loop(step)


def mlp(size: str, batch: int, fused: bool = False, reducer: bool = False) -> Run:
    """The step of an MLP; with ``reducer`` through DistributedDataParallel on a group of one."""
    net = build_mlp(size)
    if reducer:
        if not dist.is_initialized():
            store = dist.HashStore()
            dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        net = nn.parallel.DistributedDataParallel(net)
    return mlp_training(net, (size, 0, batch), fused)


def mlp_dp(size: str, batch: int) -> Run:
    net = nn.parallel.DistributedDataParallel(build_mlp(size))
    return mlp_training(net, (size, dist.get_rank(), batch))


def lerp(shape: list[int], dtype: str, weight: float) -> Run:
    x = torch.from_numpy(uniform(shape, dtype, 1)).requires_grad_()
    y = torch.from_numpy(uniform(shape, dtype, 2)).requires_grad_()
    cotangent = torch.from_numpy(uniform(shape, dtype, 3))

    def step() -> None:
        torch.lerp(x, y, weight).backward(cotangent)
        x.grad = y.grad = None

    return loop(step)


def lerp_broadcast(x: list[int], y: list[int], weight: list[int], dtype: str) -> Run:
    arrays = [
        torch.from_numpy(uniform(s, dtype, i)).requires_grad_()
        for i, s in enumerate((x, y, weight))
    ]
    cotangent = torch.from_numpy(uniform(y, dtype, 3))

    def step() -> None:
        torch.lerp(*arrays).backward(cotangent)
        for array in arrays:
            array.grad = None

    return loop(step)


def all_reduce(megabytes: int) -> Run:
    tensor = torch.zeros(megabytes * 1_000_000 // 4)
    return loop(lambda: dist.all_reduce(tensor))


resident_all_reduce = all_reduce  # gloo has no buffer of its own to offer


def large_op(case: str, size: int, mode: str) -> Run:
    """A call on large arrays: ``forward``, or with the gradient of every float operand."""
    function = large.CASES[case].torch or large.CASES[case].paddle
    operands = [torch.from_numpy(array) for array in large.arrays(case, size)]
    if mode == "forward":
        return loop(lambda: function(torch, *operands))
    inputs = [x for x in operands if x.dtype == torch.float32]
    for x in inputs:
        x.requires_grad_()
    cotangent = torch.ones_like(function(torch, *operands))

    def step() -> None:
        function(torch, *operands).backward(cotangent)
        for x in inputs:
            x.grad = None

    return loop(step)


def outside_op(file: str, op: str, number: int, mode: str) -> Run:
    """The function that stands for an op from outside the tree (outside.py)."""
    from benchmarks import outside  # imports minipaddle, which no other workload here needs

    function = outside.torch_function(Path(file), op)
    given, attributes = outside.operands(Path(file), op, number)
    args, inputs = outside.converted(given, torch.from_numpy)
    if mode == "forward":
        return loop(lambda: function(torch, *args, **attributes))
    for x in inputs:
        x.requires_grad_()
    cotangent = torch.ones_like(function(torch, *args, **attributes))

    def step() -> None:
        function(torch, *args, **attributes).backward(cotangent)
        for x in inputs:
            x.grad = None

    return loop(step)
