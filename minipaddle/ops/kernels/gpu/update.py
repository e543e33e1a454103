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
from minipaddle.ops.kernels.gpu.fold import PACK_BYTES, aligned, contiguous
from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.kernels.gpu.update_plan import chunks
from minipaddle.ops.op import Array, kernel

_FILE = "update.cu"
_MOST = 64  # tables that are kept
_NUMBERS = 8  # as in update.cu


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
        self, params: list[Array], grad: Array, states: Sequence[Array], *numbers: float
    ) -> None:
        """Updates ``params`` and ``states``.

        Args:
            params: Arrays of one dtype, of any layout.
            grad: Their gradients one after the other, 1-D, of any float dtype.
            states: 1-D like ``grad``, of one float dtype.
            numbers: What the rule is made from.
        """
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
_adam = Update("Adam", 2)


@kernel("sgd_", "gpu")
def sgd_(params: list[Array], grad: Array, learning_rate: float) -> None:
    _sgd(params, grad, (), learning_rate)


@kernel("adam_", "gpu")
def adam_(
    params: list[Array],
    grad: Array,
    moment1: Array,
    moment2: Array,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    step: int,
) -> None:
    correction2 = math.sqrt(1 - beta2**step)
    rate = learning_rate * correction2 / (1 - beta1**step)
    _adam(params, grad, (moment1, moment2), beta1, beta2, rate, epsilon * correction2)


@kernel("sgd_rows_", "gpu")
def sgd_rows_(param: Array, rows: Array, value: Array, learning_rate: float) -> None:
    if not value.size:
        return
    whole, rows, value = contiguous(param), contiguous(rows), contiguous(value)
    row = value.size // rows.size
    width = PACK_BYTES // param.itemsize
    if row % width or not (aligned(whole) and aligned(value)):
        width = 1
    types = f"{type_name(param.dtype)}, {type_name(rows.dtype)}"
    run = compiled(FOLDER / _FILE, f"sgd_rows<{types}, {width}>")
    packs = value.size // width
    numbers = (packs, row // width, param.shape[0])
    run((-(-packs // THREADS),), (THREADS,), (*numbers, whole, rows, value, float(learning_rate)))
    if whole is not param:
        param[...] = whole
