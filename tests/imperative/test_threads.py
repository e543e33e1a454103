"""Backward in several threads at once."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from tests.imperative.leaves import leaf


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


def test_threads_with_graphs_of_their_own(place: str) -> None:
    leaves = [leaf(np.full(500, float(i))) for i in range(4)]

    def work(i: int) -> None:
        for _ in range(20):
            (leaves[i] * leaves[i]).sum().backward()

    in_threads(4, work)
    for i, x in enumerate(leaves):
        np.testing.assert_array_equal(x.grad.numpy(), np.full(500, 40.0 * i))


def test_threads_that_share_leaves_lose_no_gradient(place: str) -> None:
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


@pytest.mark.parametrize(
    ("how", "message"), [("raises", "on purpose"), ("returns too little", "linear.* 3 values.* 2")]
)
def test_a_gradient_rule_that_fails_leaves_its_leaves_to_other_threads(
    how: str, message: str
) -> None:
    """The rule fails when the memory of both leaves is claimed for it."""
    x, w, b = paddle.ones([1, 2], "float64"), leaf(np.ones((2, 2))), leaf(np.ones(2))
    F.linear(x, w, b).sum().backward()
    w.clear_grad()
    b.clear_grad()
    y = F.linear(x, w, b).sum()

    def break_rule(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if op.name != "linear_grad":
            return call(*args)
        if how == "raises":
            raise ValueError("on purpose")
        return call(*args)[:2]

    with pytest.raises(ValueError, match=message), paddle.autograd.intercept(break_rule):
        y.backward()
    w.clear_grad()
    b.clear_grad()
    in_threads(2, lambda i: F.linear(x, w, b).sum().backward())
    assert b.grad.tolist() == [2.0, 2.0]
    assert w.grad.tolist() == [[2.0, 2.0]] * 2
