"""Errors of workers: what the loop is told of them."""

import time

import pytest

from minipaddle.io import DataLoader
from tests.io.samples import Broken, Numbers, OddError, numbers_of

pytestmark = pytest.mark.time_limit(60)


def caught(loader, kind):
    with pytest.raises(kind) as info:
        list(loader)
    return info.value


def told(error):
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


@pytest.mark.parametrize(
    ("how", "kind", "text"),
    [
        ("value_error", ValueError, "bad sample"),
        ("key_error", KeyError, "missing"),
        ("odd_error", RuntimeError, f"{OddError.__name__}: 1 and 2"),
        ("stop", RuntimeError, "StopIteration"),
        ("leave", RuntimeError, "SystemExit: 5"),
    ],
)
def test_an_exception_arrives_with_type_worker_batch_samples_and_traceback(how, kind, text):
    error = caught(DataLoader(Broken(how=how), batch_size=2, num_workers=2), kind)
    assert type(error) is kind
    said = told(error)
    assert text in said
    assert "DataLoader worker 1 (pid" in said
    assert "batch 3, sample indices [6, 7]" in said
    assert f"in {how}\n" in said  # the traceback of the worker
    assert "fetcher.py" not in said or how == "stop"


def test_after_an_exception_the_next_batch_can_be_had():
    loader = DataLoader(
        Broken(8, at=2, how="value_error"), batch_size=2, num_workers=2, persistent_workers=True
    )
    batches = iter(loader)
    next(batches)
    with pytest.raises(ValueError, match="bad sample"):
        next(batches)
    assert numbers_of(batches) == [[4, 5], [6, 7]]


def test_many_sample_numbers_are_not_all_shown():
    error = caught(
        DataLoader(Broken(100, how="value_error"), batch_size=100, num_workers=1), ValueError
    )
    assert "and 68 more" in told(error)


@pytest.mark.parametrize(("how", "text"), [("kill", "SIGKILL, exit code -9"), ("exit", "code 17")])
def test_the_death_of_a_worker_is_told_at_once(how, text):
    loader = DataLoader(Broken(how=how), batch_size=2, num_workers=2, timeout=50)
    batches = iter(loader)
    began = time.monotonic()
    with pytest.raises(RuntimeError, match=text) as info:
        list(batches)
    assert time.monotonic() - began < 40  # it did not wait for the time-out
    assert "DataLoader worker 1 (pid" in str(info.value)
    assert "batch 3, sample indices [6, 7]" in str(info.value)
    with pytest.raises(RuntimeError, match="have ended"):
        next(batches)


def test_a_death_elsewhere_is_told_while_one_waits_for_another_worker():
    loader = DataLoader(DiesBeside(), batch_size=1, num_workers=2, timeout=50)
    with pytest.raises(RuntimeError, match=r"worker 1 .*exit code 17"):
        list(loader)


class DiesBeside(Broken):
    """Sample 0 hangs; sample 1 is the end of its worker."""

    def __getitem__(self, idx):
        (self.hang if idx == 0 else self.exit)()


def test_workers_that_died_are_replaced_in_the_next_pass():
    loader = DataLoader(
        Broken(how="exit"), batch_sampler=[[7]], num_workers=1, persistent_workers=True
    )
    for _ in range(2):
        with pytest.raises(RuntimeError, match="exit code 17"):
            list(loader)


def test_a_batch_that_takes_too_long_is_named():
    loader = DataLoader(Broken(how="hang"), batch_size=2, num_workers=2, timeout=1.5)
    error = caught(loader, TimeoutError)
    assert "DataLoader worker 1 (pid" in str(error)
    assert "batch 3, sample indices [6, 7]" in str(error)
    assert "1.5 s" in str(error)


class Sampling:
    """A batch sampler that fails after two batches."""

    def __iter__(self):
        yield [0]
        yield [1]
        raise ValueError("no more numbers")


def test_an_error_of_the_sampler_comes_after_the_batches_before_it():
    batches = iter(DataLoader(Numbers(), batch_sampler=Sampling(), num_workers=2))
    assert [next(batches)[1].tolist() for _ in range(2)] == [[0], [1]]
    with pytest.raises(ValueError, match="no more numbers"):
        next(batches)


def test_what_cannot_be_pickled_is_named():
    data = Numbers()
    data.steps = {"last": [1, lambda x: x]}
    with pytest.raises(TypeError, match=r"dataset\.steps\['last'\]\[1\] \(function\).*top level"):
        iter(DataLoader(data, num_workers=1))
    with pytest.raises(TypeError, match=r"collate_fn \(function\) cannot be pickled"):
        iter(DataLoader(Numbers(), num_workers=1, collate_fn=lambda x: x))
