"""What the pages show is so: printed results, quoted code, names of files and what is in them.

tests/test_docs.py runs every program of the pages. Here the ``text`` block behind a program is held
against what the program prints, in the manner of a doctest, and a block that begins with the path
of a file against that file.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LIKE_DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def found(pattern):
    """(page:line, groups) of every match in the pages."""
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in re.finditer(pattern, text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{page.relative_to(ROOT)}:{line}", match.groups()


PROGRAMS = dict(found(r"^```python\n([^`]*)^```\n\n```text\n([^`]*)^```"))
QUOTES = dict(
    found(r"^```(?:python fragment|yaml|cpp)\n(?:#|//) ([\w./]+)\n([^`]*?(?:``[^`]*?)*)^```")
)
NAMES = sorted({names for _, names in found(r"`([\w./]+\.(?:py|yaml)):([\w.]+)`")})
LINKS = sorted({(where.partition(":")[0], link) for where, (link,) in found(r"\]\(([\w./-]+)\)")})


@pytest.mark.parametrize("where", PROGRAMS)
def test_a_program_prints_what_the_page_shows(where, tmp_path):
    source, shown = PROGRAMS[where]
    program = tmp_path / "program.py"
    program.write_text(source, "utf-8")
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("FLAGS_", "MINIPADDLE_"))}
    done = subprocess.run(
        [sys.executable, program],
        cwd=tmp_path,
        env={**environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert doctest.OutputChecker().check_output(shown, done.stdout, LIKE_DOCTEST), done.stdout


@pytest.mark.parametrize("where", QUOTES)
def test_quoted_code_is_in_the_file(where):
    path, code = QUOTES[where]
    lines = [line.strip() for line in (ROOT / path).read_text("utf-8").splitlines()]
    quoted = [line.strip() for line in code.rstrip().splitlines()]
    starts = range(len(lines) - len(quoted) + 1)
    assert any(lines[at : at + len(quoted)] == quoted for at in starts), f"not in {path}: {quoted}"


@pytest.mark.parametrize(("path", "name"), NAMES)
def test_a_named_place_exists(path, name):
    file = next((f for f in (ROOT / path, ROOT / "minipaddle" / path) if f.is_file()), None)
    assert file is not None, f"there is no {path}"
    last = name.rpartition(".")[2]
    defined = rf"(?:\b(?:def|class) {last}\b|^\s*(?:self\.)?{last}\b.* = |op: {last}$)"
    assert re.search(defined, file.read_text("utf-8"), re.MULTILINE), f"{path} has no {name}"


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_a_link_leads_somewhere(page, link):
    assert (ROOT / page).parent.joinpath(link).exists(), f"{page} links to {link}"


def test_the_pages_were_searched():
    """The patterns above find something; a page whose form they miss would be tested by nobody."""
    shown = sum(page.read_text("utf-8").count("```text\n") for page in PAGES)
    drawings = 1  # the layers in docs/architecture.md
    assert len(PROGRAMS) == shown - drawings
    assert len(QUOTES) >= 6
    assert len(NAMES) >= 40
    assert len(LINKS) >= 5
