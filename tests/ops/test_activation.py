"""What activations promise beyond their records: infinities, tails, large arrays, strange axes."""

import math

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import to_tensor
from minipaddle.ops.kernels.cpu import erf as erf_module
from minipaddle.ops.op import OPS, namespace

F = namespace(get_place("cpu"))
INF, NAN = math.inf, math.nan
DTYPES = ["float16", "bfloat16", "float32", "float64"]
ENDS = [-INF, -200.0, 0.0, 200.0, INF, NAN]
# At ENDS. As in PyTorch; for gelu at the infinities, where that gives NaN, the limits.
VALUES = {
    ("erf",): [-1, -1, 0, 1, 1, NAN],
    ("sigmoid",): [0, 0, 0.5, 1, 1, NAN],
    ("silu",): [NAN, 0, 0, 200, INF, NAN],
    ("gelu",): [0, 0, 0, 200, INF, NAN],
    ("gelu", True): [NAN, 0, 0, 200, INF, NAN],
    ("softplus",): [0, 0, math.log(2), 200, INF, NAN],
    ("softplus", 0.5, INF): [0, 0, 2 * math.log(2), 200, INF, NAN],
    ("relu",): [0, 0, 0, 200, INF, NAN],
    ("leaky_relu", 0.5): [-INF, -100, 0, 200, INF, NAN],
    ("elu", 2.0): [-2, -2, 0, 200, INF, NAN],
    ("hardtanh",): [-1, -1, 0, 1, 1, NAN],
    ("hardsigmoid",): [0, 0, 0.5, 1, 1, NAN],
    ("hardswish",): [NAN, 0, 0, 200, INF, NAN],
    ("thresholded_relu", 1.0, -2.0): [-2, -2, -2, 200, INF, NAN],
    ("thresholded_relu", -INF): [0, -200, 0, 200, INF, NAN],
    ("thresholded_relu", INF): [0, 0, 0, 0, INF, NAN],
}
# Gradients at ENDS without NaN; those of silu and hardswish at -inf are not asked for.
GRADIENTS = {
    ("erf",): [0, 0, 2 / math.sqrt(math.pi), 0, 0],
    ("sigmoid",): [0, 0, 0.25, 0, 0],
    ("silu",): [None, 0, 0.5, 1, None],
    ("gelu",): [None, 0, 0.5, 1, None],
    ("gelu", True): [0, 0, 0.5, 1, 1],
    ("softplus",): [0, 0, 0.5, 1, 1],
    ("relu",): [0, 0, 0, 1, 1],
    ("leaky_relu", 0.5): [0.5, 0.5, 0.5, 1, 1],
    ("elu", 2.0): [0, 0, 2, 1, 1],
    ("hardtanh",): [0, 0, 1, 0, 0],
    ("hardsigmoid",): [0, 0, 0.1666667, 0, 0],
    ("hardswish",): [0, 0, 0.5, 1, 1],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", VALUES, ids=str)
def test_values_at_the_ends(case, dtype):
    name, *attributes = case
    out = FUNCTIONS[name](to_tensor(ENDS, dtype=dtype), *attributes).numpy().astype("float64")
    np.testing.assert_allclose(out, VALUES[case], rtol=2**-7, atol=1e-30)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", GRADIENTS, ids=str)
def test_gradients_at_the_ends(case, dtype):
    name, *attributes = case
    x = to_tensor(ENDS[:-1], dtype=dtype, stop_gradient=False)
    FUNCTIONS[name](x, *attributes).backward()
    found = x.grad.numpy().astype("float64")
    asked = [i for i, value in enumerate(GRADIENTS[case]) if value is not None]
    right = [GRADIENTS[case][i] for i in asked]
    np.testing.assert_allclose(found[asked], right, rtol=2**-7, atol=1e-30)


def test_erf_is_exact_to_1e_15():
    x = np.concatenate([np.linspace(-6.5, 6.5, 40001), np.geomspace(1e-300, 1, 2000)])
    right = np.array([math.erf(v) for v in x])
    np.testing.assert_allclose(F.erf(x), right, rtol=1e-15, atol=0)
    single = x.astype("float32")
    right = np.array([math.erf(v) for v in single])
    eps = np.finfo("float32").eps
    np.testing.assert_allclose(F.erf(single), right, rtol=3 * eps, atol=1e-45)


def _exact_gelu(x):
    return np.array([v / 2 * math.erfc(-v / math.sqrt(2)) for v in x.astype("float64")])


def test_the_left_tail_of_gelu_keeps_its_relative_accuracy_in_float64():
    x = np.linspace(-37, -0.01, 5001)
    wrong = abs(F.gelu(x) / _exact_gelu(x) - 1)
    # A few units, and those of x² / 2 before the exponential; math.erfc has as many.
    assert (wrong <= np.finfo("float64").eps * (8 + x**2)).all()


def test_gelu_in_float32_is_good_to_units_of_x():
    x = np.concatenate([np.linspace(-13, 13, 20001), np.geomspace(1e-30, 1, 2000)])
    x = x.astype("float32")
    found = F.gelu(x).astype("float64")
    wrong = abs(found - _exact_gelu(x)) / abs(np.where(x, x, 1).astype("float64"))
    assert wrong.max() <= 2 * np.finfo("float32").eps
    assert (found[x < -6] == 0).all() and (found[x > 6] == x[x > 6]).all()


def test_gelu_by_tanh_and_sigmoid_keep_theirs():
    x = np.linspace(-80, -1, 1001).astype("float32")
    right = 1 / (1 + np.exp(-x.astype("float64")))
    np.testing.assert_allclose(F.sigmoid(x), right, rtol=1e-6)
    np.testing.assert_allclose(F.silu(x), x * right, rtol=1e-6)
    np.testing.assert_allclose(F.softplus(x), np.log1p(np.exp(x.astype("float64"))), rtol=1e-6)


def test_the_normal_tail_at_zero_and_far_out():
    x = np.array([0.0, -0.0, 1e30, -INF])
    np.testing.assert_allclose(erf_module.normal_tail(x), [0.5, 0.5, 0, 0], rtol=1e-15)
    assert not erf_module.normal_tail(x, weighted=True).any()


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_with_infinities(name, dtype):
    rows = [[-INF, -INF], [INF, 0.0], [NAN, 0.0], [-INF, 0.0], [3e4, -3e4]]
    out = FUNCTIONS[name](to_tensor(rows, dtype=dtype)).numpy().astype("float64")
    assert np.isnan(out[:1]).all() and np.isnan(out[2]).all() and np.isnan(out[1, 0])
    right = np.array([[0.0, 1.0], [1.0, 0.0]])
    if name == "log_softmax":
        right = np.array([[-INF, 0.0], [0.0, -6e4]])
    np.testing.assert_allclose(out[3:], right, rtol=2**-8)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_large_arrays_along_any_axis(name, axis):
    """Larger than a block, contiguous or not, also where the gradient is laid out differently."""
    x = np.random.default_rng(axis).standard_normal((40, 90, 70))
    e = np.exp(x)
    right = e / e.sum(axis, keepdims=True)
    kernel = getattr(F, name)
    for given in (x, x.transpose(2, 0, 1).copy().transpose(1, 2, 0), np.repeat(x, 2, 0)[::2]):
        found = kernel(given, axis)
        np.testing.assert_allclose(np.exp(found) if name[0] == "l" else found, right, rtol=1e-12)
    g = np.random.default_rng(9).standard_normal((70, 90, 40)).T
    out = kernel(x, axis)
    backward = OPS[name].backward
    fused = backward.fused["cpu"](out, g, axis, (True,), None)[0]
    np.testing.assert_allclose(fused, backward.formula(F, out, g, axis)[0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["erf", "gelu", "silu", "softplus", "elu", "leaky_relu", "relu"])
def test_large_arrays_are_their_pieces(name, dtype):
    x = to_tensor(np.random.default_rng(1).standard_normal((3, 300_001)), dtype=dtype)
    whole = FUNCTIONS[name](x).numpy()
    for at in (0, 16_000, 299_000):
        part = FUNCTIONS[name](to_tensor(x.numpy()[:, at : at + 1000])).numpy()
        right, eps = part.astype("float64"), 2.0**-7 if dtype == "bfloat16" else 2.0**-10
        if dtype in ("float32", "float64"):
            eps = 4 * np.finfo(dtype).eps
        np.testing.assert_allclose(whole[:, at : at + 1000].astype("float64"), right, rtol=eps)


def test_softmax_in_place_keeps_the_dtype():
    x = to_tensor([0.0, 0.0])
    assert FUNCTIONS["softmax_"](x, 0, "float32") is x and x.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match=r"softmax_ writes into x, which is float32 and not flo"):
        FUNCTIONS["softmax_"](x, 0, "float64")
