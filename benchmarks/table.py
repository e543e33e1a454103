"""``python -m benchmarks.table``: the table of the README, from what ``--save`` has kept."""

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


def lines() -> list[str]:
    """The table, line by line."""
    table = ["| benchmark | compared | quiet | median |", "|---|---|---|---|"]
    for name in NAMES:
        if not (RESULTS / f"{name}.json").is_file():
            continue
        report = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
        for row in report.get("summary", report["rows"]):
            cells = (f"`{name}`: {case(row)}", row["what"].replace("|", r"\|"))
            table.append(
                f"| {' | '.join(cells)} | {figure(row, 'quiet')} | {figure(row, 'median')} |"
            )
    return table


if __name__ == "__main__":
    print("\n".join(lines()))
