"""``python -m benchmarks.table``: the table of the README, from what ``--save`` has kept."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
NAMES = ("linear_net", "op_overhead", "import_time", "lerp", "allreduce", "dp", "paddle_parity")


def figure(row: dict[str, Any], key: str) -> str:
    """A ratio as it is, a difference of times with its unit."""
    value = row[key]
    if row["kind"] == "difference":
        return f"{value * 1e6:.1f} us" if value < 1e-3 else f"{value * 1e3:.0f} ms"
    return f"{value:.2f}" if row["kind"] == "ratio" else f"{value:.1g}"


def lines() -> list[str]:
    """The table, line by line."""
    table = ["| benchmark | compared | quiet | median |", "|---|---|---|---|"]
    for name in NAMES:
        report = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
        for row in report.get("summary", report["rows"]):
            cells = (f"`{name}`: {row['case']}", row["what"].replace("|", r"\|"))
            table.append(
                f"| {' | '.join(cells)} | {figure(row, 'quiet')} | {figure(row, 'median')} |"
            )
    return table


if __name__ == "__main__":
    print("\n".join(lines()))
