"""The tables of README and docs/benchmarks.md, from what ``--save`` has kept."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
NAMES = (
    "linear_net", "mlp", "mlp_dp", "op_overhead", "large", "import_time", "lerp", "allreduce", "dp",
    "reducer", "paddle_parity",
)  # fmt: skip


def figure(row: dict[str, Any], key: str) -> str:
    """A ratio as it is, a difference of times with its unit."""
    return form(row["kind"], row[key])


def form(kind: str, value: float) -> str:
    if kind == "difference":
        return f"{value * 1e6:.1f} us" if value < 1e-3 else f"{value * 1e3:.0f} ms"
    return f"{value:.2f}" if kind == "ratio" else f"{value:.1g}"


def case(row: dict[str, Any]) -> str:
    """What was timed; of many cases also the worst."""
    if "worst" not in row:
        return str(row["case"])
    name, worst = row["worst"]
    return f"{row['case']}, 95% {figure(row, 'p95')}, worst {form(row['kind'], worst)} ({name})"


def rows(name: str) -> list[dict[str, Any]]:
    """What was kept of a benchmark: of many cases of one kind only their summary."""
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        return []
    report = json.loads(path.read_text("utf-8"))
    kept: list[dict[str, Any]] = report.get("summary", report["rows"])
    return kept


def lines() -> list[str]:
    """The table, line by line."""
    return _table([(name, row) for name in NAMES for row in rows(name)])


def first_lines() -> list[str]:
    """Of every benchmark the first line that compares with PyTorch."""
    compared = ((n, [r for r in rows(n) if r["what"] == "minipaddle / torch"]) for n in NAMES)
    return _table([(name, found[0]) for name, found in compared if found])


def _table(shown: list[tuple[str, dict[str, Any]]]) -> list[str]:
    table = ["| benchmark | compared | quiet | median |", "|---|---|---|---|"]
    for name, row in shown:
        cells = (f"`{name}`: {case(row)}", row["what"].replace("|", r"\|"))
        table.append(f"| {' | '.join(cells)} | {figure(row, 'quiet')} | {figure(row, 'median')} |")
    return table
