"""``python -m minipaddle.testing my_ops.yaml`` on examples/own_op, right and wrong."""

import os
import re
import subprocess
import sys

import pytest

from tests.testing.outside import EXAMPLE, write

ROOT = EXAMPLE.parents[1]


def run(folder, *command, **environ):
    """Exit status, output and errors of a Python command in ``folder``."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **environ},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def suite(folder, *options, **environ):
    return run(folder, "-m", "minipaddle.testing", "my_ops.yaml", *options, **environ)


def test_the_example_program_runs():
    assert run(EXAMPLE, "my_program.py") == (0, "", "")


def test_the_suite_passes_the_example(tmp_path):
    write(tmp_path)
    status, out, errors = suite(tmp_path)
    assert (status, errors) == (0, "")
    assert re.search(r"^1 op on cpu: 2\d checks, 0 failed$", out, re.MULTILINE)
    for name in (
        "values, float16, cpu",
        "first-order gradient, cpu",
        "second-order gradient, cpu",
        "gradient of the form in place, cpu",
        "refuses number, cpu",
        "samples notice a wrong gradient, cpu",
    ):
        assert f"  ok      {name}\n" in out


def test_the_suite_runs_on_a_plug_in_device(tmp_path):
    write(tmp_path)
    plugin = {"MINIPADDLE_PLUGINS": "tests.device.fake_xpu"}
    status, out, _ = suite(tmp_path, **plugin)
    assert status == 0 and "1 op on cpu, xpu:0:" in out
    assert "ok      second-order gradient, xpu:0\n" in out
    status, out, _ = suite(tmp_path, "--device", "xpu:2", **plugin)
    assert status == 0 and "1 op on xpu:2:" in out and "cpu" not in out
    status, out, errors = suite(tmp_path, "--device", "xpu:2")
    assert status == 1 and errors.startswith("ValueError: there is no device of kind 'xpu'")


# What is changed, the checks that must fail, and what they say.
WRONG = {
    "gradient": ({"code": ("2.0", "2.002")}, ["first-order gradient"], "squared_relu, sample"),
    "graph": (
        {"code": ("F.relu(x)))", 'F.relu(getattr(x, "detach", lambda: x)())))')},
        ["second-order gradient"],
        "second order",
    ),
    "value": ({"code": ("F.square(F.relu(x))", "F.square(x)")}, ["values, float64"], "Mismatched"),
    "samples": (
        {"samples": ("singles(away=0.125)", "singles(away=0.125)[-1:]")},
        ["samples notice a wrong gradient"],
        "with x_grad off by one, no sample's gradient is wrong",
    ),
    "error": ({"samples": ('"float")', '"complex")')}, ["refuses number"], "lacks ['complex']"),
    "crash": ({"code": ("F.square(", "F.squared(")}, ["values, float32"], "'squared'"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_reported(what, tmp_path):
    changes, failed, words = WRONG[what]
    write(tmp_path, **changes)
    status, out, errors = suite(tmp_path)
    assert (status, errors) == (1, "")
    for name in failed:
        assert f"  FAILED  {name}, cpu\n" in out
    assert words in out
    assert not re.search(r" 0 failed$", out)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"samples": ("SAMPLES", "NONE")}, "my_ops_samples.py: SAMPLES has no sample of op 'squar"),
        ({"samples": ('"squared_relu",\n', '"cube",\n')}, "has no sample of op 'squared_relu'"),
        ({"yaml": ("inplace", "in_place")}, "my_ops.yaml: op 'squared_relu', key 'in_place'"),
    ],
)
def test_files_that_do_not_fit(changes, words, tmp_path):
    write(tmp_path, **changes)
    status, out, errors = suite(tmp_path)
    assert (status, out) == (1, "") and words in errors


def test_samples_of_an_op_that_is_not_declared_and_samples_that_are_not_there(tmp_path):
    more = "SAMPLES = (\n    OpSample('cube', lambda x: x, singles()),\n"
    write(tmp_path, samples=("SAMPLES = (\n", more))
    assert "my_ops.yaml declares no op 'cube'" in suite(tmp_path)[2]
    (tmp_path / "my_ops_samples.py").unlink()
    assert "its samples belong beside it" in suite(tmp_path)[2]
