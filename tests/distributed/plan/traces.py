"""Traces for tests of the planner: written by hand, with times in milliseconds."""

import json

from minipaddle.distributed.plan.sweep import Row, Sweep

MB = 1024 * 1024


def span(kind, begin, end, **details):
    return {"ph": "X", "name": kind, "cat": kind, "pid": 0, "tid": 0, "ts": 1e3 * begin,
            "dur": 1e3 * (end - begin), "args": details}  # fmt: skip


def model(number=0, ranks=2, **details):
    """Two parameters of 4 MB, each in a bucket."""
    args = {"model": number, "ranks": ranks, "rings": 1, "queued": False, "limits": [MB, MB],
            "parameters": ["a", "b"], "bytes": [4 * MB] * 2, "dtypes": ["float32"] * 2}  # fmt: skip
    return {"ph": "M", "name": "data_parallel", "pid": 0, "args": {**args, **details}}


def wait(begin, end, ready, number=0):
    return span("wait", begin, end, model=number, **{"parameters ready": [1e3 * t for t in ready]})


def allreduce(begin, end, number=0, size=4 * MB):
    return span("bucket", begin, end, model=number, bytes=size)


def step_events(at=0.0):
    """Computes for 10 ms and 2 ms; b is ready after 4 ms and sent for 4 ms, a is the last."""
    return [
        span("step", at, at + 15),
        span("op", at, at + 3),
        allreduce(at + 4, at + 8),
        allreduce(at + 10, at + 13),
        wait(at + 10, at + 13, [at + 9.5, at + 4]),
    ]


def write(path, events):
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def sweep(seconds=0.002, stretch=1.0, slowdown=1.0):
    """An allreduce of whatever size takes the link so long."""
    rows = [Row(size, seconds, seconds * stretch, slowdown) for size in (4096, 64 * MB)]
    return Sweep(2, rows)
