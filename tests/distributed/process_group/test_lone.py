"""The group of a process that is alone."""

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.distributed as dist
from minipaddle.distributed.process_group.lone import LoneGroup
from tests.device import plug


@pytest.fixture(autouse=True)
def no_group_is_left():
    yield
    dist.destroy_process_group()
    paddle.set_device("cpu")


def test_it_needs_no_linux(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    tensor = paddle.ones([2])
    dist.all_reduce(tensor)
    with pytest.warns(UserWarning, match="alone"):
        model = paddle.DataParallel(paddle.nn.Linear(2, 1))
    model(paddle.ones([1, 2])).sum().backward()
    assert tensor.tolist() == [1.0, 1.0]


def test_it_works_on_a_plugged_in_device():
    with plug.plugged_in():
        paddle.set_device("xpu:3")
        found = []
        dist.all_gather(found, paddle.ones([2]))
        dist.all_reduce(found[0])
        assert str(found[0].place) == "xpu:3" and found[0].tolist() == [1.0, 1.0]


def test_what_is_gathered_is_a_copy():
    tensor, found = paddle.ones([2]), []
    dist.all_gather(found, tensor)
    tensor.set_value([5.0, 5.0])
    assert found[0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("call", ["send", "recv"])
def test_nothing_is_sent_to_oneself(call):
    with pytest.raises(ValueError, match="alone"):
        getattr(LoneGroup(), call)(np.ones(2), 0)


def test_it_is_made_for_one_rank_only():
    assert LoneGroup.create(0, 1, "token").world_size == 1
    with pytest.raises(ValueError, match="rank 1 of 2"):
        LoneGroup.create(1, 2, "token")
    assert LoneGroup().new_group([1]) is None
