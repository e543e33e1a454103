"""What the steps of a program do, in words that minipaddle and PyTorch share."""

from collections.abc import Callable
from typing import Any


def _differs(paddle: Callable[..., Any], torch: Callable[..., Any]) -> Callable[..., Any]:
    """A step whose words differ between the two."""

    def run(F: Any, *args: Any) -> Any:
        return (torch if F.__name__ == "torch" else paddle)(F, *args)

    return run


def _assign(F: Any, x: Any, value: Any, index: Any) -> Any:
    x[index] = value
    return x


# What each step does, with F the package. All keep numbers of order 1.
UNARY: dict[str, Callable[..., Any]] = {
    "tanh": lambda F, x: x.tanh(),
    "sin": lambda F, x: F.sin(x),
    "sigmoid": lambda F, x: x.sigmoid(),
    "bell": lambda F, x: F.exp(-(x * x)),
    "root": lambda F, x: F.sqrt(x * x + 1.0),
    "logarithm": lambda F, x: F.log(x * x + 1.5),
    "square": lambda F, x: F.square(F.sin(x)),
    "clip": lambda F, x: F.clip(x, -0.7, 0.9),
    "gelu": lambda F, x: F.nn.functional.gelu(x),
    "silu": lambda F, x: F.nn.functional.silu(x),
    "softplus": lambda F, x: F.nn.functional.softplus(x) - 1.0,
    "negate": lambda F, x: -x,
}
BINARY: dict[str, Callable[..., Any]] = {
    "add": lambda F, x, y: (x + y) * 0.6,
    "subtract": lambda F, x, y: x - y * 0.5,
    "multiply": lambda F, x, y: x * F.tanh(y),
    "divide": lambda F, x, y: x / (2.0 + F.square(y)),
    "lerp": lambda F, x, y: F.lerp(x, y, 0.3),
    "maximum": lambda F, x, y: F.maximum(x, y),
    "where": lambda F, x, y: F.where(x > y, x * 0.5, y),
}
# These take an axis, in place of keepdim a reduction drops it.
ALONG: dict[str, Callable[..., Any]] = {
    "softmax": lambda F, x, axis: F.nn.functional.softmax(x, axis),
    "log_softmax": lambda F, x, axis: F.nn.functional.log_softmax(x, axis) * 0.3,
    "cumsum": lambda F, x, axis: F.cumsum(x, axis) * 0.4,
    "flip": lambda F, x, axis: F.flip(x, [axis]),
    "roll": lambda F, x, axis: F.roll(x, 1, axis),
}
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda F, x, axis: F.sum(x, axis) * 0.5,
    "mean": lambda F, x, axis: F.mean(x, axis),
    "amax": lambda F, x, axis: F.amax(x, axis),
    "logsumexp": lambda F, x, axis: F.logsumexp(x, axis) - 1.0,
    "prod": lambda F, x, axis: F.prod(F.sin(x), axis),
    "std": lambda F, x, axis: F.sqrt(F.mean(F.square(x), axis) + 0.1),
}
SHAPES: dict[str, Callable[..., Any]] = {
    "reshape": lambda F, x, shape: F.reshape(x, shape),
    "transpose": _differs(
        lambda F, x, perm: F.transpose(x, perm), lambda F, x, perm: F.permute(x, perm)
    ),
    "unsqueeze": lambda F, x, axis: F.unsqueeze(x, axis),
    "part": lambda F, x, index: x[index],
    "expand": lambda F, x, shape: x.expand(shape),
    "chunk": lambda F, x, axis: F.chunk(x, 2, axis)[1],
    "unbind": lambda F, x, axis: F.unbind(x, axis)[0],
    "select": _differs(
        lambda F, x, rows, axis: F.index_select(x, F.to_tensor(rows), axis),
        lambda F, x, rows, axis: F.index_select(x, axis, F.tensor(rows)),
    ),
    "concat": lambda F, x, y, axis: F.concat([x, y, x], axis),
    "stack": lambda F, x, y, axis: F.stack([x, y], axis),
    "matmul": lambda F, x, y: F.matmul(x, y) * 0.4,
}
WRITES: dict[str, Callable[..., Any]] = {
    "add_": lambda F, x, y: x.add_(y),
    "subtract_": lambda F, x, y: x.subtract_(y),
    "multiply_": lambda F, x, factor: x.multiply_(factor),
    "assign": _assign,
    "assign number": _assign,
}
STEPS = {**UNARY, **BINARY, **ALONG, **REDUCTIONS, **SHAPES, **WRITES}
LINEAR = {"negate", "flip", "roll", "cumsum", "sum", "mean", *SHAPES, *WRITES} - {"matmul"}
VIEWS = {"reshape", "transpose", "unsqueeze", "part", "expand", "chunk", "unbind"}
ORDERED = {"reshape", "unsqueeze"}  # views that lie in memory as their base does
