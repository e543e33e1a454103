"""Kernels, composites, formulas and in-place forms: how they register and how they are found."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.backend import get_place
from minipaddle.ops import op as module
from minipaddle.ops.op import (
    COMPOSITE,
    OPS,
    Backward,
    Op,
    Param,
    Saved,
    formula,
    get_op,
    kernel,
    namespace,
)

CPU = get_place("cpu")


@pytest.fixture
def blend(monkeypatch):
    """An op of the test's own: blend(x, y, scale) with a gradient and an in-place form."""
    made = Op(
        "blend",
        (Param("x", "Tensor"), Param("y", "Tensor"), Param("scale", "float", 1.0)),
        inplace=True,
        backward=Backward(
            "blend_grad", (Saved("y", only_for="x"),), ("scale",), ("x_grad", "y_grad")
        ),
    )
    monkeypatch.setitem(OPS, "blend", made)
    monkeypatch.setattr(module, "_namespaces", {})
    return made


def test_an_unknown_op():
    with pytest.raises(ValueError, match="'blond'"):
        get_op("blond")
    assert get_op("lerp") is OPS["lerp"]
    assert repr(OPS["lerp"]) == "Op(lerp)"


def test_a_kernel_of_the_kind_of_device_is_found(blend):
    @kernel("blend", "cpu")
    def on_cpu(x, y, scale=1.0):
        return x + y * scale

    assert blend.kernels[CPU] is on_cpu
    assert namespace(CPU).blend is on_cpu
    assert namespace(CPU) is namespace(CPU)


def test_a_composite_is_written_with_other_kernels_of_the_place(blend):
    @kernel("blend", COMPOSITE)
    def anywhere(F, x, y, scale=1.0):
        return F.add(x, F.multiply(y, scale))

    out = blend.kernels[CPU](np.ones(2), np.ones(2), 3.0)
    np.testing.assert_array_equal(out, [4.0, 4.0])
    assert blend.kernels[CPU] is blend.kernels[CPU]


def test_a_composite_runs_on_a_plug_in(blend, xpu):
    @kernel("blend", COMPOSITE)
    def anywhere(F, x, y, scale=1.0):
        return F.add(x, F.multiply(y, scale))

    one = xpu.BACKEND.from_host(np.ones(2), 0)
    out = blend.kernels[get_place("xpu:0")](one, one, 3.0)
    np.testing.assert_array_equal(xpu.BACKEND.to_host(out), [4.0, 4.0])


def test_the_device_s_own_kernel_wins_over_the_composite(blend):
    @kernel("blend", COMPOSITE)
    def anywhere(F, x, y, scale=1.0):
        raise AssertionError

    @kernel("blend", "cpu")
    def on_cpu(x, y, scale=1.0):
        return x

    assert blend.kernels[CPU] is on_cpu


def test_no_kernel_says_what_to_register(blend):
    with pytest.raises(TypeError) as caught:
        blend.kernels[CPU]
    for word in ("'blend'", "cpu", "none", '@kernel("blend", "cpu")'):
        assert word in str(caught.value)

    @kernel("blend", "npu")
    def elsewhere(x, y, scale=1.0):
        return x

    with pytest.raises(TypeError, match="registered: npu"):
        blend.kernels[CPU]


def test_the_in_place_form_without_a_kernel_computes_and_copies(blend):
    @kernel("blend", "cpu")
    def on_cpu(x, y, scale=1.0):
        return x + y * scale

    x = np.ones(2)
    assert namespace(CPU).blend_(x, np.ones(2), 2.0) is x
    np.testing.assert_array_equal(x, [3.0, 3.0])


def test_the_in_place_form_has_a_kernel_of_its_own(blend):
    @kernel("blend_", "cpu")
    def in_place(x, y, scale=1.0):
        return x

    assert namespace(CPU).blend_ is in_place


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("blend", "x, y"),
        ("blend", "x, y, factor"),
        ("blend", "y, x, scale"),
        ("blend_", "x, scale, y"),
        ("blend_grad", "y, out_grad, scale"),
        ("blend_grad", "y, out_grad, scale, into, wanted"),
        ("gaussian", "shape, mean, std, dtype"),
    ],
)
def test_a_kernel_takes_the_declared_arguments(name, arguments, blend):
    scope = {}
    exec(f"def wrong({arguments}): pass", scope)
    with pytest.raises(TypeError) as caught:
        kernel(name, "npu")(scope["wrong"])
    for word in (name, "npu", "ops.yaml", arguments):
        assert word in str(caught.value)


def test_a_composite_takes_the_namespace_first(blend):
    with pytest.raises(TypeError, match="F, x, y, scale"):

        @kernel("blend", COMPOSITE)
        def wrong(x, y, scale):
            return x


@pytest.mark.parametrize("name", ["blond", "blond_", "blond_grad", "full_", "full_grad", "blend__"])
def test_a_kernel_of_no_declared_op_is_refused(name, blend):
    with pytest.raises(ValueError, match=f"'{name}'"):
        kernel(name, "npu")(np.add)


def test_a_kernel_is_registered_once(blend):
    kernel("blend", "cpu")(np.add)
    with pytest.raises(ValueError, match=r"blend.*cpu.*already"):
        kernel("blend", "cpu")(np.add)


def test_a_formula_is_registered_once_under_its_name(blend):
    def blend_grad(F, y, out_grad, scale):
        return out_grad, None

    assert formula(blend_grad) is blend_grad
    assert blend.backward.formula is blend_grad
    with pytest.raises(ValueError, match=r"blend.*already"):
        formula(blend_grad)

    def blond_grad(F, out_grad):
        return (out_grad,)

    with pytest.raises(ValueError, match="blond_grad"):
        formula(blond_grad)

    def full_grad(F, out_grad):
        return (out_grad,)

    with pytest.raises(ValueError, match="full_grad"):
        formula(full_grad)


def test_a_formula_takes_the_declared_arguments(blend):
    def blend_grad(F, x, out_grad, scale):
        return out_grad, None

    with pytest.raises(TypeError, match="F, y, out_grad, scale"):
        formula(blend_grad)
    assert blend.backward.formula is None


def test_a_gradient_is_the_fused_kernel_else_the_formula(blend):
    with pytest.raises(TypeError, match=r"blend_grad.*formula"):
        blend.backward.table[CPU]

    @formula
    def blend_grad(F, y, out_grad, scale):
        return out_grad, None

    found = blend.backward.table[CPU]
    assert (found.fused, found.function) == (False, blend_grad)
    assert found.namespace is namespace(CPU)
    blend.backward.table.clear()

    @kernel("blend_grad", "cpu")
    def fused(y, out_grad, scale, wanted, into):
        return out_grad, None

    found = blend.backward.table[CPU]
    assert (found.fused, found.function) == (True, fused)


def test_the_namespace_has_ops_and_in_place_forms_and_nothing_else():
    space = namespace(CPU)
    assert space.add is OPS["add"].kernels[CPU]
    assert space.add_ is OPS["add"].inplace_kernels[CPU]
    assert space.copy_ is OPS["copy_"].kernels[CPU]
    with pytest.raises(ValueError, match="blond"):
        space.blond  # noqa: B018
    with pytest.raises(ValueError, match="blond"):
        space.blond_  # noqa: B018
    with pytest.raises(AttributeError):
        space.__wrapped__  # noqa: B018


def test_a_kernel_that_comes_late_is_used():
    place = get_place("cpu")
    op = OPS["mean"]
    assert not op.backward.table[place].fused
    before = dict(op.backward.fused)
    calls = []

    @kernel("mean_grad", "cpu")
    def mean_grad(x_shape, out_grad, axis, keepdim, wanted, into):
        calls.append(x_shape)
        return (np.full(x_shape, 7.0),)

    try:
        x = paddle.to_tensor(np.ones(3), stop_gradient=False)
        paddle.mean(x).backward()
        assert calls == [(3,)] and x.grad.tolist() == [7.0] * 3
    finally:
        op.backward.fused.clear()
        op.backward.fused.update(before)
        op.backward.table.clear()
