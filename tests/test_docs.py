"""Documentation is run: docstring examples, code blocks of pages, names quoted in the tour."""

import ast
import doctest
import importlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import minipaddle

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
# Modules that import an optional extra at their top, and that extra.
NEEDS_EXTRA = {
    "minipaddle.device.gpu": "cupy",
    "minipaddle.ops.kernels.gpu": "cupy",
    "minipaddle.distributed.process_group.nccl": "cupy",
    "minipaddle.distributed.process_group.mpi": "mpi4py",
}
PUBLIC = [
    f"minipaddle{name}"
    for name in (
        "",
        ".nn",
        ".nn.utils",
        ".optimizer",
        ".optimizer.lr",
        ".regularizer",
        ".io",
        ".distributed",
    )
]


def module_names() -> Iterator[str]:
    """Every module of the package that can be imported here, found without importing it."""
    folder = ROOT / "minipaddle"
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        extras = [e for prefix, e in NEEDS_EXTRA.items() if f"{name}.".startswith(f"{prefix}.")]
        runs_on_import = parts[-1] == "__main__"
        if not runs_on_import and all(importlib.util.find_spec(extra) for extra in extras):
            yield name


class Finder(doctest.DocTestFinder):
    """Finds bound ops too: generated functions, whose globals are not those of their module."""

    def _from_module(self, module: ModuleType, item: object) -> bool:
        return getattr(item, "__module__", None) == module.__name__ or super()._from_module(
            module, item
        )


@pytest.mark.usefixtures("ops_as_before")
@pytest.mark.parametrize("name", list(module_names()))
def test_docstring_examples_run(name: str) -> None:
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    for case in Finder(exclude_empty=True).find(module, name):
        runner.run(case, out=report.append)
        for example in case.examples:
            assert not example.options.get(doctest.SKIP), f"{case.name} skips an example"
    assert runner.failures == 0, "".join(report)


def public_items() -> Iterator[tuple[str, object]]:
    """Functions and classes that a public namespace offers and the package defines."""
    for package in PUBLIC:
        for name, item in vars(importlib.import_module(package)).items():
            ours = str(getattr(item, "__module__", "")).startswith("minipaddle.")
            if ours and callable(item) and not name.startswith("_"):
                yield f"{package}.{name}", item


@pytest.mark.parametrize(
    ("name", "item"), list(public_items()), ids=lambda x: x if type(x) is str else ""
)
def test_public_names_are_documented(name: str, item: object) -> None:
    doc = item.__doc__ or ""
    assert len(doc.split()) >= 4, f"{name} has no docstring"
    # An in-place form is shown by its op, a class by the functions that take or make it.
    if not isinstance(item, type) and not name.endswith("_"):
        assert ">>>" in doc, f"{name} has no example"


def code_blocks() -> Iterator[tuple[str, str, str]]:
    """(page:line, what follows the word python, source) of each python block of the pages."""
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in re.finditer(r"^```python([^\n]*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            line = text[: match.start()].count("\n") + 1
            yield f"{page.relative_to(ROOT)}:{line}", match[1].strip(), match[2]


@pytest.mark.parametrize(
    ("where", "kind", "source"), list(code_blocks()), ids=lambda text: text[:60]
)
def test_code_blocks_run(where: str, kind: str, source: str, tmp_path: Path) -> None:
    """A block is a whole program; one marked ``python fragment`` only has to be Python."""
    assert kind in {"", "fragment"}, f"{where}: ```python {kind} is not known"
    compile(source, where, "exec")
    if kind == "fragment":
        return
    program = tmp_path / "block.py"
    program.write_text(source, "utf-8")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *pythonpath()])}
    done = subprocess.run(
        [sys.executable, "-W", "error", program], cwd=tmp_path, env=environ, timeout=100,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{where}\n{done.stdout}\n{done.stderr}"


def pythonpath() -> list[str]:
    return [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]


def quoted_names() -> Iterator[tuple[str, str]]:
    tour = ROOT / "docs" / "tour.md"
    text = tour.read_text("utf-8") if tour.is_file() else ""
    yield from re.findall(r"`([\w./]+\.(?:py|yaml|cuh?)):([\w.]+)`", text)


def defined_names(tree: ast.AST, prefix: str = "") -> Iterator[str]:
    """Qualified names of functions, classes and assigned variables, `self.x` as `Class.x`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield prefix + node.name
            inner = f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix
            yield from defined_names(node, inner)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield prefix + node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield prefix + node.id
        else:
            yield from defined_names(node, prefix)


def test_the_tour_quotes_names() -> None:
    assert len(set(quoted_names())) >= 10


@pytest.mark.parametrize(("path", "name"), sorted(set(quoted_names())))
def test_name_in_the_tour_exists(path: str, name: str) -> None:
    candidates = [ROOT / path, ROOT / "minipaddle" / path]
    file = next((c for c in candidates if c.is_file()), None)
    assert file is not None, f"docs/tour.md quotes {path}, which does not exist"
    text = file.read_text("utf-8")
    if file.suffix == ".py":
        assert name in set(defined_names(ast.parse(text))), f"{path} does not define {name}"
    else:
        assert re.search(rf"\b{re.escape(name)}\b", text), f"{path} does not contain {name}"


def test_version_is_said_once() -> None:
    """The number in pyproject.toml is the one that the package reports."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert re.search(r'^version = "(.+)"$', text, re.MULTILINE)[1] == minipaddle.__version__


def test_every_folder_is_a_package() -> None:
    """Without __init__.py a folder works here and is missed by tools that look for packages."""
    folders = {path.parent for path in (ROOT / "minipaddle").rglob("*.py")}
    assert not [folder for folder in folders if not (folder / "__init__.py").is_file()]
