"""Version cells: a saved value that was overwritten is noticed; and in-place ops on a graph."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from tests.imperative.leaves import constant, leaf, send

pytestmark = pytest.mark.usefixtures("place")  # all of this file runs on both devices


# ---- version cells ----


def test_ops_and_set_value_that_write_raise_the_version() -> None:
    x = constant([1.0, 2.0])
    assert x.inplace_version == 0
    x.add_(1.0)
    assert x.inplace_version == 1
    x.set_value(np.zeros(2))
    assert x.inplace_version == 2
    x + 1.0
    assert x.inplace_version == 2


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.reshape([2, 1]),
        lambda x: x[0:1],
        lambda x: x[0],
        lambda x: x.detach(),
        lambda x: x[0:1].reshape([1, 1]),
    ],
    ids=["reshape", "slice", "element", "detach", "view of view"],
)
def test_a_tensor_and_its_views_share_one_version(view: Any) -> None:
    x = constant([1.0, 2.0])
    v = view(x)
    x.add_(1.0)
    assert v.inplace_version == 1
    v.multiply_(2.0)
    assert x.inplace_version == 2
    assert x.tolist()[0] == 4.0


def test_a_saved_value_that_was_overwritten_is_an_error_that_names_the_op() -> None:
    x, w = leaf([1.0, 2.0]), constant([3.0, 4.0])
    out = x * w
    w.add_(1.0)
    with pytest.raises(RuntimeError, match=r"multiply.*version 0.*version 1"):
        out.sum().backward()
    assert x.grad is None
    send(x, 2.0)
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("op", "name"),
    [
        (lambda x, w: F.mse_loss(x, w), "mse_loss"),
        (lambda x, w: paddle.matmul(x, w.reshape([2, 1])), "matmul"),
        (lambda x, w: F.linear(x, w.reshape([2, 1])), "linear"),
        (lambda x, w: paddle.lerp(x, x, w), "lerp"),
    ],
)
def test_each_op_that_needs_a_value_watches_it_through_views_too(op: Any, name: str) -> None:
    x, w = leaf([[1.0, 2.0]]), constant([3.0, 4.0])
    out = op(x, w)
    w[0].add_(1.0)
    with pytest.raises(RuntimeError, match=name):
        out.sum().backward()


def test_a_saved_output_is_watched() -> None:
    x = leaf([0.5])
    out = x.tanh()
    total = out * 2.0
    with paddle.no_grad():
        out.add_(1.0)
    with pytest.raises(RuntimeError, match="tanh"):
        total.backward()


def test_set_value_on_a_saved_leaf_is_noticed() -> None:
    x, w = leaf([1.0]), leaf([2.0])
    out = x * w
    w.set_value([5.0])
    with pytest.raises(RuntimeError, match="multiply"):
        out.backward()


def test_only_needed_values_are_watched() -> None:
    x, y = leaf([1.0, 2.0]), constant([3.0, 4.0])
    weight = constant([0.25, 0.5])
    out = paddle.lerp(x, y, weight)
    paddle.lerp_(y, constant([0.0, 0.0]), 0.5)  # y's value is not needed without weight's gradient
    out.sum().backward()
    assert x.grad.tolist() == [0.75, 0.5]
    out = x + y
    y.add_(1.0)
    out.sum().backward()
    assert x.grad.tolist() == [1.75, 1.5]


def test_lerp_needs_its_ends_only_for_the_gradient_of_the_weight() -> None:
    x, y, weight = constant([1.0, 2.0]), constant([3.0, 4.0]), leaf([0.25, 0.5])
    out = paddle.lerp(x, y, weight)
    paddle.lerp_(y, constant([0.0, 0.0]), 0.5)
    with pytest.raises(RuntimeError, match="lerp"):
        out.sum().backward()
    assert weight.grad is None


def test_multiply_does_not_watch_the_operand_that_only_a_constant_would_need() -> None:
    x, w = leaf([1.0]), constant([3.0])
    data = x * w  # keeps w for x, and not x, as w wants no gradient
    x.set_value([7.0])
    data.backward()
    assert x.grad.tolist() == [3.0]


def test_a_gradient_that_was_saved_is_watched() -> None:
    x, scale = leaf([1.0]), leaf([2.0])
    send(x, 3.0)
    out = x.grad * scale
    x.clear_grad()
    with pytest.raises(RuntimeError, match="multiply"):
        out.backward()


def test_a_gradient_given_up_is_still_watched() -> None:
    x, scale = leaf([1.0]), leaf([2.0])
    send(x, 3.0)
    held = x.grad
    out = held * scale
    x.grad = None
    held.add_(1.0)
    with pytest.raises(RuntimeError, match="multiply"):
        out.backward()
    out = held * scale
    out.backward()
    assert scale.grad.tolist() == [4.0]


def test_a_gradient_given_up_is_not_disturbed_by_the_next_one() -> None:
    x, scale = leaf([1.0]), leaf([2.0])
    send(x, 3.0)
    out = (held := x.grad) * scale
    x.grad = None
    send(x, 7.0)
    x.clear_grad()
    out.backward()
    assert scale.grad.tolist() == held.tolist() == [3.0]


def test_adding_to_a_gradient_is_a_write() -> None:
    x, scale = leaf([1.0]), leaf([2.0])
    send(x, 3.0)
    out = x.grad * scale
    send(x, 1.0)
    with pytest.raises(RuntimeError, match="multiply"):
        out.backward()


def test_an_optimizer_step_raises_the_version_of_what_it_changed() -> None:
    x, w, idle = leaf([1.0]), leaf([2.0]), leaf([2.0])
    out = x * w
    send(w, 1.0)
    paddle.optimizer.SGD(0.5, [w, idle]).step()
    assert (w.inplace_version, idle.inplace_version) == (1, 0)
    with pytest.raises(RuntimeError, match="multiply"):
        out.backward()


def test_values_saved_again_by_a_recorded_backward_are_watched() -> None:
    x, w1, w2 = leaf([2.0]), leaf([3.0]), leaf([5.0])
    (gx,) = paddle.grad((x * w1) * w2, x, create_graph=True)
    w1.set_value([100.0])
    with pytest.raises(RuntimeError, match="multiply"):
        gx.backward()
    assert w2.grad is None


def test_a_hook_that_overwrites_a_saved_value_is_noticed() -> None:
    x, w = leaf([1.0]), constant([2.0])
    out = x * w

    def overwrite(grad: paddle.Tensor) -> None:
        w.add_(1.0)

    out.register_hook(overwrite)
    with pytest.raises(RuntimeError, match="multiply"):
        (out * 2.0).backward()


# ---- in-place ops and the graph ----


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.lerp_(constant([1.0, 1.0]), 0.5),
        lambda x: x.add_(1.0),
        lambda x: x.subtract_(1.0),
        lambda x: x.multiply_(2.0),
        lambda x: x.square_(),
        lambda x: x.tanh_(),
        lambda x: F.relu_(x),
    ],
)
def test_a_leaf_that_wants_a_gradient_is_not_written_to(write: Any) -> None:
    x = leaf([1.0, 2.0])
    with pytest.raises(ValueError, match="leaf"):
        write(x)
    assert x.tolist() == [1.0, 2.0]
    assert x.inplace_version == 0
    with paddle.no_grad():
        assert write(x) is x
    assert x.inplace_version == 1
    assert x.is_leaf
    assert not x.stop_gradient
    send(x, 2.0)
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("write", "derivative"),
    [
        (lambda y: y.tanh_(), lambda y: 1 - np.tanh(y) ** 2),
        (lambda y: y.multiply_(3.0), lambda y: np.full_like(y, 3.0)),
        (lambda y: y.add_(1.0), np.ones_like),
        (lambda y: y.subtract_(1.0), np.ones_like),
        (lambda y: y.lerp_(constant([9.0, 9.0]), 0.25), lambda y: np.full_like(y, 0.75)),
        (lambda y: F.relu_(y), lambda y: (y > 0) * 1.0),
    ],
)
def test_an_in_place_result_may_itself_be_the_loss(write: Any, derivative: Any) -> None:
    x = leaf([0.5, -0.25])
    y = x * 2.0
    loss = write(y)
    assert loss is y
    loss.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2.0 * derivative(np.array([1.0, -0.5])), rtol=1e-12)


def test_in_place_on_a_tensor_without_graph_joins_it() -> None:
    y, w = constant([1.0, 1.0]), leaf([2.0, 3.0])
    y.add_(w)
    assert not y.stop_gradient
    assert not y.is_leaf
    (y * 4.0).sum().backward()
    assert w.grad.tolist() == [4.0, 4.0]
    assert y.grad is None


def test_in_place_chain() -> None:
    x, w = leaf([2.0]), leaf([3.0])
    y = x * 1.0
    y.multiply_(3.0).add_(x).lerp_(w, 0.5)  # 0.5 (3 x + x) + 0.5 w
    y.backward()
    assert y.item() == 5.5
    assert x.grad.tolist() == [2.0]
    assert w.grad.tolist() == [0.5]


def test_in_place_multiply_overwrites_what_the_factor_needs() -> None:
    x, w = leaf([2.0]), leaf([3.0])
    y = x * 1.0
    y.multiply_(w)
    with pytest.raises(RuntimeError, match="multiply"):
        y.backward()
    with paddle.no_grad():
        z = x * 1.0
    with pytest.raises(RuntimeError, match="multiply"):
        z.multiply_(w).backward()


def test_in_place_multiply_by_itself_overwrites_what_it_saved() -> None:
    x = leaf([2.0])
    y = x * 1.0
    y.multiply_(y)
    assert y.item() == 4.0
    with pytest.raises(RuntimeError, match="multiply"):
        y.backward()


def test_in_place_after_a_use_that_needs_the_old_value_is_an_error() -> None:
    x, w = leaf([2.0]), leaf([3.0])
    y = x * 1.0
    z = y * w
    y.add_(1.0)
    with pytest.raises(RuntimeError, match="multiply"):
        z.backward()


def test_in_place_after_a_use_that_does_not_need_the_value() -> None:
    x = leaf([2.0])
    y = x * 1.0
    z = y + 1.0
    y.multiply_(5.0)
    (z + y).backward()
    assert x.grad.tolist() == [6.0]


def test_in_place_keeps_the_shape() -> None:
    y = leaf([1.0, 2.0]) * 1.0
    with pytest.raises(ValueError, match=r"\[3, 2\].*\[2\]"):
        y.add_(constant(np.ones((3, 2))))
    assert y.inplace_version == 0
    assert y.tolist() == [1.0, 2.0]


def test_in_place_broadcast_of_the_other_operand() -> None:
    w = leaf(2.0)
    y = constant(np.ones((2, 3)))
    y.add_(w)
    y.sum().backward()
    assert w.grad.shape == []
    assert w.grad.item() == 6.0


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.ones(2, "float32"), np.ones(2, "float64")),
        (np.ones(2, "int64"), np.ones(2, "float32")),
        (np.ones(2, "int64"), 1.5),
        (np.ones(2, "float16"), np.ones(2, "float32")),
    ],
)
def test_in_place_either_writes_into_its_operand_or_refuses(x: Any, y: Any) -> None:
    tensor = paddle.to_tensor(x)
    other = paddle.to_tensor(y) if isinstance(y, np.ndarray) else y
    try:
        result = tensor.add_(other)
    except TypeError as error:
        assert "add_" in str(error)
        assert tensor.tolist() == x.tolist()
        assert tensor.inplace_version == 0
    else:
        assert result is tensor
        assert tensor.tolist() == (x + y).tolist()
    assert tensor.dtype == x.dtype


def test_repr_of_a_node_names_the_op() -> None:
    assert "multiply" in repr((leaf([1.0]) * 2.0).edge)
