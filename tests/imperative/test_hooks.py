"""Gradient hooks and end-of-backward callbacks."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.run_end import queue_callback
from tests.imperative.leaves import Broken, assert_engine_is_usable, fail, leaf

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


def test_a_hook_that_runs_a_backward_of_its_own_to_the_other_leaves_of_the_op() -> None:
    """The kernel has written to the memory of b, which has no hook, when that of w runs."""
    x, w, b = paddle.ones([1, 2]), leaf(np.ones((2, 2)), "float32"), leaf([0.0, 0.0], "float32")
    paddle.nn.functional.linear(x, w, b).sum().backward()  # now both have memory
    w.clear_grad()
    b.clear_grad()
    beside = (b * 10.0).sum()
    w.register_hook(lambda grad: beside.backward())
    paddle.nn.functional.linear(x, w, b).sum().backward()
    assert b.grad.tolist() == [11.0, 11.0]
    assert w.grad.tolist() == [[1.0, 1.0]] * 2


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
