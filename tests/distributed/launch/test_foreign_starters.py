"""The same program started by mpiexec: the losses of spawn, and failures that reach all."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import minipaddle as paddle
from tests.distributed.launch.programs import environ, program
from tests.distributed.launch.test_launch import losses
from tests.distributed.process_group.harness import needs_mpi

MPIEXEC = shutil.which(
    "mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
)
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="needs mpiexec: pip install mpich")


def mpiexec(folder, count, name, **changes):
    process = subprocess.Popen(
        [MPIEXEC, "-n", str(count), sys.executable, name],
        cwd=folder,
        env=environ(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", **changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        return *process.communicate(timeout=60), process.returncode
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=60)


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize(
    ("backend", "group"),
    [pytest.param("auto", "MpiGroup", marks=needs_mpi), ("gloo", "SharedMemoryGroup")],
)
def test_linear_net_has_the_losses_of_spawn(tmp_path, count, backend, group):
    name = program(
        tmp_path,
        """
        import json, pathlib
        import minipaddle as paddle
        from tests.distributed.launch.test_launch import losses
        found = losses()
        print(type(paddle.distributed.get_group().process_group).__name__)
        pathlib.Path(f"losses-{paddle.distributed.get_rank()}").write_text(json.dumps(found))
        """,
    )
    printed, errors, status = mpiexec(tmp_path, count, name, PADDLE_DISTRI_BACKEND=backend)
    assert (status, errors, printed.count(group)) == (0, "", count)
    expected = [box.get() for box in paddle.distributed.spawn(losses, nprocs=count).return_queues]
    found = [json.loads((tmp_path / f"losses-{rank}").read_text()) for rank in range(count)]
    assert found == expected


def test_a_failure_of_one_rank_reaches_the_other(tmp_path):
    name = program(
        tmp_path,
        """
        import minipaddle as paddle
        paddle.distributed.init_parallel_env()
        model = paddle.DataParallel(paddle.nn.Linear(2, 1))
        loss = model(paddle.ones([1, 2])).sum()
        if paddle.distributed.get_rank() == 1:
            loss.register_hook(lambda grad: 1 / 0)
        try:
            loss.backward()
        except Exception as error:
            text = f"rank {paddle.distributed.get_rank()}: {error}"
            open(f"error-{paddle.distributed.get_rank()}", "w").write(text)
        """,
    )
    assert mpiexec(tmp_path, 2, name)[2] == 0
    assert "ZeroDivisionError" in (tmp_path / "error-0").read_text()
    assert "division by zero" in (tmp_path / "error-1").read_text()


@needs_mpi
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("where", ["forward", "backward"])
def test_a_crash_reaches_the_others_with_its_traceback(tmp_path, count, where):
    name = program(
        tmp_path,
        f"""
        import minipaddle as paddle
        paddle.distributed.init_parallel_env()

        class Layer(paddle.nn.Linear):
            def forward(self, x):
                y = super().forward(x)
                if paddle.distributed.get_rank() == 1 and step == 2:
                    if "{where}" == "forward":
                        break_down()
                    y.register_hook(lambda grad: break_down())
                return y

        def break_down():
            raise ValueError("no such thing")

        model = paddle.DataParallel(Layer(2, 1))
        for step in range(5):
            model(paddle.ones([1, 2])).sum().backward()
        """,
    )
    begin = time.monotonic()
    _, errors, status = mpiexec(tmp_path, count, name)
    assert status == 1
    assert time.monotonic() - begin < 20
    for rank in set(range(count)) - {1}:
        assert f"RuntimeError: rank {rank}: " in errors, errors
    # The own traceback, and what each of the others was told.
    assert errors.count("in break_down") >= count


@needs_mpi
def test_a_rank_that_leaves_early_is_an_error_of_the_others(tmp_path):
    name = program(
        tmp_path,
        """
        import minipaddle as paddle
        paddle.distributed.init_parallel_env()
        if paddle.distributed.get_rank() == 0:
            paddle.distributed.barrier()
        """,
    )
    _, errors, status = mpiexec(tmp_path, 2, name)
    assert status == 1
    assert "PeerError: rank 1 is gone" in errors


@needs_mpi
def test_mpi_without_a_starter_says_what_to_use():
    told = {"PADDLE_TRAINER_ID": "0", "PADDLE_TRAINERS_NUM": "2", "PADDLE_DISTRI_BACKEND": "mpi"}
    process = subprocess.run(
        [sys.executable, "-c", "import minipaddle; minipaddle.distributed.init_parallel_env()"],
        env=environ(**told),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert process.returncode == 1
    assert "MPI sees rank 0 of 1; start the processes with the mpiexec" in process.stderr


def test_spawn_says_what_mpi_needs():
    with pytest.raises(ValueError, match=r"mpiexec or python -m minipaddle\.distributed\.launch"):
        paddle.distributed.spawn(losses, nprocs=2, backend="mpi")
