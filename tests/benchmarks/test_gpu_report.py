"""The README shows what was measured on a GPU, and nothing else."""

import pytest

from benchmarks import gpu_report, runner


def test_the_readme_has_the_tables_of_the_saved_results():
    page = (runner.ROOT / "README.md").read_text("utf-8")
    shown = page.partition("<!-- gpu -->")[2].partition("<!-- /gpu -->")[0]
    assert shown.strip().splitlines() == gpu_report.lines()


def test_bars_are_drawn_of_what_there_is(tmp_path):
    pytest.importorskip("matplotlib")
    report, _ = gpu_report.kept()
    few = {**report, "rows": [row for row in report["rows"] if row["case"] in (5, 7)]}
    gpu_report.draw(few, tmp_path / "bars.png")
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")
