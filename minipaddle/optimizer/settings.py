"""What an optimizer is told: parameters, alone or in groups, and how each is to be updated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.clip import ClipGradBase
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.regularizer import L2Decay, WeightDecayRegularizer


@dataclass(eq=False)
class Group:
    """Parameters that are given together.

    Attributes:
        params: The parameters.
        factor: What the learning rate is multiplied by.
        decay: Penalty on the parameters that have none of their own, or None.
        clip: Limit on the gradients, or None.
        options: What else the kind of optimizer has, by name.
    """

    params: list[Tensor]
    factor: float
    decay: WeightDecayRegularizer | None
    clip: ClipGradBase | None
    options: dict[str, Any]


class Settings(NamedTuple):
    """How a parameter is updated; parameters with equal settings may be updated in one go.

    Attributes:
        factor: What the learning rate is multiplied by.
        options: Numbers for the update op.
        limited: The group whose clip needs the norm of the gradient, or None.
        treatment: What becomes of the gradient before it is used: scale, lowest, highest, l1, l2.
    """

    factor: float
    options: tuple[Any, ...]
    limited: Group | None
    treatment: tuple[float, float, float, float, float]

    @property
    def apart(self) -> bool:
        """Whether each gradient has a norm of its own to be clipped by."""
        return self.limited is not None and self.limited.clip is not None and self.limited.clip.each


def settings_of(
    param: Tensor,
    group: Group,
    options: tuple[Any, ...],
    decay: WeightDecayRegularizer | None,
    factor: float = 1.0,
    scale: float = 1.0,
) -> Settings:
    """The settings of one parameter of a group.

    Args:
        param: The parameter.
        group: The group.
        options: Numbers for the update op.
        decay: Penalty on the parameter, if it has no regularizer of its own.
        factor: What the learning rate is multiplied by beside the factors of these.
        scale: What the clipped gradient is multiplied by.
    """
    decay = getattr(param, "regularizer", None) or decay
    clip = group.clip if getattr(param, "need_clip", True) else None
    low, high = (-math.inf, math.inf) if clip is None else clip.limits
    l1, l2 = (0.0, 0.0) if decay is None else (decay.l1, decay.l2)
    own = getattr(param, "optimize_attr", {}).get("learning_rate", 1.0)
    limited = group if clip is not None and clip.measures else None
    treatment = (scale, low, high, l1, l2)
    return Settings(own * group.factor * factor, options, limited, treatment)


def not_negative(group: Group, *names: str) -> None:
    """Refuses options of a group that are negative or NaN."""
    for name in names:
        if not group.options[name] >= 0:
            raise ValueError(f"{name} must not be negative; got {group.options[name]}")


def betas(group: Group) -> None:
    """Refuses decays of means that are outside [0, 1); makes floats of them."""
    for name in ("beta1", "beta2"):
        value = group.options[name] = float(group.options[name])
        if not 0 <= value < 1:
            raise ValueError(f"{name} must lie in [0, 1); got {value}")


def checked_rate(rate: Any) -> float | LRScheduler:
    """A learning rate as an optimizer takes it: a float or a scheduler."""
    if isinstance(rate, LRScheduler):
        return rate
    if isinstance(rate, bool) or not isinstance(rate, float):
        raise TypeError(f"learning_rate must be a float or an LRScheduler; got {rate!r}")
    return float(rate)


def checked_decay(decay: Any) -> WeightDecayRegularizer | None:
    """``weight_decay`` as a penalty: a number means L2Decay."""
    if decay is None or isinstance(decay, WeightDecayRegularizer):
        return decay
    if isinstance(decay, bool) or not isinstance(decay, (int, float)):
        raise TypeError(
            f"weight_decay must be a number, L1Decay, L2Decay or None; got {type(decay).__name__}"
        )
    return L2Decay(decay)


def checked_clip(clip: Any) -> ClipGradBase | None:
    """``grad_clip``, which must be a clip or None."""
    if clip is None or isinstance(clip, ClipGradBase):
        return clip
    raise TypeError(
        "grad_clip must be ClipGradByValue, ClipGradByNorm, ClipGradByGlobalNorm or None; got "
        f"{type(clip).__name__}"
    )


def groups_of(parameters: Any, defaults: Mapping[str, Any]) -> list[Group]:
    """The parameters in groups; a plain list is one group.

    Args:
        parameters: What an optimizer was given.
        defaults: Its ``weight_decay``, ``grad_clip`` and options, for groups that do not say.

    Raises:
        AttributeError: There are no parameters at all.
        TypeError: They are no list of tensors or of dicts, or a value has the wrong type.
        ValueError: A key is not known, or a parameter is given twice.
    """
    if parameters is None:
        raise AttributeError("parameters must be given, such as model.parameters(); got None")
    if isinstance(parameters, (Tensor, dict, set)):
        kind = type(parameters).__name__
        raise TypeError(f"parameters must be a list of tensors or of dicts; got a {kind}")
    given = list(parameters)
    if not given:
        raise ValueError("parameters must not be empty")
    if not isinstance(given[0], dict):
        given = [{"params": given}]
    groups = [_group(entry, defaults) for entry in given]
    params = [param for group in groups for param in group.params]
    if len({id(param) for param in params}) != len(params):
        raise ValueError("parameters names a parameter twice")
    names = [param.name for param in params]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two parameters are named {twice!r}; their state could not be told apart")
    return groups


def _group(entry: Any, defaults: Mapping[str, Any]) -> Group:
    if not isinstance(entry, dict):
        raise TypeError(f"parameters must be all tensors or all dicts; got {type(entry).__name__}")
    if "params" not in entry:
        raise ValueError(f"a group needs the key 'params'; got {sorted(entry)}")
    known = ("params", "learning_rate", *defaults)
    unknown = sorted(set(entry) - set(known))
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r} in a group; known: {', '.join(known)}")
    factor = entry.get("learning_rate", 1.0)
    if not isinstance(factor, (int, float)):
        raise TypeError(f"a group's learning_rate must be a number; got {factor!r}")
    options = {name: entry.get(name, value) for name, value in defaults.items()}
    decay, clip = options.pop("weight_decay"), checked_clip(options.pop("grad_clip"))
    params = list(_params(entry["params"]))
    return Group(params, float(factor), checked_decay(decay), clip, options)


def _params(params: Any) -> Iterator[Tensor]:
    if isinstance(params, set):
        raise TypeError("params must be a list, which has an order; got a set")
    for param in [params] if isinstance(params, Tensor) else params:
        if not isinstance(param, Tensor):
            raise TypeError(f"parameters must be tensors; got {type(param).__name__}")
        yield param
