"""The calls of the benchmark `large`: both packages do the same work."""

import importlib
import importlib.util
import sys

import numpy as np
import pytest

import minipaddle
from benchmarks.workloads import large


@pytest.fixture(scope="module")
def workloads():
    """minipaddle's; their module takes Paddle's name, here only while it is loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "paddle", minipaddle)
        return importlib.import_module("benchmarks.workloads.minipaddle_")


def test_all_that_minipaddle_has_can_be_timed(workloads):
    names = dict(workloads.large_names())
    assert list(names) == list(large.CASES)
    have = [name for name, lacks in names.items() if not lacks]
    assert len(have) > 50
    for name in have:
        assert workloads.large_op(name, 8, "forward")(1) > 0
        assert workloads.large_op(name, 8, "both")(1) > 0


def test_what_is_missing_is_told(workloads, monkeypatch):
    missing = large.Case("x", lambda F, x: F.nn.functional.no_such_op(x))
    monkeypatch.setitem(large.CASES, "no_such_op", missing)
    assert "no_such_op" in dict(workloads.large_names())["no_such_op"]


@pytest.mark.parametrize("kind", large.OPERANDS)
def test_operands(kind):
    array = large.OPERANDS[kind](300)
    assert array.shape in ((300, 300), (300,))
    assert array.dtype.name in ("float32", "bool", "int64")
    np.testing.assert_array_equal(array, large.OPERANDS[kind](300))


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not here")
def test_both_packages_compute_the_same(workloads):
    torch = importlib.import_module("torch")
    theirs = importlib.import_module("benchmarks.workloads.torch_")
    for name, lacks in workloads.large_names():
        arrays, case = large.arrays(name, 8), large.CASES[name]
        right = (case.torch or case.paddle)(torch, *[torch.from_numpy(a) for a in arrays])
        assert theirs.large_op(name, 8, "both")(1) > 0
        if not lacks:
            found = case.paddle(minipaddle, *[minipaddle.to_tensor(a) for a in arrays])
            np.testing.assert_allclose(found.numpy(), right.numpy(), 1e-4, 1e-5, err_msg=name)
