"""benchmarks.plan: what the saved run says of the planner, and how it is shown."""

import json

import pytest

from benchmarks import plan
from benchmarks.runner import RESULTS

SAVED = json.loads((RESULTS / "plan.json").read_text("utf-8"))


@pytest.mark.parametrize("figure", plan.FIGURES)
@pytest.mark.parametrize("case", SAVED, ids=lambda case: case["case"])
def test_exposed_communication_was_predicted(case, figure):
    measured = case[figure]["exposed ms"]
    for row in case[figure]["predicted exposed ms"]:
        assert row == pytest.approx(measured, rel=0.2)


@pytest.mark.parametrize("figure", plan.FIGURES)
def test_the_order_of_the_sizes_was_predicted(figure):
    (linear,) = [case for case in SAVED if case["case"] == "linear"]
    assert linear["megabytes"] == list(plan.CASES["linear"].megabytes)
    times = linear[figure]
    measured = plan.order(linear["megabytes"], times["step ms"])
    for row in times["predicted step ms"]:
        assert plan.order(linear["megabytes"], row) == measured


def test_the_quiet_figure_is_among_the_shortest():
    assert plan.quiet([5.0, 3.0, 4.0]) == 3.0
    assert plan.quiet(float(i) for i in range(40)) == 4.0


def test_a_report_has_every_figure():
    times = {"step ms": [20.0, 10.0], "exposed ms": [8.0, 4.0],
             "predicted step ms": [[21.0, 11.0], [10.0, 12.0]],
             "predicted exposed ms": [[8.0, 5.0], [6.0, 4.0]]}  # fmt: skip
    found = {"case": "c", "megabytes": [1.0, 20.0], "quiet": times, "median": times}
    lines = list(plan.report(found))
    assert lines[1].split() == ["1", "MB", "20.00", "21.00", "+5.0%", "10.00", "-50.0%"]
    assert lines[5].split() == ["20", "MB", "4.00", "5.00", "+25.0%", "4.00", "+0.0%"]
    assert lines[6] == "order of the steps: 20 < 1; predicted: 20 < 1, 1 < 20"
