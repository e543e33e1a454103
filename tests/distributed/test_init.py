"""init_parallel_env: alone, before it is called, with a wrong environment, with a missing rank."""

import time
import warnings

import pytest

import minipaddle as paddle
from minipaddle.device import flags

dist, nn = paddle.distributed, paddle.nn


@pytest.fixture(autouse=True)
def no_group():
    dist.destroy_process_group()
    yield
    dist.destroy_process_group()


@pytest.fixture
def rank_0_of_2(monkeypatch):
    """An environment as of a job whose other process never comes."""
    for name, value in {
        "PADDLE_TRAINER_ID": "0",
        "PADDLE_TRAINERS_NUM": "2",
        "PADDLE_CURRENT_ENDPOINT": "127.0.0.1:1",
        "PADDLE_TRAINER_ENDPOINTS": "127.0.0.1:1,127.0.0.1:2",
        "PADDLE_DISTRI_BACKEND": "gloo",
        "MINIPADDLE_JOB_TOKEN": f"test_init-{time.monotonic_ns()}",
        "PADDLE_PG_TIMEOUT": "300",
    }.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_alone_it_warns_and_does_nothing():
    for _ in range(2):
        with pytest.warns(UserWarning, match="alone"):
            assert dist.init_parallel_env() is None
    assert not dist.is_initialized()
    dist.barrier()
    with pytest.warns(UserWarning, match="alone"):
        assert dist.init_parallel_env() is None


BEFORE_INIT = {
    "barrier": lambda: dist.barrier(),
    "all_reduce": lambda: dist.all_reduce(paddle.ones([1])),
    "new_group": lambda: dist.new_group([0]),
    "get_group": lambda: dist.get_group(),
    "DataParallel": lambda: paddle.DataParallel(nn.Linear(1, 1)),
}


@pytest.mark.parametrize("name", BEFORE_INIT)
def test_in_a_job_it_must_be_called_first(name, rank_0_of_2):
    with pytest.raises(RuntimeError, match=r"process 0 of 2.*init_parallel_env"):
        BEFORE_INIT[name]()
    assert not dist.is_initialized()
    assert (dist.get_rank(), dist.get_world_size()) == (0, 2)


def test_a_rank_that_never_comes_is_a_timeout_that_names_it(rank_0_of_2):
    for _ in range(2):  # a second attempt is as good as the first
        begin = time.monotonic()
        with pytest.raises(TimeoutError, match="rank 1"):
            dist.init_parallel_env()
        assert time.monotonic() - begin < 10
        assert not dist.is_initialized()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PADDLE_TRAINER_ID", "two"),
        ("PADDLE_TRAINER_ID", "2"),
        ("PADDLE_TRAINER_ID", "-1"),
        ("PADDLE_TRAINERS_NUM", "0"),
        ("PADDLE_TRAINERS_NUM", "many"),
        ("PADDLE_PG_TIMEOUT", "soon"),
        ("PADDLE_PG_TIMEOUT", "0"),
        ("PADDLE_PG_TIMEOUT", "-5"),
        ("PADDLE_PG_TIMEOUT", "inf"),
        ("PADDLE_PG_TIMEOUT", "nan"),
    ],
)
def test_a_wrong_variable_is_named(name, value, rank_0_of_2):
    rank_0_of_2.setenv(name, value)
    with pytest.raises(ValueError, match=name):
        dist.init_parallel_env()
    assert not dist.is_initialized()


@pytest.mark.parametrize("nrings", ["0", "9", "-1", "x"])
def test_the_number_of_rings_is_from_1_to_8(nrings, rank_0_of_2):
    rank_0_of_2.setattr(flags, "_set_values", {})
    rank_0_of_2.setenv("FLAGS_nccl_nrings", nrings)
    with pytest.raises(ValueError, match=r"FLAGS_nccl_nrings"):
        dist.init_parallel_env()


def test_an_unknown_backend_is_named(rank_0_of_2):
    rank_0_of_2.setenv("PADDLE_DISTRI_BACKEND", "pigeon")
    with pytest.raises(ValueError, match="pigeon"):
        dist.init_parallel_env()
    assert not dist.is_initialized()


def test_nothing_warns_in_a_lone_process_that_does_not_ask():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dist.get_group().nranks == 1
        dist.all_reduce(paddle.ones([1]))
