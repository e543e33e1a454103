"""ops.yaml is read strictly: each mistake is refused with file, op and key."""

import pytest

from minipaddle.ops import schema
from minipaddle.ops.op import OPS, REQUIRED
from minipaddle.ops.schema import SchemaError

GOOD = {
    "op": "blend",
    "args": "(Tensor x, Tensor|Scalar y, Tensor bias=None, int[] axis=None, float scale = 0.5)",
    "output": "Tensor(out)",
    "optional": "bias",
    "inplace": "(x -> out)",
    "view": "(x -> out)",
    "backward": "blend_grad(x for y, y.shape, out, out_grad, scale) -> (x_grad, y_grad, bias_grad)",
    "dtypes": "numeric promoted",
    "api": "blend, Tensor.blend",
}


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Loads entries from a file, and takes the ops away again."""
    before = dict(OPS)

    def run(*entries):
        path = tmp_path / "more.yaml"
        lines = []
        for entry in entries:
            items = [f"{key}: {value!r}" for key, value in entry.items()]
            lines.append("- " + "\n  ".join(items) + "\n")
        path.write_text("".join(lines))
        return schema.load(path)

    yield run
    OPS.clear()
    OPS.update(before)


def test_a_declaration_becomes_an_op(load):
    (op,) = load(GOOD)
    assert OPS["blend"] is op
    assert op.operands == ("x", "y", "bias") and op.attributes == ("axis", "scale")
    assert [p.type for p in op.params] == ["Tensor", "Tensor|Scalar", "Tensor", "int[]", "float"]
    assert [p.default for p in op.params] == [REQUIRED, REQUIRED, None, None, 0.5]
    assert op.inplace and op.view and op.promoted
    assert op.optional == ("bias",) and op.dtypes == "numeric"
    assert op.api == ("blend", "Tensor.blend")
    backward = op.backward
    assert backward.name == "blend_grad"
    assert backward.arguments == ("x", "y_shape", "out", "out_grad", "scale")
    assert backward.gradients == ("x_grad", "y_grad", "bias_grad")
    assert [(s.name, s.shape_only, s.only_for, s.is_output) for s in backward.saved] == [
        ("x", False, "y", False),
        ("y", True, None, False),
        ("out", False, None, True),
    ]


def test_operands_of_their_own_dtype_and_several_results(load):
    (op,) = load(
        {
            "op": "pick",
            "args": "(Tensor x, Tensor:int index, Tensor:bool mask, Generator generator)",
            "output": "Tensor(out), Tensor(where), Tensor(scale)",
            "intermediate": "scale",
            "backward": "pick_grad(x.shape, index, scale, out_grad) -> (x_grad)",
        }
    )
    assert op.operands == ("x", "index", "mask") and op.inputs == ("x",)
    assert [p.own_dtypes for p in op.params] == [None, "int", "bool", None]
    assert op.outputs == ("out", "where", "scale") and op.hidden == ("scale",)
    assert [s.is_output for s in op.backward.saved] == [False, False, True]
    assert not op.broadcasts and not op.list_input


def test_lists_in_and_out(load):
    join, split = load(
        {
            "op": "join",
            "args": "(Tensor[] x, int axis=0)",
            "output": "Tensor(out)",
            "backward": "join_grad(x.shape, out_grad, axis) -> (x_grad)",
        },
        {"op": "part", "args": "(Tensor x, int count)", "output": "Tensor[](out)"},
    )
    assert join.list_input and not join.list_output
    assert split.list_output and split.outputs == ("out",)


def test_defaults_of_every_kind(load):
    args = '(Tensor x, bool a=False, int b=-3, float c=1e-3, str d="mean", DataType e=None)'
    (op,) = load({"op": "some", "args": args, "output": "Tensor(out)"})
    assert [p.default for p in op.params][1:] == [False, -3, 1e-3, "mean", None]
    assert op.dtypes == "any" and not op.inplace and not op.view and op.backward is None


def test_an_op_that_only_writes_has_no_output(load):
    (op,) = load({"op": "some_", "args": "(Tensor[] params, Tensor grad, float rate)"})
    assert op.operands == ("params", "grad")


MISTAKES = {
    "unknown key": ({"kernel": "x"}, "kernel", "unknown key"),
    "bare args": ({"args": "Tensor x"}, "args", "parentheses"),
    "no args": ({"args": ""}, "args", "parentheses"),
    "unknown type": ({"args": "(Tenser x)"}, "args", "Tenser"),
    "no name": ({"args": "(Tensor)"}, "args", "type name"),
    "two defaults": ({"args": "(Tensor x, int n=1=2)"}, "args", "1=2"),
    "empty default": ({"args": "(Tensor x, int n=)"}, "args", "int n="),
    "bad default": ({"args": "(Tensor x, str s=mean)"}, "args", "mean"),
    "tensor after attribute": ({"args": "(int n, Tensor x)"}, "args", "after an attribute"),
    "default order": ({"args": "(Tensor x, int a=1, int b)"}, "args", "no default"),
    "name twice": ({"args": "(Tensor x, Tensor x)"}, "args", "twice"),
    "output's name": ({"output": "Tensor(y)"}, "output", "Tensor(out)"),
    "output twice": ({"output": "Tensor(out), Tensor(out)"}, "output", "twice"),
    "output as an argument": ({"output": "Tensor(out), Tensor(x)"}, "output", "argument"),
    "bare second output": ({"output": "Tensor(out), mask"}, "output", "Tensor(name)"),
    "hides nothing known": ({"intermediate": "mask"}, "intermediate", "mask"),
    "hides the result": ({"intermediate": "out"}, "intermediate", "out"),
    "keeps a list": (
        {"args": "(Tensor[] x)", "backward": "blend_grad(x, out_grad) -> (x_grad)",
         "optional": ""},
        "backward", "x.shape",
    ),
    "saves for a mask": (
        {"args": "(Tensor x, Tensor:bool mask)", "optional": "",
         "backward": "blend_grad(x for mask, out_grad) -> (x_grad)"},
        "backward", "mask",
    ),
    "no output": ({"output": None}, "output", "Tensor(out)"),
    "optional of nothing": ({"optional": "z"}, "optional", "z"),
    "optional attribute": ({"optional": "scale"}, "optional", "scale"),
    "inplace of another": ({"inplace": "(y -> out)"}, "inplace", "(x -> out)"),
    "view of another": ({"view": "(out -> x)"}, "view", "(x -> out)"),
    "unknown dtypes": ({"dtypes": "complex"}, "dtypes", "numeric"),
    "dtypes word": ({"dtypes": "float wide"}, "dtypes", "promoted"),
    "backward's name": ({"backward": "mix_grad(out_grad) -> (x_grad)"}, "backward", "blend_grad"),
    "backward's arrow": ({"backward": "blend_grad(out_grad)"}, "backward", "->"),
    "too few gradients": (
        {"backward": "blend_grad(out_grad) -> (x_grad)"}, "backward", "one gradient per tensor"
    ),
    "gradients' order": (
        {"backward": "blend_grad(out_grad) -> (y_grad, x_grad, bias_grad)"}, "backward", "gradient"
    ),
    "no out_grad": (
        {"backward": "blend_grad(x) -> (x_grad, y_grad, bias_grad)"}, "backward", "out_grad"
    ),
    "saves nothing known": (
        {"backward": "blend_grad(z, out_grad) -> (x_grad, y_grad, bias_grad)"}, "backward", "z"
    ),
    "saves for nothing known": (
        {"backward": "blend_grad(x for z, out_grad) -> (x_grad, y_grad, bias_grad)"},
        "backward",
        "z",
    ),
    "unknown attribute": (
        {"backward": "blend_grad(out_grad, size) -> (x_grad, y_grad, bias_grad)"},
        "backward",
        "size",
    ),
    "tensor as attribute": (
        {"backward": "blend_grad(out_grad, x) -> (x_grad, y_grad, bias_grad)"}, "backward", "x"
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_names_file_op_and_key(mistake, load):
    change, key, words = MISTAKES[mistake]
    entry = {**GOOD, **change}
    if change.get("output", "") is None:
        del entry["output"]
    if "args" in change:
        entry = {"op": "blend", "output": "Tensor(out)", **change}
    with pytest.raises(SchemaError) as caught:
        load(entry)
    for word in ("more.yaml", "'blend'", f"'{key}'", words):
        assert word in str(caught.value)
    assert "blend" not in OPS


def test_an_output_of_an_op_that_only_writes_is_refused(load):
    with pytest.raises(SchemaError, match=r"more\.yaml.*some_.*output"):
        load({"op": "some_", "args": "(Tensor x)", "output": "Tensor(out)"})


def test_two_ops_of_one_name_are_refused(load):
    small = {"args": "(Tensor x)", "output": "Tensor(out)"}
    with pytest.raises(SchemaError, match=r"more\.yaml.*'lerp'.*twice"):
        load({"op": "fresh", **small}, {"op": "lerp", **small})
    with pytest.raises(SchemaError, match=r"more\.yaml.*'same'.*twice"):
        load({"op": "same", **small}, {"op": "same", **small})
    assert "fresh" not in OPS and "same" not in OPS


@pytest.mark.parametrize("text", ["op: x\n", "- x\n", "- args: (Tensor x)\n", "", "- [1]\n"])
def test_a_file_of_another_form_is_refused(text, tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(SchemaError, match=r"odd\.yaml"):
        schema.load(path)


def test_the_package_s_own_declarations_are_in_alphabetical_order():
    # What a test has loaded is gone again, so these are the ops of ops.yaml.
    assert list(OPS) == sorted(OPS)
