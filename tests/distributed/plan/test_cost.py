"""Costs of allreduces: formulas by hand, constants from a sweep, and what is measured."""

import json
import re

import pytest

from minipaddle.distributed.plan.cost import CostModel, Link, ring, tree
from minipaddle.distributed.plan.sweep import Row, Sweep, measure
from minipaddle.distributed.spawn import spawn

LINK = Link(1e-5, 2e-9)


def swept(link, nprocs, sizes=(1000, 100_000, 10_000_000), **contention):
    """What a ring on such a link would show."""
    rows = []
    for size in sizes:
        seconds = sum(ring(link, size, nprocs))
        rows.append(Row(size, seconds, seconds * contention.get("stretch", 1.0),
                        contention.get("slowdown", 1.0)))  # fmt: skip
    return Sweep(nprocs, rows)


def test_formulas_by_hand():
    assert ring(LINK, 4000, 2) == pytest.approx((2e-5, 2 * 2000 * 2e-9))
    assert ring(LINK, 4000, 8) == pytest.approx((14e-5, 14 * 500 * 2e-9))
    assert tree(LINK, 4000, 2) == pytest.approx((2e-5, 2 * 4000 * 2e-9))
    assert tree(LINK, 4000, 8) == pytest.approx((6e-5, 6 * 4000 * 2e-9))
    assert tree(LINK, 4000, 9) == pytest.approx((8e-5, 8 * 4000 * 2e-9))
    assert ring(LINK, 4000, 1) == (0.0, 0.0)


@pytest.mark.parametrize("nprocs", [2, 4, 7])
def test_the_constants_come_from_the_sweep(nprocs):
    costs = CostModel(swept(LINK, nprocs))
    assert costs.link == pytest.approx(LINK)
    assert costs.cost(123_456, 64)[:2] == pytest.approx(ring(LINK, 123_456, 64))
    assert CostModel(swept(LINK, nprocs), "tree").cost(5000, 64)[:2] == pytest.approx(
        tree(LINK, 5000, 64)
    )


@pytest.mark.parametrize("times", [(1e-3, 1e-3, 1e-3), (3e-3, 2e-3, 1e-3), (1e-6, 1e-4, 5e-2)])
def test_constants_are_never_negative(times):
    rows = [Row(size, t, t, 1.0) for size, t in zip((10**3, 10**5, 10**7), times, strict=True)]
    link = Link.fit(Sweep(2, rows))
    assert link.alpha >= 0 and link.beta >= 0 and max(link) > 0


def test_for_the_measured_ranks_it_is_as_measured():
    rows = [Row(1000, 1e-3, 2e-3, 1.5), Row(2000, 3e-3, 3e-3, 2.5), Row(4000, 4e-3, 4e-3, 2.5)]
    costs = CostModel(Sweep(4, rows), "tree")
    for nbytes, seconds in {10: 1e-3, 1000: 1e-3, 1500: 2e-3, 4000: 4e-3, 8000: 6e-3}.items():
        assert sum(costs.cost(nbytes, 4)[:2]) == pytest.approx(seconds)
    assert costs.cost(1500, 4)[2:] == pytest.approx((1.5, 2.0))
    assert costs.cost(9999, 64)[2:] == pytest.approx((1.0, 2.5))


def test_two_levels_by_hand():
    near, far = Link(1e-6, 1e-10), Link(5e-5, 1e-9)
    costs = CostModel(swept(near, 2), "two-level", 8, swept(far, 2))
    latency, transfer = costs.cost(8000, 32)[:2]
    assert latency == pytest.approx(14 * 1e-6 + 6 * 5e-5)
    assert transfer == pytest.approx(14 * 1000 * 1e-10 + 6 * 2000 * 1e-9)
    assert costs.cost(8000, 8)[:2] == pytest.approx(ring(near, 8000, 8))  # one node
    assert costs.cost(8000, 9)[0] == pytest.approx(14 * 1e-6 + 2 * 5e-5)  # a second one begins


@pytest.mark.parametrize("topology", ["ring", "tree", "two-level"])
def test_more_bandwidth_is_never_slower(topology):
    for nbytes in (1, 1000, 10**8):
        for ranks in (2, 3, 8, 1024):
            found = []
            for beta in (1e-8, 1e-9, 1e-10):
                extra = (4, swept(LINK, 2)) if topology == "two-level" else ()
                costs = CostModel(swept(Link(1e-5, beta), 2), topology, *extra)
                found.append(sum(costs.cost(nbytes, ranks)[:2]))
            assert found == sorted(found, reverse=True)


def test_wrong_topologies_are_named():
    sweep = swept(LINK, 2)
    for arguments, told in [
        (("star",), "ring, tree, two-level; got 'star'"),
        (("two-level",), "needs per_node"),
        (("two-level", 8), "needs per_node"),
        (("ring", 8), "no other"),
        (("two-level", 0, sweep), "at least 1; got 0"),
    ]:
        with pytest.raises(ValueError, match=told):
            CostModel(sweep, *arguments)


def test_a_sweep_is_kept_in_a_file(tmp_path):
    path = tmp_path / "sweep.json"
    sweep = swept(LINK, 3, stretch=2.0, slowdown=1.5)
    sweep.save(path)
    loaded = Sweep.load(path)
    assert (loaded.nprocs, loaded.rows) == (3, sweep.rows)
    content = {"nprocs": 2, "allreduce": [{"bytes": 4, "seconds": 1}, {"bytes": 1, "seconds": 1}]}
    path.write_text(json.dumps(content))
    assert Sweep.load(path).rows == [Row(1, 1, 1, 1.0), Row(4, 1, 1, 1.0)]


BROKEN = {
    "no JSON": ("{", "JSONDecodeError"),
    "a list": ("[]", "TypeError"),
    "no rows": ('{"nprocs": 2}', "KeyError"),
    "one row": ('{"nprocs": 2, "allreduce": [{"bytes": 4, "seconds": 1}]}', "at least 2 proc"),
    "no time": ('{"nprocs": 2, "allreduce": [{"bytes": 4}, {"bytes": 8}]}', "seconds"),
    "backwards": (
        '{"nprocs": 2, "allreduce": [{"bytes": 4, "seconds": -1}, {"bytes": 8, "seconds": 1}]}',
        "0 < seconds",
    ),
    "one size twice": (
        '{"nprocs": 2, "allreduce": [{"bytes": 4, "seconds": 1}, {"bytes": 4, "seconds": 1}]}',
        "each once",
    ),
    "endless": (
        '{"nprocs": 2, "allreduce": [{"bytes": 4, "seconds": Infinity},'
        ' {"bytes": 8, "seconds": 1}]}',
        "all finite",
    ),
    "an unknown word": (
        '{"nprocs": 2, "allreduce": [{"bytes": 4, "seconds": 1, "x": 1}, {"bytes": 8}]}', "'x'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_sweep_is_named(name, tmp_path):
    text, told = BROKEN[name]
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(ValueError, match=r"s\.json is no sweep.*--measure") as caught:
        Sweep.load(tmp_path / "s.json")
    assert re.search(re.escape(told), str(caught.value))


def test_processes_are_measured():
    sweep = measure(2, sizes=(4096, 262_144))
    assert sweep.nprocs == 2 and [row.bytes for row in sweep.rows] == [4096, 262_144]
    with pytest.raises(ValueError, match="at least 2; got 1"):
        measure(1)


def test_a_job_measures_itself():
    job = spawn(measure, (7, (4096, 262_144)), nprocs=2)
    sweep, nothing = (results.get() for results in job.return_queues)
    assert sweep.nprocs == 2 and len(sweep.rows) == 2 and nothing is None
