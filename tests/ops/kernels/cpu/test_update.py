"""Optimizer updates in blocks: parameters of any size and layout, flat gradient and moments."""

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES
from minipaddle.ops.kernels.cpu.update import UNTREATED
from minipaddle.ops.op import namespace
from tests.ops.samples.sample import values

F = namespace(get_place("cpu"))
N = BLOCK_BYTES // 8
ADAM = (0.01, 0.9, 0.999, 1e-8, 0.0)  # learning_rate, beta1, beta2, epsilon, decay

LAYOUTS = {
    "many small": [(3,), (2, 2), ()] * 50,
    "one large": [(3 * N + 7,)],
    "large between small": [(5,), (2, N), (4,), (N + 1, 3), ()],
    "just a block": [(N,), (N,)],
    "one more than a block": [(N - 1,), (2,), (N,)],
    "empty ones": [(0,), (3, 0), (2,), (0,)],
}


def parts(flat, params):
    ends = np.cumsum([p.size for p in params])[:-1]
    return [part.reshape(p.shape) for part, p in zip(np.split(flat, ends), params, strict=True)]


def made(shapes, strided):
    for i, shape in enumerate(shapes):
        if not strided or not shape:
            yield values(shape, i)
        else:  # a parameter that is a view with gaps, as after p.data was re-pointed
            yield values((*shape[:-1], 2 * shape[-1]), i)[..., ::2]


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sgd(layout, strided):
    params = list(made(LAYOUTS[layout], strided))
    before = [p.copy() for p in params]
    grad = values((sum(p.size for p in params),), 99)
    kept = grad.copy()
    F.sgd_(params, grad, None, 0.1, *UNTREATED)
    for p, old, g in zip(params, before, parts(grad, params), strict=True):
        np.testing.assert_array_equal(p, old - 0.1 * g)
    np.testing.assert_array_equal(grad, kept)


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_adam_over_three_steps(layout, strided):
    params = list(made(LAYOUTS[layout], strided))
    size = sum(p.size for p in params)
    right = [p.copy() for p in params]
    m, v = np.zeros(size), np.zeros(size)
    m_right, v_right = np.zeros(size), np.zeros(size)
    for step in (1, 2, 3):
        grad = values((size,), step)
        F.adam_(params, grad, None, m, v, None, *ADAM, step, *UNTREATED)
        m_right = 0.9 * m_right + 0.1 * grad
        v_right = 0.999 * v_right + 0.001 * grad**2
        change = (m_right / (1 - 0.9**step)) / (np.sqrt(v_right / (1 - 0.999**step)) + 1e-8)
        right = [r - 0.01 * c for r, c in zip(right, parts(change, params), strict=True)]
    for p, r in zip(params, right, strict=True):
        np.testing.assert_allclose(p, r, rtol=0, atol=1e-14)
    np.testing.assert_allclose(m, m_right, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(v, v_right, rtol=1e-13)


def test_the_step_does_not_depend_on_how_parameters_are_cut():
    whole = values((6 * N,), 1)
    grad = values((6 * N,), 2)
    one, pieces = whole.copy(), np.split(whole.copy(), [1, 3, N, N + 1, 4 * N])
    for params in ([one], pieces):
        moments = np.zeros(6 * N), np.zeros(6 * N)
        F.adam_(params, grad, None, *moments, None, *ADAM, 1, *UNTREATED)
    np.testing.assert_array_equal(np.concatenate(pieces), one)


def test_a_zero_gradient_changes_nothing_and_gives_no_nan():
    param, moments = np.ones(3), (np.zeros(3), np.zeros(3))
    F.adam_([param], np.zeros(3), None, *moments, None, *ADAM, 1, *UNTREATED)
    np.testing.assert_array_equal(param, [1.0] * 3)


def test_no_parameters():
    F.sgd_([], np.zeros(0), None, 0.1, *UNTREATED)
    empty = np.zeros(0)
    F.adam_([], empty, None, empty, empty, None, *ADAM, 1, *UNTREATED)
