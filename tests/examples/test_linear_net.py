"""examples/linear_net.py: the demo, the four usages, and the digest that compares replicas."""

import multiprocessing.process
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import minipaddle as paddle
from examples import linear_net
from minipaddle import distributed as dist

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "linear_net.py"


@pytest.fixture(autouse=True)
def two_cores_and_no_job(monkeypatch):
    """Usages 1 and 2 start one process a core; two are enough, and tell as much."""
    for name in list(os.environ):
        if name.startswith(("PADDLE_", "FLAGS_", "MINIPADDLE_")):
            monkeypatch.delenv(name)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:2])
    yield
    os.sched_setaffinity(0, cores)


def run(folder, *arguments, **variables):
    """The program as a user starts it: not installed, and from some other folder."""
    return subprocess.run(
        [sys.executable, "-W", "error", PROGRAM, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def losses(text):
    """How many losses were printed; lines of processes that print at once may mix."""
    assert text.count("loss:") == len(re.findall(r"\d\.\d", text))
    return text.count("loss:")


@pytest.mark.parametrize("arguments", [(), ("--demo",)], ids=["default", "demo"])
def test_the_demo_trains_and_shows_equal_digests(arguments, tmp_path):
    done = run(tmp_path, *arguments, "--samples", "256", "--epochs", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    epochs = re.findall(r"epoch +(\d+) +loss ([\d.]+) +(\d+) us per step", done.stdout)
    assert [number for number, _, _ in epochs] == ["1", "2", "3"]
    first, *_, last = (float(loss) for _, loss, _ in epochs)
    assert last < first
    digests = re.findall(r"rank (\d) +parameters sha256 ([0-9a-f]{64})\n", done.stdout)
    assert [rank for rank, _ in digests] == ["0", "1"]
    assert digests[0][1] == digests[1][1]
    assert "parameters are equal on all ranks" in done.stdout
    assert done.stderr == ""


def test_the_demo_says_when_digests_differ(monkeypatch, capsys):
    monkeypatch.setattr(linear_net, "train_on_shard", digest_of_a_rank_that_went_astray)
    with pytest.raises(SystemExit) as leaving:
        linear_net.main(["--samples", "128", "--epochs", "1"])
    assert leaving.value.code == 1
    assert "PARAMETERS DIFFER BETWEEN RANKS" in capsys.readouterr().out


@pytest.mark.parametrize(("usage", "printed"), [(1, 0), (2, 2), (3, 2)])
def test_usages_run_on_the_cpu(usage, printed, tmp_path):
    cores = len(os.sched_getaffinity(0))
    done = run(tmp_path, "--usage", str(usage))
    assert done.returncode == 0, done.stdout + done.stderr
    assert losses(done.stdout) == (cores if usage == 2 else printed)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [("gpu", ()), ("gpu", ("--gpus", "4,5")), ("xpu", ("--xpus", "4,5"))],
    ids=["default", "gpus", "xpus"],
)
def test_usage_4_says_that_there_is_no_such_device(kind, arguments, tmp_path, monkeypatch):
    if kind == "gpu" and "gpu" in paddle.device.known_backends():
        pytest.skip("this machine has a backend for GPUs")
    done = run(tmp_path, "--usage", "4", *arguments)
    assert done.returncode == 1
    assert f"no {kind} on this machine" in done.stderr
    assert f"{kind}s=4,5" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""

    started = []
    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", started.append)
    with pytest.raises(SystemExit, match=f"no {kind} on this machine"):
        linear_net.main(["--usage", "4", *arguments])
    assert started == []


def test_usage_4_runs_on_a_device_that_is_plugged_in(tmp_path):
    variables = {"MINIPADDLE_PLUGINS": "tests.device.fake_xpu"}
    done = run(tmp_path, "--usage", "4", "--xpus", "4,5", **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert losses(done.stdout) == 2
    refused = run(tmp_path, "--usage", "4", "--xpus", "4,9", **variables)
    assert refused.returncode == 1
    assert "xpu 9" in refused.stderr and "XPU_VISIBLE_DEVICES" in refused.stderr


@pytest.mark.parametrize(
    "arguments", [("--demo", "--usage", "1"), ("--usage", "5"), ("--gpus", "0,1")]
)
def test_arguments_that_do_not_fit_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as leaving:
        linear_net.main(list(arguments))
    assert leaving.value.code == 2
    assert "usage" in capsys.readouterr().err


# ---- the digest ----


def one_step(layer):
    """A data-parallel step on data of this rank's own."""
    model = paddle.DataParallel(layer)
    adam = paddle.optimizer.Adam(learning_rate=0.01, parameters=model.parameters())
    paddle.seed(dist.get_rank())
    model(paddle.randn([4, 10])).mean().backward()
    adam.step()


def move_by_one_ulp(parameter):
    """The first element becomes the next larger number of its type; no other bit changes."""
    values = parameter.numpy()
    values.flat[0] = np.nextafter(values.flat[0], values.dtype.type(np.inf))
    parameter.set_value(values)


def digests_before_and_after(number):
    """On every rank a step; then rank 1 alone moves its parameter ``number`` by one ulp."""
    dist.init_parallel_env()
    layer = linear_net.LinearNet()
    one_step(layer)
    before = linear_net.parameter_digest(layer)
    if dist.get_rank() == 1:
        move_by_one_ulp(layer.parameters()[number])
    return before, linear_net.parameter_digest(layer)


def digest_of_a_rank_that_went_astray(samples, epochs):
    return digests_before_and_after(0)[1]


@pytest.mark.parametrize("number", [0, 3], ids=["first parameter", "last parameter"])
def test_one_ulp_on_one_rank_changes_its_digest(number):
    context = dist.spawn(digests_before_and_after, args=(number,), nprocs=2)
    rank_0, rank_1 = (results.get() for results in context.return_queues)
    assert rank_0[0] == rank_1[0], "replicas differ after a step"
    assert rank_0[1] == rank_0[0]
    assert rank_1[1] != rank_0[1]


def test_every_parameter_and_the_sign_of_zero_are_in_the_digest():
    layer = linear_net.LinearNet()
    seen = [linear_net.parameter_digest(layer)]
    assert linear_net.parameter_digest(layer) == seen[0]
    for parameter in layer.parameters():
        move_by_one_ulp(parameter)
        seen.append(linear_net.parameter_digest(layer))
    layer._linear2.bias.set_value([-0.0])  # it was 0.0 at first
    seen.append(linear_net.parameter_digest(layer))
    assert len(set(seen)) == len(seen) == 6
