"""What DataParallel.comm_report says: the plan of the buckets, and what a profile shows of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.imperative.reducer import Reducer

_MEGABYTE = 1024 * 1024
_LARGE_SHARE = 0.1  # of a step: less of it spent waiting is not worth advice


def comm_report(reducer: Reducer, profile: Any = None) -> str:
    """The plan in words; with spans of a profile also times and advice.

    Args:
        reducer: Whose buckets.
        profile: A ``paddle.profiler.Profiler`` that has recorded some steps.
    """
    group = reducer.group
    lines = [
        f"{len(reducer.nodes)} parameters in {len(reducer.buckets)} buckets, over "
        f"{group.world_size} ranks on {group.nrings} ring(s), in the order in which they leave:"
    ]
    for bucket in reducer.buckets:
        nbytes = bucket.flat.array.nbytes
        size = f"{nbytes / _MEGABYTE:.2f} MB" if nbytes >= 10_000 else f"{nbytes} bytes"
        lines.append(f"  {reducer.describe(bucket)}: {size} of {bucket.flat.array.dtype.name}")
    if profile is None:
        lines.append("Give it a paddle.profiler.Profiler that has recorded steps to see times.")
        return "\n".join(lines)
    mine = [s for s in profile.spans if s.details.get("model") == reducer.number]
    buckets = [s for s in mine if s.kind == "bucket"]
    waits = [s for s in mine if s.kind == "wait"]
    if not waits:
        lines.append("The profile has no backward of this model that was averaged.")
        return "\n".join(lines)
    return "\n".join([*lines, *_times(reducer, profile.spans, buckets, waits)])


def _times(
    reducer: Reducer, spans: Sequence[Any], buckets: Sequence[Any], waits: Sequence[Any]
) -> list[str]:
    count = len(waits)
    busy = sum(s.end - s.start for s in buckets)
    # What a communication thread does while the thread of backward waits for it hides nothing.
    in_waits = sum(
        max(0, min(s.end, w.end) - max(s.start, w.start)) for s in buckets for w in waits
    )
    exposed = sum(w.end - w.start for w in waits)
    steps = [s.end - s.start for s in spans if s.kind == "step"]
    whole = sum(steps) or max(w.end for w in waits) - min(s.start for s in spans)
    hidden = 1 - in_waits / busy if busy else 0.0
    lines = [
        f"Means of {count} backward(s): communication {_ms(busy / count)}, of which "
        f"{hidden:.0%} while backward went on; exposed {_ms(exposed / count)}, "
        f"{exposed / whole:.0%} of the time that was recorded."
    ]
    for bucket in reducer.buckets:
        own = [s for s in buckets if s.details["bucket"] == bucket.index]
        if own:
            late = sum(s.start - s.details["ready"] for s in own) / len(own)
            took = sum(s.end - s.start for s in own) / len(own)
            last = own[-1].details["last parameter"]
            lines.append(
                f"  bucket {bucket.index}: ready with {last}, begun {_ms(late)} later, "
                f"{_ms(took)} long"
            )
    return [*lines, *_advice(reducer, buckets, exposed / whole, hidden)]


def _advice(reducer: Reducer, buckets: Sequence[Any], share: float, hidden: float) -> list[str]:
    lines = []
    sizes = [bucket.flat.array.nbytes for bucket in reducer.buckets]
    last = [s for s in buckets if s.details["bucket"] == len(sizes) - 1]
    if last:
        lines.append(f"The last gradient is that of {last[-1].details['last parameter']}.")
    if reducer.find_unused_parameters and not reducer.left_out:
        lines.append(
            "No parameter was ever left out: find_unused_parameters=False saves an exchange in "
            "every backward."
        )
    if share < _LARGE_SHARE:
        lines.append("Little time is spent waiting: there is nothing to win with other buckets.")
    elif len(sizes) == 1 and sizes[0] > _MEGABYTE:
        lines.append(
            "All gradients are in one bucket, which leaves at the end: a smaller "
            f"comm_buffer_size, such as {sizes[0] / 4 / _MEGABYTE:.2g}, lets some leave earlier."
        )
    elif sizes[-1] > sum(sizes) / 2:
        lines.append(
            "Most bytes are in the last bucket: a smaller last_comm_buffer_size leaves less to "
            "wait for."
        )
    elif len(sizes) > 8 and sum(sizes) / len(sizes) < _MEGABYTE:
        lines.append("There are many small buckets: a larger comm_buffer_size costs less each.")
    elif hidden < 0.5 and reducer.group.nrings == 1:
        lines.append(
            "Most communication comes after backward, as when this rank is the faster one or the "
            "link the slower: gradients in 16 bits (distributed.hooks) halve what is sent."
        )
    return lines


def _ms(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:.3f} ms"
