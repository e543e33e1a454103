"""Peaks of memory: counted when they are asked for, and only then."""

import threading

import pytest

import minipaddle as paddle
from minipaddle.device import peak_memory

cuda = paddle.device.cuda


@pytest.fixture(autouse=True)
def afresh(monkeypatch):
    monkeypatch.setattr(peak_memory, "_local", threading.local())


def test_nothing_is_counted_until_it_is_asked_for(two_gpus):
    paddle.ones([4]).cuda()
    for ask in (cuda.max_memory_allocated, cuda.max_memory_reserved):
        with pytest.raises(RuntimeError, match=r"gpu:0 is not counted.*call .*reset_max_memory_"):
            ask()
    assert not two_gpus.hooks


def test_peaks_are_those_since_the_reset(two_gpus):
    two_gpus.allocate(100)
    cuda.reset_max_memory_allocated()
    cuda.reset_max_memory_reserved("gpu:0")
    assert len(two_gpus.hooks) == 1
    assert cuda.max_memory_allocated() == cuda.max_memory_reserved() == 100
    two_gpus.allocate(50)
    two_gpus.used[0] = 20  # most of it is free again, and kept
    assert (cuda.max_memory_allocated(), cuda.max_memory_reserved()) == (150, 150)
    two_gpus.allocate(30)
    assert (cuda.max_memory_allocated(), cuda.max_memory_reserved()) == (150, 150)
    cuda.reset_max_memory_allocated()
    assert (cuda.max_memory_allocated(), cuda.max_memory_reserved()) == (50, 150)
    two_gpus.used[0] = 70  # by another thread, whose hooks are its own
    assert cuda.max_memory_allocated() == 70


def test_each_gpu_has_its_peak(two_gpus):
    cuda.reset_max_memory_allocated(1)
    two_gpus.allocate(500)
    with two_gpus.cuda.Device(1):
        two_gpus.allocate(30)
        two_gpus.used[1] = 0
    assert cuda.max_memory_allocated(1) == 30
    with pytest.raises(RuntimeError, match=r"reset_max_memory_allocated\(0\)"):
        cuda.max_memory_allocated(0)


def test_another_thread_has_to_ask_itself(two_gpus):
    cuda.reset_max_memory_allocated()
    caught = []

    def work():
        try:
            cuda.max_memory_allocated()
        except RuntimeError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert "in this thread" in str(caught[0])
