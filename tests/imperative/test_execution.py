"""Ops run at once, and that cannot be switched off."""

import pytest

import minipaddle as paddle
from tests.device.plug import plugged_in


def test_the_mode_is_dynamic_before_and_after():
    assert paddle.in_dynamic_mode()
    paddle.disable_static()
    assert paddle.in_dynamic_mode()
    with pytest.raises(RuntimeError, match="static graphs"):
        paddle.enable_static()
    assert paddle.in_dynamic_mode()


def test_disable_static_takes_a_place():
    with plugged_in():
        paddle.disable_static("xpu:1")
        assert paddle.get_device() == "xpu:1"
        paddle.disable_static(paddle.CPUPlace())
    assert paddle.get_device() == "cpu"
