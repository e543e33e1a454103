"""What the arithmetic and mathematical functions promise beyond their records."""

import contextvars

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.device.dtype import as_dtype, finfo
from minipaddle.imperative.autograd import grad
from minipaddle.imperative.functions import arithmetic, math
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import to_tensor
from minipaddle.ops.kernels.cpu import ufunc
from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES
from minipaddle.ops.op import namespace
from tests.ops.operands import FLOATS

F = namespace(get_place("cpu"))
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40])
UNARY = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "cos": np.cos, "cosh": np.cosh, "exp": np.exp,
    "expm1": np.expm1, "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2,
    "reciprocal": np.reciprocal, "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh, "square": np.square, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
}  # fmt: skip
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin,
    "floor_divide": np.floor_divide, "remainder": np.remainder, "atan2": np.arctan2,
    "pow": np.power,
}  # fmt: skip
LARGE = 300_000  # several blocks of float32


@pytest.fixture
def in_blocks(monkeypatch):
    """Whatever is larger than one block is cut into blocks."""
    monkeypatch.setattr(ufunc, "LARGE", BLOCK_BYTES)


def leaf(values, dtype="float64"):
    return to_tensor(np.asarray(values), dtype, stop_gradient=False)


@pytest.mark.parametrize("op", UNARY)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values_are_results_without_a_warning(op, dtype):
    with np.errstate(all="ignore"):
        x = SPECIAL.astype(dtype)
        right = UNARY[op](x)
    np.testing.assert_allclose(FUNCTIONS[op](to_tensor(x)).numpy(), right, rtol=1e-6)
    if np.dtype(dtype) == np.float32 and op not in ("sin", "cos", "tan"):
        half = FUNCTIONS[op](to_tensor(x).astype("float16"))
        assert half.dtype == np.float16


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_pairs_are_results_without_a_warning(op, dtype):
    with np.errstate(all="ignore"):
        x = SPECIAL.astype(dtype)
        right = BINARY[op](x[:, None], x)
    found = FUNCTIONS[op](to_tensor(x[:, None]), to_tensor(x)).numpy()
    np.testing.assert_allclose(found, right, rtol=1e-6)


@pytest.mark.parametrize("op", [*UNARY, "rsqrt", "round", "logit", "abs", "neg", "sign", "relu"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_large_array_has_the_bits_of_its_parts(op, dtype, in_blocks):
    x = np.linspace(-3, 3, 2 * LARGE).astype(as_dtype(dtype))
    whole = getattr(F, op)(x.reshape(2, LARGE))
    assert whole.dtype == x.dtype and whole.shape == (2, LARGE)
    for part in (slice(0, 64), slice(LARGE - 32, LARGE + 32), slice(-64, None)):
        assert whole.reshape(-1)[part].tobytes() == getattr(F, op)(x[part]).tobytes()


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("dtype", FLOATS)
def test_large_pairs_have_the_bits_of_their_parts(op, dtype, in_blocks):
    x = np.linspace(0.5, 9, 2 * LARGE).astype(as_dtype(dtype)).reshape(2, LARGE)
    y = np.linspace(2, 0.1, LARGE).astype(as_dtype(dtype))
    compute = getattr(F, op)
    pairs = [(x, y), (x, x[::-1]), (x, x[0, :1])]
    if op != "atan2":
        pairs += [(x, 0.3), (0.3, x)]
    for a, b in pairs:
        whole = compute(a, b)
        assert whole.dtype == x.dtype and whole.shape == x.shape
        for part in (slice(0, 64), slice(140_000, 140_064), slice(-64, None)):
            one, two = (v[..., part] if np.size(v) > 1 else v for v in (a, b))
            assert whole[:, part].tobytes() == compute(one, two).tobytes()


@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide"])
def test_large_arrays_are_written_in_place(op, in_blocks):
    x = np.linspace(1, 2, LARGE, dtype=np.float32)
    for y in (0.3, x.copy(), x[::-1].copy()):
        written = x.copy()
        assert getattr(F, op + "_")(written, y) is written
        np.testing.assert_array_equal(written, getattr(F, op)(x, y))
    for dtype in ("float32", "float16"):
        written = np.concatenate([x, x]).astype(dtype)
        right = F.exp(written)
        assert F.exp_(written) is written
        np.testing.assert_array_equal(written, right)
        gaps = np.concatenate([x, x, x, x]).astype(dtype)[::2]
        np.testing.assert_array_equal(F.exp_(gaps.copy()), F.exp_(gaps))
    shifted = np.concatenate([x, x])
    right = getattr(F, op)(shifted[1 : LARGE + 1], shifted[:LARGE])
    getattr(F, op + "_")(shifted[1 : LARGE + 1], shifted[:LARGE])
    np.testing.assert_array_equal(shifted[1 : LARGE + 1], right)


def test_the_quotient_of_float32_is_rounded_down_exactly():
    rng = np.random.default_rng(2)
    y = rng.uniform(0.01, 3, 50_000).astype(np.float32)
    x = (np.rint(rng.uniform(-99, 99, y.size)) * y).astype(np.float32)  # near whole quotients
    for sign in (1, -1):
        np.testing.assert_array_equal(F.floor_divide(x, sign * y), np.floor_divide(x, sign * y))
        np.testing.assert_array_equal(F.remainder(x, sign * y), np.remainder(x, sign * y))
    assert F.floor_divide(np.float32([1.0]), 0.1) == 9  # 0.1 as float32 is more than a tenth
    far = np.float32([1e30, -1e30, 3e38])
    np.testing.assert_array_equal(F.remainder(far, np.float32(7)), np.remainder(far, np.float32(7)))


def test_a_tie_gives_the_gradient_to_one_side():
    for op, right in (("maximum", 0.0), ("minimum", 0.0), ("fmax", 1.0), ("fmin", 1.0)):
        for recorded in (False, True):
            x, y = leaf([2.0]), leaf([2.0])
            FUNCTIONS[op](x, y).backward(create_graph=recorded)
            assert [x.grad.item(), y.grad.item()] == [right, 1.0 - right], op


def test_gradients_of_powers_at_zero():
    for recorded in (False, True):
        x, y = leaf([0.0, 0.0, 2.0, 0.0]), leaf([0.0, 2.0, 0.0, 1.0])
        arithmetic.pow(x, y).sum().backward(create_graph=recorded)
        assert x.grad.tolist() == [0.0, 0.0, 0.0, 1.0]
        np.testing.assert_allclose(y.grad.numpy(), [0.0, 0.0, np.log(2.0), 0.0])
        x = leaf([0.0, -3.0])
        (x**0).sum().backward(create_graph=recorded)
        assert x.grad.tolist() == [0.0, 0.0]
        y = leaf([0.0, 1.0])
        (0**y).sum().backward(create_graph=recorded)
        assert y.grad.tolist() == [0.0, 0.0]


def test_the_gradient_of_clip_is_zero_outside_the_bounds():
    for recorded in (False, True):
        x = leaf([-2.0, -1.0, 0.0, 1.0, 2.0])
        math.clip(x, -1.0, 1.0).sum().backward(create_graph=recorded)
        assert x.grad.tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]


def test_halves_are_rounded_to_even():
    below = np.nextafter(np.float32(0.5), np.float32(0))
    x = np.float32([0.5, -0.5, 1.5, 2.5, below, -below, 2**23 + 1, -(2**22) - 0.5, np.inf, np.nan])
    right = [0, -0.0, 2, 2, 0, -0.0, 2**23 + 1, -(2**22), np.inf, np.nan]
    np.testing.assert_array_equal(F.round(x), np.float32(right))
    assert np.signbit(F.round(np.float32([-0.2])))


def test_quiet_works_inside_of_itself():
    def nested(x):
        return ufunc.quiet(np.log, x)

    assert ufunc.quiet(nested, np.zeros(1)) == -np.inf
    before = np.geterr()
    assert contextvars.copy_context().run(np.geterr) == before and "warn" in before.values()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_nan_to_num_gives_the_limits_of_the_dtype_and_no_gradient(dtype):
    x = to_tensor([np.nan, np.inf, -np.inf, 1.5], dtype, stop_gradient=False)
    largest = finfo(dtype).max
    assert math.nan_to_num(x).tolist() == [0.0, largest, -largest, 1.5]
    out = math.nan_to_num(x, 2.0, 3.0, 4.0)
    assert out.tolist() == [2.0, 3.0, 4.0, 1.5]
    (first,) = grad(out.sum(), x, create_graph=True)
    assert first.tolist() == [0.0, 0.0, 0.0, 1.0]
    y = x * 1.0
    assert math.nan_to_num_(y) is y and y.tolist() == [0.0, largest, -largest, 1.5]
