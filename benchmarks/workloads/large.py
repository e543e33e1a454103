"""What the benchmark `large` calls, in words that both packages share; F is the package."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

ROWS = 256  # random rows, repeated: drawing a whole matrix takes longer than most ops


class Case(NamedTuple):
    """One call.

    Attributes:
        operands: Kinds of operands (`OPERANDS`).
        paddle: The call.
        torch: The call in PyTorch where it needs other words.
    """

    operands: str
    paddle: Callable[..., Any]
    torch: Callable[..., Any] | None = None


@lru_cache(maxsize=2)  # those that most cases take stay
def _uniform(n: int, low: float, high: float, seed: int) -> np.ndarray:
    rows = min(n, ROWS)
    drawn = np.random.RandomState(seed).uniform(low, high, (rows, n)).astype("float32")
    return np.tile(drawn, (-(-n // rows), 1))[:n]


OPERANDS: dict[str, Callable[[int], np.ndarray]] = {
    "x": lambda n: _uniform(n, -2.0, 2.0, 1),
    "y": lambda n: _uniform(n, -2.0, 2.0, 2),
    "positive": lambda n: _uniform(n, 0.1, 2.0, 3),
    "near_1": lambda n: _uniform(n, 1.0 - 1e-4, 1.0 + 1e-4, 4),  # products stay finite
    "weight": lambda n: _uniform(n, 0.5, 1.5, 5)[0],
    "bias": lambda n: _uniform(n, -0.5, 0.5, 6)[0],
    "mask": lambda n: _uniform(n, 0.0, 1.0, 7) < 0.5,
    "labels": lambda n: np.random.RandomState(8).randint(0, n, n),
    "index": lambda n: np.random.RandomState(9).permutation(n),
}


def _named(operands: str, *names: str) -> dict[str, Case]:
    """Functions that both call by the same names."""

    def call(name: str) -> Callable[..., Any]:
        return lambda F, *args: getattr(F, name)(*args)

    return {name: Case(operands, call(name)) for name in names}


def _functional(operands: str, *names: str) -> dict[str, Case]:
    """The same for functions of nn.functional."""
    plain = _named(operands, *names)
    return {
        name: Case(operands, lambda F, *args, call=case.paddle: call(F.nn.functional, *args))
        for name, case in plain.items()
    }


def _along(axes: tuple[Any, ...], cases: dict[str, Case]) -> dict[str, Case]:
    """Each case, which takes an axis after its operands, for each of the axes."""

    def at(function: Callable[..., Any] | None, axis: Any) -> Any:
        return function and (lambda F, *args: function(F, *args, axis))

    return {
        f"{name}, axis {axis}": Case(case.operands, at(case.paddle, axis), at(case.torch, axis))
        for name, case in cases.items()
        for axis in axes
    }


def _norm(function: str) -> Callable[..., Any]:
    def call(F: Any, x: Any, weight: Any, *bias: Any) -> Any:
        return getattr(F.nn.functional, function)(x, [x.shape[-1]], weight, *bias)

    return call


def _whole(of_all: Callable[..., Any], along: Callable[..., Any]) -> Callable[..., Any]:
    """PyTorch's function of all elements and the one along an axis."""
    return lambda F, x, axis: of_all(F, x) if axis is None else along(F, x, axis)


ELEMENTWISE = {
    **_named("x y", "add", "multiply", "divide", "maximum"),
    **_named("x", "exp", "square", "abs", "tanh", "sin", "sigmoid"),
    **_named("positive", "log", "sqrt", "rsqrt"),
    "pow": Case("positive", lambda F, x: F.pow(x, 2.5)),
    "clip": Case("x", lambda F, x: F.clip(x, -1.0, 1.0)),
    **_functional("x", "relu", "leaky_relu", "gelu", "silu", "softplus"),
    "gelu, tanh": Case(
        "x",
        lambda F, x: F.nn.functional.gelu(x, True),
        lambda F, x: F.nn.functional.gelu(x, approximate="tanh"),
    ),
    **_named("mask x y", "where"),
}
ROWWISE = {
    **_along((0, 1), {
        "softmax": Case("x", lambda F, x, axis: F.nn.functional.softmax(x, axis)),
        "log_softmax": Case("x", lambda F, x, axis: F.nn.functional.log_softmax(x, axis)),
    }),
    "layer_norm": Case("x weight bias", _norm("layer_norm")),
    "rms_norm": Case("x weight", _norm("rms_norm")),
    **_functional("x labels", "cross_entropy"),
}  # fmt: skip
REDUCTIONS = _along((None, 0, 1), {
    "sum": Case("x", lambda F, x, axis: F.sum(x, axis)),
    "mean": Case("x", lambda F, x, axis: F.mean(x, axis)),
    "max": Case(
        "x",
        lambda F, x, axis: F.max(x, axis),
        _whole(lambda F, x: F.max(x), lambda F, x, axis: F.max(x, axis).values),
    ),
    "var": Case("x", lambda F, x, axis: F.var(x, axis)),
    "std": Case("x", lambda F, x, axis: F.std(x, axis)),
    "logsumexp": Case(
        "x",
        lambda F, x, axis: F.logsumexp(x, axis),
        _whole(lambda F, x: F.logsumexp(x, (0, 1)), lambda F, x, axis: F.logsumexp(x, axis)),
    ),
    "norm": Case(
        "x",
        lambda F, x, axis: F.linalg.norm(x, 2.0, axis),
        lambda F, x, axis: F.linalg.vector_norm(x, 2.0, axis),
    ),
    "prod": Case(
        "near_1",
        lambda F, x, axis: F.prod(x, axis),
        _whole(lambda F, x: F.prod(x), lambda F, x, axis: F.prod(x, axis)),
    ),
    "cumsum": Case(
        "x",
        lambda F, x, axis: F.cumsum(x, axis),
        _whole(lambda F, x: F.cumsum(x.flatten(), 0), lambda F, x, axis: F.cumsum(x, axis)),
    ),
})  # fmt: skip
MOVES = {
    "transpose": Case("x", lambda F, x: F.t(x).contiguous()),
    **_along((0, 1), {
        "concat": Case("x y", lambda F, x, y, axis: F.concat([x, y], axis)),
        "flip": Case("x", lambda F, x, axis: F.flip(x, [axis])),
        "index_select": Case(
            "x index",
            lambda F, x, index, axis: F.index_select(x, index, axis),
            lambda F, x, index, axis: F.index_select(x, axis, index),
        ),
    }),
}  # fmt: skip
CASES = {**ELEMENTWISE, **ROWWISE, **REDUCTIONS, **MOVES}


def arrays(case: str, size: int) -> list[np.ndarray]:
    """The operands of a case, matrices of ``size`` rows and columns among them."""
    return [OPERANDS[kind](size) for kind in CASES[case].operands.split()]
