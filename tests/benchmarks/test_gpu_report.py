"""The chart of what was measured on a GPU."""

import pytest

from benchmarks import gpu_report


def test_bars_are_drawn_of_what_there_is(tmp_path):
    pytest.importorskip("matplotlib")
    report, _ = gpu_report.kept()
    few = {**report, "rows": [row for row in report["rows"] if row["case"] in (5, 7)]}
    gpu_report.draw(few, tmp_path / "bars.png")
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")
