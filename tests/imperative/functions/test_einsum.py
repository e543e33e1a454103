"""einsum and tensordot against NumPy's, their gradients, and what they refuse."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.functions.einsum import einsum, tensordot
from minipaddle.imperative.functions.matrices import multi_dot
from tests.imperative.functions.composed import check
from tests.ops.samples.sample import values


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 2)]),
        ("ij,jk", [(2, 3), (3, 2)]),
        ("ji,jk->ki", [(3, 2), (3, 2)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("iii->i", [(2, 2, 2)]),
        ("iij->ji", [(2, 2, 3)]),
        ("ba", [(2, 3)]),
        ("ij->", [(2, 3)]),
        ("->", [()]),
        (",->", [(), ()]),
        ("i,i", [(3,), (3,)]),
        ("i,i->i", [(3,), (3,)]),
        ("i,j->ji", [(3,), (2,)]),
        ("i,j->", [(3,), (2,)]),
        ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
        ("bi,bi->b", [(2, 3), (2, 3)]),
        ("bhid,bhjd->bhij", [(2, 1, 2, 3), (2, 1, 2, 3)]),
        ("abcd,cdef->abef", [(1, 2, 2, 2), (2, 2, 1, 2)]),
        ("abcd,dcef->abef", [(1, 2, 2, 3), (3, 2, 1, 2)]),
        ("...ij,...jk->...ik", [(2, 2, 3), (1, 3, 2)]),
        ("...ij,...jk", [(2, 1, 2, 2), (3, 2, 2)]),
        ("i...->...", [(2, 3)]),
        ("...->...", [(2, 3)]),
        ("...,...", [(2, 1), (3,)]),
        ("i...i->...i", [(2, 3, 2)]),
        ("...i,ij", [(2, 3), (3, 2)]),
        ("...i->i...", [(2, 2, 3)]),
        ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 3)]),
        ("bn,anm,bm->ba", [(2, 2), (2, 2, 3), (2, 3)]),
        ("i,i,i->i", [(3,), (3,), (3,)]),
        ("ij,ij,jk,k", [(2, 3), (2, 3), (3, 2), (2,)]),
        ("ij,jk->ik", [(2, 1), (3, 2)]),
        ("ij,ij->ij", [(2, 1), (2, 3)]),
        ("bij,bjk->bik", [(1, 2, 3), (2, 3, 2)]),
        ("aB,Bc", [(2, 3), (3, 2)]),
        ("ij,jk->ik", [(2, 0), (0, 2)]),
        ("ij,jk->ik", [(0, 2), (2, 2)]),
    ],
)
def test_einsum(equation, shapes):
    check(
        lambda *x: einsum(equation, *x),
        lambda *x: np.einsum(equation, *x),
        *shapes,
        second=len(shapes) < 4,
    )


def random_equation(draw):
    """An equation of one to four operands, and shapes that fit it."""
    sizes = {letter: int(draw.integers(1, 4)) for letter in "abcdeXY"}
    batch = [int(n) for n in draw.integers(1, 4, draw.integers(0, 3))]
    dots = draw.random() < 0.4
    parts, shapes = [], []
    for _ in range(draw.integers(1, 5)):
        letters = list(draw.choice(list(sizes), draw.integers(0, 4)))  # may repeat
        shape = [sizes[a] for a in letters]
        if dots and draw.random() < 0.7:
            at = int(draw.integers(0, len(letters) + 1))
            kept = batch[int(draw.integers(0, len(batch) + 1)) :]
            shape[at:at] = [1 if draw.random() < 0.3 else n for n in kept]
            letters.insert(at, "...")
        parts.append("".join(letters))
        shapes.append(tuple(shape))
    equation = ",".join(parts)
    if draw.random() < 0.7:
        named = sorted({a for a in equation if a in sizes})
        count = int(draw.integers(0, len(named) + 1))
        output = list(draw.permutation(named)[:count]) if named else []
        if "..." in equation:
            output.insert(int(draw.integers(0, len(output) + 1)), "...")
        equation += "->" + "".join(output)
    return equation, shapes


@pytest.mark.parametrize("seed", range(60))
def test_einsum_of_random_equations(seed):
    equation, shapes = random_equation(np.random.default_rng(seed))
    arrays = [values(shape, i) for i, shape in enumerate(shapes)]
    tensors = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    out = einsum(equation, *tensors)
    right = np.asarray(np.einsum(equation, *arrays))
    assert out.shape == list(right.shape), equation
    np.testing.assert_allclose(out.numpy(), right, rtol=1e-12, atol=1e-11, err_msg=equation)
    # The result is linear in every operand, so a step in one changes it by gradient times step.
    weight = values(right.shape, 7)
    found = paddle.grad(out, tensors, paddle.to_tensor(weight), allow_unused=True)
    for i, gradient in enumerate(found):
        step = values(shapes[i], 50)
        moved = np.sum(weight * np.einsum(equation, *arrays[:i], step, *arrays[i + 1 :]))
        assert gradient.shape == list(shapes[i]), equation
        size = np.sum(abs(gradient.numpy() * step)) + 1
        assert abs(np.sum(gradient.numpy() * step) - moved) <= 1e-11 * size, equation


def test_einsum_multiplies_the_small_pair_first():
    """(n, n) by (n, n) by (n, 1): two products with a column, none of two large matrices."""
    sizes = []

    def watch(op, call, args):
        out = call(*args)
        sizes.append(out.size)
        return out

    x, column = paddle.ones([20, 20]), paddle.ones([20, 1])
    with paddle.autograd.intercept(watch):
        out = einsum("ij,jk,kl->il", x, x, column)
    assert (out.numpy() == 400).all()
    assert max(sizes) == 20
    with paddle.autograd.intercept(watch):
        assert multi_dot([x, x, column]).shape == [20, 1]
    assert max(sizes) == 20


def test_einsum_of_ints_keeps_the_dtype():
    x = paddle.to_tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
    for equation in ("ij->i", "ij,kj->ik", "ij,ij->i", "ij,ij->"):
        host = [x.numpy()] * (1 + equation.count(","))
        out = einsum(equation, *[x] * len(host))
        assert out.dtype == np.int32
        np.testing.assert_array_equal(out.numpy(), np.einsum(equation, *host))


@pytest.mark.parametrize(
    ("equation", "shapes", "words"),
    [
        ("ij,jk", [(2, 3)], ["2 operands", "1"]),
        ("ij", [(2, 3, 4)], ["'ij'", "[2, 3, 4]"]),
        ("ijk", [(2, 3)], ["'ijk'", "[2, 3]"]),
        ("i1", [(2, 3)], ["'i1'", "letters"]),
        ("......i", [(2, 3)], ["'......i'"]),
        ("i->i->i", [(2,)], ["letters"]),
        ("ij->ik", [(2, 3)], ["'k'", "operands"]),
        ("ij->ii", [(2, 3)], ["'i'", "once"]),
        ("...i->i", [(2, 3)], ["'...'"]),
        ("ii", [(2, 3)], ["'i'", "2", "3"]),
        ("ij,jk", [(2, 3), (4, 5)], ["'j'", "3", "4", "[2, 3]", "[4, 5]"]),
        ("...i,...i->...", [(2, 3), (4, 3)], ["'...'", "2", "4"]),
    ],
)
def test_what_einsum_refuses(equation, shapes, words):
    with pytest.raises(ValueError) as caught:
        einsum(equation, *(paddle.ones(list(shape)) for shape in shapes))
    missing = [word for word in ["einsum", *words] if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"


TENSORDOTS = {
    "two axes": (tensordot, np.tensordot, (2, 3, 2), (3, 2, 2)),
    "no axes": (
        lambda x, y: tensordot(x, y, 0), lambda x, y: np.tensordot(x, y, 0), (2,), (2, 2)
    ),
    "a list": (
        lambda x, y: tensordot(x, y, [0, 1]),
        lambda x, y: np.tensordot(x, y, ([0, 1], [0, 1])),
        (2, 3, 2),
        (2, 3),
    ),
    "two lists": (
        lambda x, y: tensordot(x, y, [[0, -1], [1, 0]]),
        lambda x, y: np.tensordot(x, y, ([0, 2], [1, 0])),
        (2, 3, 2),
        (2, 2, 2),
    ),
    "lists of two lengths": (
        lambda x, y: tensordot(x, y, [[0], [0, 1]]),
        lambda x, y: np.tensordot(x, y, ([0, 1], [0, 1])),
        (2, 3, 2),
        (2, 3),
    ),
    "over an axis of length 1": (
        lambda x, y: tensordot(x, y, 1), lambda x, y: np.outer(x[:, 0], y.sum(0)), (2, 1), (3, 2)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TENSORDOTS)
def test_tensordot(name):
    check(*TENSORDOTS[name])


@pytest.mark.parametrize(
    ("shapes", "axes", "error", "words"),
    [
        ([(2, 3), (4, 5)], 1, ValueError, ["axis 1 of x", "axis 0 of y"]),
        ([(2,), (2,)], 2, ValueError, ["axes", "2", "1"]),
        ([(2,), (2,)], [[1], [0]], ValueError, ["axes of x", "[1]"]),
        ([(2, 2), (2,)], [[0, -2], [0]], ValueError, ["axes of x", "-2"]),
        ([(2,), (2,)], [[0], [0], [0]], TypeError, ["axes", "two lists"]),
    ],
)
def test_what_tensordot_refuses(shapes, axes, error, words):
    with pytest.raises(error) as caught:
        tensordot(*(paddle.ones(list(shape)) for shape in shapes), axes)
    missing = [word for word in ["tensordot", *words] if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"


def test_tensordot_takes_axes_as_a_tensor():
    x, y = paddle.ones([2, 3]), paddle.ones([3, 2])
    assert tensordot(x, y, paddle.to_tensor([[1], [0]])).tolist() == [[3.0, 3.0], [3.0, 3.0]]
