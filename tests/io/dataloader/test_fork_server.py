"""Programs whose workers import their main module."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.time_limit(60)


def run_program(tmp_path, text, *, piped=False):
    program = tmp_path / "program.py"
    program.write_text(text, "utf-8")
    path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-W", "error", "-" if piped else program],
        input=text if piped else None, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
        timeout=50, capture_output=True, text=True, check=False,
    )  # fmt: skip


UNGUARDED = """
from minipaddle.io import DataLoader
print(len(list(DataLoader(range(4), num_workers=1))))
"""


def test_a_program_without_guard_is_told_so(tmp_path):
    done = run_program(tmp_path, UNGUARDED)
    assert done.returncode == 1
    assert "RuntimeError: the main module could not be imported in the worker" in done.stderr
    assert "if __name__ == '__main__':" in done.stderr


def test_a_program_from_a_pipe_loads_what_can_be_imported(tmp_path):
    done = run_program(tmp_path, UNGUARDED, piped=True)
    assert (done.stdout, done.stderr) == ("4\n", "")
    text = UNGUARDED.replace("range(4)", "A()").replace(
        "DataLoader\n", "*\nclass A(Dataset):\n    __len__ = lambda self: 4\n\n"
    )
    done = run_program(tmp_path, text, piped=True)
    assert "AttributeError" in done.stderr
    assert "not in a notebook" in done.stderr


GUARDED = """
import threading, numpy as np
from minipaddle.io import DataLoader, Dataset
threading.Thread(target=threading.Event().wait, args=(50,), daemon=True).start()
class A(Dataset):
    def __len__(self): return 4
    def __getitem__(self, idx): return np.ones(1000) * idx
if __name__ == "__main__":
    print([batch.numpy()[:, 0].tolist() for batch in DataLoader(A(), num_workers=2)])
"""


def test_classes_of_the_main_module_reach_the_workers(tmp_path):
    done = run_program(tmp_path, GUARDED)
    assert (done.stdout, done.stderr) == ("[[0.0], [1.0], [2.0], [3.0]]\n", "")
