"""Writes to memory that several tensors share: every one of them has the right values and graph.

The expected gradients are those of the same program written without views and without writes.
"""

import gc
import weakref

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.tensor import to_tensor


def leaf(shape, place, salt=0):
    values = np.random.default_rng([salt, *shape]).uniform(-2.0, 2.0, shape)
    return to_tensor(values, place=place, stop_gradient=False)


def gradients(loss, *leaves):
    return [gradient.numpy() for gradient in paddle.grad(loss, list(leaves), retain_graph=True)]


def same(found, right):
    for one, other in zip(found, right, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


def test_a_write_to_a_view_reaches_its_base(place):
    x, w = leaf((2, 3), place), leaf((3,), place, 1)
    base = x * 1.0
    base[0].multiply_(3.0).add_(w)
    first, second = x[0] * 3.0 + w, x[1]
    right = (first * first).sum() + (second * second).sum()
    same(gradients((base * base).sum(), x, w), gradients(right, x, w))


def test_a_write_to_the_base_reaches_its_views(place):
    x, w = leaf((2, 3), place), leaf((2, 3), place, 1)
    base = x * 1.0
    row, flat = base[1], base.reshape([6])
    part = flat[1:5]
    base.multiply_(3.0).add_(w)
    product = x * 3.0 + w
    for view, right in (
        (row, product[1]),
        (flat, product.reshape([6])),
        (part, product.reshape([6])[1:5]),
    ):
        np.testing.assert_array_equal(view.numpy(), right.numpy())
        same(gradients((view * view).sum(), x, w), gradients((right * right).sum(), x, w))


def test_a_write_to_one_view_reaches_another(place):
    x, w = leaf((2, 3), place), leaf((), place, 1)
    base = x * 1.0
    column, flat = base[:, 1], base.reshape([6])
    flat[0:3].add_(w)
    right = (x * 1.0)[:, 1] + w * to_tensor([1.0, 0.0], "float64", place)
    same(gradients((column * column).sum(), x, w), gradients((right * right).sum(), x, w))


def test_writes_one_after_another(place):
    x = leaf((4,), place)
    base = x * 1.0
    base[0:2].add_(1.0)
    base[1:3].multiply_(3.0)
    base[0] = 7.0
    one, two, three = (x[1:2] + 1.0) * 3.0, x[2:3] * 3.0, x[3:4]
    right = one.sum() + two.sum() + three.sum()
    np.testing.assert_allclose(
        base.numpy(), [7.0, one.item(), two.item(), three.item()], rtol=1e-15
    )
    same(gradients(base.sum(), x), gradients(right, x))


def test_an_overwritten_part_gets_no_gradient(place):
    x, w = leaf((2, 3), place), leaf((2,), place, 1)
    base = x * 1.0
    base[:, 1] = w
    found = gradients((base * 2.0).sum(), x, w)
    same(found, ([[2.0, 0.0, 2.0]] * 2, [2.0, 2.0]))


@pytest.mark.parametrize("value", [5, 5.0, np.float64(5.0), np.full(3, 5.0), [5.0, 5.0, 5.0]])
def test_what_can_be_assigned(value, place):
    base = leaf((2, 3), place) * 1.0
    base[1] = value
    assert base[1].tolist() == [5.0, 5.0, 5.0] and base.dtype == np.float64


def test_an_assigned_value_takes_the_dtype_and_keeps_its_graph(place):
    x = leaf((3,), place)
    whole = to_tensor(np.zeros((2, 3), np.float32), place=place)
    whole[0] = x
    assert whole.dtype == np.float32 and not whole.stop_gradient
    (gradient,) = paddle.grad(whole.sum(), x)
    assert gradient.dtype == np.float64 and gradient.tolist() == [1.0, 1.0, 1.0]


def test_second_order_through_a_written_view(place):
    x = leaf((3,), place)
    base = x * x
    base[0:2].multiply_(3.0).add_(x[1:3])
    (first,) = paddle.grad(base.sum(), x, create_graph=True)
    (second,) = paddle.grad((first * first).sum(), x)
    a = x * x
    right = (a[0:2] * 3.0 + x[1:3]).sum() + a[2]
    (first,) = paddle.grad(right, x, create_graph=True)
    same([second.numpy()], gradients((first * first).sum(), x))


def test_a_leaf_is_not_written_through_a_view(place):
    x = leaf((2, 2), place)
    for view in (x[0], x.reshape([4])[1:2]):
        with pytest.raises(ValueError, match=r"a view of .* is a leaf"):
            view.add_(1.0)
    with pytest.raises(ValueError, match="is a leaf"):
        x[0] = 1.0
    assert x.inplace_version == 0
    with paddle.no_grad():
        x[0] = 1.0
    assert x.inplace_version == 1 and x[0].tolist() == [1.0, 1.0] and x.is_leaf


def test_a_write_bumps_the_version_of_all_that_share_the_memory(place):
    base = leaf((2, 3), place) * 1.0
    row = base[0]
    used = base * base
    row.add_(1.0)
    assert base.inplace_version == row.inplace_version == 1
    with pytest.raises(RuntimeError, match="multiply needs was changed in place"):
        used.sum().backward()


def test_a_reshape_that_had_to_copy_is_no_view(place):
    base = leaf((2, 3), place) * 1.0
    copy = base[:, 0:2].reshape([4])
    kept = base * base
    copy.add_(1.0)
    assert base.inplace_version == 0 and copy.inplace_version == 1
    kept.sum().backward()


def test_a_view_made_without_recording_follows_too(place):
    x = leaf((3,), place)
    base = x * 1.0
    with paddle.no_grad():
        view = base[0:2]
    view.multiply_(0.0)
    same(gradients(base.sum(), x), [[0.0, 0.0, 1.0]])


def test_a_write_without_recording_moves_no_edges(place):
    x = leaf((3,), place)
    base = x * 1.0
    view = base[0:2]
    with paddle.no_grad():
        view.multiply_(0.0)
    same(gradients(view.sum() + base.sum(), x), [[2.0, 2.0, 1.0]])


def test_a_failed_write_changes_nothing(place):
    base = leaf((2, 3), place) * 1.0
    view = base[0]
    edges = base.edge, view.edge
    with pytest.raises(ValueError, match="setitem"):
        base[0] = to_tensor(np.ones(4), place=place)
    with pytest.raises(IndexError, match=r"setitem.*\[2, 3\]"):
        base[2] = 1.0
    assert (base.edge, view.edge) == edges and base.inplace_version == 0


def test_views_that_are_gone_are_forgotten(place):
    base = leaf((2, 3), place) * 1.0
    for _ in range(1000):
        base[0]
    assert len(base.version[1]) <= 64
    view = base[0]
    gone = weakref.ref(view)
    gc.disable()
    del view
    assert gone() is None
    gc.enable()


@pytest.mark.parametrize("make", [lambda x: x.split(2), lambda x: x.unbind()])
@pytest.mark.parametrize("recorded", [True, False])
def test_a_write_to_the_base_reaches_views_made_together(make, recorded, place):
    x, w = leaf((2, 3), place), leaf((2, 3), place, 1)
    base = x * 1.0 if recorded else x.detach() * 1.0
    first, second = make(base)
    base.add_(w)
    right = make(x + w)
    for found, expected in zip((first, second), right, strict=True):
        same(gradients((found * found).sum(), w), gradients((expected * expected).sum(), w))
    assert second.edge.edges == first.edge.edges  # the op was recorded once for both


def test_one_of_several_views_made_together_is_not_written(place):
    first, _ = (leaf((2, 3), place) * 1.0).unbind()
    with pytest.raises(ValueError, match="one of several views made together by unbind"):
        first.add_(1.0)
