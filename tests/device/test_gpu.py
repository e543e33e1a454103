"""One GPU as a user meets it: choosing, moving, memory, streams, other libraries; in seconds."""

import importlib

import numpy as np
import pytest

import minipaddle as paddle

cuda = paddle.device.cuda
pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def as_before():
    before, stream = paddle.get_device(), cuda.current_stream(0)
    yield
    paddle.set_device(before)
    cuda.set_stream(stream)


@pytest.fixture
def cupy():
    return importlib.import_module("cupy")


# ---- choosing and moving ----


def test_the_gpu_is_described():
    properties = cuda.get_device_properties(0)
    assert properties.name == cuda.get_device_name("gpu:0") != ""
    assert (properties.major, properties.minor) == cuda.get_device_capability("cuda:0")
    assert properties.total_memory > 1 << 30
    assert properties.multi_processor_count > 0
    with pytest.raises(ValueError, match=f"gpu:{cuda.device_count()}"):
        cuda.get_device_name(cuda.device_count())


def test_new_tensors_are_made_on_the_chosen_gpu():
    assert paddle.set_device("gpu") is paddle.set_device("cuda:0")
    assert cuda.current_device() == 0
    x = paddle.ones([2, 3])
    assert str(x.place) == "gpu:0" and x.cuda() is x and x.to("gpu") is x
    y = (x + x).sum()
    paddle.device.synchronize()
    assert y.item() == 12.0


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "bfloat16", "float32"])
def test_values_survive_the_way_there_and_back(dtype):
    host = paddle.to_tensor([[0, 1, 2], [3, 4, 5]], dtype)
    there = host.cuda()
    assert there.dtype == host.dtype and str(there.place) == "gpu:0"
    for back in (there.cpu(), there.to("cpu"), there.to(host)):
        assert str(back.place) == "cpu"
        np.testing.assert_array_equal(back.numpy(), host.numpy())
    copied = there.to("gpu", copy=True)
    assert copied is not there and copied.tolist() == there.tolist()


def test_a_layer_trains_there():
    paddle.set_device("gpu")
    layer = paddle.nn.Linear(4, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    x = paddle.ones([8, 4])
    losses = []
    for _ in range(3):
        loss = (layer(x) - 1.0).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[2] < losses[0]


# ---- memory ----


def test_memory_of_a_tensor_is_counted_and_given_back():
    cuda.reset_max_memory_allocated(0)
    cuda.reset_max_memory_reserved(0)
    before = cuda.memory_allocated(0)
    x = paddle.zeros([1 << 20], "float32").to("gpu:0")
    cuda.synchronize(0)
    assert cuda.memory_allocated(0) - before >= 4 << 20
    assert cuda.memory_reserved(0) >= cuda.memory_allocated(0)
    del x
    assert cuda.memory_allocated(0) <= before
    assert cuda.max_memory_allocated(0) >= before + (4 << 20)
    assert cuda.max_memory_reserved(0) >= cuda.max_memory_allocated(0)
    cuda.empty_cache()


def test_too_much_memory_is_an_error_that_says_how_much_and_work_goes_on():
    paddle.set_device("gpu")
    total = cuda.get_device_properties(0).total_memory
    x = paddle.to_tensor([1.0] * 4)
    for make in (
        lambda: paddle.zeros([total], "float32"),
        lambda: paddle.ones([1 << 16, 1]) + paddle.ones([1, total >> 16]),
        lambda: x.expand([total, 4]).clone(),
    ):
        with pytest.raises(
            cuda.OutOfMemoryError, match=r"out of memory on gpu:0: .* asked for"
        ) as e:
            make()
        assert e.value.requested > total / 2
        assert 0 < e.value.free <= e.value.total
        assert e.value.allocated <= e.value.reserved
    assert (x + 1.0).tolist() == [2.0] * 4


# ---- streams ----


def test_work_on_another_stream_is_waited_for():
    paddle.set_device("gpu")
    first, side = cuda.current_stream(), cuda.Stream(priority=1)
    x = paddle.ones([1 << 20], "float32")
    side.wait_stream(first)
    with cuda.stream_guard(side):
        assert cuda.current_stream() == side != first
        y = x * 2.0
        done = side.record_event()
    assert cuda.current_stream() == first
    first.wait_event(done)
    assert (y + x).sum().item() == 3.0 * (1 << 20)
    side.synchronize()
    assert side.query() and done.query()
    assert cuda.Event().query()


def test_events_tell_a_time():
    paddle.set_device("gpu")
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    x = paddle.ones([1 << 22], "float32")
    start.record()
    for _ in range(10):
        x = x + 1.0
    end.record()
    assert 0.0 < start.elapsed_time(end) < 10_000.0
    with pytest.raises(RuntimeError, match="enable_timing"):
        start.elapsed_time(cuda.Event())


def test_cupy_takes_our_stream(cupy):
    stream = cuda.Stream()
    theirs = cupy.cuda.Stream.from_external(stream)
    assert theirs.ptr == stream.cuda_stream


# ---- DLPack ----


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "bfloat16", "float32"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_cupy_both_ways(cupy, dtype, shape):
    x = paddle.ones(list(shape), dtype).cuda()
    theirs = cupy.from_dlpack(x)
    assert theirs.shape == shape and theirs.dtype == x.dtype
    ours = paddle.from_dlpack(theirs)
    assert (ours.shape, ours.dtype, ours.place) == (list(shape), x.dtype, x.place)
    ours.set_value(np.zeros(shape, "float32"))
    assert not x.numpy().any() and not cupy.asnumpy(theirs).any()


def test_the_arguments_of_dlpack():
    x = paddle.to_tensor([1.0, 2.0], place="gpu:0")
    assert x.__dlpack_device__() == (2, 0)
    side = cuda.Stream()
    for stream in (None, 1, 2, -1, side.cuda_stream):
        assert 'object "dltensor"' in repr(x.__dlpack__(stream=stream))
    assert 'object "dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 1)))
    for wrong in (0, -2):
        with pytest.raises(ValueError, match="stream must be 1"):
            x.__dlpack__(stream=wrong)
    copied = paddle.from_dlpack(x.__dlpack__(copy=True, max_version=(1, 0)))
    assert copied.add_(1.0).tolist() == [2.0, 3.0] and x.tolist() == [1.0, 2.0]
    assert np.from_dlpack(x, device="cpu").tolist() == [1.0, 2.0]
    half = x.astype("bfloat16")
    assert paddle.from_dlpack(half.__dlpack__(dl_device=(1, 0))).tolist() == [1.0, 2.0]
    assert paddle.from_dlpack(half, copy=True, device="cpu").dtype is paddle.bfloat16


def test_a_consumer_waits_for_the_producers_stream(cupy):
    ours, theirs = cuda.Stream(0), cupy.cuda.Stream(non_blocking=True)
    with theirs:
        array = cupy.zeros(1 << 22, "float32")
        for _ in range(20):
            array += 1.0
        capsule = array.__dlpack__(stream=ours.cuda_stream, max_version=(1, 0))
    with cuda.stream_guard(ours):
        assert (paddle.from_dlpack(capsule) * 2.0).min().item() == 40.0


def test_torch_both_ways():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    for dtype in ("float32", "bfloat16", "int64"):
        x = paddle.ones([2, 3], dtype).cuda()
        theirs = torch.from_dlpack(x)
        assert theirs.dtype == getattr(torch, dtype) and theirs.device.type == "cuda"
        theirs.zero_()
        torch.cuda.synchronize()
        assert not x.numpy().any()
        with torch.cuda.stream(torch.cuda.Stream()):
            ours = paddle.from_dlpack(theirs + 1)
        assert ours.dtype == x.dtype and ours.numpy().all()


def test_jax_both_ways():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no CUDA")
    x = paddle.to_tensor([1.0, 2.0], "bfloat16", place="gpu:0")
    theirs = jax.dlpack.from_dlpack(x)
    assert theirs.tolist() == [1.0, 2.0]
    assert paddle.from_dlpack(theirs + 1, copy=True).tolist() == [2.0, 3.0]
