"""examples/lerp.py on few pixels: the hidden weight is found, and the picture is written."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from examples import lerp

ROOT = Path(__file__).resolve().parents[2]
TINY = ["--every", "16", "--steps", "20"]

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("sklearn")


def panel(path, row, column):
    """The pixels of one picture on the sheet, as floats."""
    with Image.open(path) as sheet:
        pixels = np.asarray(sheet, dtype=np.float64)
    height = (pixels.shape[0] - 46) // 2 - lerp.LABEL - lerp.GAP
    left = lerp.GAP + column * (lerp.PANEL + lerp.GAP)
    top = lerp.GAP + row * (height + lerp.LABEL + lerp.GAP) + lerp.LABEL
    return pixels[top : top + height, left : left + lerp.PANEL]


def distance(one, other):
    return np.abs(one - other).mean()


@pytest.mark.parametrize("weight", [["0.2", "0.5", "0.85"], ["0.3"]], ids=["colours", "one"])
def test_the_hidden_weight_is_found_and_shown(weight, tmp_path, capsys):
    path = tmp_path / "blend.png"
    lerp.main([*TINY, "--weight", *weight, "--out", str(path)])
    printed = capsys.readouterr().out
    last = [line for line in printed.splitlines() if line.startswith("step  20")]
    found = [float(word) for word in last[0].partition("weight")[2].split()]
    assert found == pytest.approx([float(w) for w in weight], abs=lerp.TOLERANCE)
    target, before, _, after = (panel(path, 1, column) for column in range(4))
    assert distance(before, panel(path, 0, 0)) == 0  # training starts at the first photograph
    assert distance(after, target) < 1 < distance(before, target)
    # A quarter, a half and three quarters of the way lie in this order between the ends.
    ways = [distance(panel(path, 0, column), panel(path, 0, 0)) for column in range(5)]
    assert ways == sorted(ways) and ways[0] < ways[1]


def test_a_weight_that_is_not_found_is_a_failure(tmp_path):
    with pytest.raises(SystemExit, match="was not found to within"):
        lerp.main(["--every", "16", "--steps", "1", "--out", str(tmp_path / "blend.png")])


def test_two_weights_are_refused(capsys):
    with pytest.raises(SystemExit):
        lerp.main(["--weight", "0.1", "0.2"])
    assert "one number or three; got 2" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["PIL", "sklearn.datasets"])
def test_a_missing_package_is_explained(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit, match=f"cannot import {missing}.*\n.*pip install scikit-learn"):
        lerp.main([*TINY])


def test_it_runs_as_a_program_from_another_folder(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / "lerp.py", *TINY, "--out", "out.png"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "out.png").is_file()
    assert done.stderr == ""
