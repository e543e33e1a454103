"""What an installation can use."""

import minipaddle as paddle
from minipaddle.device import known_backends
from tests.device.plug import plugged_in


def test_kinds_of_device_are_those_that_are_registered():
    assert paddle.is_compiled_with_cuda() is ("gpu" in known_backends())
    assert paddle.is_compiled_with_custom_device("cpu")
    assert not paddle.is_compiled_with_custom_device("npu")
    with plugged_in():
        assert paddle.is_compiled_with_xpu()
        assert paddle.device.is_compiled_with_custom_device("xpu")


def test_what_is_the_same_everywhere():
    assert paddle.is_compiled_with_distribute() is True
    for name in ("rocm", "ipu", "cinn"):
        ask = getattr(paddle, f"is_compiled_with_{name}")
        assert ask() is False
        assert ask.__name__ in ask.__doc__
