"""Why there is no GPU, and which wheel is named; all without one, and without CuPy."""

import ctypes
import subprocess
import sys

import pytest

import minipaddle as paddle
from minipaddle.device import gpu_absence
from minipaddle.device.gpu_absence import driver_version
from tests.device.fake_cupy import CuPy, installed

cuda = paddle.device.cuda
OLD_DRIVER = "cudaErrorInsufficientDriver: CUDA driver version is insufficient"


def with_driver(patch, version):
    patch.setattr(gpu_absence, "driver_version", lambda: version)


@pytest.mark.parametrize(
    ("driver", "text"),
    [
        (
            0,
            r"'minipaddle\[gpu-cuda13\]' \(CUDA 13\) or .*gpu-cuda12.*; no NVIDIA driver was found",
        ),
        (11, r"update the driver, which goes up to CUDA 11, and then pip install 'mini"),
        (12, r"pip install 'minipaddle\[gpu-cuda12\]' \(the driver goes up to CUDA 12\)"),
        (13, r"pip install 'minipaddle\[gpu-cuda13\]' \(the driver goes up to CUDA 13\)"),
        (14, r"pip install 'minipaddle\[gpu-cuda13\]' \(the driver goes up to CUDA 14\)"),
    ],
)
def test_without_cupy_the_wheel_for_the_driver_is_named(monkeypatch, driver, text):
    with_driver(monkeypatch, driver)
    with installed(monkeypatch, None):
        with pytest.raises(ValueError, match=rf"0 gpu\(s\): CuPy is not installed: .*{text}"):
            paddle.set_device("gpu")
        assert paddle.get_device() == "cpu"
        assert cuda.device_count() == 0


def test_a_cupy_that_cannot_be_imported_says_why(monkeypatch):
    with_driver(monkeypatch, 12)
    with installed(monkeypatch, None):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
        # None in sys.modules is how Python says that there is no such module.
        with pytest.raises(ValueError, match=r"CuPy cannot be imported \(.*\): .*gpu-cuda12"):
            paddle.set_device("gpu:0")


@pytest.mark.parametrize(
    ("cupy", "text"),
    [
        (CuPy(error=OLD_DRIVER, driver=0), "there is no NVIDIA driver; install one"),
        (
            CuPy(error=OLD_DRIVER, driver=12080),
            r"CuPy is for CUDA 13, and the driver goes up to CUDA 12: pip uninstall cupy-cuda13x, "
            r"then pip install 'minipaddle\[gpu-cuda12\]'",
        ),
        (CuPy(error=OLD_DRIVER, built=12090, driver=11040), "update the driver, .* CUDA 11"),
        (CuPy(error="cudaErrorUnknown: unknown error"), "cudaErrorUnknown: unknown error$"),
        (CuPy(is_hip=True, count=0), "for AMD GPUs: pip uninstall it, then pip install"),
    ],
)
def test_no_gpu_has_a_reason(monkeypatch, cupy, text):
    with installed(monkeypatch, cupy), pytest.raises(ValueError, match=text):
        paddle.set_device("gpu")


@pytest.mark.parametrize("cupy", [CuPy(count=0), CuPy(error="cudaErrorNoDevice: none")])
@pytest.mark.parametrize(
    ("visible", "text"),
    [(None, "the driver finds none; a container"), ("", "CUDA_VISIBLE_DEVICES=''; unset it")],
)
def test_gpus_that_are_hidden_are_told_from_those_that_are_not_there(
    monkeypatch, cupy, visible, text
):
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with installed(monkeypatch, cupy), pytest.raises(ValueError, match=text):
        paddle.set_device("gpu")


def test_the_driver_is_asked_for_its_version(monkeypatch):
    class Driver:
        def cuDriverGetVersion(self, pointer):
            pointer._obj.value = 12040

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Driver())
    assert driver_version() == 12
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())  # some other library of that name
    assert driver_version() == 0

    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert driver_version() == 0


def test_without_a_gpu_every_question_says_so(monkeypatch):
    x = paddle.ones([1])
    asks = [
        cuda.current_device, cuda.current_stream, cuda.get_device_capability, cuda.get_device_name,
        cuda.get_device_properties, cuda.max_memory_allocated, cuda.max_memory_reserved,
        cuda.memory_allocated, cuda.memory_reserved, cuda.reset_max_memory_allocated,
        cuda.reset_max_memory_reserved, cuda.synchronize, cuda.Stream, cuda.Event, x.cuda,
        lambda: x.to("gpu"), lambda: x.to("cuda:0"), paddle.nn.Linear(1, 1).cuda,
    ]  # fmt: skip
    with installed(monkeypatch, None):
        for ask in asks:
            with pytest.raises(ValueError, match=r"CuPy is not installed: .*pip install"):
                ask()
        cuda.empty_cache()
        with cuda.stream_guard(None):
            assert x.cpu() is x


PROGRAM = """
import sys
import minipaddle as paddle
x = paddle.ones([2], "float32").cpu()
(x + x).sum().item()
with paddle.device.cuda.stream_guard(None):
    paddle.device.synchronize()
assert not [name for name in sys.modules if name.startswith("cupy")], "CuPy was imported"
"""


def test_cupy_is_not_imported_until_a_gpu_is_asked_for():
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
