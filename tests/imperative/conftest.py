"""Fixtures of the tests of tensors and backward."""

from collections.abc import Iterator

import pytest

from minipaddle.device.backend import set_device
from tests.device.plug import plugged_in


@pytest.fixture(params=["cpu", "xpu:0", pytest.param("gpu:0", marks=pytest.mark.gpu)])
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    """The CPU, then a device whose arrays are opaque; new tensors are made there."""
    if request.param == "cpu":
        yield "cpu"
        return
    if request.param == "gpu:0":
        set_device(request.param)
        yield request.param
        set_device("cpu")
        return
    with plugged_in():
        set_device(request.param)
        yield request.param
