"""Trace: computing without communication, from traces by hand and of the profiler."""

import pytest

import minipaddle as paddle
from minipaddle.distributed.plan.cost import CostModel
from minipaddle.distributed.plan.prediction import best, predict
from minipaddle.distributed.plan.trace import Trace, steps_of
from tests.distributed.plan import traces

nn = paddle.nn
MILLI = 1e-3


def steps_in(path, sweep):
    return Trace(path).steps(CostModel(sweep))


def test_waiting_is_left_out(tmp_path):
    path = traces.write(tmp_path / "t", [traces.model(), *traces.step_events(100.0)])
    (step,) = steps_in(path, traces.sweep())
    assert step.seconds == pytest.approx(15 * MILLI)
    assert step.waited == pytest.approx(3 * MILLI)
    assert step.computing == pytest.approx(12 * MILLI)
    (backward,) = step.backwards
    assert backward.ready == pytest.approx([9.5 * MILLI, 4 * MILLI])
    assert (backward.length, step.rest) == pytest.approx((10 * MILLI, 2 * MILLI))


def test_computing_beside_an_allreduce_counts_less(tmp_path):
    """The sweep says 2 ms, or 3 beside computing: so the first of the 4 waited for a rank."""
    path = traces.write(tmp_path / "t", [traces.model(), *traces.step_events()])
    (step,) = steps_in(path, traces.sweep(0.002, stretch=1.5, slowdown=2.0))
    (backward,) = step.backwards
    assert backward.ready == pytest.approx([8 * MILLI, 4 * MILLI])
    assert (backward.length, step.rest) == pytest.approx((8.5 * MILLI, 2 * MILLI))


def test_two_at_a_time_take_more(tmp_path):
    events = [traces.span("step", 0, 10), traces.allreduce(2, 4), traces.allreduce(2, 4),
              traces.wait(8, 9, [7, 1])]  # fmt: skip
    (step,) = steps_in(
        traces.write(tmp_path / "t", [traces.model(), *events]),
        traces.sweep(0.002, slowdown=2.0),
    )
    assert step.computing == pytest.approx((9 - 2 + 2 / 3) * MILLI)


def test_a_rank_that_was_alone_had_no_allreduce(tmp_path):
    path = traces.write(tmp_path / "t", [traces.model(ranks=1), *traces.step_events()])
    (step,) = steps_in(path, traces.sweep(slowdown=2.0))
    assert step.computing == pytest.approx(12 * MILLI)


def test_steps_without_communication_are_left_out(tmp_path):
    events = [traces.model(), *traces.step_events(), traces.span("step", 15, 30),
              *traces.step_events(30.0)]  # fmt: skip
    assert len(steps_in(traces.write(tmp_path / "t", events), traces.sweep())) == 2


def test_two_backwards_in_a_step_follow_one_another(tmp_path):
    events = [traces.span("step", 0, 20), traces.wait(4, 6, [3, 2]), traces.wait(10, 11, [9, 8])]
    trace = Trace(traces.write(tmp_path / "t", [traces.model(), *events]))
    (step,) = trace.steps(CostModel(traces.sweep()))
    first, second = step.backwards
    assert first.ready == pytest.approx([3 * MILLI, 2 * MILLI])
    assert second.ready == pytest.approx([3 * MILLI, 2 * MILLI])
    assert (first.length, second.length, step.rest) == pytest.approx((4e-3, 4e-3, 9e-3))
    # Each: b leaves at 2, until 4, and a at 4, until 6.
    ((found,),) = predict([trace], CostModel(traces.sweep()), [2], [1.0])
    assert (found.step, found.waited) == pytest.approx((21 * MILLI, 4 * MILLI))


def test_of_several_ranks_the_slowest_counts(tmp_path):
    costs = CostModel(traces.sweep())
    other = [traces.span("step", 0, 15), traces.wait(8, 13, [5, 4.5])]
    paths = [
        traces.write(tmp_path / "a", [traces.model(), *traces.step_events()]),
        traces.write(tmp_path / "b", [traces.model(), *other]),
    ]
    (step,) = steps_of([Trace(path) for path in paths], costs)
    (backward,) = step.backwards
    assert backward.ready == pytest.approx([9.5 * MILLI, 4.5 * MILLI])
    assert (backward.length, step.rest) == pytest.approx((10 * MILLI, 2 * MILLI))
    assert (step.seconds, step.waited) == pytest.approx((15 * MILLI, 3 * MILLI))
    for events in (
        [traces.model(), *traces.step_events(), *traces.step_events(15.0)],
        [traces.model(bytes=[4, 4]), *other],
        [traces.model(), traces.span("step", 0, 15), *[other[1]] * 2],
    ):
        wrong = Trace(traces.write(tmp_path / "c", events))
        with pytest.raises(ValueError, match=r"a and \S+c are not of the same steps of one model"):
            steps_of([Trace(paths[0]), wrong], costs)


def test_sizes_of_buckets_are_tried(tmp_path):
    trace = Trace(traces.write(tmp_path / "t", [traces.model(), *traces.step_events()]))
    costs = CostModel(traces.sweep(0.002))
    alone, two = predict([trace], costs, [1, 2], [1.0, 100.0])
    assert [one.step for one in alone] == pytest.approx([12 * MILLI] * 2)
    assert [(one.exposed, one.efficiency) for one in alone] == [(0.0, 1.0)] * 2
    # b is sent from 4 to 6, a from 10 to 12; the last bucket stays small as it was.
    assert [one.buckets for one in two] == [2, 2]
    assert two[0].step == pytest.approx(14 * MILLI)
    assert two[0].exposed == pytest.approx(2 * MILLI)
    assert two[0].efficiency == pytest.approx(12 / 14)
    assert best(two) is two[0]
    one_bucket = traces.model(limits=[64 * traces.MB, traces.MB])
    trace = Trace(traces.write(tmp_path / "t", [one_bucket, *traces.step_events()]))
    ((found,),) = predict([trace], costs, [2], [1.0])
    assert found.buckets == 1


def test_a_model_is_chosen(tmp_path):
    events = [traces.model(3), traces.model(5, bytes=[8, 8]), *traces.step_events()]
    events += [traces.span("step", 50, 60), traces.wait(58, 59, [57, 56], number=5)]
    path = traces.write(tmp_path / "t", events)
    with pytest.raises(ValueError, match=r"models 3 \(8388608 bytes\), 5 \(16 bytes\): choose"):
        Trace(path)
    with pytest.raises(ValueError, match="choose one with --model"):
        Trace(path, 4)
    trace = Trace(path, 5)
    assert trace.model.bytes == [8, 8] and len(trace.whole()) == 1


BROKEN = {
    "no JSON": ("{", "JSONDecodeError"),
    "another file": ('{"a": 1}', "KeyError"),
    "a number": ("7", "TypeError"),
    "events that are none": ('{"traceEvents": ["x"]}', "AttributeError"),
    "nothing data-parallel": ('{"traceEvents": []}', "holds no data-parallel step"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_trace_is_named(name, tmp_path):
    text, told = BROKEN[name]
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(ValueError, match=rf"t\.json .*{told}.*paddle\.profiler\.Profiler"):
        Trace(tmp_path / "t.json")


def test_a_trace_that_lacks_something_is_named(tmp_path):
    path = traces.write(tmp_path / "t", [traces.model(), *traces.step_events()[1:]])
    with pytest.raises(ValueError, match=r"no whole step.*profiler\.step\(\)"):
        Trace(path)
    wrong = [traces.model(), traces.span("step", 0, 9), traces.wait(7, 8, [1])]
    with pytest.raises(ValueError, match="when each of 2 parameters was ready"):
        Trace(traces.write(path, wrong))
    with pytest.raises(ValueError, match="a device that queues its work"):
        Trace(traces.write(path, [traces.model(queued=True), *traces.step_events()]))
    (tmp_path / "t").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="UnicodeDecodeError"):
        Trace(path)


def test_the_profiler_writes_what_is_needed(tmp_path):
    group = paddle.distributed.new_group([0])
    net = nn.Sequential(*[nn.Linear(64, 64) for _ in range(3)])
    model = paddle.DataParallel(net, group=group, comm_buffer_size=0, last_comm_buffer_size=0)
    with paddle.profiler.Profiler() as profiler:
        for _ in range(4):
            model(paddle.ones([1, 64])).sum().backward()
            profiler.step()
    profiler.export(tmp_path / "t.json")
    trace = Trace(tmp_path / "t.json")
    assert trace.model.bytes == [64 * 64 * 4, 64 * 4] * 3 and trace.model.ranks == 1
    assert trace.model.limits == [0, 0] and set(trace.model.dtypes) == {"float32"}
    costs = CostModel(traces.sweep(1.0))
    steps = trace.steps(costs)
    assert len(steps) == 4
    for step in steps:
        (backward,) = step.backwards
        # Backward reaches the layers from the last to the first.
        layers = [max(backward.ready[i : i + 2]) for i in (0, 2, 4)]
        assert 0 < layers[2] < layers[1] < layers[0] <= backward.length
    ((found,),) = predict([trace], costs, [2], [0.0])
    assert found.buckets == len(model._reducer.buckets) == 6
    # A second for each of six: what little is computed is hidden, all but the last at least.
    assert 6.0 <= found.step <= 6.0 + max(step.computing for step in steps)
    paddle.distributed.destroy_process_group(group)
