"""What is kept alive and for how long: no reference cycles, saved values dropped in time."""

import gc
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F

STATM = Path("/proc/self/statm")


class Watched(np.ndarray[Any, Any]):
    """An array whose end a weak reference tells."""


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Only reference counting frees memory."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def leaf(values: Any) -> paddle.Tensor:
    return paddle.to_tensor(np.asarray(values, "float32"), stop_gradient=False)


def watched(tensor: paddle.Tensor) -> tuple[paddle.Tensor, "weakref.ref[Any]"]:
    """The tensor, over an array that is watched."""
    tensor.data = tensor.data.view(Watched)
    return tensor, weakref.ref(tensor.data)


# ---- cycles ----


def plain() -> None:
    x = leaf(np.ones(1000))
    (x * x).tanh().sum().backward()


def with_hooks() -> None:
    x = leaf(np.ones(1000))
    y = (x * x).tanh()
    factor = paddle.full([1000], 2.0)
    y.register_hook(lambda grad: grad * factor)
    handle = x.register_hook(lambda grad: None)
    y.sum().backward()
    handle.remove()


def with_gradients_read_and_retained() -> None:
    x = leaf(np.ones(1000))
    y = x * x
    y.retain_grads()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert x.grad.shape == y.grad.shape
    x.clear_grad()


def never_run() -> None:
    x = leaf(np.ones(1000))
    y = x
    for _ in range(5):
        y = (y * x).tanh() + y.reshape([10, 100]).reshape([1000])


def in_place() -> None:
    x = leaf(np.ones(1000))
    y = x * 2.0
    y.add_(x).lerp_(x, 0.5).tanh_()
    y.backward()


def second_order() -> None:
    x = leaf(np.ones(1000))
    (gx,) = paddle.grad((x * x * x).sum(), x, create_graph=True)
    gx.sum().backward()


def recorded_into_grad() -> None:
    x = leaf(np.ones(1000))
    (x * x * x).sum().backward(create_graph=True)
    x.grad.sum().backward()  # an ordinary one again: x.grad has no graph any more
    assert x.grad.stop_gradient


def second_backward_fails() -> None:
    x = leaf(np.ones(1000))
    y = x * x
    y.backward()
    try:
        y.backward()
    except RuntimeError:
        return
    raise AssertionError("must fail")


def hook_fails() -> None:
    x = leaf(np.ones(1000))
    y = x * x

    def refuse(grad: paddle.Tensor) -> None:
        raise ValueError

    y.register_hook(refuse)
    try:
        y.backward()
    except ValueError:
        return
    raise AssertionError("must fail")


def intercepted() -> None:
    def look(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return call(*args)

    with paddle.autograd.intercept(look), paddle.autograd.intercept(look):
        plain()


def training() -> None:
    net = paddle.nn.Sequential(
        paddle.nn.Linear(8, 4), paddle.nn.ReLU(), paddle.nn.Linear(4, 1, bias_attr=False)
    )
    adam = paddle.optimizer.Adam(parameters=net.parameters())
    for _ in range(3):
        loss = F.mse_loss(net(paddle.ones([2, 8])), paddle.zeros([2, 1]))
        loss.backward()
        adam.step()
        adam.clear_grad()


CASES = [
    plain,
    with_hooks,
    with_gradients_read_and_retained,
    never_run,
    in_place,
    second_order,
    recorded_into_grad,
    second_backward_fails,
    hook_fails,
    intercepted,
    training,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_200_steps_leave_nothing_for_the_collector(
    case: Callable[[], None], no_collector: None
) -> None:
    case()
    gc.collect()
    for _ in range(200):
        case()
    assert gc.collect() == 0


def test_a_long_chain_leaves_nothing_for_the_collector(no_collector: None) -> None:
    x = leaf([1.0])
    for run in (True, False):
        y = x
        for _ in range(20_000):
            y = y * 1.0
        if run:
            y.backward()
        del y
        assert gc.collect() == 0


# ---- what a graph keeps ----


def test_only_what_the_gradient_needs_is_kept() -> None:
    x = leaf([1.0, 2.0])
    other, watch = watched(paddle.ones([2]))
    y = x + other
    del other
    assert watch() is None
    other, watch = watched(paddle.ones([2]))
    y = x * other
    del other
    assert watch() is not None
    y.sum().backward()
    assert watch() is None


def test_lerp_keeps_its_ends_only_for_a_weight_that_wants_a_gradient() -> None:
    for wants, kept in ((False, False), (True, True)):
        end, watch = watched(paddle.ones([2]))
        weight = paddle.full([2], 0.5)
        weight.stop_gradient = not wants
        out = paddle.lerp(leaf([1.0, 2.0]), end, weight)
        del end
        assert (watch() is not None) is kept
        del out
        assert watch() is None


def test_shapes_are_kept_instead_of_values() -> None:
    x = leaf(np.ones((4, 4)))
    middle, watch = watched(x * 2.0)
    total = middle.sum() + middle.reshape([16]).mean() + middle[0].sum()
    del middle
    assert watch() is None
    total.backward()


def test_a_gradient_is_recorded_only_where_it_flows() -> None:
    frozen, watch = watched(paddle.ones([2]))
    y = frozen * 2.0
    del frozen
    assert y.edge is None
    assert watch() is None


def test_without_recording_nothing_is_kept() -> None:
    x = leaf([1.0, 2.0])
    with paddle.no_grad():
        middle, watch = watched(x.tanh())
        y = middle * middle
    del middle
    assert watch() is None
    assert y.stop_gradient


def test_saved_values_are_dropped_as_their_node_runs() -> None:
    """When the hook of the first result runs, the second op has run and has let go."""
    x = leaf([1.0, 2.0])
    one, watch_one = watched(paddle.ones([2]))
    two, watch_two = watched(paddle.ones([2]))
    first = x * one
    second = first * two
    del one, two
    alive: list[tuple[bool, bool]] = []
    first.register_hook(
        lambda grad: alive.append((watch_one() is not None, watch_two() is not None))
    )
    second.sum().backward()
    assert alive == [(True, False)]
    assert watch_one() is None


def test_retain_graph_keeps_saved_values() -> None:
    x = leaf([1.0, 2.0])
    other, watch = watched(paddle.ones([2]))
    y = x * other
    del other
    y.sum().backward(retain_graph=True)
    assert watch() is not None
    del y
    assert watch() is None


def test_gradients_on_the_way_are_dropped_as_soon_as_they_are_used() -> None:
    """Peak memory of backward over a chain does not grow with its length."""
    alive: list[weakref.ref[Any]] = []
    most = 0
    x = leaf(np.ones(10))
    y = x

    def count(grad: paddle.Tensor) -> paddle.Tensor:
        nonlocal most
        replaced, watch = watched(grad * 1.0)
        alive.append(watch)
        most = max(most, sum(w() is not None for w in alive))
        return replaced

    for _ in range(50):
        y = y * 2.0
        y.register_hook(count)
    y.sum().backward()
    assert len(alive) == 50
    assert most <= 2


def test_a_dropped_leaf_lives_as_long_as_the_graph_needs_it() -> None:
    x = leaf([1.0, 2.0])
    node = weakref.ref(x.leaf_node())
    y = x + 1.0
    del x
    assert node() is not None
    del y
    assert node() is None


def test_a_hook_is_let_go_with_the_graph_and_on_removal() -> None:
    class Hook:
        def __call__(self, grad: paddle.Tensor) -> None:
            pass

    x = leaf([1.0])
    y = x * 2.0
    hook = Hook()
    watch = weakref.ref(hook)
    y.register_hook(hook)
    del hook
    assert watch() is not None
    del y
    assert watch() is None
    hook = Hook()
    watch = weakref.ref(hook)
    handle = x.register_hook(hook)
    del hook
    handle.remove()
    assert watch() is None


def test_a_gradient_read_and_dropped_is_not_kept_as_a_tensor() -> None:
    x = leaf([1.0])
    x.backward()
    watch = weakref.ref(x.grad)
    assert watch() is None
    assert x.grad.tolist() == [1.0]


def test_gradients_of_non_leaves_are_not_kept() -> None:
    x = leaf(np.ones(10))
    y = x * 2.0
    seen: list[weakref.ref[Any]] = []
    y.register_hook(lambda grad: seen.append(weakref.ref(grad)))
    y.sum().backward()
    assert seen[0]() is None
    assert y.grad is None


def test_an_optimizer_keeps_no_model_alive_that_dropped_it() -> None:
    net = paddle.nn.Linear(4, 4)
    sgd = paddle.optimizer.SGD(0.1, net.parameters())
    net(paddle.ones([1, 4])).sum().backward()
    sgd.step()
    watch = weakref.ref(net)
    weight = weakref.ref(net.weight)
    gc.disable()
    try:
        del net
        assert watch() is None
        assert weight() is not None  # the optimizer trains it
        del sgd
        assert weight() is None
    finally:
        gc.enable()


@pytest.mark.skipif(not STATM.exists(), reason="reads resident memory from /proc")
@pytest.mark.parametrize("set_to_zero", [True, False])
def test_resident_memory_does_not_grow_over_1000_steps(
    set_to_zero: bool, no_collector: None
) -> None:
    net = paddle.nn.Sequential(paddle.nn.Linear(64, 64), paddle.nn.Tanh(), paddle.nn.Linear(64, 8))
    adam = paddle.optimizer.Adam(parameters=net.parameters())
    x, y = paddle.ones([32, 64]), paddle.zeros([32, 8])
    net[0].weight.register_hook(lambda grad: grad * 1.0)

    def resident() -> int:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def steps(count: int) -> int:
        for _ in range(count):
            hidden = net(x)
            hidden.register_hook(lambda grad: None)
            F.mse_loss(hidden, y).backward()
            adam.step()
            adam.clear_grad(set_to_zero)
        return resident()

    before = steps(200)
    assert steps(1000) - before <= 2**20
    assert gc.collect() == 0


def test_references_to_what_stays_do_not_pile_up() -> None:
    net = paddle.nn.Linear(4, 1)
    adam = paddle.optimizer.Adam(parameters=net.parameters())
    x = paddle.ones([2, 4])

    def step() -> None:
        net(x).sum().backward()
        adam.step()
        adam.clear_grad()

    for _ in range(5):
        step()
    before = sys.getrefcount(net.weight.leaf_node()), sys.getrefcount(x.data)
    for _ in range(50):
        step()
    assert (sys.getrefcount(net.weight.leaf_node()), sys.getrefcount(x.data)) == before
