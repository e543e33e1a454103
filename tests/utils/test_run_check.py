"""The check of an installation."""

import pytest

import minipaddle as paddle
from minipaddle.optimizer import SGD
from tests.device.plug import plugged_in


def test_it_says_where_it_ran(capsys):
    paddle.utils.run_check()
    assert capsys.readouterr().out == "minipaddle works on cpu.\n"
    with plugged_in():
        paddle.set_device("xpu:1")
        paddle.utils.run_check()
        assert capsys.readouterr().out == "minipaddle works on xpu:1.\n"


def test_a_step_that_does_nothing_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr(SGD, "step", lambda self: None)
    with pytest.raises(RuntimeError, match=r"cpu.*1\.5"):
        paddle.utils.run_check()
    assert not capsys.readouterr().out
