"""OpTest on ops that are right, under the rule for float64, and on results that are not."""

import random
import unittest

import numpy as np
import pytest

from minipaddle.device.dtype import bfloat16
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.testing import OpTest, exempt, skip_check_grad_ci
from minipaddle.testing.finite_difference import (
    central_differences,
    gradient_difference,
    gradient_limits,
    output_limits,
    scale,
    value_difference,
)
from minipaddle.testing.mutation import mutated, scaled
from tests.device.plug import plugged_in

GRADIENTS = "check_grad is not run"


def lerp_case(x, y, w):
    return {"X": x, "Y": y, "Weight": np.asarray(w)}, {"Out": x + w * (y - x)}


def counted(shape, y=10.0, w=0.5):
    """Paddle's inputs: 1, 2, 3 and so on, towards a constant."""
    x = np.arange(1.0, 101.0).reshape(shape)
    return lerp_case(x, np.full(shape, y), np.array([w]))


def drawn(*shapes):
    return [
        np.random.default_rng([i, *shape]).uniform(0.5, 1.5, shape)
        for i, shape in enumerate(shapes)
    ]


SHAPES = ((100,), (2, 50), (2, 2, 25), (2, 2, 5, 5), (2, 1, 2, 5, 5), (2, 1, 2, 5, 1, 5))
LERP = {
    **{str(shape): lambda shape=shape: counted(shape) for shape in SHAPES},
    "regression [2, 1, 2, 50] with [2, 2, 1, 50]": lambda: lerp_case(
        *drawn((2, 1, 2, 50), (2, 2, 1, 50)), 0.5
    ),
    "regression x = y [50, 2, 2, 3] with w [3]": lambda: lerp_case(
        np.full((50, 2, 2, 3), 2.5), np.full((50, 2, 2, 3), 2.5), np.array([0.2, 0.5, 0.9])
    ),
    "ranks differ": lambda: lerp_case(*drawn((25, 4), (2, 25, 4)), 0.3),
    "w of rank 4": lambda: lerp_case(*drawn((10, 10), (10, 10), (2, 1, 10, 1))),
}  # fmt: skip
OPS = {
    **{f"lerp {name}": ("lerp", make, {}) for name, make in LERP.items()},
    "matmul": ("matmul", lambda: product(False), {}),
    "matmul transposed": ("matmul", lambda: product(True), {"transpose_Y": True}),
    "add": ("add", lambda: total(*drawn((4, 25), (3, 4, 25))), {}),
    "mean": ("mean", lambda: average((10, 12)), {"axis": 1}),
}


def product(transposed):
    x, y = drawn((10, 12), (12, 10))
    return {"X": x, "Y": y.T.copy() if transposed else y}, {"Out": x @ y}


def total(x, y):
    return {"X": x, "Y": y}, {"Out": x + y}


def average(shape):
    (x,) = drawn(shape)
    return {"X": x}, {"Out": x.mean(1)}


def case(op, make, attrs=(), dtype="float64", names=None, **more):
    """An OpTest class with an output and a gradient test; ``more`` goes to check_grad."""

    class Case(OpTest):
        def setUp(self):
            self.op_type, self.attrs = op, dict(attrs)
            inputs, outputs = make()
            self.inputs = {name: array.astype(dtype) for name, array in inputs.items()}
            self.outputs = {name: array.astype(dtype) for name, array in outputs.items()}

        def test_check_output(self):
            self.check_output()

        def test_check_grad(self):
            self.check_grad(names or list(self.inputs), "Out", **more)

    return Case


def failures(cls):
    """The texts of all failures and errors of a class; nothing is printed."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
    return [text for _, text in [*result.failures, *result.errors]]


@pytest.mark.parametrize("name", OPS)
def test_it_passes_what_is_right(name):
    cls = exempt("size", "lerp's weight is small")(case(*OPS[name]))
    assert not failures(cls)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_it_passes_other_dtypes(dtype):
    bfloat16()
    cls = exempt("float64", "one dtype a test")(case(*OPS["add"], dtype))
    assert not failures(cls)


def test_it_runs_on_every_device_that_is_there(monkeypatch):
    seen = []
    add = FUNCTIONS["add"]
    monkeypatch.setitem(FUNCTIONS, "add", lambda x, y: seen.append(str(x.place)) or add(x, y))
    with plugged_in():
        cls = case(*OPS["add"])
        assert cls("test_check_output").run(unittest.TestResult()).wasSuccessful()
    assert {"cpu", "xpu:0"} == set(seen)


@pytest.mark.parametrize("name", ["lerp ranks differ", "matmul", "mean", "add"])
@pytest.mark.parametrize("factor", [0.0, -1.0, 1.0001])
def test_it_fails_a_wrong_gradient(name, factor):
    op, make, attrs = OPS[name]
    for output, variable in enumerate(make()[0]):
        cls = exempt("size", "lerp's weight")(case(op, make, attrs))
        rule = "fused" if op == "lerp" else "formula"
        with mutated(op, rule, output, scaled(factor, rule), "cpu"):
            (text,) = failures(cls)
        array = make()[0][variable]
        for word in (
            f"{op} on cpu: gradient of {variable} of shape {list(array.shape)}, dtype float64:",
            "limit 1.0e-07",
            f"of {array.size} elements; first at flat index 0",
            "expected ",
            "got ",
        ):
            assert word in text


def test_it_fails_a_wrong_output(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "add", lambda x, y: x + y * (1 + 2e-5))
    texts = failures(case(*OPS["add"]))
    assert len(texts) == 1
    for word in ("add on cpu: output Out of shape [3, 4, 25], dtype float64", "limit 0.0e+00"):
        assert word in texts[0]
    monkeypatch.setitem(FUNCTIONS, "add", lambda x, y: (x + y)[:1])
    text = "\n".join(failures(case(*OPS["add"])))
    assert "shape [1, 4, 25], expected [3, 4, 25]" in text
    monkeypatch.setitem(FUNCTIONS, "add", lambda x, y: [x + y, x])
    assert "2 results for the outputs ['Out']" in "\n".join(failures(case(*OPS["add"])))


def test_it_fails_an_in_place_form_that_differs(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "add_", lambda x, y: x + y + 1e-9)
    cls = case("add", lambda: total(*drawn((10, 10), (10, 10))))
    (text,) = failures(cls)
    assert "in-place result" in text
    assert not failures(exempt("inplace", "it is wrong here")(cls))
    monkeypatch.setitem(FUNCTIONS, "add_", lambda x, y: x + y * 2.0 - y.detach())
    whole = np.arange(100.0).reshape(10, 10)
    (text,) = failures(case("add", lambda: total(whole, whole)))
    assert "in-place gradient of Y" in text


def test_the_class_has_to_check_the_gradient():
    cls = case(*OPS["add"])
    del cls.test_check_grad
    (text,) = failures(cls)
    assert GRADIENTS in text and "Case" in text
    assert not failures(skip_check_grad_ci("shown elsewhere")(cls))


def test_the_class_has_to_do_so_in_float64_on_enough_elements():
    (text,) = failures(case(*OPS["add"], "float32"))
    assert "float64 is wanted" in text
    small = case("add", lambda: total(*drawn((2, 3), (2, 3))))
    (text,) = failures(small)
    assert "input X has 6 elements, fewer than 100" in text and "input Y" in text
    assert not failures(exempt("size", "small on purpose")(small))
    zero_d = case("add", lambda: total(np.array(1.5), np.array(2.5)))
    assert not failures(zero_d)


def test_no_grad_set_wants_a_reason():
    cls = case("add", lambda: total(*drawn((10, 10), (10, 10))), names=["X"], no_grad_set={"Y"})
    (text,) = failures(cls)
    assert "no_grad_set" in text
    assert not failures(exempt("no_grad_set", "y is constant")(cls))


def test_one_picked_test_is_not_held_to_the_rules_of_the_class():
    cls = case(*OPS["add"])
    suite = unittest.TestSuite([cls("test_check_output")])
    assert suite.run(unittest.TestResult()).wasSuccessful()


def test_given_gradients_and_given_output_gradients():
    x, y, seed = drawn((10, 10), (10, 10), (10, 10))
    make = lambda: ({"x": x, "y": y}, {"Out": x * y})  # noqa: E731
    right = {"user_defined_grads": [seed * y], "user_defined_grad_outputs": [seed]}
    assert not failures(case("multiply", make, names=["x"], **right))
    wrong = {**right, "user_defined_grads": [seed * x]}
    assert "gradient of x" in failures(case("multiply", make, names=["x"], **wrong))[0]
    assert not failures(case("multiply", make, user_defined_grad_outputs=[seed]))


def test_an_api_of_several_results_with_a_list_and_names_that_are_not_returned():
    x, y = drawn((10, 10), (10, 10))

    class Case(OpTest):
        python_api = lambda x, scale: [x[0] * x[1] * scale, x[0] + x[1]]  # noqa: E731

        def setUp(self):
            self.op_type = "pair"
            self.inputs = {"X": [("x0", x), ("x1", (y, [[2, 3]]))]}
            self.outputs = {"Out": x * y * 2, "Sum": x + y, "XShape": np.zeros(3)}
            self.attrs = {"scale": 2.0}

        def test_check_output(self):
            self.check_output(no_check_set=["XShape"], check_pir=True)

        def test_check_grad(self):
            self.check_grad(["x0", "x1"], ["Out", "Sum"])

    assert not failures(Case)


def test_what_is_asked_wrongly_is_said():
    cls = case(*OPS["add"])
    for method, words in (
        (lambda t: t.check_output(rotl=1), "rotl"),
        (lambda t: t.check_grad(["Z"], "Out"), "no input 'Z'; there are ['X', 'Y']"),
        (lambda t: t.attrs.update(axes=1) or t.check_output(), "no parameter for axes"),
        (lambda t: setattr(t, "op_type", "odd") or t.check_output(), "set self.python_api"),
    ):
        test = cls("test_check_output")
        test.setUp()
        with pytest.raises((TypeError, ValueError)) as caught:
            method(test)
        assert words in str(caught.value)
    with pytest.raises(ValueError, match="'sizes'"):
        exempt("sizes", "why")
    for reason in ("", " ", None):
        with pytest.raises(TypeError, match="reason"):
            exempt("size", reason)


def test_random_numbers_start_at_paddle_s_seeds_and_are_put_back():
    np.random.seed(5)
    random.seed(5)
    here = np.random.get_state()[1].copy(), random.getstate()
    drawn_here = []

    class Case(OpTest):
        def test_draw(self):
            drawn_here.append((np.random.rand(), random.random()))

    assert not failures(Case)
    assert drawn_here == [(np.random.RandomState(123).rand(), random.Random(124).random())]
    np.testing.assert_array_equal(np.random.get_state()[1], here[0])
    assert random.getstate() == here[1]


def test_the_scale_of_a_comparison():
    sizes = np.array([0.0, 5e-11, 1e-10, 2e-10, 1e-8, 2e-8, 1e-6, 2e-6, 3.0])
    right = [1e-3, 1e-3, 1e-10, 2e-6, 1e-4, 2e-6, 1e-4, 2e-6, 3.0]
    np.testing.assert_allclose(scale(-sizes, "float64"), right)
    np.testing.assert_array_equal(scale(np.array([9e-4, 1e-3]), "float32"), [1.0, 1e-3])


def test_limits():
    bfloat16()
    assert output_limits("float64", 1e-5, 1e-5, True) == (0.0, 1e-5)
    assert output_limits("float64", 1e-5, 1e-5, False) == (1e-5, 1e-5)
    assert output_limits("float16", 1e-5, 1e-5, True) == (1e-3, 1e-3)
    assert output_limits("bfloat16", 0.5, 1e-5, True) == (0.5, 1e-2)
    assert gradient_limits("float64", 0.005, 0.5, True) == (1e-5, 1e-7)
    assert gradient_limits("float64", 0.01, 0.5, False) == (0.01, 0.5)
    assert gradient_limits("float32", 0.01, 0.5, True) == (0.01, 0.5)
    assert gradient_limits("bfloat16", 0.01, 1e-5, True) == (0.01, 1e-2)


def test_differences():
    one, nan = np.array([1.0, 2.0]), np.array([1.0, np.nan])
    assert value_difference(one, one, 0, 0, False) == ""
    assert "flat index 1 ([1])" in value_difference(one, np.array([1.0, 2.1]), 0, 1e-5, False)
    assert "nan" in value_difference(one, nan, 1e3, 1e3, True)
    assert value_difference(nan, nan, 0, 0, False) and not value_difference(nan, nan, 0, 0, True)
    assert value_difference(np.array([np.inf]), np.array([-np.inf]), 1.0, 1.0, False)
    assert not value_difference(np.array([np.inf]), np.array([np.inf]), 0, 0, False)
    assert "expected [0]" in value_difference(np.zeros(0), np.ones(1), 0, 0, False)
    assert "nan" in gradient_difference(one, nan, "float64", 1e-7)
    assert gradient_difference(np.zeros(3), np.zeros((3, 1)), "float64", 1.0).startswith("shape")
    array = np.array([[1.0, 2.0]])
    found = central_differences(lambda: float((array**3).sum()), array, 1e-5)
    np.testing.assert_allclose(found, [[3.0, 12.0]], rtol=1e-8)
    np.testing.assert_array_equal(array, [[1.0, 2.0]])


def test_a_result_of_zero_size():
    make = lambda: ({"x": np.zeros((0, 3))}, {"Out": np.zeros((0, 3))})  # noqa: E731
    assert not failures(exempt("size", "empty on purpose")(case("square", make)))
