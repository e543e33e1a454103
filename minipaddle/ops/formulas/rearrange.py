"""Gradients of copies in another order: each puts every element back where it came from."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import formula


@formula
def flip_grad(F: Any, out_grad: Any, axis: tuple[int, ...]) -> tuple[Any, ...]:
    return (F.flip(out_grad, axis),)


@formula
def roll_grad(F: Any, out_grad: Any, shifts: tuple[int, ...], axis: Any) -> tuple[Any, ...]:
    return (F.roll(out_grad, tuple(-shift for shift in shifts), axis),)


@formula
def tile_grad(
    F: Any, x_shape: tuple[int, ...], out_grad: Any, repeat_times: tuple[int, ...]
) -> tuple[Any, ...]:
    rank = max(len(repeat_times), len(x_shape))
    times = (1,) * (rank - len(repeat_times)) + repeat_times
    lengths = (1,) * (rank - len(x_shape)) + x_shape
    apart = tuple(n for pair in zip(times, lengths, strict=True) for n in pair)
    repeated = tuple(2 * i for i, count in enumerate(times) if count != 1)
    g = F.reshape(out_grad, apart)
    return (F.reshape(F.sum(g, repeated) if repeated else g, x_shape),)


@formula
def repeat_interleave_grad(
    F: Any, x_shape: tuple[int, ...], out_grad: Any, repeats: tuple[int, ...], axis: Any
) -> tuple[Any, ...]:
    return (F.sum_repeats(out_grad, x_shape, repeats, axis),)


@formula
def sum_repeats_grad(
    F: Any, x_shape: tuple[int, ...], out_grad: Any, repeats: tuple[int, ...], axis: Any
) -> tuple[Any, ...]:
    return (F.reshape(F.repeat_interleave(out_grad, repeats, axis), x_shape),)


@formula
def tril_grad(F: Any, out_grad: Any, diagonal: int) -> tuple[Any, ...]:
    return (F.tril(out_grad, diagonal),)


@formula
def triu_grad(F: Any, out_grad: Any, diagonal: int) -> tuple[Any, ...]:
    return (F.triu(out_grad, diagonal),)
