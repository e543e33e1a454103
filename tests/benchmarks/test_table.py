"""The README shows what was measured, and nothing else."""

from benchmarks import runner, table


def test_the_readme_has_the_table_of_the_saved_results():
    page = (runner.ROOT / "README.md").read_text("utf-8")
    shown = page.partition("<!-- benchmarks -->")[2].partition("<!-- /benchmarks -->")[0]
    assert shown.strip().splitlines() == table.lines()
