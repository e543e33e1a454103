"""``python -m benchmarks.readme``: writes the tables of what was measured into the pages.

Each stands between two comments, ``<!-- NAME -->`` and ``<!-- /NAME -->``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks import gpu_report, table
from benchmarks.runner import RESULTS, ROOT


def footprint() -> list[str]:
    """What ``benchmarks.footprint --save`` has kept."""
    return (RESULTS / "footprint.md").read_text("utf-8").strip().splitlines()


TABLES: dict[str, tuple[Path, Callable[[], list[str]]]] = {
    "footprint": (ROOT / "README.md", footprint),
    "first": (ROOT / "README.md", table.first_lines),
    "gpu": (ROOT / "README.md", gpu_report.lines),
    "benchmarks": (ROOT / "docs" / "benchmarks.md", table.lines),
}


def split(name: str) -> tuple[str, str, str]:
    """The page of a table: what is before it, the table, and what is after it."""
    page = TABLES[name][0].read_text("utf-8")
    before, start, rest = page.partition(f"<!-- {name} -->\n")
    shown, end, after = rest.partition(f"<!-- /{name} -->\n")
    return before + start, shown, end + after


def main() -> None:
    """Writes all tables."""
    for name, (path, lines) in TABLES.items():
        before, _, after = split(name)
        path.write_text("\n".join([before, *lines(), "", after]), "utf-8")


if __name__ == "__main__":
    main()
