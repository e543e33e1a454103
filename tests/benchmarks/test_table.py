"""The pages show what was measured, and nothing else."""

import json

import pytest

from benchmarks import readme, table


@pytest.mark.parametrize("name", readme.TABLES)
def test_a_page_has_the_table_of_the_saved_results(name):
    assert readme.split(name)[1].strip().splitlines() == readme.TABLES[name][1]()


def test_of_each_benchmark_the_first_comparison_with_torch_is_shown():
    first = table.first_lines()
    assert set(first) < set(table.lines())
    assert sum("`lerp`" in line for line in first) == 1


def test_a_summary_names_the_worst_and_what_was_not_saved_is_left_out(tmp_path, monkeypatch):
    row = {"case": "forward: median of 60 cases", "what": "minipaddle / torch", "kind": "ratio"}
    row |= {"quiet": 0.8, "median": 0.9, "p95": 1.5, "worst": ["sum, axis 0", 1.75]}
    (tmp_path / "large.json").write_text(json.dumps({"rows": [], "summary": [row]}))
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    assert table.lines()[2:] == [
        "| `large`: forward: median of 60 cases, 95% 1.50, worst 1.75 (sum, axis 0) "
        "| minipaddle / torch | 0.80 | 0.90 |"
    ]
