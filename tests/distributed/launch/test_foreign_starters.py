"""The same program started by mpiexec: the losses of spawn, and failures that reach all."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import minipaddle as paddle
from tests.distributed.launch.programs import environ, program
from tests.distributed.launch.test_launch import losses

MPIEXEC = shutil.which(
    "mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
)
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="needs mpiexec: pip install mpich")


def mpiexec(folder, count, name):
    process = subprocess.Popen(
        [MPIEXEC, "-n", str(count), sys.executable, name],
        cwd=folder,
        env=environ(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"),
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
def test_linear_net_has_the_losses_of_spawn(tmp_path, count):
    name = program(
        tmp_path,
        """
        import json, pathlib
        import minipaddle as paddle
        from tests.distributed.launch.test_launch import losses
        found = losses()
        pathlib.Path(f"losses-{paddle.distributed.get_rank()}").write_text(json.dumps(found))
        """,
    )
    _, errors, status = mpiexec(tmp_path, count, name)
    assert (status, errors) == (0, "")
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
