"""Efficiency against the number of ranks, as an SVG picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from minipaddle.distributed.plan.prediction import Prediction

_COLOURS = ("#4c78a8", "#e45756", "#54a24b", "#f2b701", "#b279a2", "#9d755d")
_LEFT, _TOP, _WIDTH, _HEIGHT = 60, 30, 560, 300
_PAGE = """<svg xmlns="http://www.w3.org/2000/svg" width="800" height="390" viewBox="0 0 800 390"
 font-family="sans-serif" font-size="12">
<rect width="800" height="390" fill="white"/>
{lines}
</svg>
"""


def draw(path: str | Path, predictions: Sequence[Sequence[Prediction]]) -> None:
    """Writes one line for each size of buckets.

    Args:
        path: The file.
        predictions: What ``predict`` returned.
    """
    rows = sorted(predictions, key=lambda row: row[0].ranks)
    ranks = [row[0].ranks for row in rows]
    span = math.log2(ranks[-1] / ranks[0]) or 1.0

    def x(p: int) -> float:
        return _LEFT + _WIDTH * math.log2(p / ranks[0]) / span

    def y(efficiency: float) -> float:
        return _TOP + _HEIGHT * (1.0 - efficiency)

    lines = [
        f'<text x="{_LEFT + _WIDTH // 2}" y="{_TOP + _HEIGHT + 42}">ranks</text>',
        f'<text x="{_LEFT}" y="18">efficiency: a step without communication / a step</text>',
    ]
    for part in range(0, 101, 20):
        height = round(y(part / 100))
        lines.append(f'<path d="M{_LEFT} {height}h{_WIDTH}" stroke="#d8dee9"/>')
        lines.append(f'<text x="{_LEFT - 8}" y="{height + 4}" text-anchor="end">{part} %</text>')
    for p in dict.fromkeys(ranks):
        lines.append(
            f'<text x="{x(p):.1f}" y="{_TOP + _HEIGHT + 20}" text-anchor="middle">{p}</text>'
        )
    for number, column in enumerate(zip(*rows, strict=True)):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [(x(one.ranks), y(one.efficiency)) for one in column]
        path_data = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        lines.append(f'<polyline points="{path_data}" fill="none" stroke="{colour}"/>')
        for (a, b), one in zip(points, column, strict=True):
            title = f"{one.ranks} ranks, {one.megabytes:g} MB: {one.efficiency:.1%}"
            lines.append(
                f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"><title>{title}</title>'
                "</circle>"
            )
        lines.append(
            f'<text x="{_LEFT + _WIDTH + 20}" y="{_TOP + 16 + 20 * number}" fill="{colour}">'
            f"buckets of {column[0].megabytes:g} MB</text>"
        )
    Path(path).write_text(_PAGE.format(lines="\n".join(lines)), encoding="utf-8")
