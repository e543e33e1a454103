"""DLPack of GPU memory, on GPUs that are none: streams, element types, copies, refusals."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device import dlpack
from tests.device.fake_cupy import on_device

cuda = paddle.device.cuda
DTYPES = ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]


class Producer:
    """An array of another library on a GPU; notes what it was asked."""

    def __init__(self, array, index=0, old=False, read_only=False):
        self.array, self.index, self.old, self.read_only = array, index, old, read_only
        self.asked = []

    def __dlpack_device__(self):
        return 2, self.index

    def __dlpack__(self, **options):
        self.asked.append(options)
        if self.old and "max_version" in options:
            raise TypeError("unexpected keyword argument 'max_version'")
        capsule = dlpack.export_array(self.array, max_version=options.get("max_version"))
        if self.read_only:
            dlpack.flags_of(capsule).value |= 1
        return on_device(capsule, 2, self.index)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
@pytest.mark.parametrize("versioned", [False, True])
def test_both_ways_share_memory(two_gpus, dtype, shape, versioned):
    x = paddle.ones(list(shape), dtype).cuda(1)
    assert x.__dlpack_device__() == (2, 1)
    capsule = x.__dlpack__(max_version=(1, 0) if versioned else None)
    assert dlpack.capsule_device(capsule) == (2, 1)
    y = paddle.from_dlpack(capsule)
    assert (y.shape, y.dtype, y.place) == (list(shape), x.dtype, x.place)
    x.data[...] = 0
    assert not y.numpy().any()
    assert two_gpus.current == 0


def test_the_consumer_waits_for_the_stream_that_work_is_queued_on(two_gpus):
    x, side = paddle.ones([2]).cuda(1), cuda.Stream(1)
    two_gpus.log.clear()
    for stream, waits in ((None, 1), (1, 1), (2, 2), (77, 77), (-1, None)):
        x.__dlpack__(stream=stream)
        expected = [] if waits is None else [(waits, "waits for", 0)]
        assert two_gpus.log == expected
        two_gpus.log.clear()
    with cuda.stream_guard(side):
        x.__dlpack__(stream=77)
    assert two_gpus.log == [(77, "waits for", side.cuda_stream)]


@pytest.mark.parametrize(
    ("stream", "error"),
    [(0, ValueError), (-2, ValueError), (True, TypeError), ("1", TypeError), (1.0, TypeError)],
)
def test_what_is_no_stream_is_refused(two_gpus, stream, error):
    with pytest.raises(error, match="stream must be"):
        paddle.ones([2]).cuda().__dlpack__(stream=stream)


def test_a_producer_is_told_the_stream_that_takes_the_memory(two_gpus):
    side = cuda.Stream(1)
    for old in (False, True):
        producer = Producer(np.ones(3, "float32"), 1, old)
        x = paddle.from_dlpack(producer)
        assert str(x.place) == "gpu:1" and x.tolist() == [1.0, 1.0, 1.0]
        with cuda.stream_guard(side):
            paddle.from_dlpack(producer)
        streams = [asked["stream"] for asked in producer.asked]
        assert streams == ([1, 1] if old else [1]) + [side.cuda_stream] * (2 if old else 1)
        assert ["max_version" in asked for asked in producer.asked][-1] is not old


def test_copies_are_copies(two_gpus):
    x = paddle.to_tensor([1.0, 2.0], "bfloat16").cuda()
    for version, flags in (((1, 0), 2), (None, None)):
        capsule = x.__dlpack__(copy=True, max_version=version, dl_device=(2, 0))
        marked = dlpack.flags_of(capsule)
        assert (marked and marked.value) == flags
        y = paddle.from_dlpack(capsule)
        y.data[...] = 5
        assert x.tolist() == [1.0, 2.0] and y.dtype is paddle.bfloat16
    assert dlpack.flags_of(x.__dlpack__(max_version=(1, 0))).value == 0
    producer = Producer(np.ones(2))
    paddle.from_dlpack(producer, copy=True).data[...] = 7
    assert producer.array.tolist() == [1.0, 1.0]
    shared = paddle.from_dlpack(Producer(producer.array), copy=False)
    shared.data[...] = 7
    assert producer.array.tolist() == [7.0, 7.0]


def test_the_way_to_the_host(two_gpus):
    for dtype in ("float32", "bfloat16"):
        x = paddle.to_tensor([1.0, 2.0], dtype).cuda(1)
        y = paddle.from_dlpack(x.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
        assert (str(y.place), y.dtype, y.tolist()) == ("cpu", x.dtype, [1.0, 2.0])
        assert str(paddle.from_dlpack(x, device="cpu").place) == "cpu"
        with pytest.raises(ValueError, match=r"copy is False, and from gpu:1 to cpu is a copy"):
            paddle.from_dlpack(x, device="cpu", copy=False)
        with pytest.raises(BufferError, match="unsupported device"):
            x.__dlpack__(dl_device=(2, 0))


def test_memory_that_may_not_be_written_is_copied_or_refused(two_gpus):
    with pytest.raises(ValueError, match=r"read-only.*copy=True"):
        paddle.from_dlpack(Producer(np.ones(2), read_only=True))
    x = paddle.from_dlpack(Producer(np.ones(2), read_only=True), copy=True)
    assert x.tolist() == [1.0, 1.0]


def test_what_cannot_be_shared_is_refused(two_gpus):
    with pytest.raises(TypeError, match="uint32"):
        paddle.from_dlpack(Producer(np.zeros(2, "uint32")))
    x = paddle.ones([1]).cuda()
    x.stop_gradient = False
    with pytest.raises(BufferError, match=r"x\.detach\(\)"):
        x.__dlpack__()
    capsule = x.detach().__dlpack__()
    paddle.from_dlpack(capsule)
    with pytest.raises(ValueError, match="once"):
        paddle.from_dlpack(capsule)
