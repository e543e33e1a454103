"""Two thousand damaged and hostile files: each loads to a value or is refused, and no more."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.saving.mutants import mutants

ROOT = Path(__file__).resolve().parents[2]
FILES = 2000


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is limited by Linux")
def test_damaged_and_hostile_files(tmp_path):
    pytest.importorskip("ml_dtypes")  # bfloat16 in a file would be an ImportError
    command = [sys.executable, "-m", "tests.saving.mutants", str(tmp_path), "2024", str(FILES)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=100)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=20)
    assert process.returncode == 0, err
    report = json.loads(out)
    assert not report["wrong"] and not report["events"]
    assert report["loaded"] + report["refused"] == FILES
    assert report["loaded"] > FILES / 20 and report["refused"] > FILES / 2


def test_they_are_the_same_every_time():
    assert mutants(5, 60, True) == mutants(5, 60, True) != mutants(6, 60, True)
