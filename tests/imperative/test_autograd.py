"""backward() on several tensors, grad(), retain_grads, and their errors."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from tests.imperative.leaves import constant, leaf

# ---- backward ----


def test_the_seed_is_ones_for_any_shape() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    (x * 3.0).backward()
    assert x.grad.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_a_seed_is_used() -> None:
    x = leaf([1.0, 2.0])
    (x * 3.0).backward(constant([10.0, 100.0]))
    assert x.grad.tolist() == [30.0, 300.0]


def test_several_tensors() -> None:
    x = leaf([1.0, 2.0])
    paddle.autograd.backward([x * 2.0, x.square()], [None, constant([10.0, 1.0])])
    assert x.grad.tolist() == [22.0, 6.0]


@pytest.mark.parametrize("reverse", [False, True])
def test_one_tensor_may_feed_another(reverse: bool) -> None:
    x = leaf([2.0])
    y = x.square()
    z = y * 3.0
    paddle.autograd.backward([z, y] if reverse else [y, z])
    assert x.grad.tolist() == [16.0]  # (1 + 3) 2x


def test_a_leaf_among_the_tensors() -> None:
    x = leaf([2.0])
    paddle.autograd.backward([x, x * 3.0], [constant([10.0]), None])
    assert x.grad.tolist() == [13.0]
    x.backward()
    assert x.grad.tolist() == [14.0]


def test_tensors_without_gradient_are_left_out() -> None:
    x, c = leaf([2.0]), constant([1.0])
    paddle.autograd.backward([c, x * 3.0])
    assert x.grad.tolist() == [3.0]
    assert c.grad is None


def test_backward_from_a_tensor_without_gradient_says_so() -> None:
    c = constant([1.0])
    with pytest.warns(UserWarning, match="stop_gradient"):
        c.backward()
    assert c.grad is None


@pytest.mark.parametrize(
    ("tensors", "seeds", "error", "words"),
    [
        (lambda x: [x, x], None, ValueError, "twice"),
        (lambda x: [], None, ValueError, "empty"),
        (lambda x: [x, 3.0], None, TypeError, "float"),
        (lambda x: x.numpy(), None, TypeError, "ndarray"),
        (lambda x: x, lambda x: [None, None], ValueError, "2.*1"),
        (lambda x: x, lambda x: constant([[1.0, 2.0]]), ValueError, r"shape.*\[2\].*\[1, 2\]"),
        (lambda x: x, lambda x: constant(1.0), ValueError, "shape"),
        (lambda x: x, lambda x: constant([1.0, 2.0], "float32"), ValueError, "dtype.*float32"),
        (lambda x: x, lambda x: 1.0, TypeError, "float"),
        (lambda x: x, lambda x: np.ones(2), TypeError, "ndarray"),
    ],
)
def test_backward_refuses_what_does_not_fit(
    tensors: Any, seeds: Any, error: type[Exception], words: str
) -> None:
    x = leaf([1.0, 2.0])
    y = x * 2.0
    with pytest.raises(error, match=words):
        paddle.autograd.backward(tensors(y), seeds and seeds(y))
    assert x.grad is None
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_the_method_refuses_a_wrong_seed() -> None:
    x = leaf([1.0, 2.0])
    with pytest.raises(ValueError, match="shape"):
        (x * 2.0).backward(constant([1.0]))
    assert x.grad is None


# ---- retain_grads ----


def test_only_leaves_keep_gradients_unless_asked() -> None:
    x = leaf([1.0])
    y = x * 2.0
    z = y * 3.0
    y.retain_grads()
    z.backward()
    assert y.grad.tolist() == [3.0]
    assert z.grad is None
    assert x.grad.tolist() == [6.0]


def test_a_retained_gradient_is_the_one_after_hooks_and_accumulates() -> None:
    x = leaf([1.0])
    y = x * 2.0
    y.retain_grads()
    y.retain_grads()
    y.register_hook(lambda grad: grad * 10.0)
    z = y * 3.0
    z.backward(retain_graph=True)
    assert y.grad.tolist() == [30.0]
    z.backward()
    assert y.grad.tolist() == [60.0]
    y.clear_grad()
    assert y.grad.tolist() == [0.0]
    assert x.grad.tolist() == [120.0]


def test_retained_gradients_are_not_shared() -> None:
    a, b = leaf([1.0]), leaf([1.0])
    c, d = a * 1.0, b * 1.0
    c.retain_grads()
    d.retain_grads()
    (c + d).backward()
    c.grad.add_(5.0)
    assert (d.grad.item(), a.grad.item(), b.grad.item()) == (1.0, 1.0, 1.0)


def test_retain_grads_on_a_leaf_changes_nothing_and_needs_a_gradient() -> None:
    x = leaf([1.0])
    x.retain_grads()
    (x * 2.0).backward()
    assert x.grad.tolist() == [2.0]
    with pytest.raises(RuntimeError, match="stop_gradient"):
        constant([1.0]).retain_grads()


# ---- grad ----


def test_grad_returns_gradients_and_touches_no_leaf() -> None:
    x, w = leaf([2.0]), leaf([3.0])
    (x * 5.0).backward()
    gx, gw = paddle.grad(x.square() * w, [x, w])
    assert (gx.item(), gw.item()) == (12.0, 4.0)
    assert x.grad.tolist() == [5.0]
    assert w.grad is None
    assert gx.stop_gradient


def test_grad_of_an_op_result_and_of_the_output_itself() -> None:
    x = leaf([2.0])
    y = x.square()
    z = y * 3.0
    gz, gy, gx = paddle.grad(z, [z, y, x])
    assert (gz.item(), gy.item(), gx.item()) == (1.0, 3.0, 12.0)


def test_grad_of_several_outputs_adds_up() -> None:
    x = leaf([2.0])
    (gx,) = paddle.grad([x * 2.0, x.square()], [x], [constant([10.0]), None])
    assert gx.item() == 24.0


def test_results_of_grad_share_no_memory() -> None:
    a, b, seed = leaf(np.ones(2)), leaf(np.ones(2)), constant(np.ones(2))
    ga, gb = paddle.grad(a + b, [a, b], seed)
    ga.add_(1.0)
    assert (gb.tolist(), seed.tolist()) == ([1.0, 1.0], [1.0, 1.0])
    (gs,) = paddle.grad(a.sum(), a)
    gs.add_(1.0)  # the gradient of sum is a broadcast view, which must not be handed out
    assert gs.tolist() == [2.0, 2.0]


def test_grad_frees_the_graph_unless_told_otherwise() -> None:
    x = leaf([2.0])
    y = x.square()
    paddle.grad(y, x, retain_graph=True)
    paddle.grad(y, x)
    with pytest.raises(RuntimeError, match="retain_graph"):
        paddle.grad(y, x)
    y = x.square()
    paddle.grad(y, x, create_graph=True)
    assert paddle.grad(y, x)[0].item() == 4.0
    y = x.square()
    paddle.grad(y, x, create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match="retain_graph"):
        paddle.grad(y, x)


def test_grad_runs_only_what_leads_to_the_inputs() -> None:
    x, w = leaf([2.0]), leaf([3.0])
    trunk = x.square()
    trunk.backward()  # frees what trunk had saved
    assert paddle.grad(trunk * w, w)[0].item() == 4.0
    with pytest.raises(RuntimeError, match="square"):
        paddle.grad(trunk * w, x)
    ran: list[str] = []
    with paddle.autograd.intercept(lambda op, call, args: (ran.append(op.name), call(*args))[1]):
        y = x.tanh() * w.square()
        ran.clear()
        paddle.grad(y, w)
    assert ran == ["multiply_grad", "square_grad"]


def test_an_unreachable_input_is_an_error_unless_allowed() -> None:
    x, other = leaf([2.0]), leaf([1.0])
    y = x * 2.0
    with pytest.raises(RuntimeError, match=r"inputs\[1\].*allow_unused"):
        paddle.grad(y, [x, other], retain_graph=True)
    gx, none = paddle.grad(y, [x, other], allow_unused=True)
    assert gx.item() == 2.0
    assert none is None
    assert paddle.grad(x * 2.0, other, allow_unused=True) == [None]


def test_no_grad_vars_let_no_gradient_pass() -> None:
    x = leaf([2.0])
    y = x.square()
    z = y * x
    (gx,) = paddle.grad(z, x, no_grad_vars=[y], retain_graph=True)
    assert gx.item() == 4.0
    (gx,) = paddle.grad(z, x, no_grad_vars=constant([1.0]))
    assert gx.item() == 12.0
    y = x.square()
    with pytest.raises(RuntimeError, match="allow_unused"):
        paddle.grad(y * 1.0, x, no_grad_vars=y)
    assert paddle.grad(y * 1.0, x, no_grad_vars=y, allow_unused=True) == [None]


def test_hooks_apply_in_grad() -> None:
    x = leaf([2.0])
    y = x * 2.0
    y.register_hook(lambda grad: grad * 10.0)
    x.register_hook(lambda grad: grad + 1.0)
    gy, gx = paddle.grad(y * 1.0, [y, x])
    assert (gy.item(), gx.item()) == (10.0, 21.0)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (lambda x, y: ([], x), ValueError, "outputs.*empty"),
        (lambda x, y: (y, []), ValueError, "inputs.*empty"),
        (lambda x, y: ([y, y], x), ValueError, "outputs.*twice"),
        (lambda x, y: (y, [x, x]), ValueError, "inputs.*twice"),
        (lambda x, y: (y, 3.0), TypeError, "inputs.*float"),
        (lambda x, y: (None, x), TypeError, "outputs.*NoneType"),
        (lambda x, y: (y, x, [None, None]), ValueError, "grad_outputs.*2.*1"),
        (lambda x, y: (y, x, constant([1.0])), ValueError, "grad_outputs.*shape"),
        (lambda x, y: (y, x, constant([1.0, 1.0], "float32")), ValueError, "grad_outputs.*dtype"),
        (lambda x, y: (y, x, 1.0), TypeError, "grad_outputs.*float"),
        (lambda x, y: (constant([1.0]), x), ValueError, r"outputs\[0\].*stop_gradient"),
        (lambda x, y: (y, constant([1.0])), ValueError, r"inputs\[0\].*stop_gradient"),
        (lambda x, y: (y, x, None, None, False, False), ValueError, "only_inputs"),
        (lambda x, y: (y, x, None, None, False, True, False, y), ValueError, "no_grad_vars"),
        (lambda x, y: (y, x, None, None, False, True, False, [x]), ValueError, "no_grad_vars"),
        (lambda x, y: (y, x, None, None, False, True, False, 5), TypeError, "no_grad_vars"),
    ],
)
def test_grad_refuses_what_does_not_fit(arguments: Any, error: type[Exception], words: str) -> None:
    x = leaf([1.0, 2.0])
    y = x.square()
    with pytest.raises(error, match=words):
        paddle.grad(*arguments(x, y))
    assert paddle.grad(y, x)[0].tolist() == [2.0, 4.0]
