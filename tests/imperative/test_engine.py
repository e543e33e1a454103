"""The engine: order and sums, hooks, callbacks, errors, nesting, threads, long chains."""

import functools
import operator
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from minipaddle.imperative.engine import queue_callback
from minipaddle.imperative.grad_node import grad_state


def leaf(values: Any, dtype: str = "float64") -> paddle.Tensor:
    return paddle.to_tensor(np.asarray(values, dtype), stop_gradient=False)


def assert_engine_is_usable() -> None:
    """After a failure: nothing is left over, and an ordinary backward gives the right gradient."""
    assert grad_state.depth == 0
    assert grad_state.recording
    assert grad_state.interceptor is None
    assert grad_state.callbacks == []
    x = leaf([2.0])
    y = x * x
    assert not y.stop_gradient
    (y + x).backward()
    assert x.grad.tolist() == [5.0]


class Broken(Exception):
    """What the tests' own hooks, kernels and callbacks raise."""


def fail(*args: Any) -> None:
    raise Broken("on purpose")


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
threading.stack_size(256 * 1024)
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


# ---- hooks ----


def test_leaf_hook_is_called_once_with_the_summed_gradient() -> None:
    x = leaf([1.0, 2.0])
    seen: list[Any] = []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    (x * 2.0 + x * 3.0 + x).sum().backward()
    assert seen == [[6.0, 6.0]]
    assert x.grad.tolist() == [6.0, 6.0]
    (x * 2.0).sum().backward()
    assert seen == [[6.0, 6.0], [2.0, 2.0]]  # this backward's, not the accumulated gradient
    assert x.grad.tolist() == [8.0, 8.0]


def test_hooks_run_in_order_of_registration_and_hand_on_replacements() -> None:
    x = leaf([1.0])
    order: list[Any] = []

    def first(grad: paddle.Tensor) -> paddle.Tensor:
        order.append(("first", grad.item()))
        return grad * 10.0

    def second(grad: paddle.Tensor) -> None:
        order.append(("second", grad.item()))

    def third(grad: paddle.Tensor) -> paddle.Tensor:
        order.append(("third", grad.item()))
        return grad + 1.0

    for hook in (first, second, third):
        x.register_hook(hook)
    (x * 2.0).backward()
    assert order == [("first", 2.0), ("second", 20.0), ("third", 20.0)]
    assert x.grad.tolist() == [21.0]


def test_hook_of_an_op_result_sees_the_sum_and_changes_what_goes_on() -> None:
    x = leaf([1.0])
    y = x * 2.0
    seen: list[float] = []

    def double(grad: paddle.Tensor) -> paddle.Tensor:
        seen.append(grad.item())
        return grad * 2.0

    y.register_hook(double)
    (y * 3.0 + y * 4.0).backward()
    assert seen == [7.0]
    assert x.grad.tolist() == [28.0]


def test_hook_of_the_root_sees_the_seed() -> None:
    x = leaf([1.0, 1.0])
    y = x * 2.0
    y.register_hook(lambda grad: grad * 5.0)
    y.backward(paddle.to_tensor([1.0, 3.0], dtype="float64"))
    assert x.grad.tolist() == [10.0, 30.0]


def test_hook_removal() -> None:
    x = leaf([1.0])
    calls: list[int] = []
    handles = [x.register_hook(lambda grad, i=i: calls.append(i)) for i in range(3)]
    assert handles[1].remove() is True
    (x * 1.0).backward()
    assert calls == [0, 2]
    with pytest.warns(UserWarning, match="removed"):
        assert handles[1].remove() is False
    handles[0].remove()
    handles[2].remove()
    (x * 1.0).backward()
    assert calls == [0, 2]
    assert x.grad.tolist() == [2.0]


def test_a_hook_may_remove_itself() -> None:
    x = leaf([1.0])
    calls: list[float] = []

    def once(grad: paddle.Tensor) -> None:
        calls.append(grad.item())
        handle.remove()

    handle = x.register_hook(once)
    x.register_hook(lambda grad: calls.append(-grad.item()))
    (x * 1.0).backward()
    (x * 1.0).backward()
    assert calls == [1.0, -1.0, -1.0]


def test_a_hook_for_a_tensor_without_gradient_is_refused() -> None:
    with pytest.raises(RuntimeError, match="stop_gradient"):
        paddle.to_tensor([1.0]).register_hook(print)


@pytest.mark.parametrize("on_leaf", [True, False])
@pytest.mark.parametrize(
    ("hook", "error", "words"),
    [
        (lambda grad: 5, TypeError, "int"),
        (lambda grad: grad.numpy(), TypeError, "ndarray"),
        (lambda grad: grad[0:1], ValueError, r"\[2\].*\[1\]"),
        (lambda grad: grad.reshape([1, 2]), ValueError, r"\[2\].*\[1, 2\]"),
        (fail, Broken, "on purpose"),
    ],
)
def test_a_bad_hook_is_an_error_and_leaves_the_engine_usable(
    on_leaf: bool, hook: Callable[..., Any], error: type[Exception], words: str
) -> None:
    x = leaf([1.0, 2.0])
    y = x * 2.0
    handle = (x if on_leaf else y).register_hook(hook)
    with pytest.raises(error, match=words):
        (y * 1.0).sum().backward()
    assert x.grad is None
    handle.remove()
    assert_engine_is_usable()
    (x * 2.0).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("on_leaf", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_a_hook_cannot_change_the_dtype_of_a_gradient(on_leaf: bool, dtype: str) -> None:
    x = leaf(np.ones((2, 2)), "float32")
    y = x * 1.0
    (x if on_leaf else y).register_hook(lambda grad: grad.astype(dtype))
    try:
        y.sum().backward()
    except TypeError as error:
        assert dtype in str(error)
        assert x.grad is None
    else:
        assert x.grad.dtype == paddle.float32
        assert x.grad.tolist() == [[1.0, 1.0]] * 2


def test_ops_in_a_hook_are_not_recorded() -> None:
    x = leaf([1.0])
    seen: list[bool] = []
    x.register_hook(lambda grad: seen.append((x * grad).stop_gradient))
    (x * 2.0).backward()
    assert seen == [True]


def test_reduce_hook_runs_when_the_gradient_is_in_place() -> None:
    x, y = leaf([1.0]), leaf([1.0])
    seen: list[tuple[str, float]] = []
    x.leaf_node().reduce_hook = lambda: seen.append(("x", x.grad.item()))
    y.leaf_node().reduce_hook = lambda: seen.append(("y", y.grad.item()))
    y.register_hook(lambda grad: grad * 10.0)
    loss = x * 2.0 + x * 3.0 + y
    loss.backward()
    assert sorted(seen) == [("x", 5.0), ("y", 10.0)]
    paddle.grad(x * 2.0, x)
    assert len(seen) == 2


def test_a_leaf_is_finished_as_soon_as_its_last_use_has_run() -> None:
    first, last = leaf([1.0]), leaf([1.0])
    order: list[str] = []
    hidden = first * 2.0
    hidden.register_hook(lambda grad: order.append("hidden"))
    last.register_hook(lambda grad: order.append("last"))
    first.register_hook(lambda grad: order.append("first"))
    (hidden * last).backward()
    assert order == ["last", "hidden", "first"]


# ---- callbacks ----


def test_callbacks_run_once_at_the_end_in_order() -> None:
    x = leaf([1.0])
    order: list[Any] = []

    def hook(grad: paddle.Tensor) -> None:
        queue_callback(lambda error: order.append(("first", error, x.grad.item())))
        queue_callback(lambda error: order.append(("second", error, x.grad.item())))

    y = x * 2.0
    y.register_hook(hook)
    y.backward()
    assert order == [("first", None, 2.0), ("second", None, 2.0)]
    (x * 1.0).backward()
    assert len(order) == 2


def test_callbacks_of_a_nested_backward_wait_for_the_outermost() -> None:
    x, z = leaf([1.0]), leaf([1.0])
    order: list[str] = []

    def inner_hook(grad: paddle.Tensor) -> None:
        queue_callback(lambda error: order.append("callback"))

    def outer_hook(grad: paddle.Tensor) -> None:
        with paddle.enable_grad():
            inner = z * 3.0
        inner.register_hook(inner_hook)
        inner.backward()
        order.append("inner done")

    y = x * 2.0
    y.register_hook(outer_hook)
    x.register_hook(lambda grad: order.append("leaf"))
    y.backward()
    assert order == ["inner done", "leaf", "callback"]
    assert z.grad.tolist() == [3.0]


def test_callbacks_learn_of_the_error() -> None:
    x = leaf([1.0])
    y = x * 2.0
    told: list[Any] = []
    y.register_hook(lambda grad: queue_callback(told.append))
    x.register_hook(fail)
    with pytest.raises(Broken) as caught:
        y.backward()
    assert told == [caught.value]
    assert_engine_is_usable()


def test_a_failing_callback_reaches_the_caller_and_keeps_no_other_from_running() -> None:
    x = leaf([1.0])
    y = x * 2.0
    told: list[Any] = []

    def hook(grad: paddle.Tensor) -> None:
        queue_callback(told.append)
        queue_callback(fail)
        queue_callback(told.append)

    y.register_hook(hook)
    with pytest.raises(Broken):
        y.backward()
    assert len(told) == 2
    assert x.grad.tolist() == [2.0]
    assert_engine_is_usable()


def test_queue_callback_outside_of_backward_is_refused() -> None:
    with pytest.raises(RuntimeError, match="backward"):
        queue_callback(fail)


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


# ---- threads ----


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Runs ``work(i)`` in threads that start together; re-raises the first error."""
    barrier = threading.Barrier(count, timeout=30)
    errors: list[BaseException] = []

    def run(i: int) -> None:
        try:
            barrier.wait()
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "the threads hang"
    if errors:
        raise errors[0]


def test_threads_with_graphs_of_their_own() -> None:
    leaves = [leaf(np.full(500, float(i))) for i in range(4)]

    def work(i: int) -> None:
        for _ in range(20):
            (leaves[i] * leaves[i]).sum().backward()

    in_threads(4, work)
    for i, x in enumerate(leaves):
        np.testing.assert_array_equal(x.grad.numpy(), np.full(500, 40.0 * i))


def test_threads_that_share_leaves_lose_no_gradient() -> None:
    """Large enough that NumPy lets other threads run in the middle of an addition."""
    shared = leaf(np.ones(200_000))

    def work(i: int) -> None:
        for _ in range(10):
            (shared * 1.0).sum().backward()

    for total in (40.0, 80.0):
        in_threads(4, work)
        assert np.unique(shared.grad.numpy()).tolist() == [total]


def test_threads_that_share_a_layer_whose_gradient_is_written_in_place() -> None:
    weight, x = leaf(np.zeros((300, 300))), paddle.ones([8, 300], "float64")

    def work(i: int) -> None:
        F.linear(x, weight).sum().backward()

    for _ in range(10):
        in_threads(4, work)
        assert np.unique(weight.grad.numpy()).tolist() == [32.0]
        weight.clear_grad()


def test_threads_that_meet_at_the_same_leaves_in_either_order_do_not_lock_each_other_up() -> None:
    """Both gradients of lerp are written where they belong, with a claim on both leaves."""
    a, b = leaf(np.ones(4)), leaf(np.ones(4))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            (a * 0.0 + b * 0.0).sum().backward()
            a.clear_grad()
            b.clear_grad()

            def work(i: int) -> None:
                for _ in range(20):
                    ends = (a, b) if i % 2 else (b, a)
                    paddle.lerp(*ends, 0.5).sum().backward()
                    a.clear_grad()
                    b.clear_grad()

            in_threads(4, work)
    finally:
        sys.setswitchinterval(interval)
    paddle.lerp(a, b, 0.25).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([0.75] * 4, [0.25] * 4)


def test_a_hook_in_one_thread_does_not_stop_recording_in_another() -> None:
    x = leaf([1.0])
    y = x * 2.0
    seen: list[bool] = []

    def other_thread() -> None:
        seen.append((x * 1.0).stop_gradient)

    def hook(grad: paddle.Tensor) -> None:
        thread = threading.Thread(target=other_thread)
        thread.start()
        thread.join(30)
        assert not thread.is_alive()

    y.register_hook(hook)
    y.backward()
    assert seen == [False]
