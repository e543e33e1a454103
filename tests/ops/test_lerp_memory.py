"""lerp in place, on views, on arrays of several blocks and where memory overlaps."""

import numpy as np
import pytest

from minipaddle.imperative.autograd import no_grad
from minipaddle.imperative.functions.elementwise import assign, lerp, lerp_
from minipaddle.imperative.functions.reduction import sum as total
from minipaddle.imperative.functions.shape import reshape
from minipaddle.imperative.tensor import to_tensor
from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES
from tests.ops.lerp_check import check_gradients, leaf
from tests.ops.samples.sample import values


def test_in_place_writes_x_and_returns_it(place):
    x, y = values((2, 3), 1), values((3,), 2)
    t = to_tensor(x, place=place)
    data = t.data
    assert lerp_(t, to_tensor(y, place=place), 0.75) is t
    assert t.data is data and t.inplace_version == 1
    np.testing.assert_array_equal(
        t.numpy(), lerp(to_tensor(x, place=place), to_tensor(y, place=place), 0.75).numpy()
    )
    assert t.lerp_(t, 0.5) is t
    scalar = to_tensor(np.float64(1.0), place=place)
    assert scalar.lerp_(to_tensor(np.float64(3.0), place=place), 0.5).shape == []
    assert scalar.numpy() == 2.0


def test_in_place_keeps_the_shape_of_x(place):
    x = to_tensor(np.ones(4), place=place)
    for y, w in (((4,), (2,)), ((2, 4), ()), ((4,), (3, 4)), ((4,), (1, 1))):
        with pytest.raises(ValueError) as caught:
            lerp_(x, to_tensor(np.ones(y), place=place), to_tensor(np.ones(w), place=place))
        assert "[4]" in str(caught.value) or "(4,)" in str(caught.value)
        assert x.tolist() == [1.0] * 4 and x.inplace_version == 0
    with pytest.raises(ValueError) as caught:
        lerp_(x, to_tensor(np.ones((2, 4)), place=place), 0.5)
    assert "[2, 4]" in str(caught.value) and "[4]" in str(caught.value)


def test_in_place_on_a_leaf_is_refused_while_recording(place):
    x, y = leaf(np.ones(2), place), to_tensor(np.zeros(2), place=place)
    with pytest.raises(ValueError, match=r"lerp_.*leaf"):
        lerp_(x, y, 0.5)
    assert x.tolist() == [1.0, 1.0]
    with no_grad():
        assert lerp_(x, y, 0.5) is x
    assert x.tolist() == [0.5, 0.5] and x.is_leaf


def test_in_place_passes_gradients_on(place):
    a, y, w = (leaf(np.full(3, v), place) for v in (2.0, 5.0, 0.25))
    x = assign(a)
    out = lerp_(x, y, 0.25)
    total(out).backward()
    assert a.grad.tolist() == [0.75] * 3 and y.grad.tolist() == [0.25] * 3
    with pytest.raises(RuntimeError, match="lerp needs was changed in place"):
        lerp_(assign(a), y, w).backward()  # the weight's gradient needs what was overwritten


def test_a_loss_that_is_an_in_place_result_gets_no_seed_added(place):
    a = leaf(np.array([1.0]), place)
    lerp_(assign(a), to_tensor(np.array([3.0]), place=place), 0.86).backward()
    np.testing.assert_allclose(a.grad.numpy(), [0.14])


LARGE = 3 * BLOCK_BYTES // 8 + 5


@pytest.mark.parametrize(
    "shapes",
    [
        ((LARGE,), (LARGE,), (LARGE,)),
        ((3, LARGE), (LARGE,), ()),
        ((LARGE, 3), (LARGE, 1), (3,)),
        ((2, 3, LARGE // 4), (3, 1), (2, 1, LARGE // 4)),
        ((300, 1, 1), (300, 3, 70), (3, 1)),
        ((), (LARGE,), ()),
        ((16, 1, 1, 1), (16, 3, 61, 62), (3, 1, 62)),  # the weight is spread over rows
    ],
    ids=lambda shapes: "x".join(str(len(s)) for s in shapes),
)
def test_arrays_of_several_blocks(shapes, place):
    x, y, w = (values(shape, i) for i, shape in enumerate(shapes))
    check_gradients(x, y, w, place, rtol=1e-11)
    if np.broadcast_shapes(*shapes) == shapes[0]:
        t = to_tensor(x, place=place)
        tensors = [to_tensor(a, place=place) for a in (y, w)]
        lerp_(t, *tensors)
        np.testing.assert_array_equal(t.numpy(), lerp(to_tensor(x, place=place), *tensors).numpy())


def test_large_operands_with_gaps(place):
    wide = values((4, 2 * LARGE), 1)
    x, y = to_tensor(wide, place=place), to_tensor(wide[::-1].copy(), place=place)
    gaps, reversed_ = x[::2, ::2], y[1::2, ::-2]
    w = to_tensor(values((2, 1), 2), place=place)
    out = lerp(gaps, reversed_, w).numpy()
    a, b, c = gaps.numpy(), reversed_.numpy(), w.numpy()
    np.testing.assert_allclose(out, a + c * (b - a), rtol=1e-13, atol=1e-13)


def test_a_far_pair_in_one_block_of_many(place):
    x, y = values((LARGE,), 1), values((LARGE,), 2)
    x[LARGE // 2], y[LARGE // 2] = 1.7e308, -1.7e308
    out = lerp(to_tensor(x, place=place), to_tensor(y, place=place), 0.5).numpy()
    assert out[LARGE // 2] == 0.0
    rest = np.arange(LARGE) != LARGE // 2
    np.testing.assert_allclose(out[rest], 0.5 * (x + y)[rest], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shift", [1, 1000])
@pytest.mark.parametrize("operand", ["y", "weight"])
def test_in_place_where_memory_overlaps(operand, shift, place):
    """Each element is computed from what was there before, in whichever order blocks go."""
    for back in (False, True):
        base = values((LARGE + shift,), 3)
        memory = to_tensor(base, place=place)
        low, high = memory[:-shift], memory[shift:]
        x, other = (high, low) if back else (low, high)
        before, overlapping = x.numpy(), other.numpy()
        rest = values((LARGE,), 4)
        y, w = (overlapping, rest) if operand == "y" else (rest, overlapping)
        plain = to_tensor(rest, place=place)
        lerp_(x, other, plain) if operand == "y" else lerp_(x, plain, other)
        np.testing.assert_allclose(x.numpy(), before + w * (y - before), rtol=1e-11, atol=1e-12)


def test_in_place_on_a_transposed_kind_of_view(place):
    base = values((6, 2 * LARGE // 6), 3)
    memory = to_tensor(base, place=place)
    x = memory[::-1, ::2]
    before = x.numpy()
    lerp_(x, to_tensor(np.float64(2.0), place=place), 0.25)
    np.testing.assert_allclose(x.numpy(), before + 0.25 * (2.0 - before), rtol=1e-14)
    np.testing.assert_array_equal(memory.numpy()[:, 1::2], base[:, 1::2])
    np.testing.assert_array_equal(memory.numpy()[::-1, ::2], x.numpy())


def test_a_view_follows_a_write_to_its_base(place):
    a = leaf(np.ones(4), place)
    x = assign(a)
    view = reshape(x, [2, 2])
    lerp_(x, to_tensor(np.zeros(4), place=place), 0.25)
    assert view.tolist() == [[0.75, 0.75], [0.75, 0.75]]
    view.backward()
    assert a.grad.tolist() == [0.75] * 4
