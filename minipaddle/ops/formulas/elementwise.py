"""Gradients of arithmetic."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import formula


def number(F: Any, mask: Any, like: Any) -> Any:
    """A mask as zeros and ones of the type of ``like``."""
    return F.cast(mask, like.dtype)


def not_zero(F: Any, x: Any) -> Any:
    """``x`` with 1 for 0, to divide by."""
    return F.add(x, number(F, F.equal(x, 0.0), x))


@formula
def add_grad(F: Any, out_grad: Any) -> tuple[Any, ...]:
    return out_grad, out_grad


@formula
def subtract_grad(F: Any, out_grad: Any) -> tuple[Any, ...]:
    return out_grad, F.multiply(out_grad, -1.0)


@formula
def multiply_grad(F: Any, x: Any, y: Any, out_grad: Any) -> tuple[Any, ...]:
    return (
        None if y is None else F.multiply(out_grad, y),
        None if x is None else F.multiply(out_grad, x),
    )


@formula
def divide_grad(F: Any, x: Any, y: Any, out_grad: Any) -> tuple[Any, ...]:
    y_grad = None
    if x is not None:
        y_grad = F.multiply(F.divide(F.multiply(out_grad, x), F.square(y)), -1.0)
    return F.divide(out_grad, y), y_grad


@formula
def square_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.multiply(x, 2.0)),)


@formula
def sign_grad(F: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, 0.0),)


@formula
def tanh_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.subtract(1.0, F.square(out))),)


@formula
def cast_grad(F: Any, out_grad: Any) -> tuple[Any, ...]:
    return (out_grad,)  # the engine brings a gradient to its input's type


@formula
def assign_grad(F: Any, out_grad: Any) -> tuple[Any, ...]:
    return (out_grad,)


@formula
def lerp_grad(
    F: Any, x: Any, y: Any, weight: Any, x_shape: Any, y_shape: Any, out_grad: Any
) -> tuple[Any, ...]:
    y_grad = F.multiply(out_grad, weight)
    weight_grad = None if x is None else F.multiply(out_grad, F.subtract(y, x))
    return F.subtract(out_grad, y_grad), y_grad, weight_grad
