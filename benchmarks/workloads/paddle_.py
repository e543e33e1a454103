"""Workloads in PaddlePaddle, and in minipaddle where that takes its name (minipaddle_.py)."""

from collections.abc import Callable
from itertools import cycle, pairwise
from typing import Any

import paddle
from paddle import distributed as dist
from paddle import nn

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
    return f"paddle {paddle.__version__}"


def spawn(entry: Callable[..., None], args: tuple[Any, ...], processes: int) -> Any:
    """Start the ranks of a gloo job."""
    return dist.spawn(entry, args, nprocs=processes, join=False, backend="gloo")


def start() -> int:
    """Join the job; return this rank."""
    dist.init_parallel_env()
    return dist.get_rank()


def build_net() -> nn.Layer:
    net = nn.Sequential(nn.Linear(10, 10), nn.Linear(10, 1))
    for parameter, value in zip(net.parameters(), linear_net_weights(), strict=True):
        parameter.set_value(value)
    return net


def training(net: nn.Layer, rank: int, count: int = POOL) -> Callable[[], paddle.Tensor]:
    """One training step; returns the loss."""
    loss_fn = nn.MSELoss()
    adam = paddle.optimizer.Adam(learning_rate=LEARNING_RATE, parameters=net.parameters())
    data = [(paddle.to_tensor(x), paddle.to_tensor(y)) for x, y in batches(rank, count)]
    pool = cycle(data)

    def step() -> paddle.Tensor:
        x, y = next(pool)
        loss = loss_fn(net(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return step


def linear_net() -> Run:
    return loop(training(build_net(), 0))


def dp() -> Run:
    return loop(training(paddle.DataParallel(build_net()), dist.get_rank()))


def linear_net_losses(steps: int) -> list[float]:
    """Loss of each step from the common weights and data, on as many processes as there are."""
    net, rank = build_net(), dist.get_rank()
    if dist.get_world_size() > 1:
        net = paddle.DataParallel(net)
    step = training(net, rank, steps)
    return [float(step()) for _ in range(steps)]


def build_mlp(size: str) -> nn.Layer:
    sizes = MLPS[size]
    layers: list[nn.Layer] = []
    for rows, columns in pairwise(sizes):
        layers += [nn.Linear(rows, columns), nn.ReLU()]
    net = nn.Sequential(*layers[:-1])
    for parameter, value in zip(net.parameters(), mlp_weights(size), strict=True):
        parameter.set_value(value)
    return net


def mlp_step(net: nn.Layer, size: str, batch: int, rank: int) -> Callable[[], paddle.Tensor]:
    """One training step of an MLP; returns the loss."""
    loss_fn = nn.CrossEntropyLoss() if size == "small" else nn.MSELoss()
    adam = paddle.optimizer.Adam(learning_rate=LEARNING_RATE, parameters=net.parameters())
    data = mlp_batches(size, rank, batch)
    pool = cycle([(paddle.to_tensor(x), paddle.to_tensor(y)) for x, y in data])

    def step() -> paddle.Tensor:
        x, y = next(pool)
        loss = loss_fn(net(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return step


def mlp(size: str, batch: int) -> Run:
    return loop(mlp_step(build_mlp(size), size, batch, 0))


def mlp_dp(size: str, batch: int, megabytes: int = 0) -> Run:
    """The step on several processes; buckets may have a size that is not the default's."""
    sizes = {"comm_buffer_size": megabytes, "last_comm_buffer_size": megabytes} if megabytes else {}
    net = paddle.DataParallel(build_mlp(size), **sizes)
    return loop(mlp_step(net, size, batch, dist.get_rank()))


def mlp_losses(size: str, batch: int, steps: int) -> list[float]:
    step = mlp_step(build_mlp(size), size, batch, 0)
    return [float(step()) for _ in range(steps)]


def lerp(shape: list[int], dtype: str, weight: float) -> Run:
    x = paddle.to_tensor(uniform(shape, dtype, 1), stop_gradient=False)
    y = paddle.to_tensor(uniform(shape, dtype, 2), stop_gradient=False)
    cotangent = paddle.to_tensor(uniform(shape, dtype, 3))

    def step() -> None:
        paddle.lerp(x, y, weight).backward(cotangent)
        x.clear_grad()
        y.clear_grad()

    return loop(step)


def lerp_broadcast(x: list[int], y: list[int], weight: list[int], dtype: str) -> Run:
    arrays = [
        paddle.to_tensor(uniform(s, dtype, i), stop_gradient=False)
        for i, s in enumerate((x, y, weight))
    ]
    cotangent = paddle.to_tensor(uniform(y, dtype, 3))

    def step() -> None:
        paddle.lerp(*arrays).backward(cotangent)
        for array in arrays:
            array.clear_grad()

    return loop(step)


def all_reduce(megabytes: int) -> Run:
    tensor = paddle.zeros([megabytes * 1_000_000 // 4])
    return loop(lambda: dist.all_reduce(tensor))


resident_all_reduce = all_reduce  # Paddle has no buffer of its own to offer
