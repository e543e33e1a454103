"""What ranks must have in common before they train one model, and who differs if they do not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from minipaddle.device.flags import RING_BOUNDS
from minipaddle.distributed.process_group.base import ProcessGroup
from minipaddle.imperative.leaf_hook import owner_of
from minipaddle.imperative.reducer import Reducer
from minipaddle.imperative.tensor import Parameter, Tensor
from minipaddle.nn.layer import Layer

_MOST_SHOWN = 12


def description_of(layers: Layer, options: Mapping[str, Any]) -> dict[str, str]:
    """A model and its options in words, which are equal on two ranks if these fit each other."""
    words = {f"option {name}": str(value) for name, value in options.items()}
    parameters = list(layers.named_parameters())
    words["number of parameters"] = str(len(parameters))
    for name, parameter in parameters:
        trained = parameter.trainable and not parameter.no_sync
        words[f"parameter {name}"] = f"{_shape_and_dtype(parameter)}, trained {trained}"
    for name, buffer in layers.named_buffers():
        words[f"buffer {name}"] = _shape_and_dtype(buffer)
    return words


def trained_parameters(layers: Layer) -> list[tuple[str, Parameter]]:
    """Names and parameters whose gradients are averaged."""
    return [
        (name, parameter)
        for name, parameter in layers.named_parameters()
        if parameter.trainable and not parameter.no_sync
    ]


def find_trained(
    layers: Layer, options: Mapping[str, Any], present: Reducer | None
) -> tuple[list[tuple[str, Parameter]], Exception | None]:
    """The parameters to average, and what on this rank speaks against it.

    Args:
        layers: The model.
        options: Those of DataParallel.
        present: The Reducer that the parameters may be in already.
    """
    trained = trained_parameters(layers)
    problem: Exception | None = None
    if not trained:
        problem = AssertionError(
            f"{layers.full_name()} has no parameter to train, so DataParallel has nothing to do: "
            "use the layer itself"
        )
    for name, parameter in trained:
        if owner_of(parameter.leaf_node()) not in (None, present):
            taken = f"parameter {name} is in another DataParallel already"
            problem = problem or RuntimeError(taken)
        if parameter.size == 0:
            problem = ValueError(
                f"parameter {name} has no elements: its shape is {parameter.shape}"
            )
    factor, nrings = options["gradient_predivide_factor"], options["nrings"]
    if factor is not None and not 0 < factor < math.inf:
        problem = ValueError(f"gradient_predivide_factor must be a positive number; got {factor}")
    low, high = RING_BOUNDS
    if not low <= nrings <= high:
        problem = ValueError(f"strategy.nrings must lie in {low}..{high}; got {nrings}")
    return trained, problem


def check_agreement(
    members: ProcessGroup, mine: dict[str, str], problem: Exception | None = None
) -> None:
    """Refuses, on every rank, what differs between ranks or is wrong on one of them.

    Args:
        members: The ranks; every one calls it.
        mine: What this rank has, by name.
        problem: What is wrong on this rank alone, or None.

    Raises:
        Exception: ``problem``, on the rank that has it.
        RuntimeError: Ranks differ, or another one has a problem; the text names all.
    """
    text = "" if problem is None else f"{type(problem).__name__}: {problem}"
    found = members.all_gather_object((mine, text))
    lines = _differences([words for words, _ in found])
    if lines:
        shown = lines[:_MOST_SHOWN]
        if len(lines) > len(shown):
            shown.append(f"and {len(lines) - len(shown)} more")
        raise RuntimeError(
            "DataParallel needs the same model and options on every rank, but\n  "
            + "\n  ".join(shown)
        )
    if problem is not None:
        raise problem
    told = [f"rank {rank}: {text}" for rank, (_, text) in enumerate(found) if text]
    if told:
        raise RuntimeError("DataParallel cannot begin, because of " + "; ".join(told))


def _differences(descriptions: list[dict[str, str]]) -> list[str]:
    """A line for each name that stands for different things on different ranks."""
    lines = []
    for name in dict.fromkeys(name for words in descriptions for name in words):
        ranks: dict[str, list[int]] = {}
        for rank, words in enumerate(descriptions):
            ranks.setdefault(words.get(name, "absent"), []).append(rank)
        if len(ranks) > 1:
            sides = [f"{words} on {_named(where)}" for words, where in ranks.items()]
            lines.append(f"{name} is: {'; '.join(sides)}")
    orders = [list(words) for words in descriptions]
    if not lines and any(order != orders[0] for order in orders):
        other = [rank for rank, order in enumerate(orders) if order != orders[0]]
        lines.append(f"{_named(other)} declares parameters in another order than rank 0")
    return lines


def _named(ranks: list[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


def _shape_and_dtype(tensor: Tensor) -> str:
    return f"shape {tensor.shape}, dtype {tensor.dtype.name}"


def broadcast_state(members: ProcessGroup, layers: Layer, source: int = 0) -> None:
    """Gives every rank the parameters and buffers of one of them."""
    skipped = {id(p) for p in layers.parameters() if p.no_sync}
    for tensor in [*layers.parameters(), *layers.buffers()]:
        if id(tensor) not in skipped:
            members.broadcast(tensor.data, source)
            tensor.version[0] += 1
