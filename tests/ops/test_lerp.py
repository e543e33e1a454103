"""lerp's own rules: exact ends, far ends, half types, weights of every kind, large arrays."""

import numpy as np
import pytest

from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.autograd import grad, no_grad
from minipaddle.imperative.functions.elementwise import lerp, lerp_
from minipaddle.imperative.functions.reduction import mean
from minipaddle.imperative.functions.reduction import sum as total
from minipaddle.imperative.tensor import to_tensor
from minipaddle.ops.op import OPS
from minipaddle.testing.derivative import check_first_order, check_second_order
from minipaddle.testing.operands import FLOATS
from tests.ops.lerp_check import check_gradients, leaf
from tests.ops.samples import RECORDS
from tests.ops.samples.sample import values

HALVES = ("float16", "bfloat16")


def test_regression_x_2_1_2_50_with_y_2_2_1_50(place):
    for w in (np.float64(0.3), values((2, 2, 2, 50), 3), values((50,), 3)):
        check_gradients(values((2, 1, 2, 50), 1), values((2, 2, 1, 50), 2), w, place)


def test_regression_equal_x_and_y_50_2_2_3_with_weight_3(place):
    x = np.full((50, 2, 2, 3), 2.5)
    check_gradients(x, x, np.array([0.1, 0.5, 0.9]), place)
    ends = [to_tensor(x, place=place) for _ in range(2)]
    out = lerp(*ends, to_tensor([0.1, 0.5, 0.9], "float64", place))
    np.testing.assert_array_equal(out.numpy(), x)


@pytest.mark.parametrize(
    ("x", "y", "w"),
    [
        ((2, 3), (4, 2, 3), ()),
        ((4, 2, 3), (2, 3), ()),
        ((2, 3), (4, 2, 3), (4, 2, 3)),
        ((1,), (3, 1), ()),
        ((3, 1), (1,), (1, 1, 1)),
        ((5,), (7, 1, 5), (5,)),
        ((3,), (3,), (5, 1)),
        ((2, 5), (2, 2, 5), (2, 2, 2, 5)),
        ((16, 1, 1, 1), (16, 3, 9, 9), (3, 1, 9)),
        ((), (2, 2), ()),
        ((2, 2), (), (2, 1)),
        ((), (), (2, 3)),
    ],
)
def test_ranks_that_differ_where_the_tails_are_equal(x, y, w, place):
    """Each gradient is summed over the axes that its operand lacks, never cut to a slice."""
    check_gradients(values(x, 1), values(y, 2), values(w, 3), place)


def test_a_weight_of_shape_5_is_no_number(place):
    w = np.linspace(0.0, 1.0, 5)
    out = lerp(*(to_tensor(a, place=place) for a in (np.zeros(5), np.ones(5), w)))
    np.testing.assert_array_equal(out.numpy(), w)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_a_weight_of_one_element_is_a_number_of_any_rank(shape, place):
    x, y = values((2, 3), 1), values((2, 3), 2)
    for number in (0.25, 0.75):
        plain = lerp(to_tensor(x, place=place), to_tensor(y, place=place), number)
        w = to_tensor(np.full(shape, number), place=place)
        out = lerp(to_tensor(x, place=place), to_tensor(y, place=place), w)
        # Its rank still counts for the shape of the result.
        assert out.shape == ([1] * (len(shape) - 2) + [2, 3])
        np.testing.assert_array_equal(out.numpy().reshape(2, 3), plain.numpy())


def test_a_weight_row_over_one_column_spreads_the_ends(place):
    """L1: the weight alone has the higher rank."""
    x, y = leaf(np.zeros(3), place), leaf(np.ones(3), place)
    w = leaf(np.linspace(0, 1, 5)[:, None], place)
    out = lerp(x, y, w)
    assert out.shape == [5, 3]
    out.backward()
    np.testing.assert_allclose(x.grad.numpy(), [2.5] * 3)
    np.testing.assert_allclose(y.grad.numpy(), [2.5] * 3)
    np.testing.assert_array_equal(w.grad.numpy(), np.full((5, 1), 3.0))


@pytest.mark.parametrize("dtype", FLOATS)
def test_both_ends_are_met_exactly(dtype, place):
    x, y = (values((200,), i).astype(as_dtype(dtype)) * 100 for i in (1, 2))
    x[:2], y[:2] = (1e-3, 30.0), (30.0, -1e-3)
    for w in (0.0, 0, to_tensor(np.zeros(200, x.dtype), place=place), np.zeros((), x.dtype)):
        out = lerp(to_tensor(x, place=place), to_tensor(y, place=place), w)
        assert out.numpy().tobytes() == x.tobytes()
    for w in (1.0, 1, to_tensor(np.ones(200, x.dtype), place=place), np.ones((), x.dtype)):
        out = lerp(to_tensor(x, place=place), to_tensor(y, place=place), w)
        assert out.numpy().tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
def test_between_equal_ends_there_is_only_that_value(dtype, place):
    a = (values((300,), 5) * np.logspace(-3, 3, 300)).astype(as_dtype(dtype))
    x = to_tensor(a, place=place)
    for w in (0.1, 0.3, 0.5, 0.7, 1 / 3, -2.3, 7.7):
        assert lerp(x, x, w).numpy().tobytes() == a.tobytes()
    w = to_tensor(values((300,), 6).astype(a.dtype), place=place)
    assert lerp(x, x, w).numpy().tobytes() == a.tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
def test_finite_ends_give_a_finite_result(dtype, place):
    """L7: y - x overflows although every value between is finite."""
    big = float(np.finfo(np.float64).max) if dtype == "float64" else {
        "float16": 65504.0, "bfloat16": 3.3895e38, "float32": 3.4028e38
    }[dtype]  # fmt: skip
    x = to_tensor(np.array([big, big, big, -big, 1.0]), dtype, place)
    y = to_tensor(np.array([-big, -big, -big, big, 3.0]), dtype, place)
    w = to_tensor(np.array([0.0, 0.5, 1.0, 0.25, 0.5]), dtype, place)
    ends = x.numpy()[0].astype(np.float64)
    right = [ends, 0.0, -ends, -0.5 * ends, 2.0]
    np.testing.assert_allclose(
        lerp(x, y, w).numpy().astype(np.float64), right, rtol=1e-2, atol=0, strict=True
    )
    for number in (0.0, 0.25, 0.5, 1.0):
        out = lerp(x, y, number).numpy().astype(np.float64)
        assert np.isfinite(out).all()
        assert out[4] == 1.0 + 2.0 * number  # a neighbour of the far pair keeps its own formula
    written = to_tensor(x.numpy(), place=place)
    np.testing.assert_array_equal(lerp_(written, y, w).numpy(), lerp(x, y, w).numpy())


def test_no_warning_escapes(place, recwarn):
    x = to_tensor(np.array([3e38, np.inf, np.nan, 1e-45], np.float32), place=place)
    y = to_tensor(np.array([-3e38, -np.inf, 1.0, -1e-45], np.float32), place=place)
    for t in (x, y):
        t.stop_gradient = False
    with np.errstate(all="raise"):
        for w in (0.5, 3.0, to_tensor(np.full(4, 0.7, np.float32), place=place)):
            lerp(x, y, w).backward()
    assert not recwarn.list


def test_infinite_and_nan_ends_are_not_hidden(place):
    def at(x, y, w):
        tensors = (to_tensor(np.array([v]), place=place) for v in (x, y))
        return lerp(*tensors, w).numpy()[0]

    for w in (0.25, 0.5, 0.75):
        assert np.isnan(at(1.0, np.nan, w)) and np.isnan(at(np.nan, 1.0, w))
        # From the far end the two-branch form has inf - inf: NaN, as in PyTorch, never finite.
        assert not np.isfinite(at(1.0, np.inf, w)) and not np.isfinite(at(-np.inf, 1.0, w))
        assert np.isnan(at(-np.inf, np.inf, w))
    assert at(1.0, np.inf, 0.25) == np.inf and at(1.0, -np.inf, 0.25) == -np.inf
    assert np.isnan(at(1.0, 2.0, float("nan")))


def test_weights_outside_the_unit_interval_extrapolate(place):
    x, y = values((50,), 1), values((50,), 2)
    for w in (-3.0, -0.5, 1.5, 4.0):
        out = lerp(to_tensor(x, place=place), to_tensor(y, place=place), w).numpy()
        np.testing.assert_allclose(out, x + w * (y - x), rtol=1e-13, atol=1e-13)


def single(x, y, w):
    """lerp's two branches in float32, written from the definition."""
    x, y, w = (np.asarray(a, np.float32) for a in (x, y, w))
    d = y - x
    return np.where(w < 0.5, x + w * d, y - (1 - w) * d)


@pytest.mark.parametrize("dtype", HALVES)
def test_half_types_are_computed_in_float32_and_rounded_once(dtype, place):
    x, y = (values((4000,), i).astype(as_dtype(dtype)) for i in (1, 2))
    w = (values((4000,), 3) * 0.25 + 0.5).astype(x.dtype)
    out = lerp(*(to_tensor(a, place=place) for a in (x, y, w))).numpy()
    assert out.dtype == x.dtype
    np.testing.assert_array_equal(out, single(x, y, w).astype(x.dtype))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("number", [0.1, 0.3, 0.7, 1 / 3, 0.999])
def test_a_python_weight_is_never_rounded_to_a_half_type(dtype, number, place):
    x, y = ((8 * values((4000,), i)).astype(as_dtype(dtype)) for i in (1, 2))
    out = lerp(to_tensor(x, place=place), to_tensor(y, place=place), number).numpy()
    w = number if number < 0.5 else 1 - number
    d = y.astype(np.float32) - x.astype(np.float32)
    near = x.astype(np.float32) if number < 0.5 else y.astype(np.float32)
    right = near + np.float32(w) * d if number < 0.5 else near - np.float32(w) * d
    np.testing.assert_array_equal(out, right.astype(x.dtype))
    rounded = single(x, y, np.asarray(number).astype(x.dtype)).astype(x.dtype)
    assert (out != rounded).any()  # rounding the weight first would have shown


@pytest.mark.parametrize("dtype", HALVES)
def test_half_gradients_are_summed_in_float32(dtype, place):
    """2,000 terms of 0.25: a half-type sum stops growing once the terms are below half a unit."""
    x, y = leaf(np.ones(()), place, dtype), leaf(np.full((2000,), 3.0), place, dtype)
    w = leaf(np.full((), 0.75), place, dtype)
    lerp(x, y, w).backward()
    assert [t.grad.dtype for t in (x, y, w)] == [as_dtype(dtype)] * 3
    for t, exact in ((x, 500.0), (w, 4000.0)):
        assert t.grad.numpy() == np.asarray(exact).astype(as_dtype(dtype))
    np.testing.assert_array_equal(y.grad.numpy().astype(float), np.full(2000, 0.75))


@pytest.mark.parametrize("number", [1, 0, True, np.int64(1), np.float32(0.25)])
def test_numbers_of_other_kinds_are_weights(number, place):
    x, y = values((3,), 1), values((3,), 2)
    out = lerp(to_tensor(x, place=place), to_tensor(y, place=place), number).numpy()
    np.testing.assert_array_equal(out, x + float(number) * (y - x) if number != 1 else y)


def test_only_the_weight_wants_a_gradient(place):
    """L3: the graph must not be cut, and a 0-d weight gets the sum."""
    x, y = (to_tensor(np.array(a), place=place) for a in ([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]))
    w = leaf(np.full(3, 0.5), place)
    out = lerp(x, y, w)
    assert not out.stop_gradient
    out.backward()
    assert w.grad.tolist() == [4.0, 3.0, 2.0] and x.grad is None and y.grad is None
    for shape in ((), (1,), (1, 1)):
        w = leaf(np.full(shape, 0.5), place)
        total(lerp(x, y, w)).backward()
        assert w.grad.shape == list(shape) and w.grad.numpy().item() == 9.0


@pytest.mark.parametrize("wanting", ["x", "y"])
def test_only_one_end_wants_a_gradient(wanting, place):
    x, y = to_tensor(np.ones((2, 1)), place=place), to_tensor(np.ones((3,)), place=place)
    {"x": x, "y": y}[wanting].stop_gradient = False
    lerp(x, y, 0.25).backward()
    assert (x.grad is None) == (wanting != "x") and (y.grad is None) == (wanting != "y")
    if wanting == "x":
        assert x.grad.tolist() == [[2.25], [2.25]]
    else:
        assert y.grad.tolist() == [0.5, 0.5, 0.5]


def test_only_what_the_gradient_needs_is_kept(place):
    x, y = leaf(np.ones(3), place), leaf(np.ones(3), place)
    node = lerp(x, y, 0.5).edge
    assert node.saved[:2] == (None, None)
    w = to_tensor(np.full(3, 0.5), place=place)
    assert lerp(x, y, w).edge.saved[:2] == (None, None)
    out = lerp(x, y, w)
    with no_grad():
        x.set_value(np.zeros(3))  # the gradient of an end does not need the ends
    out.backward()
    assert x.grad.tolist() == [0.5] * 3
    out = lerp(x, y, w)
    w.set_value(np.zeros(3))
    with pytest.raises(RuntimeError, match="lerp needs was changed in place"):
        out.backward()


def test_zero_dimensional_operands(place):
    """L9: 0-d stays 0-d, forward and backward."""
    x, y = leaf(np.float64(1.0), place), leaf(np.full((2, 2), 3.0), place)
    w = to_tensor(np.float64(0.25), place=place)
    out = lerp(x, y, w)
    assert out.shape == [2, 2] and out.numpy()[0, 0] == 1.5
    out.backward()
    assert x.grad.shape == [] and x.grad.numpy() == 3.0
    assert y.grad.tolist() == [[0.25] * 2] * 2
    z = lerp(x, to_tensor(np.float64(5.0), place=place), w)
    assert z.shape == [] and z.numpy() == 2.0
    assert lerp(y, x, 0.5).shape == [2, 2]
    assert lerp(x, x, to_tensor(np.array([0.5]), place=place)).shape == [1]


@pytest.mark.parametrize(
    ("x", "y", "w"),
    [
        ((0,), (0,), ()),
        ((0, 3), (1, 3), (3,)),
        ((1, 3), (0, 3), ()),
        ((), (0,), ()),
        ((2, 1), (2, 0), (2, 1)),
        ((1, 3), (1, 3), (0, 3)),
    ],
)
def test_nothing_to_interpolate(x, y, w, place):
    """The side that is not empty has a gradient of 0."""
    leaves = [leaf(np.ones(shape), place) for shape in (x, y, w)]
    out = lerp(*leaves)
    assert out.size == 0 and out.shape == list(np.broadcast_shapes(x, y, w))
    out.backward()
    for t, shape in zip(leaves, (x, y, w), strict=True):
        np.testing.assert_array_equal(t.grad.numpy(), np.zeros(shape))


def numeric(function, array, delta=1e-5):
    """Central differences in float64 with the op itself, as Paddle's OpTest takes them."""
    gradient = np.empty_like(array)
    for at in np.ndindex(*array.shape):
        moved = array.copy()
        moved[at] = array[at] + delta
        high = function(moved)
        moved[at] = array[at] - delta
        gradient[at] = (high - function(moved)) / delta / 2
    return gradient


def relative_error(found, right):
    """OpTest's measure for float64: relative, with a floor in steps for tiny gradients."""
    size = abs(right)
    size = np.where(size < 1e-10, 1e-3, np.where(size <= 1e-8, size * 1e4, size))
    size = np.where((size > 1e-8) & (size <= 1e-6), size * 1e2, size)
    return (abs(found - right) / size).max()


@pytest.mark.parametrize(
    ("x_shape", "y_shape", "w_shape"),
    [
        ((100,), (100,), (1,)),
        ((2, 50), (2, 50), (1,)),
        ((2, 2, 25), (2, 2, 25), ()),
        ((2, 1, 2, 50), (2, 2, 1, 50), (1,)),
        ((50, 2), (3, 50, 2), (50, 2)),
    ],
)
def test_as_paddle_checks_it(x_shape, y_shape, w_shape):
    """delta 1e-5, loss = mean, limit 1e-7.

    The noise of the differences is eps * mean / (2 delta): with values of 2 to 4 and gradients
    above 1 / 600 it stays near 1e-8 of them.
    """
    x, y = values(x_shape, 1) / 8 + 2, values(y_shape, 2) / 8 + 4
    w = np.asarray(values(w_shape, 3) / 8 + 0.5)
    given = [x, y, w]
    leaves = [leaf(a, "cpu") for a in given]
    mean(lerp(*leaves)).backward()
    for i, t in enumerate(leaves):

        def loss(moved, i=i):
            args = [to_tensor(a, place="cpu") for a in (*given[:i], moved, *given[i + 1 :])]
            return mean(lerp(*args)).numpy()

        assert relative_error(t.grad.numpy(), numeric(loss, given[i])) <= 1e-7


def test_second_order_by_hand(place):
    """d/dw of the gradients: -c for x and c for y; of w's gradient: -c by x and c by y."""
    x, y, w = (leaf(np.array([v]), place) for v in (2.0, 5.0, 0.25))
    c = leaf(np.array([3.0]), place)
    gx, gy, gw = grad(lerp(x, y, w), [x, y, w], c, create_graph=True)
    assert [g.numpy().item() for g in (gx, gy, gw)] == [2.25, 0.75, 9.0]
    for g, by_w, by_c in ((gx, -3.0, 0.75), (gy, 3.0, 0.25)):
        found = grad(g, [w, c], retain_graph=True)
        assert [f.numpy().item() for f in found] == [by_w, by_c]
    found = grad(gw, [x, y, c])
    assert [f.numpy().item() for f in found] == [-3.0, 3.0, 3.0]


@pytest.mark.parametrize("sample", RECORDS["lerp"].samples, ids=lambda s: s.name.replace(" ", "_"))
def test_every_sample_first_and_second_order(sample, place):
    check_first_order(RECORDS["lerp"], sample, place)
    check_second_order(RECORDS["lerp"], sample, place)


def test_the_plan_keeps_ends_for_the_weight_alone():
    saved = {s.argument: s.only_for for s in OPS["lerp"].backward.saved}
    assert saved == {
        "x": "weight", "y": "weight", "weight": None, "x_shape": None, "y_shape": None
    }  # fmt: skip
