"""find_start: what mpiexec, srun and torchrun tell the processes that they start."""

import os

import pytest

from minipaddle.device import parallel_env, starters
from minipaddle.device.starters import find_start

TORCHRUN = {
    "RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4",
    "MASTER_ADDR": "localhost", "MASTER_PORT": "4711", "TORCHELASTIC_RUN_ID": "abc",
}  # fmt: skip
MPICH = {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "1", "PMIX_NAMESPACE": "prterun-1@1",
}  # fmt: skip
SRUN = {
    "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": "1", "SLURM_LOCALID": "1",
    "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NUM_NODES": "1",
}  # fmt: skip


@pytest.mark.parametrize(
    ("environ", "starter", "numbers"),
    [
        (TORCHRUN, "torchrun", (3, 4, 1, 4)),
        (MPICH, "mpiexec", (1, 2, 1, 2)),
        (OPEN_MPI, "mpiexec", (1, 2, 0, 1)),
        (SRUN, "srun", (1, 2, 1, 2)),
        ({**SRUN, "SLURM_STEP_NUM_NODES": "2"}, "srun", (1, 2, 1, 0)),
        ({**SRUN, **MPICH, "SLURM_PROCID": "0"}, "mpiexec", (1, 2, 1, 2)),
    ],
)
def test_each_starter_is_known_by_its_variables(environ, starter, numbers):
    start = find_start(environ)
    assert start.starter == starter
    assert (start.rank, start.world_size, start.local_rank, start.local_size) == numbers
    assert find_start(dict(environ)).token == start.token


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"RANK": "0", "WORLD_SIZE": "2"},
        {"PMI_RANK": "0", "PMI_SIZE": "1"},
        {"SLURM_PROCID": "0", "SLURM_JOB_ID": "7"},
        {**SRUN, "SLURM_STEP_ID": "batch"},
    ],
)
def test_what_others_set_is_no_start(environ):
    assert find_start(environ) is None


@pytest.mark.parametrize(
    ("environ", "change"),
    [
        (TORCHRUN, {"MASTER_PORT": "4712"}),
        (TORCHRUN, {"TORCHELASTIC_RUN_ID": "abd"}),
        (TORCHRUN, {"TORCHELASTIC_RESTART_COUNT": "1"}),
        (OPEN_MPI, {"PMIX_NAMESPACE": "prterun-1@2"}),
        (SRUN, {"SLURM_JOB_ID": "8"}),
        (SRUN, {"SLURM_STEP_ID": "1"}),
    ],
)
def test_another_job_has_another_token(environ, change):
    assert find_start(environ).token != find_start({**environ, **change}).token


def test_a_wrong_number_names_its_variable():
    with pytest.raises(ValueError, match=r"PMI_SIZE must be an int >= 0; got 'two'"):
        find_start({**MPICH, "PMI_SIZE": "two"})


@pytest.mark.parametrize("environ", [OPEN_MPI, {**SRUN, "SLURM_STEP_NUM_NODES": "2"}])
def test_several_hosts_are_refused(environ):
    with pytest.raises(RuntimeError, match=r"has started 2 processes, .* srun --mpi=pmi2"):
        find_start(environ).check_one_host()
    find_start(SRUN).check_one_host()


def test_what_paddle_variables_say_comes_first(monkeypatch):
    for name in [name for name in os.environ if name.startswith("PADDLE_")]:
        monkeypatch.delenv(name)
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    env = parallel_env.ParallelEnv()
    assert (env.rank, env.world_size) == (3, 4)
    assert env.job_token == find_start(TORCHRUN).token
    monkeypatch.setenv("PADDLE_TRAINER_ID", "0")
    env = parallel_env.ParallelEnv()
    assert (env.rank, env.world_size) == (0, 1)


def test_the_local_rank_picks_the_device(monkeypatch):
    for name, value in {**TORCHRUN, "PADDLE_DISTRI_BACKEND": "bkcl"}.items():
        monkeypatch.setenv(name, value)
    assert parallel_env.ParallelEnv().device_id == 1
    monkeypatch.setenv("FLAGS_selected_xpus", "6,4")
    assert parallel_env.ParallelEnv().device_id == 4


@pytest.mark.parametrize(
    ("environ", "over_mpi"),
    [
        (MPICH, True),
        (OPEN_MPI, True),
        (SRUN, False),
        ({**SRUN, "SLURM_STEP_NUM_NODES": "2"}, False),
        ({**SRUN, "SLURM_STEP_NUM_NODES": "2", "PMI_RANK": "1"}, True),
        ({**SRUN, "SLURM_STEP_NUM_NODES": "2", "PMIX_RANK": "1"}, True),
        (TORCHRUN, False),
        ({**TORCHRUN, "LOCAL_WORLD_SIZE": "2", "PMIX_RANK": "0"}, False),
        ({**MPICH, "PADDLE_DISTRI_BACKEND": "gloo"}, False),
        ({**MPICH, "PADDLE_DISTRI_BACKEND": "auto"}, True),
        ({**MPICH, "PADDLE_DISTRI_BACKEND": "bkcl"}, False),
        ({**SRUN, "PADDLE_DISTRI_BACKEND": "mpi"}, True),
        ({"PADDLE_TRAINER_ID": "0", "PADDLE_TRAINERS_NUM": "2"}, False),
    ],
)
def test_where_data_travels_over_mpi(monkeypatch, environ, over_mpi):
    monkeypatch.setattr(starters, "find_spec", lambda name: name)  # mpi4py is installed
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert parallel_env.ParallelEnv().over_mpi == over_mpi


def test_without_mpi4py_mpiexec_on_one_host_is_no_matter_for_mpi(monkeypatch):
    monkeypatch.setattr(starters, "find_spec", lambda name: None)
    assert not find_start(MPICH).over_mpi
    assert find_start(OPEN_MPI).over_mpi  # several hosts: nothing else will do
