"""``python -m minipaddle.distributed.plan``: predicts steps on other numbers of processes."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any

from minipaddle.distributed.plan.cost import TOPOLOGIES, CostModel
from minipaddle.distributed.plan.drawing import draw
from minipaddle.distributed.plan.prediction import Prediction, best, predict
from minipaddle.distributed.plan.sweep import Sweep, measure
from minipaddle.distributed.plan.trace import Trace, steps_of

_PROGRAM = "python -m minipaddle.distributed.plan"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status.

    Args:
        arguments: As in ``sys.argv[1:]``, which is the default.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        text = _measure(options) if options.measure else _plan(options)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{_PROGRAM}: error: {error}\n")
        return 2
    sys.stdout.write(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=_PROGRAM, description=__doc__)
    add = parser.add_argument
    add("traces", nargs="*", metavar="TRACE", help="what Profiler.export wrote on one process, or "
        "on several: then the slowest counts")  # fmt: skip
    add("--ranks", type=_numbers(int, 1), default=[2, 8, 64, 1024], metavar="P,P,...")
    add("--buckets", type=_numbers(float, 0), default=[1.0, 10.0, 25.0, 100.0], metavar="MB,MB,...",
        help="sizes to try as comm_buffer_size")  # fmt: skip
    add("--sweep", metavar="FILE", help="what --measure wrote; in a node, of a two-level topology")
    add("--topology", choices=TOPOLOGIES, default="ring")
    add("--per_node", type=int, metavar="N", help="ranks in a node, for two-level")
    add("--between", metavar="FILE", help="a sweep between nodes of one rank each, for two-level")
    add("--model", type=int, metavar="N", help="which one, if the trace holds several")
    add("--json", action="store_true", help="figures for programs, in seconds")
    add("--draw", metavar="FILE.svg", help="efficiency against ranks")
    add("--measure", metavar="FILE", help="time allreduces between processes of this machine, or "
        "of the job that this process is one of, and write a sweep")  # fmt: skip
    add("--nprocs", type=int, default=2, metavar="N", help="how many processes, for --measure")
    return parser


def _numbers(kind: Callable[[str], Any], least: int) -> Callable[[str], list[Any]]:
    what = "whole numbers" if kind is int else "sizes in MB"

    def parse(text: str) -> list[Any]:
        try:
            numbers = [kind(part) for part in text.split(",")]
        except ValueError:
            numbers = [-1]
        if not all(least <= number < math.inf for number in numbers):
            raise argparse.ArgumentTypeError(
                f"{what} of at least {least} are wanted, with commas between them; got {text!r}"
            )
        return numbers

    return parse


def _measure(options: argparse.Namespace) -> str:
    if options.traces:
        raise ValueError(f"--measure takes no trace; got {options.traces[0]}")
    sweep = measure(options.nprocs)
    if sweep is None:
        return ""
    sweep.save(options.measure)
    lines = [f"{'bytes':>10} {'ms':>9} {'GB/s':>7} {'ms, busy':>9} {'slowdown':>9}"]
    for row in sweep.rows:
        rate = row.bytes / row.seconds / 1e9
        times = f"{1e3 * row.seconds:>9.3f} {rate:>7.2f} {1e3 * row.busy_seconds:>9.3f}"
        lines.append(f"{row.bytes:>10} {times} {row.slowdown:>9.2f}")
    lines.append(
        f"{sweep.nprocs} processes, written to {options.measure}. Busy: while they compute, which "
        "then takes so many times as long."
    )
    return "\n".join(lines) + "\n"


def _plan(options: argparse.Namespace) -> str:
    if not options.traces or options.sweep is None:
        raise ValueError(
            f"a trace and --sweep FILE are needed; {_PROGRAM} --measure FILE makes a sweep"
        )
    between = None if options.between is None else Sweep.load(options.between)
    costs = CostModel(Sweep.load(options.sweep), options.topology, options.per_node, between)
    traces = [Trace(path, options.model) for path in options.traces]
    found = predict(traces, costs, options.ranks, options.buckets)
    if options.draw is not None:
        draw(options.draw, found)
    recorded = _recorded(traces, costs)
    return (_as_json if options.json else _as_table)(recorded, costs, found)


def _recorded(traces: Sequence[Trace], costs: CostModel) -> dict[str, Any]:
    steps, model = steps_of(traces, costs), traces[0].model
    return {
        "traces": [str(trace.path) for trace in traces],
        "ranks": model.ranks,
        "steps": len(steps),
        "bytes": sum(model.bytes),
        "step": statistics.median(step.seconds for step in steps),
        "computing": statistics.median(step.computing for step in steps),
        "waited": statistics.median(step.waited for step in steps),
    }


def _as_json(told: dict[str, Any], costs: CostModel, found: Sequence[Sequence[Prediction]]) -> str:
    content = {
        "recorded": told,
        "topology": costs.topology,
        "link": costs.link._asdict(),
        "predictions": [
            {"ranks": row[0].ranks, "best": best(row).megabytes,
             "buckets": [one._asdict() for one in row]}
            for row in found
        ],
    }  # fmt: skip
    return json.dumps(content, indent=1) + "\n"


def _as_table(told: dict[str, Any], costs: CostModel, found: Sequence[Sequence[Prediction]]) -> str:
    lines = [
        f"{', '.join(told['traces'])}: {told['steps']} steps on {told['ranks']} ranks, "
        f"{told['bytes'] / 1e6:.1f} MB of gradients. Recorded: {1e3 * told['step']:.2f} ms a step, "
        f"{1e3 * told['waited']:.2f} ms of them waiting; without communication "
        f"{1e3 * told['computing']:.2f} ms.",
        f"Allreduce: {costs.topology}; measured between {costs.sweep.nprocs} ranks, "
        f"{1e6 * costs.link.alpha:.1f} us + {1e9 * costs.link.beta:.3f} ns/byte a message.",
        "",
        f"{'ranks':>6} {'best MB':>8} {'buckets':>8} {'step ms':>10} {'exposed':>10} "
        f"{'efficiency':>11}   step ms with buckets of",
        " " * 61 + "".join(f"{one.megabytes:>9g} MB" for one in found[0]),
    ]
    for row in found:
        top = best(row)
        lines.append(
            f"{top.ranks:>6} {top.megabytes:>8g} {top.buckets:>8} {1e3 * top.step:>10.2f} "
            f"{1e3 * top.exposed:>10.2f} {top.efficiency:>11.1%}   "
            + "".join(f"{1e3 * one.step:>12.2f}" for one in row)
        )
    return "\n".join(lines) + "\n"
