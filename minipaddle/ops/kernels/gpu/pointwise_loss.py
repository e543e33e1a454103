"""Losses of single elements and their gradients.

``bernoulli_loss`` does not look whether it is given probabilities, for which the host would have to
wait: of another number the loss is NaN.
"""

from __future__ import annotations

from typing import Any

from minipaddle.ops.kernels.gpu.elementwise import fused_pair, gradients
from minipaddle.ops.kernels.gpu.launch import Elementwise
from minipaddle.ops.op import Array, kernel

_FILE = "pointwise_loss.cu"

for _name in ("logistic", "bernoulli", "huber"):
    _functor = _name.capitalize()
    fused_pair(f"{_name}_loss_grad", (f"{_functor}ByInput", f"{_functor}ByLabel"), _FILE)

_logistic = Elementwise("Logistic", _FILE)
_bernoulli = Elementwise("Bernoulli", _FILE)
_huber = Elementwise("Huber", _FILE)
# By whether the label is a logarithm.
_divergence = (Elementwise("Divergence", _FILE), Elementwise("LogDivergence", _FILE))
_by_input = (Elementwise("DivergenceByInput", _FILE), Elementwise("LogDivergenceByInput", _FILE))
_by_label = (Elementwise("DivergenceByLabel", _FILE), Elementwise("LogDivergenceByLabel", _FILE))


@kernel("logistic_loss", "gpu")
def logistic_loss(input: Array, label: Array) -> Array:
    return _logistic(input, label)


@kernel("bernoulli_loss", "gpu")
def bernoulli_loss(input: Array, label: Array) -> Array:
    return _bernoulli(input, label)


@kernel("huber_loss", "gpu")
def huber_loss(input: Array, label: Array, delta: float = 1.0) -> Array:
    return _huber(input, label, delta)


@kernel("divergence_loss", "gpu")
def divergence_loss(input: Array, label: Array, log_target: bool = False) -> Array:
    return _divergence[bool(log_target)](input, label)


@kernel("divergence_loss_grad", "gpu")
def divergence_loss_grad(
    input: Array,
    label: Array,
    out_grad: Array,
    log_target: bool,
    wanted: tuple[bool, ...],
    into: Any,
) -> tuple[Array | None, Array | None]:
    which = bool(log_target)
    values = [input, label, out_grad]
    return gradients(_by_input[which], _by_label[which], values, wanted, into)
