"""The wheel: it has every file of the package, and works in a new environment by itself."""

import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

import minipaddle

ROOT = Path(__file__).resolve().parent.parent
# Kinds of files that the package reads, which a builder easily leaves out.
DATA = {".cu", ".cuh", ".yaml", ".typed"}
USE = """
import pathlib
import minipaddle as paddle
x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
paddle.lerp(x, x * 3.0, 0.5).sum().backward()
assert x.grad.tolist() == [2.0, 2.0], x.grad
print(pathlib.Path(paddle.__file__).parent, paddle.__version__)
"""


def run(*command: str | Path, folder: Path) -> str:
    """What a command prints; it runs in a folder of its own and sees no checkout."""
    environ = {
        k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "COVERAGE_PROCESS_START"}
    }
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def packaged() -> Iterator[str]:
    """The files of the package as they lie here."""
    for path in (ROOT / "minipaddle").rglob("*"):
        if path.is_file() and path.suffix not in {".pyc", ".pyo"}:
            yield path.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout."""
    pytest.importorskip("hatchling", reason="needs hatchling: pip install 'minipaddle[test]'")
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=ROOT)
    (found,) = folder.glob("minipaddle-*-py3-none-any.whl")
    return found


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_package(wheel):
    names = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    assert names == set(packaged())
    for suffix in DATA:
        assert any(name.endswith(suffix) for name in names), suffix


@pytest.mark.slow
def test_the_wheel_works_in_a_new_environment(wheel, tmp_path):
    venv.create(tmp_path / "new", with_pip=True)
    python = tmp_path / "new" / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel, folder=tmp_path)
    site = Path(
        run(
            python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=tmp_path
        ).strip()
    )
    needs = {str(Path(module.__file__).parents[1]) for module in (np, yaml)}
    (site / "needs.pth").write_text("\n".join(needs))
    place, version = run(python, "-I", "-W", "error", "-c", USE, folder=tmp_path).split()
    assert Path(place) == site / "minipaddle" and version == minipaddle.__version__
