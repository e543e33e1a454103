"""Checks on two processes of what the profiler and the report say of DataParallel; see jobs.py."""

import re
import time

import minipaddle as paddle
from minipaddle.distributed.plan.cost import CostModel
from minipaddle.distributed.plan.prediction import predict
from minipaddle.distributed.plan.sweep import Row, Sweep
from minipaddle.distributed.plan.trace import Trace
from tests.distributed.jobs import dist, from_all, shared_path
from tests.distributed.parallel_models import ones_of

nn = paddle.nn


def profiled(group, steps=3):
    """Steps in which backward goes on for long after most buckets have left."""
    net = nn.Sequential(*[nn.Linear(1, 1) for _ in range(3)])
    model = paddle.DataParallel(net, group=group, comm_buffer_size=0, last_comm_buffer_size=0)
    net[0].weight.register_hook(lambda _: time.sleep(0.03))
    with paddle.profiler.Profiler() as profiler:
        for _ in range(steps):
            model(ones_of(group.rank)).sum().backward()
            net.clear_gradients()
            profiler.step()
    return model, profiler


def check_buckets_are_recorded_on_every_rank(group):
    model, profiler = profiled(group)
    buckets = [span for span in profiler.spans if span.kind == "bucket"]
    assert len(buckets) == 3 * len(model._reducer.buckets) == 18
    for span in buckets:
        assert span.details["ready"] <= span.start <= span.end and span.row == "comm"
    waits = [span for span in profiler.spans if span.kind == "wait"]
    steps = [span for span in profiler.spans if span.kind == "step"]
    for i, (step, wait) in enumerate(zip(steps, waits, strict=True)):
        mine = buckets[6 * i : 6 * i + 6]
        assert all(step.start < s.details["ready"] and s.end <= wait.end for s in mine)
        # Ranks leave a collective together: what one has seen end, all have seen begin.
        begins = from_all([s.start for s in mine], group)
        ends = from_all([s.end for s in mine], group)
        if group.process_group.nrings == 1:
            for bucket in range(6):
                assert max(b[bucket] for b in begins) <= min(e[bucket] for e in ends)


def check_a_page_of_all_ranks(group):
    _, profiler = profiled(group)
    assert profiler.rank == group.rank
    profiler.export(shared_path(f"profile-{group.rank}.json"))
    from_all(None, group)
    if group.rank == 0:
        page = shared_path("profile.html")
        files = [shared_path(f"profile-{rank}.json") for rank in range(2)]
        paddle.profiler.write_timeline(page, files)
        text = page.read_text()
        rows = re.findall(r'<rect x="\S+" y="(\d+)"[^>]*><title>bucket', text)
        assert sorted(set(rows), key=int) == ["34", "102"] and len(rows) == 36
        assert "rank 0 comm" in text and "rank 1 compute" in text


def check_the_planner_reads_a_trace(group):
    model, profiler = profiled(group)
    path = shared_path(f"plan-{group.rank}.json")
    profiler.export(path)
    trace = Trace(path)
    costs = CostModel(Sweep(2, [Row(4, 1e-4, 1e-4, 1.0), Row(4096, 1e-4, 1e-4, 1.0)]))
    assert trace.model.ranks == 2 and trace.model.rings == group.process_group.nrings
    recorded = [span.end - span.start for span in profiler.spans if span.kind == "step"]
    steps = trace.steps(costs)
    assert len(steps) == 3
    for step, took in zip(steps, recorded, strict=True):
        assert abs(step.seconds - took / 1e9) < 1e-8
        assert 0.03 < step.computing <= step.seconds  # the hook sleeps so long
    ((alone,), (two,)) = predict([trace], costs, [1, 2], [0.0])
    assert two.buckets == len(model._reducer.buckets) and alone.exposed == 0.0
    # All but the last two are sent during the pause.
    assert 0.99e-4 < two.exposed < 6.01e-4


def check_the_report_measures_overlap(group):
    model, profiler = profiled(group)
    told = model.comm_report(profiler)
    assert "6 parameters in 6 buckets, over 2 ranks" in told
    assert "Means of 3 backward(s)" in told
    assert "The last gradient is that of 0.weight" in told or "of 0.bias" in told
    assert re.search(r"bucket 0: ready with 2\.(weight|bias), begun", told), told
    hidden = int(re.search(r"of which (\d+)% while", told)[1])
    assert 0 <= hidden <= 100
    assert dist.get_world_size() == 2
