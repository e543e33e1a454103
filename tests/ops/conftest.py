"""Every test of this folder that asks for ``place`` runs on the CPU and on a plug-in device."""

from collections.abc import Iterator
from types import ModuleType

import pytest

from minipaddle.device.backend import Place, get_place, set_device
from minipaddle.device.dtype import bfloat16
from tests.device.plug import plugged_in


@pytest.fixture
def xpu() -> Iterator[ModuleType]:
    """The plug-in kind of device, while the test lasts."""
    with plugged_in() as module:
        yield module


@pytest.fixture(params=["cpu", "xpu:0", pytest.param("gpu:0", marks=pytest.mark.gpu)])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """The device that the test's tensors are made on."""
    if request.param == "cpu":
        yield get_place("cpu")
        return
    if request.param == "gpu:0":
        yield set_device(request.param)
        set_device("cpu")
        return
    with plugged_in():
        yield set_device(request.param)


@pytest.fixture(scope="session", autouse=True)
def bfloat16_is_known() -> None:
    """As in a program that has named the dtype once."""
    bfloat16()
