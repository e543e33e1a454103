"""Two processes train on a plug-in kind of device, and get the bits that two CPU processes get."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).with_name("xpu_training.py")


def run(target, *args, **options):
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FLAGS_", "PADDLE_")) and "VISIBLE" not in name
    }
    if "xpus" in options:
        environ["MINIPADDLE_PLUGINS"] = "tests.device.fake_xpu"
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(PROGRAM), json.dumps([target, args, options])],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(("optimizer", "nrings"), [("Adam", 1), ("SGD", 3)])
def test_two_processes_train_as_on_the_cpu(optimizer, nrings):
    on_xpu = run("train", optimizer, nrings, nprocs=2, xpus="4,5")
    on_cpu = run("train", optimizer, nrings, nprocs=2, backend="gloo")
    assert [one["places"] for one in on_xpu] == [["xpu:4"], ["xpu:5"]]
    assert all(one["kinds"] == ["XpuArray"] for one in on_xpu)
    assert all(one["places"] == ["cpu"] for one in on_cpu)
    assert len({one["sha"] for one in on_xpu + on_cpu}) == 1
    assert [one["losses"] for one in on_xpu] == [one["losses"] for one in on_cpu]
    first, last = (np.mean([one["losses"][i] for one in on_xpu]) for i in (0, -1))
    assert np.isfinite(last) and last < first


@pytest.mark.slow
def test_collectives_on_arrays_that_only_the_device_can_read():
    told = run("collectives", nprocs=2, xpus="2,3")
    for rank, one in enumerate(told):
        assert one["unwrapped"] == one["no_sync"] == [3.0]  # nobody divides the loss
        assert one["all_reduce"] == [1.0, 3.0, 5.0]
        assert one["broadcast"] == [1.0, 2.0, 3.0]
        assert one["all_gather"] == [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]
        assert one["places"] == [f"xpu:{2 + rank}"]
