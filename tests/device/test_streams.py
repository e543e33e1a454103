"""Streams and events: what CuPy is told, on GPUs that are none."""

import threading

import pytest

import minipaddle as paddle

cuda = paddle.device.cuda


def test_a_stream_lies_on_its_gpu(two_gpus):
    stream = cuda.Stream(1)
    assert str(stream.place) == "gpu:1" and two_gpus.current == 0
    assert stream.raw.index == 1
    assert stream.raw.options == {"non_blocking": True}
    for urgent in (1, -1):
        assert cuda.Stream("gpu", priority=urgent).raw.options["priority"] == -1
    assert "priority" not in cuda.Stream(priority=0).raw.options
    assert stream.__cuda_stream__() == (0, stream.cuda_stream)
    assert repr(stream) == f"Stream(gpu:1, cuda_stream={stream.cuda_stream:#x})"
    with pytest.raises(ValueError, match="priority must be 1 or -1"):
        cuda.Stream(priority=3)


def test_the_guard_changes_the_stream_and_changes_it_back(two_gpus):
    first = cuda.current_stream()
    outer, inner = cuda.Stream(), cuda.Stream()
    with cuda.stream_guard(outer):
        assert cuda.current_stream() == outer != first
        with pytest.raises(KeyError), cuda.stream_guard(inner):
            assert cuda.current_stream() == inner
            raise KeyError
        assert cuda.current_stream() == outer
        with cuda.stream_guard(None):
            assert cuda.current_stream() == outer
    assert cuda.current_stream() == first
    assert len({first, cuda.current_stream(), outer}) == 2
    assert first != cuda.current_stream(1), "the default stream of another GPU is another"
    assert first != 0


def test_the_guard_takes_a_stream_of_another_gpu(two_gpus):
    stream = cuda.Stream(1)
    with cuda.stream_guard(stream):
        assert cuda.current_stream("gpu:1") == stream
        assert cuda.current_stream().cuda_stream == 0
        assert two_gpus.current == 0
    assert cuda.current_stream(1).cuda_stream == 0


def test_set_stream_gives_the_one_before(two_gpus):
    first, stream = cuda.current_stream(), cuda.Stream()
    assert paddle.device.set_stream(stream) == first
    assert cuda.set_stream(first) == stream
    for wrong in (None, 0, stream.raw):
        with pytest.raises(TypeError, match="stream must be a Stream"):
            cuda.set_stream(wrong)
    with pytest.raises(TypeError, match="got int"), cuda.stream_guard(0):
        pass
    assert cuda.current_stream() == first


def test_streams_wait_for_each_other_and_for_marks(two_gpus):
    a, b = cuda.Stream(), cuda.Stream()
    two_gpus.log.clear()
    a.wait_stream(b)
    event = cuda.Event()
    assert b.record_event(event) is event
    a.wait_event(event)
    a.synchronize()
    assert two_gpus.log == [(a.cuda_stream, "waits for", b.cuda_stream)] * 2 + [
        (a.cuda_stream, "synchronized")
    ]
    a.raw.done = event.raw.done = False
    assert not a.query() and not event.query() and b.query()


def test_a_mark_goes_to_the_current_stream(two_gpus):
    stream, event = cuda.Stream(), cuda.Event(blocking=True)
    assert event.raw.options == (True, True, False)
    with cuda.stream_guard(stream):
        event.record()
    assert event.raw.recorded == stream.cuda_stream
    event.synchronize()
    assert two_gpus.log[-1] == ("event", stream.cuda_stream)
    assert repr(event) == "Event(gpu:0, recorded=True)"
    made = cuda.Stream(1).record_event()
    assert str(made.place) == "gpu:1" and made.raw.index == 1
    with pytest.raises(ValueError, match=r"event of gpu:0 cannot be recorded on Stream\(gpu:1"):
        event.record(cuda.Stream(1))


def test_two_marks_tell_a_time(two_gpus):
    start, end, plain = cuda.Event(True), cuda.Event(enable_timing=True), cuda.Event()
    start.record()
    with pytest.raises(RuntimeError, match="must be recorded"):
        start.elapsed_time(end)
    end.record()
    plain.record()
    assert start.elapsed_time(end) == 1.5
    assert two_gpus.log[-1] == ("event", 0), "the host waits for the later one"
    for pair in ((start, plain), (plain, end)):
        with pytest.raises(RuntimeError, match="made with enable_timing=True"):
            pair[0].elapsed_time(pair[1])
    with pytest.raises(ValueError, match="tells no time"):
        cuda.Event(enable_timing=True, interprocess=True)
    assert cuda.Event(interprocess=True).raw.options == (False, True, True)


def test_paddle_device_has_the_same_names():
    for name in ("Stream", "Event", "current_stream", "set_stream", "stream_guard"):
        assert getattr(paddle.device, name) is getattr(cuda, name)
    thread = threading.Thread(target=paddle.device.synchronize)  # of the CPU: at once
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
