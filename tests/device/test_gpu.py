"""The GPU backend without a GPU: why there is none; and ``paddle.device.cuda`` on a real one."""

import importlib.util
import sys
from types import SimpleNamespace

import pytest

import minipaddle as paddle
from minipaddle.device import backend, gpu

cuda = paddle.device.cuda


class FakeCupy:
    """As much of CuPy as is asked about devices and memory."""

    def __init__(self, count=2, built=13000, driver=13000, error=None):
        self.current, self.waited, self.freed = 0, [], []
        self.count, self.error = count, error
        runtime = SimpleNamespace(
            getDeviceCount=self.device_count,
            runtimeGetVersion=lambda: built,
            driverGetVersion=lambda: driver,
            getDeviceProperties=self.properties,
        )
        self.cuda = SimpleNamespace(runtime=runtime, Device=self.device)

    def device_count(self):
        if self.error:
            raise RuntimeError(self.error)
        return self.count

    def properties(self, index):
        return {
            "name": f"GPU {index}".encode(),
            "major": 9,
            "minor": 0,
            "totalGlobalMem": 1 << 37,
            "multiProcessorCount": 132,
        }

    def device(self, index):
        return Device(self, index)

    def get_default_memory_pool(self):
        at = self.current
        return SimpleNamespace(
            used_bytes=lambda: 100 + at,
            total_bytes=lambda: 200 + at,
            free_all_blocks=lambda: self.freed.append("device"),
        )

    def get_default_pinned_memory_pool(self):
        return SimpleNamespace(free_all_blocks=lambda: self.freed.append("pinned"))


class Device:
    """A device of FakeCupy that ``with`` can enter."""

    def __init__(self, cupy, index):
        self.cupy, self.index = cupy, index

    def __enter__(self):
        self.before, self.cupy.current = self.cupy.current, self.index

    def __exit__(self, *exc):
        self.cupy.current = self.before

    def use(self):
        self.cupy.current = self.index

    def synchronize(self):
        self.cupy.waited.append(self.index)


@pytest.fixture
def found(monkeypatch):
    """Asks anew what there is, in a world that the test makes; afterwards all is as before."""
    monkeypatch.setattr(backend, "_places", dict(backend._places))
    monkeypatch.setattr(backend, "_current", None)
    gpu._found.cache_clear()
    yield monkeypatch
    gpu._found.cache_clear()


@pytest.fixture
def two_gpus(found):
    cupy = FakeCupy()
    found.setattr(gpu, "_found", lambda: (cupy, 2, ""))
    yield cupy
    found.undo()


def install(found, cupy):
    found.setattr(importlib.util, "find_spec", lambda name: object())
    found.setitem(sys.modules, "cupy", cupy)


def test_without_cupy_the_wheels_are_named(found):
    found.setattr(importlib.util, "find_spec", lambda name: None)
    text = r"0 gpu\(s\): CuPy is not installed: pip install 'minipaddle\[gpu-cuda13\]' \(CUDA 13\)"
    with pytest.raises(ValueError, match=text):
        paddle.set_device("gpu")
    assert paddle.get_device() == "cpu"
    assert cuda.device_count() == 0


def test_a_cupy_that_cannot_be_imported_says_why(found):
    install(found, None)  # None in sys.modules is how Python says so
    with pytest.raises(ValueError, match=r"CuPy cannot be imported \(.*\): pip install"):
        paddle.set_device("gpu:0")


@pytest.mark.parametrize(
    ("cupy", "text"),
    [
        (
            FakeCupy(error="cudaErrorInsufficientDriver: too old", driver=0),
            "there is no NVIDIA driver",
        ),
        (
            FakeCupy(error="cudaErrorInsufficientDriver: too old", driver=12080),
            r"CuPy is for CUDA 13, and the driver goes up to CUDA 12: pip install "
            r"'minipaddle\[gpu-cuda12\]'",
        ),
        (FakeCupy(error="cudaErrorNoDevice: none"), "cudaErrorNoDevice: none"),
        (FakeCupy(count=0), "the driver sees none; CUDA_VISIBLE_DEVICES may hide them"),
    ],
)
def test_no_gpu_has_a_reason(found, cupy, text):
    install(found, cupy)
    with pytest.raises(ValueError, match=text):
        paddle.set_device("gpu")


def test_what_a_gpu_is_and_holds(two_gpus):
    assert cuda.device_count() == 2
    assert cuda.get_device_properties() == ("GPU 0", 9, 0, 1 << 37, 132)
    assert cuda.get_device_name(1) == "GPU 1"
    assert cuda.get_device_capability("gpu:1") == (9, 0)
    assert cuda.memory_allocated(paddle.device.get_place("gpu:1")) == 101
    assert cuda.memory_reserved() == 200
    assert two_gpus.current == 0
    cuda.synchronize(1)
    cuda.empty_cache()
    assert two_gpus.waited == [1]
    assert two_gpus.freed == ["device", "pinned"]


@pytest.mark.parametrize(
    ("device", "error", "text"),
    [
        (2, ValueError, r"there is no device gpu:2; this process sees 2 gpu\(s\)"),
        ("cpu", ValueError, "device must be a GPU, as 0 or 'gpu:0'; got 'cpu'"),
        (1.5, TypeError, "device must be an int, 'gpu:0' or a Place; got 1.5"),
    ],
)
def test_what_is_no_gpu_is_refused(two_gpus, device, error, text):
    with pytest.raises(error, match=text):
        cuda.get_device_name(device)


def test_without_a_gpu_the_questions_say_so(found):
    found.setattr(importlib.util, "find_spec", lambda name: None)
    for ask in (cuda.get_device_properties, cuda.memory_allocated, cuda.synchronize):
        with pytest.raises(ValueError, match="CuPy is not installed"):
            ask()
    cuda.empty_cache()


@pytest.mark.gpu
def test_memory_of_a_tensor_is_counted_and_given_back():
    place = paddle.device.get_place("gpu:0")
    properties = cuda.get_device_properties(0)
    assert properties.total_memory > 1 << 30
    assert properties.multi_processor_count > 0
    before = cuda.memory_allocated(0)
    x = paddle.zeros([1 << 20]).to(place)
    cuda.synchronize(0)
    assert cuda.memory_allocated(0) - before >= 4 << 20
    assert cuda.memory_reserved(0) >= cuda.memory_allocated(0)
    del x
    cuda.empty_cache()
    assert cuda.memory_allocated(0) <= before
