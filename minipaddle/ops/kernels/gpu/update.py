"""Optimizer updates: gradient and moments are flat, parameters lie where they lie.

One launch updates all parameters of a list, half types in float32; in it too a gradient is
limited, scaled and joined by a penalty, and the parameters become their master weights, rounded.
Where they lie, a table on the device tells, made once for a list.

Updates of rows pass over rows that a parameter does not have, as to look for them would mean to
wait for the GPU.
"""

from __future__ import annotations

import math
from array import array as doubles
from collections.abc import Sequence
from typing import Any

import cupy

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.gpu.fold import PACK_BYTES
from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled, contiguous
from minipaddle.ops.kernels.gpu.layout import Struct
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.kernels.gpu.update_plan import chunks
from minipaddle.ops.op import Array, kernel

_FILE = "update.cu"
_MOST = 64  # tables that are kept
_NUMBERS = 14  # as in update.cu

# scale, lowest, highest, l1, l2: what becomes of a gradient before it is used.
Treatment = tuple[float, float, float, float, float]


class Update:
    """A rule of update.cu, applied to lists of parameters.

    Args:
        rule: The functor, a template on the type that is computed in.
    """

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self._kernels: dict[Any, Any] = {}

    def __call__(
        self,
        params: list[Array],
        arrays: tuple[Array | None, Array, tuple[Array, ...]],
        treatment: Treatment,
        numbers: tuple[float, ...],
        keep: float = 1.0,
    ) -> None:
        """Updates ``params``, their master weights and state.

        Args:
            params: Arrays of one dtype, of any layout.
            arrays: Master weights or None, gradient, and state, all 1-D, for one parameter after
                the other; of any float dtypes, but the state of one.
            treatment: scale, lowest, highest, l1, l2.
            numbers: What the rule is made from.
            keep: Factor of the parameters.
        """
        if not params:
            return
        master, grad, states = arrays
        given = [*params, *states] if master is None else [*params, *states, master]
        whole, grad = [contiguous(a) for a in given], contiguous(grad)
        table, size = _table(whole[: len(params)])
        if size != grad.size:
            raise ValueError(f"the gradient has {grad.size} elements, its parameters have {size}")
        for array in given[len(params) :]:
            if array.size != size:
                raise ValueError(f"the state has {array.size} elements, the parameters {size}")
        if not size:
            return
        state = whole[len(params) : len(params) + len(states)]
        run = self._update(params[0], master, grad, state)
        passed = (0 if master is None else whole[-1], grad, *_three(state))
        run((len(table),), (THREADS,), (table, *passed, _packed(treatment, keep, numbers)))
        _return(whole, given)

    def rows(
        self,
        written: list[Array],
        rows: Array,
        value: Array,
        treatment: Treatment,
        numbers: tuple[float, ...],
        keep: float = 1.0,
    ) -> None:
        """Updates some rows of a parameter and of its state.

        Args:
            written: The parameter and, of its shape and of one float dtype, its state.
            rows: Int [k], the numbers of the rows, each once.
            value: [k, ...], their gradients.
            treatment: scale, lowest, highest, l1, l2.
            numbers: What the rule is made from.
            keep: Factor of the rows.
        """
        param = written[0]
        if value.size * param.shape[0] != rows.size * param.size:
            raise ValueError(
                f"{rows.size} rows of a parameter {list(param.shape)} have a gradient "
                f"{list(value.shape)}"
            )
        for array in written[1:]:
            if array.size != param.size:
                raise ValueError(f"the state has {array.size} elements, the parameter {param.size}")
        if not value.size:
            return
        whole, rows, value = [contiguous(a) for a in written], contiguous(rows), contiguous(value)
        row = value.size // rows.size
        run, width = self._update_rows(whole, rows, value, row)
        packs = value.size // width
        passed = (whole[0], rows, value, *_three(whole[1:]), _packed(treatment, keep, numbers))
        lead = (packs, row // width, param.shape[0])
        run((-(-packs // THREADS),), (THREADS,), (*lead, *passed))
        _return(whole, written)

    def _update(self, param: Array, master: Array | None, grad: Array, states: list[Array]) -> Any:
        state = states[0].dtype if states else None
        key = (param.dtype, None if master is None else master.dtype, grad.dtype, state)
        run = self._kernels.get(key)
        if run is None:
            run = self._kernels[key] = self._compiled("update", *key)
        return run

    def _update_rows(
        self, whole: list[Array], rows: Array, value: Array, row: int
    ) -> tuple[Any, int]:
        param = whole[0]
        width = _width(param.dtype)
        if row % width or any(a.data.ptr % (a.itemsize * width) for a in (*whole, value)):
            width = 1
        state = whole[1].dtype if len(whole) > 1 else None
        key = (param.dtype, rows.dtype, value.dtype, state, width)
        run = self._kernels.get(key)
        if run is None:
            run = self._kernels[key] = self._compiled("update_rows", *key)
        return run, width

    def _compiled(
        self, loop: str, dtype: Any, other: Any, grad: Any, state: Any, width: int = 0
    ) -> Any:
        computed = compute_dtype(dtype)
        second = "void" if other is None else type_name(other)
        last = type_name(computed if state is None else state)
        types = f"{type_name(dtype)}, {second}, {type_name(grad)}, {last}"
        rule = f"{self.rule}<{type_name(computed)}>"
        return compiled(FOLDER / _FILE, f"{loop}<{rule}, {types}, {width or _width(dtype)}>")


def _width(dtype: Any) -> int:
    """Elements of a pack."""
    return int(PACK_BYTES // compute_dtype(dtype).itemsize)


def _three(states: Sequence[Array]) -> tuple[Any, ...]:
    return (*states, 0, 0, 0)[:3]


def _packed(treatment: Treatment, keep: float, numbers: tuple[float, ...]) -> Struct:
    """The numbers as update.cu gets them."""
    rest = _NUMBERS - 6 - len(numbers)
    return Struct(doubles("d", (*treatment, keep, *numbers, *(0.0,) * rest)))


def _return(copies: list[Array], originals: list[Array]) -> None:
    """Writes what is a copy without gaps back to where it came from."""
    for copy, original in zip(copies, originals, strict=True):
        if copy is not original:
            original[...] = copy


_tables: dict[Any, tuple[Array, int]] = {}


def _table(params: list[Array]) -> tuple[Array, int]:
    """Where the chunks of ``params`` lie, and how many elements these have."""
    addresses = tuple([p.data.ptr for p in params])
    sizes = tuple([p.size for p in params])
    key = (addresses, sizes, params[0].itemsize if params else 1)
    found = _tables.get(key)
    if found is None:
        if len(_tables) >= _MOST:
            _tables.clear()
        found = _tables[key] = cupy.array(chunks(*key)), sum(sizes)
    return found


_sgd, _momentum, _adagrad, _adadelta = map(Update, ("Sgd", "Momentum", "Adagrad", "Adadelta"))
_adam, _amsgrad, _adamax = map(Update, ("Adam", "AmsGrad", "Adamax"))
_rmsprop, _centered_rmsprop = map(Update, ("Rmsprop", "CenteredRmsprop"))


@kernel("sgd_", "gpu")
def sgd_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    learning_rate: float,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    _sgd(params, (master, grad, ()), (scale, lowest, highest, l1, l2), (learning_rate,))


@kernel("sgd_rows_", "gpu")
def sgd_rows_(
    param: Array,
    rows: Array,
    value: Array,
    learning_rate: float,
    scale: float,
    lowest: float,
    highest: float,
) -> None:
    _sgd.rows([param], rows, value, (scale, lowest, highest, 0.0, 0.0), (learning_rate,))


@kernel("momentum_", "gpu")
def momentum_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    velocity: Array,
    learning_rate: float,
    momentum: float,
    use_nesterov: bool,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    numbers = (learning_rate, momentum, float(use_nesterov))
    _momentum(params, (master, grad, (velocity,)), (scale, lowest, highest, l1, l2), numbers)


@kernel("adagrad_", "gpu")
def adagrad_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    moment: Array,
    learning_rate: float,
    epsilon: float,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    numbers = (learning_rate, epsilon)
    _adagrad(params, (master, grad, (moment,)), (scale, lowest, highest, l1, l2), numbers)


@kernel("adadelta_", "gpu")
def adadelta_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    mean_square: Array,
    mean_update: Array,
    learning_rate: float,
    rho: float,
    epsilon: float,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    arrays = (master, grad, (mean_square, mean_update))
    _adadelta(params, arrays, (scale, lowest, highest, l1, l2), (learning_rate, rho, epsilon))


@kernel("rmsprop_", "gpu")
def rmsprop_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    moment: Array,
    mean_square: Array,
    mean_grad: Array,
    learning_rate: float,
    rho: float,
    epsilon: float,
    momentum: float,
    centered: bool,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    state = (moment, mean_square, mean_grad) if centered else (moment, mean_square)
    rule = _centered_rmsprop if centered else _rmsprop
    numbers = (learning_rate, rho, epsilon, momentum)
    rule(params, (master, grad, state), (scale, lowest, highest, l1, l2), numbers)


def _adam_numbers(
    learning_rate: float, beta1: float, beta2: float, epsilon: float, step: int
) -> tuple[float, ...]:
    correction2 = math.sqrt(1 - beta2**step)
    rate = learning_rate * correction2 / (1 - beta1**step)
    return beta1, beta2, rate, epsilon * correction2


@kernel("adam_", "gpu")
def adam_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    moment1: Array,
    moment2: Array,
    moment2_max: Array | None,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    decay: float,
    step: int,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    numbers = _adam_numbers(learning_rate, beta1, beta2, epsilon, step)
    state = (moment1, moment2) if moment2_max is None else (moment1, moment2, moment2_max)
    rule = _adam if moment2_max is None else _amsgrad
    # Loshchilov and Hutter (2019), algorithm 2: decay does not go through the moments.
    keep = 1.0 - learning_rate * decay
    rule(params, (master, grad, state), (scale, lowest, highest, l1, l2), numbers, keep)


@kernel("adam_rows_", "gpu")
def adam_rows_(
    param: Array,
    rows: Array,
    value: Array,
    moment1: Array,
    moment2: Array,
    moment2_max: Array | None,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    decay: float,
    step: int,
    scale: float,
    lowest: float,
    highest: float,
) -> None:
    numbers = _adam_numbers(learning_rate, beta1, beta2, epsilon, step)
    written = [a for a in (param, moment1, moment2, moment2_max) if a is not None]
    rule = _adam if moment2_max is None else _amsgrad
    keep = 1.0 - learning_rate * decay
    rule.rows(written, rows, value, (scale, lowest, highest, 0.0, 0.0), numbers, keep)


@kernel("adamax_", "gpu")
def adamax_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    moment: Array,
    largest: Array,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    step: int,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    numbers = (beta1, beta2, learning_rate / (1 - beta1**step), epsilon)
    _adamax(params, (master, grad, (moment, largest)), (scale, lowest, highest, l1, l2), numbers)
