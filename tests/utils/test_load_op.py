"""load_op: what it gives, what it refuses, and that a load that fails leaves nothing behind."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.backend import get_place
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS, namespace
from minipaddle.ops.schema import SchemaError
from minipaddle.utils import load_op
from tests.device.plug import plugged_in
from tests.testing.outside import EXAMPLE, write

pytestmark = pytest.mark.usefixtures("ops_as_before")


def test_the_ops_of_a_file(tmp_path):
    ops = load_op(write(tmp_path))
    x = paddle.to_tensor([-1.0, 3.0], stop_gradient=False)
    out = ops.squared_relu(x)
    assert out.tolist() == [0.0, 9.0]
    (first,) = paddle.grad(out.sum(), x, create_graph=True)
    assert first.tolist() == [0.0, 6.0]
    assert paddle.grad(first.sum(), x)[0].tolist() == [0.0, 2.0]
    y = paddle.to_tensor([2.0])
    assert ops.squared_relu_(y) is y and y.tolist() == [4.0]
    assert ops.__name__ == "my_ops" and ops.__file__ == str(tmp_path / "my_ops.yaml")
    assert ops.squared_relu.__doc__ == "The op squared_relu of my_ops.yaml."
    assert namespace(get_place("cpu")).squared_relu(np.array([2.0])) == 4.0


def test_it_runs_on_every_device(tmp_path):
    with plugged_in():
        ops = load_op(str(write(tmp_path)))
        x = paddle.to_tensor([-1.0, 3.0], place=get_place("xpu:3"), stop_gradient=False)
        out = ops.squared_relu(x)
        out.backward(paddle.to_tensor([1.0, 1.0], place=x.place))
        assert str(out.place) == "xpu:3" and x.grad.tolist() == [0.0, 6.0]


def test_a_file_is_loaded_once(tmp_path, monkeypatch):
    path = write(tmp_path)
    ops = load_op(path)
    monkeypatch.chdir(tmp_path)
    assert load_op("my_ops.yaml") is ops


def test_a_signature_with_a_docstring_of_its_own(tmp_path):
    own = "from minipaddle.imperative.dispatch import bound\nfrom minipaddle.ops.op"
    path = write(tmp_path, code=("from minipaddle.ops.op", own))
    text = '\n\n@bound\ndef squared_relu(x, name=None):\n    """Mine."""\n'
    path.with_suffix(".py").write_text(
        path.with_suffix(".py").read_text().replace("def squared_relu(F", "def composite(F") + text
    )
    ops = load_op(path)
    assert ops.squared_relu.__doc__ == "Mine."
    assert ops.squared_relu(paddle.to_tensor([3.0])).tolist() == [9.0]
    assert ops.squared_relu_.__doc__.startswith("The op squared_relu_")


def test_attributes_keep_their_defaults(tmp_path):
    path = write(
        tmp_path,
        yaml=("(Tensor x)", '(Tensor x, float scale=2.0, str how="plain")'),
        code=("(F, x):\n", "(F, x, scale, how):\n    x = F.multiply(x, scale)\n"),
    )
    ops = load_op(path)
    x = paddle.to_tensor([1.0])
    assert ops.squared_relu(x).tolist() == [4.0]
    assert ops.squared_relu(x, scale=3.0, how="odd").tolist() == [9.0]


WHOLE = (EXAMPLE / "my_ops.yaml").read_text("utf-8")
# What is changed, the exception, and what its text says besides the file's name.
MISTAKES = {
    "unknown key": ({"yaml": ("inplace:", "in_place:")}, SchemaError, "'squared_relu', key 'in_pl"),
    "no list": ({"yaml": ("- op: squared_relu\n", "op: squared_relu\n")}, SchemaError, "line"),
    "built-in": ({"yaml": ("squared_relu", "lerp")}, SchemaError, "'lerp', key 'op': declared tw"),
    "in-place form's name": (
        {"yaml": ("squared_relu", "copy")},
        SchemaError, "'copy', key 'inplace': the name 'copy_' belongs to the op 'copy_'",
    ),
    "gradient's name": (
        {"yaml": ("squared_relu", "tanh_grad")},
        SchemaError, "'tanh_grad', key 'op': the name 'tanh_grad' belongs to the op 'tanh'",
    ),
    "no result": (
        {"yaml": (WHOLE, "- op: put_\n  args: (Tensor x)\n")}, SchemaError, "'put_', key 'args'",
    ),
    "api": ({"yaml": ("  dtypes: float", "  api: squared")}, SchemaError, "key 'api': load_op"),
    "no tensor": (
        {"yaml": (WHOLE, "- op: ramp\n  args: (int n)\n  output: Tensor(out)\n")},
        SchemaError, "'ramp', key 'args': takes a tensor",
    ),
    "no kernel": (
        {"code": ('@kernel("squared_relu", "composite")\n', "")},
        SchemaError, "'squared_relu', key 'op': my_ops.py has no kernel",
    ),
    "no formula": (
        {"code": ("@formula\n", "")},
        SchemaError, "'squared_relu', key 'backward': my_ops.py has no @formula squared_relu_grad",
    ),
    "kernel's arguments": ({"code": ("(F, x):", "(F, y):")}, TypeError, "(F, x)"),
    "formula's arguments": ({"code": ("(F, x, out", "(F, out")}, TypeError, "(F, x, out_grad)"),
    "error in the code": ({"code": ("@formula\n", "@formulae\n")}, NameError, "formulae"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_and_leaves_nothing_behind(mistake, tmp_path):
    changes, error, words = MISTAKES[mistake]
    ops, functions = dict(OPS), dict(FUNCTIONS)
    with pytest.raises(error) as caught:
        load_op(write(tmp_path, **changes))
    assert words in str(caught.value)
    if error is SchemaError:
        assert "my_ops.yaml" in str(caught.value)
    assert ops == OPS and functions == FUNCTIONS
    # The same file, mended, loads.
    assert load_op(write(tmp_path)).squared_relu(paddle.to_tensor([3.0])).item() == 9.0


def test_two_files_cannot_declare_one_op(tmp_path):
    load_op(write(tmp_path))
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(SchemaError, match=r"my_ops.yaml: op 'squared_relu', key 'op'"):
        load_op(write(other))


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no ops file .*my_ops.yaml"):
        load_op(tmp_path / "my_ops.yaml")
    path = write(tmp_path)
    path.with_suffix(".py").unlink()
    with pytest.raises(FileNotFoundError, match=r"my_ops.yaml: its kernels belong .*my_ops.py"):
        load_op(path)
