"""The gradient of a leaf: NONE, EMPTY, FULL; who holds it, who assigns it, where it lies."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.flat_buffer import FlatBuffer
from minipaddle.imperative.grad_node import GradStatus
from minipaddle.ops.op import namespace
from tests.imperative.leaves import constant, leaf, send, status

pytestmark = pytest.mark.usefixtures("place")  # all of this file runs on both devices


# ---- NONE, EMPTY, FULL ----


def test_a_new_leaf_has_no_gradient() -> None:
    x = leaf([1.0, 2.0])
    assert x.grad is None
    assert status(x) == "NONE"


def test_gradients_add_up_over_backwards() -> None:
    x = leaf([1.0, 2.0])
    for total in (3.0, 6.0, 9.0):
        send(x, 3.0)
        assert x.grad.tolist() == [total, total]
    assert status(x) == "FULL"


def test_cleared_to_zero_reads_as_zeros_and_the_next_gradient_overwrites() -> None:
    x = leaf([1.0, 2.0])
    send(x, 3.0)
    x.clear_grad()
    assert status(x) == "EMPTY"
    send(x, 5.0)
    assert status(x) == "FULL"
    assert x.grad.tolist() == [5.0, 5.0]
    x.clear_grad()
    assert x.grad.tolist() == [0.0, 0.0]


def test_nan_in_a_cleared_gradient_does_not_survive() -> None:
    x = leaf([1.0, 2.0])
    send(x, float("nan"))
    x.clear_grad()
    send(x, 1.0)
    assert x.grad.tolist() == [1.0, 1.0]
    send(x, float("inf"))
    x.clear_grad()
    assert x.grad.tolist() == [0.0, 0.0]


def test_a_gradient_cleared_twice_still_reads_as_zeros() -> None:
    x = leaf([1.0])
    send(x, 3.0)
    x.clear_grad()
    x.clear_gradient()
    assert x.grad.tolist() == [0.0]


def test_clearing_to_none_forgets_the_gradient() -> None:
    x = leaf([1.0, 2.0])
    send(x, 3.0)
    x.clear_grad(set_to_zero=False)
    assert x.grad is None
    assert status(x) == "NONE"
    send(x, 5.0)
    assert x.grad.tolist() == [5.0, 5.0]


def test_clearing_a_gradient_that_never_was_leaves_none() -> None:
    x = leaf([1.0])
    x.clear_grad()
    assert x.grad is None
    y = constant([1.0])
    y.clear_grad()
    assert y.grad is None


def test_reading_a_cleared_gradient_makes_it_one_that_is_added_to() -> None:
    x = leaf([1.0])
    send(x, 3.0)
    x.clear_grad()
    held = x.grad
    held.add_(10.0)
    send(x, 5.0)
    assert x.grad.tolist() == [15.0]


@pytest.mark.parametrize("set_to_zero", [True, False])
def test_memory_of_a_cleared_gradient_is_used_again(set_to_zero: bool) -> None:
    x = leaf(np.ones(8))
    send(x, 3.0)
    home = x.leaf_node().home
    x.clear_grad(set_to_zero)
    send(x, 4.0)
    assert x.leaf_node().home is home


# ---- a user who holds p.grad ----


def test_grad_is_the_same_tensor_while_somebody_holds_it() -> None:
    x = leaf([1.0])
    send(x, 2.0)
    held = x.grad
    assert x.grad is held
    send(x, 3.0)
    assert x.grad is held
    assert held.tolist() == [5.0]


def test_a_held_gradient_shows_zeros_after_clear_and_then_the_next_gradient() -> None:
    x = leaf([1.0, 1.0])
    send(x, 2.0)
    held = x.grad
    x.clear_grad()
    assert held.tolist() == [0.0, 0.0]
    send(x, 3.0)
    assert held.tolist() == [3.0, 3.0]
    assert x.grad is held


def test_writes_to_a_held_gradient_after_clear_count() -> None:
    x = leaf([1.0, 1.0])
    send(x, 2.0)
    held = x.grad
    x.clear_grad()
    held.set_value(np.array([7.0, 8.0]))
    send(x, 1.0)
    assert x.grad.tolist() == [8.0, 9.0]


@pytest.mark.parametrize(
    "give_up",
    [lambda x: x.clear_grad(set_to_zero=False), lambda x: setattr(x, "grad", None)],
    ids=["clear_grad", "assign None"],
)
@pytest.mark.parametrize("in_a_buffer", [False, True])
def test_a_gradient_given_up_keeps_its_value_for_who_holds_it(
    give_up: Callable[[paddle.Tensor], None], in_a_buffer: bool
) -> None:
    x = leaf([1.0, 1.0])
    if in_a_buffer:
        flat = FlatBuffer(x.place, namespace(x.place).full((2,), 0.0, x.dtype), [(2,)])
        x.leaf_node().move_home(flat, 0)
    send(x, 2.0)
    first = x.grad
    give_up(x)
    assert first.tolist() == [2.0, 2.0]
    send(x, 5.0)
    assert first.tolist() == [2.0, 2.0]
    assert x.grad is not first
    assert x.grad.tolist() == [5.0, 5.0]
    first.set_value(np.zeros(2))
    assert x.grad.tolist() == [5.0, 5.0]


def test_a_replaced_gradient_keeps_its_value_for_who_holds_it() -> None:
    x = leaf([1.0, 1.0])
    send(x, 2.0)
    first = x.grad
    x.grad = constant([9.0, 9.0])
    x.clear_grad()
    send(x, 5.0)
    assert first.tolist() == [2.0, 2.0]
    assert x.grad.tolist() == [5.0, 5.0]


def test_an_old_gradient_can_be_the_seed_of_a_backward_into_its_leaf() -> None:
    """lerp's gradient is written straight into the leaf's memory, which the seed must not be."""
    x, y = leaf(np.ones(3)), leaf(np.ones(3))
    paddle.lerp(x, y, 0.5).backward()
    for give_up_x in (True, False):
        seed = x.grad if give_up_x else y.grad
        x.clear_grad(set_to_zero=False)
        y.clear_grad(set_to_zero=False)
        paddle.lerp(x, y, 0.25).backward(seed)
        np.testing.assert_allclose(x.grad.numpy(), 0.375 if give_up_x else 0.09375)
        np.testing.assert_allclose(y.grad.numpy(), 0.125 if give_up_x else 0.03125)


# ---- assigned gradients ----


def test_an_assigned_gradient_is_added_to_without_changing_the_tensor_given() -> None:
    x = leaf([1.0, 1.0])
    given = constant([1.0, 2.0])
    x.grad = given
    assert x.grad is given
    send(x, 3.0)
    assert x.grad.tolist() == [4.0, 5.0]
    assert given.tolist() == [1.0, 2.0]
    x.clear_grad()
    assert x.grad.tolist() == [0.0, 0.0]
    assert given.tolist() == [1.0, 2.0]


def test_an_assigned_gradient_replaces_the_one_there() -> None:
    x = leaf([1.0])
    send(x, 3.0)
    x.grad = constant([10.0])
    send(x, 1.0)
    assert x.grad.tolist() == [11.0]
    x.grad = None
    assert x.grad is None
    send(x, 2.0)
    assert x.grad.tolist() == [2.0]


def test_assigning_the_gradient_itself_changes_nothing() -> None:
    x = leaf([1.0])
    send(x, 3.0)
    x.grad = x.grad
    assert x.grad.tolist() == [3.0]
    send(x, 2.0)
    assert x.grad.tolist() == [5.0]
    x.clear_grad()
    assert x.grad.tolist() == [0.0]


def test_assigning_a_scaled_gradient() -> None:
    x = leaf([1.0, 1.0])
    send(x, 4.0)
    x.grad = x.grad * 0.25
    assert x.grad.tolist() == [1.0, 1.0]
    send(x, 4.0)
    assert x.grad.tolist() == [5.0, 5.0]


def test_two_leaves_given_one_tensor_do_not_change_each_other() -> None:
    x, y = leaf([1.0]), leaf([1.0])
    given = constant([5.0])
    x.grad = given
    y.grad = given
    send(x, 1.0)
    assert (x.grad.item(), y.grad.item(), given.item()) == (6.0, 5.0, 5.0)


def test_a_parameter_given_as_gradient_does_not_make_gradients_parameters() -> None:
    x = leaf([[1.0, 1.0]], "float32")
    x.grad = paddle.nn.Linear(1, 2).weight
    send(x, 1.0)
    assert x.grad.stop_gradient
    assert not isinstance(x.grad, type(paddle.nn.Linear(1, 1).weight))


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (3.0, TypeError, "grad.*float"),
        (np.ones(2), TypeError, "grad.*ndarray"),
        ([1.0, 2.0], TypeError, "grad.*list"),
    ],
)
def test_what_is_no_tensor_is_refused_as_gradient(value: Any, error: Any, words: str) -> None:
    x = leaf([1.0, 1.0])
    send(x, 2.0)
    with pytest.raises(error, match=words):
        x.grad = value
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_gradient_of_another_shape_is_refused() -> None:
    x = leaf([1.0, 1.0])
    with pytest.raises(ValueError, match=r"\[2\].*\[1, 2\]"):
        x.grad = constant([[1.0, 2.0]])
    assert x.grad is None


def test_a_gradient_of_integers_is_refused() -> None:
    x = leaf([1.0, 1.0])
    with pytest.raises(TypeError, match="int64"):
        x.grad = constant([1, 2], "int64")
    assert x.grad is None


def test_grad_has_the_name_of_its_tensor() -> None:
    x = leaf([1.0])
    x.name = "speed"
    send(x, 1.0)
    assert "speed" in x.grad.name
    assert x.grad.stop_gradient


# ---- memory ----


def test_gradients_share_memory_with_nobody() -> None:
    """add hands the same array to both inputs; each leaf must end up with its own."""
    a, b, seed = leaf(np.ones(4)), leaf(np.ones(4)), constant(np.ones(4))
    (a + b).backward(seed)
    a.grad.add_(1.0)
    assert b.grad.tolist() == [1.0] * 4
    assert seed.tolist() == [1.0] * 4
    seed.add_(5.0)
    assert b.grad.tolist() == [1.0] * 4


def test_gradients_of_a_recorded_backward_share_memory_with_nobody() -> None:
    a, b, seed = leaf(np.ones(4)), leaf(np.ones(4)), constant(np.ones(4))
    (a + b).backward(seed, create_graph=True)
    with paddle.no_grad():
        a.grad.add_(1.0)
    assert a.grad is not b.grad
    assert b.grad.tolist() == [1.0] * 4
    assert seed.tolist() == [1.0] * 4


def test_a_leaf_that_is_the_root_copies_the_seed() -> None:
    x, seed = leaf([1.0, 2.0]), constant([3.0, 4.0])
    x.backward(seed)
    seed.set_value(np.zeros(2))
    assert x.grad.tolist() == [3.0, 4.0]


def test_moving_a_gradient_to_a_flat_buffer_keeps_value_and_the_tensor_shown() -> None:
    x, y = leaf([[1.0, 2.0]]), leaf(3.0)
    send(x, 2.0)
    held = x.grad
    kernels = namespace(x.place)
    flat = FlatBuffer(x.place, kernels.full((3,), 0.0, x.dtype), [(1, 2), ()])
    x.leaf_node().move_home(flat, 0)
    y.leaf_node().move_home(flat, 1)
    assert held.tolist() == [[2.0, 2.0]]
    assert x.grad is held
    assert y.grad is None
    send(x, 1.0)
    send(y, 7.0)
    assert held.tolist() == [[3.0, 3.0]]
    assert paddle.Tensor(flat.array, x.place).tolist() == [3.0, 3.0, 7.0]


def test_moving_a_replaced_gradient_takes_its_value_along() -> None:
    x = leaf([1.0, 2.0])
    send(x, 2.0)
    first = x.grad
    given = constant([5.0, 6.0])
    x.grad = given
    flat = FlatBuffer(x.place, namespace(x.place).full((2,), 0.0, x.dtype), [(2,)])
    x.leaf_node().move_home(flat, 0)
    assert x.grad.tolist() == [5.0, 6.0]
    send(x, 1.0)
    assert x.grad.tolist() == [6.0, 7.0]
    assert given.tolist() == [5.0, 6.0]
    assert first.tolist() == [2.0, 2.0]


def test_an_empty_gradient_stays_empty_in_its_new_home() -> None:
    x = leaf([1.0, 2.0])
    send(x, 2.0)
    x.clear_grad()
    flat = FlatBuffer(x.place, namespace(x.place).full((2,), 99.0, x.dtype), [(2,)])
    x.leaf_node().move_home(flat, 0)
    assert x.leaf_node().status is GradStatus.EMPTY
    assert x.grad.tolist() == [0.0, 0.0]
