"""What the runner prints, and what it makes of many rows."""

import statistics
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def summarise(rows: list[Row]) -> list[Row]:
    """For each comparison made in many cases: median, 95th percentile and worst over the cases."""
    summary = []
    for group, what in dict.fromkeys((row["group"], row["what"]) for row in rows):
        same = [row for row in rows if (row["group"], row["what"]) == (group, what)]
        medians = {key: statistics.median(row[key] for row in same) for key in ("quiet", "median")}
        ordered = sorted(same, key=lambda row: row["quiet"])
        summary.append({
            **{key: same[0][key] for key in ("what", "kind", "limit")},
            **medians,
            "case": f"{group}: median of {len(same)} cases",
            "p95": ordered[round(0.95 * (len(same) - 1))]["quiet"],
            "worst": [ordered[-1]["case"], ordered[-1]["quiet"]],
            "each": same[0]["each"],
            "over": sum(row["limit"] is not None and row["quiet"] > row["limit"] for row in same),
        })  # fmt: skip
    return summary


def show(value: float, unit: str = "s") -> str:
    """A time with the unit that suits it, or a value in another unit."""
    if unit != "s":
        return f"{value:.0f} {unit}"
    seconds = value
    for unit, scale in (("us", 1e6), ("ms", 1e3)):
        if abs(seconds) * scale < 1000:
            return f"{seconds * scale:.2f} {unit}"
    return f"{seconds:.2f} s"


FORMS: dict[str, Callable[[float], str]] = {
    "difference": show,
    "ratio": "{:.3f}".format,
    "parity": "{:.2g}".format,
}


def print_times(case: dict[str, Any], contenders: list[Any]) -> None:
    """The times of a case, a line for each contender."""
    print(f"\n{case['name']}  (threads {case['threads']}, processes {case['processes']})")
    for contender in contenders:
        quiet, median = min(contender.samples), statistics.median(contender.samples)
        unit = case.get("unit", "s")
        print(f"  {contender.label:24} {show(quiet, unit):>10}  median {show(median, unit):>10}"
              f"  ({len(contender.samples)} x {contender.iterations})")  # fmt: skip


def verdict(row: Row) -> str:
    """Whether the limit is met; it may be one for the median over many cases alone."""
    limit = row["limit"]
    if limit is None or row.get("each") == "median":
        return ""
    return f"  limit {FORMS[row['kind']](limit)} {'met' if row['quiet'] <= limit else 'MISSED'}"


def print_rows(rows: list[Row]) -> None:
    """What was compared; one of many cases takes a line of its own, with its name."""
    for row in rows:
        form = FORMS[row["kind"]]
        quiet, median = form(row["quiet"]), form(row["median"])
        label = row["case"] if row.get("each") else row["what"]
        print(f"  {label:32} quiet {quiet:>9}  median {median:>9}{verdict(row)}")


def print_summary(rows: list[Row]) -> None:
    """Median, 95th percentile and worst of each comparison, and whether the limit is met."""
    for row in rows:
        form = FORMS[row["kind"]]
        limit, over = row["limit"], row["over"]
        name, worst = row["worst"]
        text = ""
        if limit is not None and row["each"] == "limited":
            text = f"  limit {form(limit)} {f'MISSED by {over}' if over else 'met by all'}"
        elif limit is not None:
            text = f"  limit {form(limit)} {'met' if row['quiet'] <= limit else 'MISSED'}"
        print(f"  {row['case']}, {row['what']}\n    quiet {form(row['quiet'])}"
              f"  median {form(row['median'])}  95% {form(row['p95'])}"
              f"  worst {form(worst)} ({name}){text}")  # fmt: skip
