"""Spans as a trace for Chrome and Perfetto, and traces as one page with a picture."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from minipaddle.profiler.recorder import Span

ROWS = ("compute", "comm")
# Of the kinds that lie in one another, the outer ones come first and are drawn first.
_COLOURS = {
    "step": "#eceff4",
    "event": "#c9d6ea",
    "op": "#4c78a8",
    "bucket": "#e45756",
    "wait": "#f2b701",
    "data": "#54a24b",
}
_ROW_HEIGHT, _GAP, _WIDTH = 28, 6, 1400

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Timeline</title><style>
body {{ font: 14px sans-serif; margin: 1em }}
#rows {{ display: flex }} #names div {{ height: {pitch}px; line-height: {height}px }}
#names {{ padding-right: 1em; white-space: nowrap }} #box {{ overflow-x: auto; flex: 1 }}
.key {{ padding: 2px 8px; margin-right: 6px }} rect:hover {{ stroke: black }}
</style></head><body>
<p>{length:.3f} ms. {keys} Zoom: <input type="range" min="1" max="100" value="1"
 oninput="document.getElementById('picture').style.width = this.value * 100 + '%'"></p>
<div id="rows"><div id="names">{names}</div><div id="box">
<svg id="picture" style="width:100%" height="{total}" viewBox="0 0 {width} {total}"
 preserveAspectRatio="none" xmlns="http://www.w3.org/2000/svg">
{bars}
</svg></div></div></body></html>
"""


def chrome_trace(
    spans: Iterable[Span], rank: int, models: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The spans of one process as events, and its models; times are in microseconds."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": f"rank {rank}"}}
    ]
    for number, row in enumerate(ROWS):
        name = {"name": row}
        events.append({"ph": "M", "name": "thread_name", "pid": rank, "tid": number, "args": name})
    for model in models:  # viewers pass over what they do not know
        events.append({"ph": "M", "name": "data_parallel", "pid": rank, "args": dict(model)})
    for span in spans:
        details = dict(span.details)
        if "ready" in details:
            details["ready"] /= 1000
        if "parameters ready" in details:
            details["parameters ready"] = [t / 1000 for t in details["parameters ready"]]
        events.append({
            "ph": "X", "name": span.name, "cat": span.kind, "pid": rank,
            "tid": ROWS.index(span.row), "ts": span.start / 1000,
            "dur": (span.end - span.start) / 1000, "args": details,
        })  # fmt: skip
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def write_timeline(path: str | Path, traces: Sequence[dict[str, Any] | str | Path]) -> None:
    """Makes one page of the traces of several processes; it needs no other file.

    Args:
        path: The page, an HTML file.
        traces: What ``Profiler.trace`` returned, or files that ``Profiler.export`` has written.

    Raises:
        ValueError: There is nothing to show.

    Example:
        >>> import minipaddle as paddle
        >>> import tempfile
        >>> with paddle.profiler.Profiler() as profiler:
        ...     y = paddle.ones([4]) * 2.0
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paddle.profiler.write_timeline(folder + "/page.html", [profiler.trace()])
    """
    loaded = [
        trace if isinstance(trace, dict) else json.loads(Path(trace).read_text(encoding="utf-8"))
        for trace in traces
    ]
    events = [event for trace in loaded for event in trace["traceEvents"] if event["ph"] == "X"]
    if not events:
        raise ValueError("traces hold no events: was anything run between start() and stop()?")
    Path(path).write_text(_page(events), encoding="utf-8")


def _page(events: list[dict[str, Any]]) -> str:
    begin = min(event["ts"] for event in events)
    length = max(event["ts"] + event["dur"] for event in events) - begin or 1.0
    ranks = sorted({event["pid"] for event in events})
    lines = [(rank, tid) for rank in ranks for tid in range(len(ROWS))]
    pitch = _ROW_HEIGHT + _GAP
    order = list(_COLOURS)
    bars = [
        _bar(event, begin, _WIDTH / length, lines.index((event["pid"], event["tid"])) * pitch)
        for event in sorted(events, key=lambda e: (order.index(e["cat"]), e["ts"]))
    ]
    return _PAGE.format(
        pitch=pitch,
        height=_ROW_HEIGHT,
        length=length / 1000,
        keys="".join(
            f'<span class="key" style="background:{colour}">{kind}</span>'
            for kind, colour in _COLOURS.items()
        ),
        names="".join(f"<div>rank {rank} {ROWS[tid]}</div>" for rank, tid in lines),
        total=len(lines) * pitch,
        width=_WIDTH,
        bars="\n".join(bars),
    )


def _bar(event: dict[str, Any], begin: float, scale: float, top: int) -> str:
    start, length = event["ts"] - begin, event["dur"]
    details = "".join(
        f"\n{key}: {value}" for key, value in event["args"].items() if not isinstance(value, list)
    )
    title = f"{event['cat']} {event['name']}\n{start:.1f} us, for {length:.1f} us{details}"
    return (
        f'<rect x="{start * scale!r}" y="{top}" width="{length * scale!r}" height="{_ROW_HEIGHT}" '
        f'fill="{_COLOURS[event["cat"]]}"><title>{html.escape(title)}</title></rect>'
    )
