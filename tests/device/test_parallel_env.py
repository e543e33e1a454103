"""ParallelEnv: what a process learns of its job from the environment."""

import os
import threading

import pytest

from minipaddle.device import flags
from minipaddle.device.parallel_env import (
    ParallelEnv,
    cpu_threads,
    remove_proxies,
    trainer_environ,
)

ENDPOINTS = ["127.0.0.1:6071", "127.0.0.1:6072", "127.0.0.1:6073"]


@pytest.fixture(autouse=True)
def lone_process(monkeypatch):
    monkeypatch.setattr(flags, "_set_values", {})
    for name in list(os.environ):
        if name.startswith(("PADDLE_", "FLAGS_", "MINIPADDLE_JOB")) or "_VISIBLE_" in name:
            monkeypatch.delenv(name)


def join_job(monkeypatch, rank, comm="gloo", **more):
    for name, value in {**trainer_environ(rank, ENDPOINTS, comm, "secret"), **more}.items():
        monkeypatch.setenv(name, value)


def test_a_process_that_nobody_started():
    env = ParallelEnv()
    assert (env.rank, env.world_size, env.device_id, env.device_type) == (0, 1, 0, "cpu")
    assert (env.current_endpoint, env.trainer_endpoints, env.nrings) == ("", [], 1)


def test_all_properties_and_their_aliases(monkeypatch):
    join_job(monkeypatch, 2, FLAGS_nccl_nrings="3")
    env = ParallelEnv()
    assert env.rank == env.local_rank == 2
    assert env.world_size == env.nranks == 3
    assert env.device_id == env.dev_id == 0
    assert env.current_endpoint == ENDPOINTS[2]
    assert env.trainer_endpoints == ENDPOINTS
    assert env.nrings == 3
    assert env.job_token == "secret"


def test_each_construction_reads_anew(monkeypatch):
    join_job(monkeypatch, 0)
    first = ParallelEnv()
    join_job(monkeypatch, 1)
    assert (first.rank, ParallelEnv().rank) == (0, 1)


@pytest.mark.parametrize(
    ("comm", "flag", "visible", "kind", "index"),
    [
        ("nccl", ("FLAGS_selected_gpus", "4"), None, "gpu", 4),
        ("nccl", ("FLAGS_selected_gpus", "10"), ("CUDA_VISIBLE_DEVICES", "8,10"), "gpu", 1),
        ("bkcl", ("FLAGS_selected_xpus", "11"), ("XPU_VISIBLE_DEVICES", "10,11"), "xpu", 1),
        ("bkcl", ("FLAGS_selected_xpus", "5,6"), None, "xpu", 5),
        ("npu", ("FLAGS_selected_npus", "3"), ("NPU_VISIBLE_DEVICES", "2,3"), "npu", 1),
        ("nccl", ("FLAGS_selected_xpus", "7"), None, "gpu", 0),
        ("gloo", ("FLAGS_selected_gpus", "4"), None, "cpu", 0),
    ],
)
def test_the_device_is_the_position_of_its_id(monkeypatch, comm, flag, visible, kind, index):
    join_job(monkeypatch, 0, comm, **dict([flag] + ([visible] if visible else [])))
    env = ParallelEnv()
    assert (env.device_type, env.device_id) == (kind, index)


@pytest.mark.parametrize("flag", ["gpus", "xpus"])
def test_a_selecting_flag_tells_the_kind_when_nothing_else_does(monkeypatch, flag):
    monkeypatch.setenv(f"FLAGS_selected_{flag}", "2")
    env = ParallelEnv()
    assert (env.device_type, env.device_id) == (flag[:-1], 2)


def test_an_id_that_is_not_visible(monkeypatch):
    join_job(monkeypatch, 0, "bkcl", FLAGS_selected_xpus="1", XPU_VISIBLE_DEVICES="10,11")
    with pytest.raises(ValueError, match="XPU_VISIBLE_DEVICES"):
        ParallelEnv()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PADDLE_TRAINER_ID", "one"),
        ("PADDLE_TRAINER_ID", "-1"),
        ("PADDLE_TRAINERS_NUM", "0"),
        ("PADDLE_TRAINERS_NUM", "2.0"),
        ("FLAGS_nccl_nrings", "9"),
    ],
)
def test_a_bad_variable_is_named(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=name):
        ParallelEnv()


def test_a_rank_outside_the_world(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    with pytest.raises(ValueError, match="PADDLE_TRAINER_ID=2 does not fit PADDLE_TRAINERS_NUM=2"):
        ParallelEnv()


def test_without_a_token_the_endpoints_tell_jobs_apart(monkeypatch):
    join_job(monkeypatch, 0)
    monkeypatch.delenv("MINIPADDLE_JOB_TOKEN")
    mine = ParallelEnv().job_token
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    assert ParallelEnv().job_token == mine
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", ",".join(ENDPOINTS[::-1]))
    assert ParallelEnv().job_token != mine
    monkeypatch.delenv("PADDLE_TRAINER_ENDPOINTS")
    assert str(os.getpid()) in ParallelEnv().job_token


def test_the_thread_limit_stands_only_as_long_as_the_start(monkeypatch):
    monkeypatch.setenv("MKL_NUM_THREADS", "5")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(KeyError), cpu_threads(2):
        assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "2"
        assert os.environ["MKL_NUM_THREADS"] == "5"
        raise KeyError
    assert "OMP_NUM_THREADS" not in os.environ and os.environ["MKL_NUM_THREADS"] == "5"


def test_threads_that_start_jobs_at_once_restore_the_environment(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    together = threading.Barrier(4)
    seen = []

    def start(share):
        together.wait(10)
        for _ in range(200):
            with cpu_threads(share):
                seen.append(os.environ["OMP_NUM_THREADS"] == str(share))

    threads = [threading.Thread(target=start, args=(share,)) for share in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(seen) == 800 and all(seen)
    assert "OMP_NUM_THREADS" not in os.environ


def test_proxies_are_removed(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy:1")
    monkeypatch.setenv("https_proxy", "http://proxy:1")
    remove_proxies()
    assert "http_proxy" not in os.environ and "https_proxy" not in os.environ
