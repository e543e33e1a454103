"""``python -m benchmarks my_ops.yaml``: what is timed, and one short run."""

import importlib.util

import numpy as np
import pytest

from benchmarks import outside, runner
from minipaddle.ops.op import OPS
from tests.testing.outside import write

pytestmark = pytest.mark.usefixtures("ops_as_before")
TABLE = (
    "TORCH =",
    "from minipaddle.testing import Sample, values\n"
    'ROWS = Sample("rows", (values((4, 8)),))\n'
    'BENCHMARK = {"squared_relu": lambda: [ROWS, singles()[0]]}\n'
    "TORCH = {} and",
)


def test_the_cases_of_an_ops_file(tmp_path):
    path = write(tmp_path)
    config = outside.config(path)
    assert config["title"] == "ops of my_ops.yaml"
    forward, backward = config["cases"]
    assert forward["name"] == "squared_relu [1048576], forward"
    assert backward["name"] == "squared_relu [1048576], forward and backward"
    assert list(forward["contenders"]) == ["minipaddle", "torch"]
    ([x], attributes) = outside.operands(path, "squared_relu", 0)
    assert (x.shape, x.dtype, attributes) == ((outside.ELEMENTS,), np.float32, {})


def test_samples_of_its_own_and_no_function_of_torch(tmp_path):
    path = write(tmp_path, samples=TABLE)
    cases = outside.config(path)["cases"]
    assert [case["name"] for case in cases][::2] == [
        "squared_relu rows, forward",
        "squared_relu matrix, forward",
    ]
    assert all(list(case["contenders"]) == ["minipaddle"] for case in cases)
    ([x], _) = outside.operands(path, "squared_relu", 1)
    assert x.shape == (2, 3)


def test_an_op_that_wants_an_attribute_wants_an_entry(tmp_path):
    path = write(
        tmp_path,
        yaml=("(Tensor x)", "(Tensor x, int times)"),
        code=("(F, x):", "(F, x, times):"),
    )
    with pytest.raises(SystemExit, match="'squared_relu' needs an entry in BENCHMARK"):
        outside.config(path)
    assert "squared_relu" in OPS


def test_converted_takes_lists_and_tells_the_floats():
    x, index = np.ones(2, np.float32), np.arange(2)
    made, floats = outside.converted([[x, x], index, 2.5, None], lambda array: [array])
    assert made == [[[x], [x]], [index], 2.5, None]
    assert len(floats) == 2 and all(one[0] is x for one in floats)


def test_a_short_run(tmp_path, capsys):
    report = runner.run(str(write(tmp_path)), [], quick=True)
    assert report["rows"] == []  # without PyTorch there is nothing to compare with
    out = capsys.readouterr().out
    assert "== ops of my_ops.yaml" in out
    assert (
        "squared_relu [1048576], forward and backward  (threads 1, processes 1)\n  minipaddle"
        in out
    )


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not here")
def test_the_function_of_torch(tmp_path):
    workloads = importlib.import_module("benchmarks.workloads.torch_")
    run = workloads.outside_op(str(write(tmp_path)), "squared_relu", 0, "forward and backward")
    assert run(1) > 0.0


def test_the_path_of_an_ops_file_is_told_from_a_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="no ops file"):
        runner.read_config(str(tmp_path / "other.yaml"))
    with pytest.raises(SystemExit, match="no benchmark 'other'"):
        runner.read_config("other")
