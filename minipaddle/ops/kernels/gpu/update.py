"""Optimizer updates: gradient and moments are flat, parameters lie where they lie.

One launch updates all parameters of a list, half types in float32. Where they lie, a table on
the device tells, made once for a list.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.gpu.fold import PACK_BYTES, contiguous
from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.kernels.gpu.update_plan import chunks
from minipaddle.ops.op import Array, kernel

_FILE = "update.cu"
_MOST = 64  # tables that are kept
_NUMBERS = 12  # as in update.cu


class Update:
    """A rule of update.cu, applied to lists of parameters.

    Args:
        rule: The functor, a template on the type that is computed in.
        states: How many flat arrays of state it has.
    """

    def __init__(self, rule: str, states: int) -> None:
        self.rule = rule
        self.states = states
        self._kernels: dict[Any, Any] = {}

    def __call__(
        self,
        params: list[Array],
        arrays: tuple[Array | None, Array, Sequence[Array]],
        treatment: tuple[float, ...],
        *numbers: float,
    ) -> None:
        """Updates ``params`` and their state.

        Args:
            params: Arrays of one dtype, of any layout.
            arrays: The parameters' values in float32, flat, or None; their gradients one after the
                other, 1-D, of any float dtype; state, 1-D like it, of one float dtype.
            treatment: What becomes of the gradient: scale, lowest, highest, l1, l2.
            numbers: What the rule is made from.
        """
        master, grad, states = arrays
        if master is None:
            self._update(params, grad, states, (*treatment, *numbers))
            return
        self._update([master], grad, states, (*treatment, *numbers))
        start = 0
        for param in params:
            param[...] = master[start : start + param.size].reshape(param.shape)
            start += param.size

    def _update(
        self, params: list[Array], grad: Array, states: Sequence[Array], numbers: tuple[float, ...]
    ) -> None:
        if not grad.size:
            return
        whole, grad = [contiguous(p) for p in params], contiguous(grad)
        table, size = _table(whole)
        if size != grad.size:
            raise ValueError(f"parameters of {size} elements have a gradient of {grad.size}")
        dtype = whole[0].dtype
        key = (dtype, grad.dtype, states[0].dtype if states else compute_dtype(dtype))
        run = self._kernels.get(key)
        if run is None:
            run = self._kernels[key] = self._compiled(*key)
        filled = np.zeros(_NUMBERS)
        filled[: len(numbers)] = numbers
        given = (table, grad, *(*states, 0, 0, 0)[:3], filled.view(f"V{filled.nbytes}").reshape(()))
        run((len(table),), (THREADS,), given)
        for param, copy in zip(params, whole, strict=True):
            if copy is not param:
                param[...] = copy

    def _compiled(self, dtype: Any, grad: Any, state: Any) -> Any:
        computed = compute_dtype(dtype)
        types = ", ".join(map(type_name, (dtype, grad, state)))
        width = PACK_BYTES // computed.itemsize
        name = f"update<{self.rule}<{type_name(computed)}>, {types}, {width}>"
        return compiled(FOLDER / _FILE, name)


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


_sgd = Update("Sgd", 0)
_momentum = Update("Momentum", 1)
_adam = Update("Adam", 2)
_amsgrad = Update("AmsGrad", 3)


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
    _sgd(params, (master, grad, ()), (scale, lowest, highest, l1, l2), learning_rate)


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
    _momentum(params, (master, grad, (velocity,)), (scale, lowest, highest, l1, l2), *numbers)


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
    correction2 = math.sqrt(1 - beta2**step)
    rate = learning_rate * correction2 / (1 - beta1**step)
    numbers = (beta1, beta2, rate, epsilon * correction2, 1.0 - learning_rate * decay)
    treatment = (scale, lowest, highest, l1, l2)
    if moment2_max is None:
        _adam(params, (master, grad, (moment1, moment2)), treatment, *numbers)
    else:
        _amsgrad(params, (master, grad, (moment1, moment2, moment2_max)), treatment, *numbers)
