"""``python -m benchmarks.gpu_report``: the GPU tables of the README.

Made of what ``benchmarks.gpu --save`` and ``benchmarks.lerp_gpu --save`` have kept. ``--draw`` also
writes the bar chart docs/lerp_gpu.png, which needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks import gpu, lerp_gpu

DOCS = Path(__file__).resolve().parent.parent / "docs"
# One case for each way in which an operand's gradient comes about.
CLASSES = {"a number": 7, "same shape": 6, "leading": 5, "middle": 4}


def lerp_lines(report: dict[str, Any]) -> list[str]:
    """A line for each case of lerp."""
    head = (
        "x, y, weight | type | forward | backward | of copy | with weight's | of copy | by formula"
    )
    lines = [f"| case | {head} |", "|---" * 9 + "|"]
    for row in report["rows"]:
        shapes = ", ".join(str(shape).replace(" ", "") for shape in row["shapes"])
        cells = [str(row["case"]), shapes, row["dtype"]]
        for kind in lerp_gpu.KINDS:
            found = row[kind]
            times = f" ({found['torch us'] / found['us']:.2f} x)" if "torch us" in found else ""
            cells.append(f"{found['us']:.1f}{times}")
            if kind != "forward":
                cells.append(f"{found['share']:.2f}")
        formula = row["with weight"].get("formula us")
        cells.append(f"{formula / row['with weight']['us']:.1f} x" if formula else "-")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def step_lines(report: dict[str, Any]) -> list[str]:
    """A line for each training step, and for lerp of few elements."""
    lines = ["| step | us | PyTorch | fused Adam | ratio | MB | PyTorch |", "|---" * 7 + "|"]
    for row in [*report["small"], *report["steps"]]:
        fused = f"{row['torch fused us']:.0f}" if "torch fused us" in row else "-"
        memory = [f"{row[k]:.0f}" if k in row else "-" for k in ("MB", "torch MB")]
        cells = [row["case"], f"{row['us']:.0f}", f"{row['torch us']:.0f}", fused,
                 f"{row['us'] / row['torch us']:.2f}", *memory]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def op_lines(report: dict[str, Any]) -> list[str]:
    """A line for each op on [16384, 4096] float32."""
    lines = ["| op | us | of copy | PyTorch |", "|---|---|---|---|"]
    for row in report["ops"]:
        cells = (row["case"], f"{row['us']:.0f}", f"{row['share']:.2f}", f"{row['torch us']:.0f}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def kept() -> tuple[dict[str, Any], dict[str, Any]]:
    """What was kept of lerp, and of the rest."""
    lerp, steps = (json.loads(m.RESULTS.read_text("utf-8")) for m in (lerp_gpu, gpu))
    return lerp, steps


def lines() -> list[str]:
    """All tables, each after the device and the day."""
    lerp, steps = kept()
    found = []
    for report, tables in (
        (steps, (step_lines, op_lines)),
        (lerp, (lerp_lines,)),
    ):
        head = f"{report['device']}, {report['date'][:10]}, copy {report['copy TB/s']:.2f} TB/s"
        found += [head, ""]
        for table in tables:
            found += [*table(report), ""]
    return found[:-1]


def draw(report: dict[str, Any], path: Path) -> None:
    """Bars of the time of lerp's backward, the four classes side by side."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = {row["case"]: row for row in report["rows"]}
    shown = [(name, rows[case]["with weight"]) for name, case in CLASSES.items() if case in rows]
    figure, axes = pyplot.subplots(figsize=(8, 4))
    bars = {"minipaddle": "us", "PyTorch": "torch us", "formula": "formula us"}
    for i, (label, key) in enumerate(bars.items()):
        places = [k + 0.27 * (i - 1) for k in range(len(shown))]
        axes.bar(places, [found.get(key, 0) for _, found in shown], 0.25, label=label)
    axes.set_xticks(range(len(shown)), [name for name, _ in shown])
    axes.set_ylabel("microseconds")
    axes.set_title(f"Gradients of lerp for x, y and weight, 64 Mi elements ({report['device']})")
    axes.set_ylim(0, 1.2 * axes.get_ylim()[1])
    axes.legend(ncols=3, loc="upper left")
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main() -> None:
    """Prints the tables, and draws."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_report", description=__doc__)
    parser.add_argument("--draw", action="store_true", help="write docs/lerp_gpu.png")
    options = parser.parse_args()
    print("\n".join(lines()))
    if options.draw:
        draw(kept()[0], DOCS / "lerp_gpu.png")


if __name__ == "__main__":
    main()
