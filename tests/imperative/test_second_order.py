"""create_graph: gradients of gradients."""

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from tests.imperative.leaves import leaf


def test_derivatives_of_higher_order() -> None:
    x = leaf([2.0])
    y = x * x * x * x
    expected = [32.0, 48.0, 48.0, 24.0]
    for value in expected:
        (y,) = paddle.grad(y, x, create_graph=True)
        assert y.item() == value


def test_derivatives_of_tanh() -> None:
    x = leaf([0.3, -1.2])
    t = np.tanh(x.numpy())
    (first,) = paddle.grad(x.tanh(), x, create_graph=True)
    (second,) = paddle.grad(first, x, create_graph=True)
    (third,) = paddle.grad(second, x)
    np.testing.assert_allclose(first.numpy(), 1 - t**2, rtol=1e-13)
    np.testing.assert_allclose(second.numpy(), -2 * t * (1 - t**2), rtol=1e-13)
    np.testing.assert_allclose(third.numpy(), -2 * (1 - t**2) * (1 - 3 * t**2), rtol=1e-12)


def test_gradient_penalty() -> None:
    """A loss over a gradient, through layers: against the derivative by hand."""
    x, w = leaf([[1.0, 2.0]]), leaf([[0.5], [-0.25]])
    out = F.linear(x, w).square().sum()  # (x w)^2
    (gx,) = paddle.grad(out, x, create_graph=True)  # 2 (x w) w
    gx.square().sum().backward()  # 4 (x w)^2 |w|^2
    xn, wn = x.numpy()[0], w.numpy()[:, 0]
    dot, norm = xn @ wn, wn @ wn
    np.testing.assert_allclose(w.grad.numpy()[:, 0], 8 * dot * norm * xn + 8 * dot**2 * wn)
    np.testing.assert_allclose(x.grad.numpy()[0], 8 * dot * norm * wn)


def test_second_derivatives_where_shapes_broadcast() -> None:
    x, w = leaf(np.full((2, 3), 2.0)), leaf(3.0)
    (gw,) = paddle.grad((x.square() * w).sum(), w, create_graph=True)
    assert gw.shape == []
    gw.backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full((2, 3), 4.0))


def test_a_gradient_through_the_seed() -> None:
    x, seed = leaf([3.0]), leaf([5.0])
    (gx,) = paddle.grad(x.square(), x, seed, create_graph=True)
    gx.backward()
    assert seed.grad.tolist() == [6.0]
    assert x.grad.tolist() == [10.0]


def test_recorded_backward_fills_grad_with_a_graph_and_ordinary_ones_go_on() -> None:
    x = leaf([3.0])
    x.square().backward(create_graph=True)
    first = x.grad
    assert first.tolist() == [6.0]
    assert not first.stop_gradient
    x.square().backward()
    assert x.grad.tolist() == [12.0]
    assert x.grad.stop_gradient
    assert first.tolist() == [6.0]
    (second,) = paddle.grad(first, x)
    assert second.tolist() == [2.0]
    x.clear_grad()
    assert x.grad.tolist() == [0.0]
    (x * 4.0).backward()
    assert x.grad.tolist() == [4.0]


def test_recorded_backward_adds_to_an_ordinary_gradient() -> None:
    x = leaf([3.0])
    (x * 10.0).backward()
    held = x.grad
    x.square().backward(create_graph=True)
    assert x.grad.tolist() == [16.0]
    assert held.tolist() == [10.0]
    (second,) = paddle.grad(x.grad, x)
    assert second.tolist() == [2.0]


def test_recorded_backward_with_hooks_and_retained_gradients() -> None:
    x = leaf([3.0])
    y = x.square()
    y.retain_grads()
    handle = y.register_hook(lambda grad: grad * x)  # recorded
    seen: list[bool] = []
    x.register_hook(lambda grad: seen.append(grad.stop_gradient))
    (y * 1.0).backward(create_graph=True)
    assert seen == [False]
    assert y.grad.tolist() == [3.0]
    assert x.grad.tolist() == [18.0]  # 2 x^2
    handle.remove()
    (second,) = paddle.grad(x.grad, x)
    assert second.tolist() == [12.0]


def test_recorded_backward_in_no_grad_is_recorded_all_the_same() -> None:
    x = leaf([3.0])
    y = x.square()
    with paddle.no_grad():
        (gx,) = paddle.grad(y, x, create_graph=True)
    assert not gx.stop_gradient


def test_a_gradient_that_depends_on_no_leaf_has_no_graph() -> None:
    x = leaf([3.0])
    (gx,) = paddle.grad(x * 2.0, x, create_graph=True)
    assert gx.stop_gradient


def test_second_order_through_an_in_place_op() -> None:
    x = leaf([0.5])
    y = x * 2.0
    y.tanh_()
    (gx,) = paddle.grad(y, x, create_graph=True)
    (second,) = paddle.grad(gx, x)
    t = np.tanh(1.0)
    np.testing.assert_allclose(second.item(), -8 * t * (1 - t**2), rtol=1e-13)


def test_second_backward_through_a_recorded_graph_that_was_freed() -> None:
    x = leaf([2.0])
    (gx,) = paddle.grad(x * x * x, x, create_graph=True)
    gx.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        gx.backward()
    assert x.grad.tolist() == [12.0]


def test_recorded_gradients_are_tensors_of_their_own() -> None:
    a, b, seed = leaf([1.0]), leaf([1.0]), leaf([5.0])
    ga, gb = paddle.grad(a + b, [a, b], seed, create_graph=True)
    assert len({id(t) for t in (ga, gb, seed)}) == 3
    with paddle.no_grad():
        ga.add_(1.0)
    assert (gb.item(), seed.item()) == (5.0, 5.0)
    gb.backward()
    assert seed.grad.tolist() == [1.0]


@pytest.mark.parametrize("function", [lambda x: x.std(1), lambda x: x.norm(2, 1)])
def test_nothing_flows_in_any_order_where_a_root_is_zero(function, place):
    x = paddle.to_tensor([[0.0, 0.0, 0.0], [1.0, 2.0, 4.0]], "float64", place, stop_gradient=False)
    (slope,) = paddle.grad(function(x).sum(), [x], create_graph=True)
    weights = paddle.to_tensor([[1.0, -2.0, 3.0]], "float64", place)
    (curvature,) = paddle.grad((slope * weights).sum(), [x])
    assert not slope.numpy()[0].any()
    assert not curvature.numpy()[0].any()
    assert curvature.numpy()[1].all()
