"""Predictions: what the recorded steps would take on some ranks, with buckets of some size."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from minipaddle.distributed.plan.cost import CostModel
from minipaddle.distributed.plan.replay import Replay
from minipaddle.distributed.plan.trace import Model, Step, Trace, steps_of
from minipaddle.imperative.bucket import plan_buckets

_MEGABYTE = 1024 * 1024


class Prediction(NamedTuple):
    """Typical times of the recorded steps.

    Attributes:
        ranks: Number of processes.
        megabytes: ``comm_buffer_size``.
        buckets: How many buckets there are.
        step: Seconds of a step.
        exposed: Seconds that communication adds to it: waiting, and computing more slowly.
        waited: Seconds of waiting at the end of backward, a part of ``exposed``.
        efficiency: Of a step without communication to this one.
    """

    ranks: int
    megabytes: float
    buckets: int
    step: float
    exposed: float
    waited: float
    efficiency: float


def predict(
    traces: Sequence[Trace],
    costs: CostModel,
    ranks: Sequence[int],
    megabytes: Sequence[float],
    typical: Callable[[Iterable[float]], float] = statistics.median,
) -> list[list[Prediction]]:
    """For each number of ranks one prediction for each size of buckets.

    Args:
        traces: The same steps on one or more ranks; ``last_comm_buffer_size`` stays as it was.
        costs: What allreduces cost.
        ranks: Numbers of processes.
        megabytes: Sizes of buckets, as ``comm_buffer_size``.
        typical: What stands for the times of all steps.
    """
    steps = steps_of(traces, costs)
    return [
        [_predict(traces[0].model, steps, costs, (p, size), typical) for size in megabytes]
        for p in ranks
    ]


def best(predictions: Sequence[Prediction]) -> Prediction:
    """The one of the shortest step; of equal ones the first."""
    return min(predictions, key=lambda prediction: prediction.step)


def _predict(
    model: Model,
    steps: Sequence[Step],
    costs: CostModel,
    case: tuple[int, float],
    typical: Callable[[Iterable[float]], float],
) -> Prediction:
    ranks, megabytes = case
    limits = [model.limits[0], int(megabytes * _MEGABYTE)]
    plan = plan_buckets(model.bytes, model.dtypes, limits)
    sizes = [sum(model.bytes[i] for i in members) for members in plan]
    each = [costs.cost(size, ranks) for size in sizes] if ranks > 1 else []
    lengths, waits = [], []
    for step in steps:
        times = [Replay(plan, each, model.rings).run(b) for b in step.backwards if each]
        waits.append(sum((t.waited for t in times), 0.0))
        lengths.append(step.rest + sum(t.length for t in times) if each else step.computing)
    computing = typical(step.computing for step in steps)
    length = typical(lengths)
    exposed = max(0.0, length - computing)
    waited = typical(waits)
    efficiency = computing / length
    return Prediction(ranks, megabytes, len(plan), length, exposed, waited, efficiency)
