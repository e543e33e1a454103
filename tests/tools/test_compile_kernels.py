"""Kernels without a GPU: every instance is found, and what is wrong is named by file and line."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools import compile_kernels, nvrtc
from tools.compile_kernels import Unit, changed_since, headers, work
from tools.kernel_instances import FOLDER, cover, unreached

ROOT = Path(__file__).resolve().parents[2]
needs_nvrtc = pytest.mark.skipif(
    not nvrtc.is_installed(), reason="needs NVRTC: pip install 'minipaddle[kernels]'"
)
WRONG = """#include "elementwise.cuh"
template <class C> struct Twice {
  __device__ C operator()(C x) const { return y + x; }
};
template <class C> struct Odd {
  __device__ C operator()(C x) const { return x % 2; }
};
"""
TWICE, ODD, EVEN = (
    f"flat<{name}, {name[name.index('<') + 1 : -1]}, 4, Array<{name[name.index('<') + 1 : -1]}>>"
    for name in ("Twice<float>", "Odd<float>", "Odd<int32>")
)


def test_every_kernel_and_functor_is_found_by_calling_the_ops():
    code = (
        "from tools.kernel_instances import FOLDER, record, unreached\n"
        "found = record()\n"
        "missing = unreached(found.instances, FOLDER.glob('*.cuh'))\n"
        "assert not missing, missing\n"
        "for path, names in found.instances.items(): print(path.name, *names, sep='\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert {path.name for path in FOLDER.glob("*.cu")} <= set(lines)
    wanted = "flat<Add<{0}>, {1}, {2}, Array<{1}>, Array<{1}>>"
    for types in (("float", "float", 4), ("float", "bfloat16", 8), ("i64", "i64", 2)):
        assert wanted.format(*types) in lines


def test_what_no_instance_names_is_unreached(tmp_path):
    path = tmp_path / "file.cu"
    path.write_text(
        "template <class C> struct Used {\n};\ntemplate <class C> struct Base {\n};\n"
        "template <class C> struct Alone : Base<C> {\n};\ntemplate <class T>\n__global__ void "
        "__launch_bounds__(256) run(T* x) {}\ntemplate <class T>\n__global__ void left(T* x) {}\n"
    )
    assert unreached({path: ["run<Used<float>>"]}) == {path: ["Alone", "left"]}
    assert unreached({path: []})[path] == ["Used", "Alone", "run", "left"]
    header = tmp_path / "file.cuh"
    header.write_text(
        "__global__ void __launch_bounds__(T<N>::v)\nrun(int) {}\n__global__ void other(int) {}\n"
    )
    assert unreached({}, [header]) == {header: ["other", "run"]}
    assert unreached({path: ["run<Used<Alone>>", "left<float>"]}, [header]) == {header: ["other"]}
    path.write_text("// nothing\n")
    assert unreached({path: []}) == {path: ["the whole file"]}


def test_a_cover_has_every_word_beneath_every_kernel():
    every = [f"{k}<{f}<{t}>, {v}>" for k in "ab" for f in "FG" for t in ("x", "y") for v in (1, 2)]
    some = cover(every)
    assert len(some) < len(every) / 2 and set(some) <= set(every)
    for kernel in "ab":
        text = " ".join(one for one in some if one[0] == kernel)
        assert all(word in text for word in ("F", "G", "x", "y", "1", "2"))
    assert cover(["plain"]) == ["plain"] and cover([]) == []


def test_the_headers_of_a_file():
    names = {path.name for path in headers(FOLDER / "copying.cu")}
    assert {"elementwise.cuh", "element.cuh"} <= names and "fold.cuh" not in names


def test_a_changed_header_counts_for_the_files_that_include_it(monkeypatch):
    header = FOLDER.relative_to(ROOT) / "fold.cuh"
    answers = {"merge-base": "abc\n", "diff": f"{header}\n", "ls-files": "notes\n"}
    monkeypatch.setattr(compile_kernels, "_git", lambda *args: answers[args[0]])
    paths = [FOLDER / "copying.cu", FOLDER / "reduction.cu"]
    assert changed_since("main", paths) == [FOLDER / "reduction.cu"]
    answers["merge-base"] = ""
    assert changed_since("main", paths) is None


@needs_nvrtc
@pytest.mark.parametrize("mode", nvrtc.MODES)
def test_a_wrong_file_is_reported_with_line_architecture_and_instance(tmp_path, mode):
    path, options = tmp_path / "wrong.cu", ("--std=c++17",)
    path.write_text(WRONG)
    ((where, log),) = work(Unit(path, [TWICE], 90, options, mode))
    assert where.endswith(f"wrong.cu, sm_90, {TWICE}")
    assert 'wrong.cu(3): error: identifier "y" is undefined' in log
    path.write_text(WRONG.replace("struct Odd", "strct Odd"))
    ((where, log),) = work(Unit(path, [TWICE], 90, options, mode))
    assert where.endswith("wrong.cu, sm_90, whatever the instance") and "wrong.cu(5): error" in log
    path.write_text(WRONG.replace("y + x", "x + x"))
    ((where, log),) = work(Unit(path, [TWICE, ODD, EVEN], 75, options, mode))
    assert where.endswith(f"wrong.cu, sm_75, {ODD}") and "wrong.cu(6): error" in log
    ((where, log),) = work(Unit(path, [TWICE, "flat<Gone<float>>"], 75, options, mode))
    assert where.endswith("sm_75, flat<Gone<float>>") and '"Gone" is undefined' in log
    assert work(Unit(path, [TWICE, EVEN], 120, options, mode)) == []


@needs_nvrtc
def test_the_command_fails_where_an_architecture_is_unknown():
    command = [sys.executable, "-m", "tools.compile_kernels", "--arch", "10"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 1 and "does not compile for [10]" in done.stdout


def test_without_the_wheels_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(nvrtc, "_find", lambda cuda: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'minipaddle\[kernels-cuda12\]'"):
        nvrtc.Compiler(12)
