"""The engine: order and sums, errors, interceptor, nesting, long chains."""

import functools
import operator
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from tests.imperative.leaves import Broken, assert_engine_is_usable, fail, leaf

# ---- sums and order ----


def test_diamond() -> None:
    x = leaf([3.0])
    left, right = x * 2.0, x.square()
    (left * right).backward()  # 2 x^3
    assert x.grad.tolist() == [54.0]


def test_diamonds_in_a_row_run_every_node_once() -> None:
    """Path by path this would be 2^40 visits."""
    x = leaf([1.0])
    y = x
    for _ in range(40):
        y = y * 0.5 + y * 0.5
    y.backward()
    assert x.grad.tolist() == [1.0]


def test_a_leaf_used_many_times_gets_the_sum() -> None:
    x = leaf([2.0])
    functools.reduce(operator.add, [x * float(i) for i in range(100)]).backward()
    assert x.grad.tolist() == [4950.0]


def test_one_tensor_as_both_operands() -> None:
    x = leaf([3.0])
    (x * x).backward()
    assert x.grad.tolist() == [6.0]
    y = leaf([[1.0, 2.0], [3.0, 4.0]])
    paddle.matmul(y, y).sum().backward()
    np.testing.assert_array_equal(y.grad.numpy(), [[7.0, 11.0], [9.0, 13.0]])
    z = leaf([1.0, 2.0])
    paddle.lerp(z, z, z).sum().backward()
    np.testing.assert_array_equal(z.grad.numpy(), [1.0, 1.0])


def test_short_and_long_way_to_one_leaf() -> None:
    x = leaf([1.0])
    long = x
    for _ in range(10):
        long = long * 2.0
    (x + long + x).backward()
    assert x.grad.tolist() == [1026.0]


def test_gradients_are_brought_to_shape_and_dtype_of_the_leaf() -> None:
    x, w = leaf(np.ones((3, 1)), "float32"), leaf(2.0, "float64")
    (x.astype("float64") * w * np.ones((2, 3, 4))).sum().backward()
    assert (x.grad.shape, x.grad.dtype) == ([3, 1], paddle.float32)
    assert x.grad.tolist() == [[16.0]] * 3
    assert (w.grad.shape, w.grad.item()) == ([], 24.0)


def test_an_input_without_gradient_is_left_alone() -> None:
    x, c = leaf([1.0]), paddle.to_tensor([5.0], dtype="float64")
    frozen = leaf([2.0])
    frozen.stop_gradient = True
    (x * c * frozen).backward()
    assert x.grad.tolist() == [10.0]
    assert c.grad is None
    assert frozen.grad is None


@pytest.mark.parametrize("n", [10, 100_000])
def test_long_chain(n: int) -> None:
    x = leaf([1.0])
    y = x
    for _ in range(n):
        y = y + 1.0
    y.backward()
    assert x.grad.tolist() == [1.0]
    del y  # and a chain that never ran must be freed without recursion as well
    y = x
    for _ in range(n):
        y = y * 1.0
    del y


def test_long_chain_in_a_thread_with_a_small_stack() -> None:
    """A crash here would end the interpreter: so it gets one of its own."""
    program = """
import threading
import minipaddle as paddle
def run():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    for backward in (True, False):
        y = x
        for _ in range(50_000):
            y = (y * 1.0).reshape([1])
        if backward:
            y.backward()
        del y
    assert x.grad.tolist() == [1.0]
    print("well")
threading.stack_size(1024 * 1024)  # Python itself frees 10,000 nested objects in one go since 3.13
thread = threading.Thread(target=run)
thread.start()
thread.join(100)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=110
    )
    assert done.stdout == "well\n", (done.returncode, done.stderr[-500:])


def test_wide_graph() -> None:
    leaves = [leaf([float(i)]) for i in range(3000)]
    functools.reduce(operator.add, leaves).backward()
    assert all(x.grad.tolist() == [1.0] for x in leaves)


# ---- errors ----


def test_second_backward_names_the_way_out_and_changes_nothing() -> None:
    x, w = leaf([2.0]), leaf([5.0])
    y = x * w
    (y + w).backward()
    before = (x.grad.tolist(), w.grad.tolist())
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        (y * w).backward()
    assert (x.grad.tolist(), w.grad.tolist()) == before
    assert_engine_is_usable()


def test_retain_graph_lets_it_run_again_and_accumulates() -> None:
    x = leaf([2.0])
    y = x * x
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [12.0]
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()
    assert x.grad.tolist() == [12.0]


def test_two_losses_over_one_trunk() -> None:
    x = leaf([2.0])
    trunk = x.square()
    one, two = trunk * 1.0, trunk * 10.0
    one.backward(retain_graph=True)
    two.backward()
    assert x.grad.tolist() == [44.0]
    with pytest.raises(RuntimeError, match="square"):
        (trunk * 1.0).backward()


def test_a_failing_kernel_leaves_the_engine_usable() -> None:
    x = leaf([2.0])
    y = x * x

    def break_gradient(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if op.name == "multiply_grad":
            raise Broken("kernel")
        return call(*args)

    with pytest.raises(Broken), paddle.autograd.intercept(break_gradient):
        y.backward()
    assert x.grad is None
    assert_engine_is_usable()


def test_keyboard_interrupt_in_a_hook() -> None:
    x = leaf([2.0])
    y = x * x

    def interrupt(grad: paddle.Tensor) -> None:
        raise KeyboardInterrupt

    y.register_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        y.backward()
    assert_engine_is_usable()


def test_an_error_in_a_recorded_run_restores_the_mode() -> None:
    x = leaf([2.0])
    y = x * x
    y.register_hook(fail)
    with paddle.no_grad():
        with pytest.raises(Broken):
            y.backward(create_graph=True)
        assert not paddle.is_grad_enabled()
    assert_engine_is_usable()


# ---- interceptor ----


def test_the_interceptor_sees_every_node() -> None:
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    loss = paddle.lerp(x, w, 0.5).square().sum()
    names: list[str] = []

    def look(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        names.append(op.name)
        return call(*args)

    with paddle.autograd.intercept(look):
        loss.backward()
    assert names == ["sum_grad", "square_grad", "lerp_grad"]
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 3.0])


def test_the_interceptor_can_replace_gradients() -> None:
    x = leaf([1.0])
    y = x * 3.0

    def tenfold(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return tuple(None if g is None else g * 10.0 for g in call(*args))

    with paddle.autograd.intercept(tenfold):
        y.backward()
    assert x.grad.tolist() == [30.0]


# ---- nesting ----


def test_backward_inside_a_hook() -> None:
    x, z = leaf([1.0]), leaf([2.0])
    y = x * 2.0

    def hook(grad: paddle.Tensor) -> paddle.Tensor:
        with paddle.enable_grad():
            inner = z.square()
        inner.backward()
        return grad * z.grad

    y.register_hook(hook)
    y.backward()
    assert z.grad.tolist() == [4.0]
    assert x.grad.tolist() == [8.0]
    assert_engine_is_usable()


def test_backward_inside_a_hook_into_the_same_leaf() -> None:
    x = leaf([1.0])
    y = x * 2.0

    def hook(grad: paddle.Tensor) -> None:
        with paddle.enable_grad():
            (x * 100.0).backward()

    y.register_hook(hook)
    y.backward()
    assert x.grad.tolist() == [102.0]


@pytest.mark.parametrize("hooked", ["w", "b"])
def test_backward_inside_a_leaf_hook_into_a_leaf_of_the_same_op(hooked: str) -> None:
    """linear writes both gradients in one go, where they belong, before the hook runs."""
    x = paddle.ones([1, 2], "float64")
    w, b = leaf(np.ones((2, 2))), leaf(np.ones(2))
    F.linear(x, w, b).sum().backward()
    w.clear_grad()
    b.clear_grad()
    one, other = (w, b) if hooked == "w" else (b, w)

    def hook(grad: paddle.Tensor) -> None:
        with paddle.enable_grad():
            (other * 10.0).sum().backward()

    one.register_hook(hook)
    F.linear(x, w, b).sum().backward()
    np.testing.assert_array_equal(other.grad.numpy(), np.full(other.shape, 11.0))
    np.testing.assert_array_equal(one.grad.numpy(), np.ones(one.shape))


def test_an_inner_error_that_a_hook_catches_does_not_hurt_the_outer_run() -> None:
    x = leaf([1.0])
    y, used = x * 2.0, x * x
    used.backward()
    x.clear_grad()

    def hook(grad: paddle.Tensor) -> None:
        with pytest.raises(RuntimeError, match="retain_graph"):
            used.backward()

    y.register_hook(hook)
    y.backward()
    assert x.grad.tolist() == [2.0]
    assert_engine_is_usable()
