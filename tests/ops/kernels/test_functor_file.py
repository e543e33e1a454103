"""A .cu file beside an ops file: what is taken from it, and what is wrong with it."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

import minipaddle as paddle
from minipaddle.device.backend import get_place
from minipaddle.ops.op import OPS
from minipaddle.ops.schema import SchemaError
from minipaddle.testing.runner import read_records, run_suite
from minipaddle.utils import load_op
from tools import nvrtc

pytestmark = pytest.mark.usefixtures("ops_as_before")

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "own_kernel"


def write(folder: Path, **changes: tuple[str, str]) -> Path:
    """The ops file of a copy, with ``old, new`` replaced in ``yaml``, ``py`` or ``cu``."""
    for suffix in ("yaml", "py", "cu"):
        text = (EXAMPLE / f"my_kernels.{suffix}").read_text("utf-8")
        old, new = changes.get(suffix, ("", ""))
        assert old in text, f"my_kernels.{suffix} has no {old!r}"
        (folder / f"my_kernels.{suffix}").write_text(text.replace(old, new) if old else text)
    return folder / "my_kernels.yaml"


def kernels() -> tuple[bool, bool]:
    """Whether the op has a kernel for GPUs, and a fused gradient."""
    op = OPS["gated_square"]
    assert op.backward is not None
    return "gpu" in op.kernels.registered, "gpu" in op.backward.fused


def test_functors_become_kernels_and_the_cpu_keeps_its_own(tmp_path):
    ops = load_op(write(tmp_path))
    assert kernels() == (True, True)
    x = paddle.to_tensor([-1.0, 3.0], stop_gradient=False)
    y = paddle.to_tensor([2.0, 2.0], stop_gradient=False)
    out = ops.gated_square(x, y)
    out.sum().backward()
    assert out.tolist() == [0.0, 18.0]
    assert x.grad.tolist() == [0.0, 12.0] and y.grad.tolist() == [0.0, 9.0]


def test_what_has_no_functor_stays_without(tmp_path):
    load_op(write(tmp_path, cu=("SquareGrad", "SquareSlope")))
    assert kernels() == (True, False)


def test_a_gradient_alone_may_have_functors(tmp_path):
    load_op(write(tmp_path, py=COMPOSITE, cu=("struct GatedSquare {", "struct Other {")))
    assert kernels() == (False, True)


def test_without_a_file_there_is_no_kernel(tmp_path):
    path = write(tmp_path)
    path.with_suffix(".cu").unlink()
    load_op(path)
    assert kernels() == (False, False)


COMPOSITE = (
    '"cpu")\ndef gated_square(x, y):\n    return blockwise(_fill, (x, y))',
    '"composite")\ndef gated_square(F, x, y):\n    return F.multiply(F.square(F.relu(x)), y)',
)
KERNEL = '@kernel("gated_square", "cpu")'
# What is changed, and what the text says after the file's name and the op's.
MISTAKES = {
    "no functor": (
        {"cu": ("struct GatedSquare {", "struct Squared {")},
        "key 'op': my_kernels.cu has no functor for it: template <class C> struct GatedSquare",
    ),
    "none of any op": (
        {"py": COMPOSITE, "cu": ("GatedSquare", "Squared")},
        "key 'op': my_kernels.cu has no functor for it: template <class C> struct GatedSquare",
    ),
    "one of two gradients": (
        {"cu": ("GatedSquareGradY", "GatedSquareGrady")},
        "key 'backward': my_kernels.cu has no functor for it: template <class C> struct "
        "GatedSquareGradY",
    ),
    "no kernel": ({"py": (KERNEL, "")}, "key 'op': my_kernels.py has no kernel for it"),
    "two kernels": (
        {"py": (KERNEL, f'{KERNEL}\n@kernel("gated_square", "gpu")')},
        "key 'op': has a kernel for gpu and the functor GatedSquare beside",
    ),
    "an axis": (
        {"yaml": ("Tensor y)", "Tensor y, int[] axis=None)"), "py": ("(x, y):", "(x, y, axis):")},
        "key 'args': a functor works element by element: it cannot take int[] axis",
    ),
    "indices": (
        {"yaml": ("Tensor y)", "Tensor y, Tensor:int i)"), "py": ("(x, y):", "(x, y, i):")},
        "key 'args': a functor works element by element: it cannot take Tensor:int i",
    ),
    "shapes kept": (
        {"yaml": ("grad(x, y,", "grad(x.shape, y,"), "py": ("(F, x, y,", "(F, x_shape, y,")},
        "key 'args': a functor works element by element: its gradient keeps whole tensors",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_and_leaves_nothing_behind(mistake, tmp_path):
    changes, words = MISTAKES[mistake]
    path = write(tmp_path, **changes)
    before = dict(OPS)
    with pytest.raises(SchemaError) as caught:
        load_op(path)
    assert str(caught.value).startswith(f"my_kernels.yaml: op 'gated_square', {words}")
    assert before == OPS
    load_op(write(tmp_path))
    assert kernels() == (True, True)


def test_a_file_is_read_without_cupy():
    code = (
        "import sys; from minipaddle.utils import load_op\n"
        f"load_op({str(EXAMPLE / 'my_kernels.yaml')!r})\n"
        "assert not {'cupy', 'minipaddle.ops.kernels.gpu'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=100, check=True)


def compile_kernels(*arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tools.compile_kernels", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_functor_is_launched():
    """With a stand-in for CuPy: in the types, layouts and orders that the samples have."""
    found = compile_kernels(EXAMPLE / "my_kernels.yaml", "--list").splitlines()
    arrays = "Array<{0}>, Array<{0}>"
    wanted = (
        ("flat<GatedSquare<float>, float, 4, " + arrays, "float"),
        ("strided<GatedSquare<float>, bfloat16, unsigned int, " + arrays, "bfloat16"),
        ("rows<GatedSquare<float>, float, 4, unsigned int, Array<{0}>, One<{0}>", "float"),
        ("flat<GatedSquareGradX<double>, double, 2, " + arrays + ", Array<{0}>", "double"),
        ("flat<GatedSquareGradY<float>, float16, 8, " + arrays + ", Array<{0}>", "float16"),
    )
    for text, dtype in wanted:
        assert f"my_kernels.cu {text.format(dtype)}>" in found, "\n".join(found)


@pytest.mark.skipif(
    not nvrtc.is_installed(), reason="needs NVRTC: pip install 'minipaddle[kernels]'"
)
def test_the_example_compiles():
    assert " 0 faults" in compile_kernels(EXAMPLE / "my_kernels.yaml")


@pytest.mark.gpu
def test_the_example_on_a_gpu():
    """The whole suite: values, gradients of two orders, in place, and the fused gradient."""
    records = read_records(EXAMPLE / "my_kernels.yaml")
    report = io.StringIO()
    assert run_suite(records, [get_place("gpu:0")], report) == 0, report.getvalue()
    assert "fused gradient is the formula, gpu:0" in report.getvalue()


@pytest.mark.gpu
def test_the_example_is_measured():
    done = subprocess.run(
        [sys.executable, "-m", "examples.own_kernel.measure"],
        cwd=ROOT, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("of the copy speed") == 2
