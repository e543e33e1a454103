"""Each rule of tests/test_architecture.py refuses what is wrong and accepts what is right."""

from collections.abc import Callable, Iterator

import pytest

from tests.test_architecture import (
    MAX_FILE_LINES,
    MAX_FUNCTION_LINES,
    RULES,
    Module,
    rule_absolute_imports,
    rule_environment_is_read_in_device,
    rule_file_size,
    rule_function_size,
    rule_imports_at_the_top,
    rule_imports_point_down,
    rule_no_device_ladders,
    rule_no_type_checking,
    rule_no_vague_files,
    rule_parameters,
    rule_restricted_libraries,
    rule_trailing_underscores,
)

KNOWN = frozenset({"", "device", "device.flags", "device.cpu", "ops", "ops.op", "ops.schema", "nn",
                   "nn.layer", "optimizer", "optimizer.sgd", "imperative", "imperative.tensor",
                   "distributed", "ops.kernels", "ops.kernels.cpu"})  # fmt: skip

WRONG = [
    (rule_imports_point_down, "device/cpu.py", "from minipaddle.ops import op"),
    (rule_imports_point_down, "ops/op.py", "import minipaddle.imperative.tensor"),
    (rule_imports_point_down, "ops/op.py", "from minipaddle.ops.schema import load"),
    (rule_imports_point_down, "ops/op.py", "from minipaddle.ops import load"),
    (rule_imports_point_down, "optimizer/sgd.py", "from minipaddle.nn.layer import Layer"),
    (rule_imports_point_down, "imperative/reducer.py", "from minipaddle import distributed"),
    (rule_imports_point_down, "testing/check.py", "import minipaddle"),
    (rule_imports_point_down, "newcomer/a.py", "from minipaddle.device import flags"),
    (rule_imports_point_down, "nn/a.py", "def f():\n    from minipaddle.distributed import x"),
    (rule_absolute_imports, "ops/op.py", "from . import schema"),
    (rule_restricted_libraries, "nn/layer.py", "import cupy"),
    (rule_restricted_libraries, "device/cpu.py", "from cupy.cuda import nccl"),
    (rule_restricted_libraries, "ops/op.py", "import yaml"),
    (rule_environment_is_read_in_device, "nn/layer.py", "import os\nos.environ['FLAGS_x']"),
    (rule_environment_is_read_in_device, "nn/layer.py", "import os\nos.getenv('FLAGS_x')"),
    (rule_environment_is_read_in_device, "nn/layer.py", "from os import environ"),
    (rule_imports_at_the_top, "nn/layer.py", "def f():\n    import json"),
    (rule_imports_at_the_top, "nn/layer.py", "class A:\n  def f(self):\n    from a import b"),
    (rule_no_type_checking, "nn/layer.py", "from typing import TYPE_CHECKING"),
    (rule_no_type_checking, "nn/layer.py", "import typing\nif typing.TYPE_CHECKING: pass"),
    (rule_file_size, "nn/layer.py", "x = 1\n" * (MAX_FILE_LINES + 1)),
    (rule_function_size, "nn/layer.py", "def f():\n" + "    x = 1\n" * MAX_FUNCTION_LINES),
    (rule_parameters, "nn/layer.py", "def f(self, a, b, c, d, /, e, *, g, h): pass"),
    (rule_no_vague_files, "nn/helpers.py", ""),
    (rule_no_vague_files, "nn/helpers/layer.py", ""),
    (rule_no_device_ladders, "nn/layer.py", "if place.kind == 'gpu': pass"),
    (rule_no_device_ladders, "nn/layer.py", "if 'gpu' in name: pass"),
    (rule_no_device_ladders, "nn/layer.py", "if kind in ('cuda', 'rocm'): pass"),
    (rule_no_device_ladders, "nn/layer.py", "name.startswith('gpu')"),
    (rule_no_device_ladders, "nn/layer.py", "match kind:\n    case 'xpu': pass"),
    (rule_no_device_ladders, "nn/layer.py", "isinstance(x, (int, cupy.ndarray))"),
    (rule_trailing_underscores, "nn/layer.py", "type_ = 1"),
    (rule_trailing_underscores, "nn/layer.py", "self.count_ = 1"),
    (rule_trailing_underscores, "nn/layer.py", "def f(input_): pass"),
    (rule_trailing_underscores, "distributed/spawn.py", "def start_(): pass"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "path", "source"), WRONG)
def test_rule_refuses(rule: Callable[[Module], Iterator[str]], path: str, source: str) -> None:
    assert list(rule(Module(path, source, KNOWN)))


def test_every_rule_is_shown_to_fail() -> None:
    assert {rule for rule, _, _ in WRONG} == set(RULES)


RIGHT = """
import os
import numpy as np
from minipaddle.device import flags
from minipaddle.imperative.tensor import Tensor

class Reducer:
    def mark_var_ready(self, index: int) -> None:
        self.comm_op_count_ += 1
        self.weight.add_(1.0)
        if self.kind == "sum" and os.path.sep in __file__:
            for _ in range(2):
                self.cv_.notify_all()
"""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_accepts_ordinary_code(rule: Callable[[Module], Iterator[str]]) -> None:
    assert not list(rule(Module("nn/layer.py", RIGHT, KNOWN)))
