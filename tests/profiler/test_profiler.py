"""Profiler: what it records, what it writes, and that nothing is left of it."""

import json
import re
import threading
import time

import pytest

import minipaddle as paddle
from minipaddle.imperative.grad_node import grad_state
from minipaddle.imperative.reducer import Reducer
from minipaddle.io.reader import DataLoader

nn = paddle.nn


def record(steps=3, **options):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    data = paddle.io.TensorDataset([paddle.ones([2 * steps, 4])])
    with paddle.profiler.Profiler(**options) as profiler:
        for (x,) in paddle.io.DataLoader(data, batch_size=2):
            with paddle.profiler.RecordEvent("my part"):
                loss = net(x).sum()
            loss.backward()
            profiler.step()
    return profiler


def names(profiler, kind):
    return [span.name for span in profiler.spans if span.kind == kind]


def test_it_records_ops_gradients_batches_steps_and_events():
    profiler = record()
    ops = names(profiler, "op")
    for name in ("linear", "relu", "sum", "relu_grad", "sum_grad"):
        assert ops.count(name) == {"linear": 6}.get(name, 3), ops
    assert names(profiler, "data") == ["next batch"] * 3
    assert names(profiler, "step") == ["step 0", "step 1", "step 2"]
    assert names(profiler, "event") == ["my part"] * 3
    spans = profiler.spans
    assert all(span.start <= span.end for span in spans)
    assert [span.start for span in spans] == sorted(span.start for span in spans)
    for step in (span for span in spans if span.kind == "step"):
        inside = [s for s in spans if step.start <= s.start and s.end <= step.end]
        assert {s.kind for s in inside} == {"step", "op", "data", "event"}


def test_a_scheduler_picks_steps():
    profiler = record(5, scheduler=(1, 3))
    assert names(profiler, "step") == ["step 1", "step 2"]
    assert names(profiler, "op").count("relu") == 2
    for wrong in ((2, 2), (-1, 3)):
        with pytest.raises(ValueError, match="scheduler"):
            paddle.profiler.Profiler(scheduler=wrong)


def test_nothing_is_in_the_way_afterwards():
    watchers = list(grad_state.watchers)
    with pytest.raises(KeyError), paddle.profiler.Profiler():
        assert grad_state.interceptor is not None
        raise KeyError
    assert grad_state.watchers == watchers
    assert Reducer.on_event is None and DataLoader.watcher is None
    done = []
    profiler = record(2, on_trace_ready=done.append)
    assert done == [profiler]
    before = len(profiler.spans)
    paddle.ones([2]).sum()
    with paddle.profiler.RecordEvent("nobody looks"):
        assert len(profiler.spans) == before


def test_two_at_a_time_are_refused():
    with paddle.profiler.Profiler() as first:
        with pytest.raises(RuntimeError, match="running already"):
            paddle.profiler.Profiler().start()
        paddle.ones([2]).sum()
    assert names(first, "op") == ["sum"]


def test_other_threads_are_left_alone():
    with paddle.profiler.Profiler() as profiler:
        thread = threading.Thread(target=lambda: paddle.ones([2]).sum())
        thread.start()
        thread.join()
    assert profiler.spans == []


def test_a_trace_has_what_was_recorded(tmp_path):
    profiler = record()
    profiler.export(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    rows = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert rows == {"compute", "comm"}
    bars = [e for e in events if e["ph"] == "X"]
    assert len(bars) == len(profiler.spans)
    for event, span in zip(bars, profiler.spans, strict=True):
        assert (event["name"], event["cat"], event["pid"]) == (span.name, span.kind, 0)
        assert event["ts"] == span.start / 1000
        assert event["dur"] == (span.end - span.start) / 1000


def bars_of(page):
    """x, y, width and title of every bar of a page."""
    found = re.findall(
        r'<rect x="(\S+)" y="(\d+)" width="(\S+)".*?><title>(.*?)</title></rect>', page, re.DOTALL
    )
    return [(float(x), int(y), float(width), title) for x, y, width, title in found]


def test_the_bars_of_the_page_are_the_trace(tmp_path):
    traces = [record().trace(), record(2).trace()]
    for event in traces[1]["traceEvents"]:
        event["pid"] = 1
    (tmp_path / "1.json").write_text(json.dumps(traces[1]))
    paddle.profiler.write_timeline(tmp_path / "page.html", [traces[0], tmp_path / "1.json"])
    page = (tmp_path / "page.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page and "rank 0 compute" in page and "rank 1 comm" in page
    events = [e for trace in traces for e in trace["traceEvents"] if e["ph"] == "X"]
    begin = min(e["ts"] for e in events)
    scale = 1400 / (max(e["ts"] + e["dur"] for e in events) - begin)
    expected = [
        ((e["ts"] - begin) * scale, 34 * (2 * e["pid"] + e["tid"]), e["dur"] * scale)
        for e in events
    ]
    bars = bars_of(page)
    assert sorted(bar[:3] for bar in bars) == sorted(expected)
    for _, _, width, title in bars:
        told = float(re.search(r"for (\S+) us", title)[1])
        assert abs(told * scale - width) <= 0.06 * scale


def test_names_cannot_break_the_page(tmp_path):
    with paddle.profiler.Profiler() as profiler, paddle.profiler.RecordEvent("<b>&</svg>"):
        pass
    profiler.export(tmp_path / "page.html", "html")
    assert "event &lt;b&gt;&amp;&lt;/svg&gt;" in (tmp_path / "page.html").read_text()


def test_wrong_formats_and_empty_records_are_named(tmp_path):
    with paddle.profiler.Profiler() as profiler:
        pass
    with pytest.raises(ValueError, match="'json' or 'html'"):
        profiler.export(tmp_path / "a", "xml")
    with pytest.raises(ValueError, match="no events"):
        profiler.export(tmp_path / "a", "html")


def test_a_summary_adds_up(capsys):
    profiler = record()
    text = profiler.summary()
    assert text in capsys.readouterr().out
    (line,) = [line for line in text.splitlines() if line.startswith("op relu ")]
    spans = [s for s in profiler.spans if s.name == "relu"]
    total = sum(s.end - s.start for s in spans) / 1e6
    assert line.split()[2] == "3" and abs(float(line.split()[3]) - total) < 1e-3


def model_of_one(sizes, **options):
    group = paddle.distributed.new_group([0])
    net = nn.Sequential(*[nn.Linear(n, n, bias_attr=False) for n in sizes])
    return group, paddle.DataParallel(net, group=group, **options)


def test_buckets_and_waits_are_recorded():
    group, model = model_of_one([8] * 3, comm_buffer_size=0, last_comm_buffer_size=0)
    with paddle.profiler.Profiler() as profiler:
        for _ in range(2):
            model(paddle.ones([1, 8])).sum().backward()
    buckets = [s for s in profiler.spans if s.kind == "bucket"]
    assert [s.row for s in buckets] == ["comm"] * 6
    assert [s.name for s in buckets] == ["bucket 0", "bucket 1", "bucket 2"] * 2
    assert [s.details["last parameter"] for s in buckets[:3]] == [
        "2.weight",
        "1.weight",
        "0.weight",
    ]
    assert all(s.details["ready"] <= s.start and s.details["bytes"] == 256 for s in buckets)
    waits = [s for s in profiler.spans if s.kind == "wait"]
    assert len(waits) == 2 and waits[0].end <= buckets[3].start
    assert buckets[2].end <= waits[0].end
    paddle.distributed.destroy_process_group(group)


def test_a_trace_has_what_a_planner_needs(tmp_path):
    group, model = model_of_one([8] * 3, comm_buffer_size=0.5, last_comm_buffer_size=0)
    with paddle.profiler.Profiler() as profiler:
        for _ in range(2):
            model(paddle.ones([1, 8])).sum().backward()
    events = profiler.trace()["traceEvents"]
    (told,) = [e["args"] for e in events if e["name"] == "data_parallel"]
    assert told == {
        "model": model._reducer.number, "ranks": 1, "rings": 1, "queued": False,
        "limits": [0, 512 * 1024],
        "parameters": ["0.weight", "1.weight", "2.weight"],
        "bytes": [256] * 3, "dtypes": ["float32"] * 3,
    }  # fmt: skip
    waits = [e for e in events if e.get("cat") == "wait"]
    buckets = [e for e in events if e.get("cat") == "bucket"]
    assert all(e["args"]["dtype"] == "float32" for e in buckets)
    for i, wait in enumerate(waits):
        first, second, third = wait["args"]["parameters ready"]
        assert third < second < first <= wait["ts"]
        assert [e["args"]["ready"] for e in buckets[2 * i : 2 * i + 2]] == [second, first]
    profiler.export(tmp_path / "page.html", "html")
    assert "parameters ready" not in (tmp_path / "page.html").read_text()
    paddle.distributed.destroy_process_group(group)


class Sums(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = self.create_parameter([8, 8]), self.create_parameter([600, 600])

    def forward(self, scale):
        return self.a.sum() + (self.b * scale).sum()


def test_a_report_of_the_plan_and_of_a_profile(capsys):
    group = paddle.distributed.new_group([0])
    model = paddle.DataParallel(Sums(), group=group, find_unused_parameters=True)
    plan = model.comm_report()
    assert "2 parameters in 1 buckets, over 1 ranks" in plan
    assert "bucket 0 of 1 (parameters a, b): 1.37 MB of float32" in plan
    assert plan in capsys.readouterr().out

    def slow(buffer, ring, token):
        time.sleep(0.02)

    with paddle.profiler.Profiler() as profiler:
        model(1.0)
    assert "no backward of this model" in model.comm_report(profiler)
    model._reducer.group.allreduce_mean = slow
    with paddle.profiler.Profiler() as profiler:
        for _ in range(2):
            model(1.0).backward()
            profiler.step()
    told = model.comm_report(profiler)
    assert "Means of 2 backward(s): communication 2" in told and "0% while backward" in told
    assert "find_unused_parameters=False saves an exchange" in told
    assert "smaller comm_buffer_size, such as 0.34" in told
    assert re.search(r"bucket 0: ready with [ab], begun \S+ ms later, 2\d\.\d+ ms long", told)
    paddle.distributed.destroy_process_group(group)


def test_a_report_of_a_process_that_is_alone():
    with pytest.warns(UserWarning, match="alone"):
        model = paddle.DataParallel(nn.Linear(1, 1))
    assert "nothing is sent" in model.comm_report()
