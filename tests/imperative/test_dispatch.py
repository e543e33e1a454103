"""The function that users call: signature, recording, error texts, interception."""

import inspect
import threading
import traceback

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.autograd import intercept, is_grad_enabled, no_grad
from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions import elementwise, linalg
from minipaddle.imperative.functions.elementwise import add, lerp, multiply, square, tanh
from minipaddle.imperative.functions.linalg import linear, matmul
from minipaddle.imperative.functions.rectifier import relu
from minipaddle.imperative.functions.reduction import sum as total
from minipaddle.imperative.functions.shape import reshape
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.op import OPS, REQUIRED, get_op


def leaf(value=(1.0, 2.0)):
    return to_tensor(np.array(value), stop_gradient=False)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_has_the_declared_signature_and_says_who_it_is(name):
    function = FUNCTIONS[name]
    op = OPS.get(name) or OPS[name.removesuffix("_")]
    found = inspect.signature(function).parameters
    given = [p for p in op.params if p.type != "Generator"]  # that is the place's own
    assert list(found) == [*(p.name for p in given), "name"]
    for param in given:
        default = inspect.Parameter.empty if param.default is REQUIRED else param.default
        assert found[param.name].default == default
        assert param.name in function.__annotations__
    assert function.__name__ == function.__qualname__ == name
    assert function.__module__.startswith("minipaddle.imperative.functions.")
    assert inspect.getdoc(function)


def test_arguments_by_name_and_place():
    x, y = leaf(), leaf()
    assert lerp(weight=0.5, y=y, x=x).tolist() == lerp(x, y, 0.5).tolist()
    assert lerp(x, y, 0.5, name="ignored").tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="weight"):
        lerp(x, y)
    with pytest.raises(TypeError, match="wait"):
        lerp(x, y, wait=0.5)
    with pytest.raises(TypeError):
        lerp(x, y, 0.5, "name", 1)


def test_a_declaration_must_match_ops_yaml():
    def tanh(y, name=None): ...

    with pytest.raises(TypeError, match=r"test_dispatch.py:\d+: tanh must take"):
        bound(tanh)

    def sum(x, axis=0, dtype=None, keepdim=False, name=None): ...

    with pytest.raises(TypeError, match="sum must take"):
        bound(sum)

    def blond(x, name=None): ...

    with pytest.raises(ValueError, match="blond"):
        bound(blond)
    assert FUNCTIONS["tanh"] is elementwise.tanh and "blond" not in FUNCTIONS


def test_a_traceback_shows_the_lines_of_a_bound_function():
    with pytest.raises(ValueError) as caught:
        add(leaf(), leaf((1.0, 2.0, 3.0)))
    text = "".join(traceback.format_exception(caught.value))
    assert "<bound add" in text and "kernels[place]" in text
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("call", "saved"),
    [
        (lambda x, y: add(x, y), ()),
        (lambda x, y: multiply(x, y), ("x", "y")),
        (lambda x, y: multiply(x, y.detach()), (None, "y")),
        (lambda x, y: square(x), ("x",)),
        (lambda x, y: relu(x), ("out",)),
        (lambda x, y: tanh(x), ("out",)),
        (lambda x, y: reshape(x, [2, 1]), ((2,),)),
        (lambda x, y: total(x), ((2,),)),
    ],
)
def test_a_node_keeps_exactly_what_the_plan_names(call, saved):
    x, y = leaf(), leaf((3.0, 4.0))
    out = call(x, y)
    known = {"x": x.data, "y": y.data, "out": out.data}
    node = out.edge
    assert len(node.saved) == len(saved)
    for found, name in zip(node.saved, saved, strict=True):
        assert found is known[name] if isinstance(name, str) else found == name
    assert node.shape == tuple(out.shape) and node.dtype is out.dtype
    assert node.op is get_op(node.op.name) and node.place is out.place


def test_an_operand_is_kept_only_for_an_input_that_wants_a_gradient():
    x, w = leaf(((1.0, 2.0),)), leaf(((1.0,), (2.0,)))
    constant = to_tensor(w.numpy())
    assert [s is not None for s in linear(x, w).edge.saved] == [True, True]
    assert [s is not None for s in linear(x, constant).edge.saved] == [False, True]
    assert [s is not None for s in matmul(x.detach(), w).edge.saved][:2] == [True, False]


def test_edges_lead_to_what_made_the_operands():
    x, y = leaf(), leaf()
    out = add(square(x), y.detach())
    square_node, none = out.edge.edges
    assert square_node.op is get_op("square") and none is None
    assert square_node.edges == (x.edge,)
    out = linear(leaf(((1.0, 2.0),)), leaf(((1.0,), (2.0,))))
    assert len(out.edge.edges) == 3 and out.edge.edges[2] is None  # no bias


def test_the_same_tensor_twice_gets_both_gradients():
    x = leaf((3.0,))
    multiply(x, x).backward()
    assert x.grad.tolist() == [6.0]
    x.clear_grad()
    lerp(x, x, x).backward()
    assert x.grad.tolist() == [1.0]  # (1 - w) + w + (y - x)


def test_nothing_is_recorded_where_nothing_wants_a_gradient():
    x, constant = leaf(), to_tensor([1.0, 2.0], dtype="float64")
    assert add(constant, constant).edge is None
    with no_grad():
        assert add(x, x).edge is None and not is_grad_enabled()
    assert add(x, constant).edge is not None


def test_recording_is_a_matter_of_each_thread():
    x, seen = leaf(), []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(square(x).stop_gradient))
        thread.start()
        thread.join(10)
        assert square(x).stop_gradient
    assert seen == [False]


def test_an_interceptor_sees_op_call_and_all_arguments():
    x, y, seen = leaf(), leaf(), []

    def watch(op, call, args):
        seen.append((op.name, args))
        return call(*args)

    with intercept(watch):
        out = lerp(x, y, weight=0.5)
        matmul(x, y)
    assert seen == [("lerp", (x, y, 0.5)), ("matmul", (x, y, False, False))]
    assert out.tolist() == [1.0, 2.0] and not out.stop_gradient
    seen.clear()
    lerp(x, y, 0.5)
    assert not seen


def test_an_interceptor_sees_the_gradients_too():
    x, seen = leaf(), []

    def watch(op, call, args):
        seen.append(op.name)
        return call(*args)

    out = square(x)
    with intercept(watch):
        out.backward()
    assert seen == ["square_grad"]
    assert x.grad.tolist() == [2.0, 4.0]


def test_interceptors_nest_and_may_replace_arguments_and_results():
    x, order = leaf(), []

    def outer(op, call, args):
        order.append("outer")
        return call(*args)

    def inner(op, call, args):
        order.append("inner")
        return multiply(call(*args), 10.0) if op.name == "square" else call(*args)

    with intercept(outer), intercept(inner):
        assert square(x).tolist() == [10.0, 40.0]
    assert order.index("inner") < order.index("outer")
    with pytest.raises(ZeroDivisionError), intercept(lambda op, call, args: 1 / 0):
        square(x)
    assert square(x).tolist() == [1.0, 4.0]  # gone after the error


def test_an_interceptor_is_of_its_thread():
    seen, x = [], leaf()
    with intercept(lambda op, call, args: seen.append(op.name) or call(*args)):
        thread = threading.Thread(target=lambda: square(x))
        thread.start()
        thread.join(10)
    assert not seen


def test_interception_works_in_place_and_on_the_slow_path():
    seen = []

    def watch(op, call, args):
        seen.append(op.name)
        return call(*args)

    x = to_tensor([1.0, 2.0])
    with intercept(watch):
        assert elementwise.add_(x, 1.0) is x
        out = add(to_tensor([1], dtype="int64"), to_tensor([0.5]))
    assert x.tolist() == [2.0, 3.0] and out.dtype.name == "float32"
    assert seen.count("add") == 2


def test_methods_are_the_functions():
    for name in ("add", "multiply", "lerp", "lerp_", "matmul", "tanh", "square", "sum", "mean"):
        assert getattr(Tensor, name) is FUNCTIONS[name]
    assert linalg.linear is FUNCTIONS["linear"]
    x = leaf()
    assert x.lerp(x, 0.5).tolist() == [1.0, 2.0]
    assert (x @ x).item() == 5.0
    assert (x - 1).tolist() == [0.0, 1.0] and (1 - x).tolist() == [0.0, -1.0]


def test_augmented_assignment_makes_a_new_tensor():
    x = leaf()
    y = x
    y += 1.0
    assert y is not x and x.tolist() == [1.0, 2.0] and y.tolist() == [2.0, 3.0]


def test_a_large_chain_of_small_ops_keeps_no_operand_alive():
    out = leaf()
    for _ in range(1000):
        out = add(out, 1.0)
    assert out.edge.saved == ()
    out.backward()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(),
        lambda x: x.sum(0),
        lambda x: x.nansum(),
        lambda x: paddle.concat([x, -x]).var(),
        lambda x: x.norm(),
        lambda x: x.prod(),
        lambda x: x.cumsum(1)[:, 1],
        lambda x: x @ x,
        lambda x: x.dist(-x),
        lambda x: paddle.nn.functional.linear(x, x),
        lambda x: paddle.nn.functional.mse_loss(x, -x),
        lambda x: paddle.nn.functional.mse_loss(x, -x, "none"),
    ],
)
def test_what_is_too_large_for_a_half_type_is_infinite_without_a_warning(call):
    x = to_tensor(np.full((2, 2), 6e4, "float16"))
    assert np.isinf(call(x).numpy()).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.cumprod(1),
        lambda x: x.logcumsumexp(1),
        lambda x: paddle.nn.functional.embedding(to_tensor([0, 0, 0]), x),
    ],
)
def test_a_gradient_too_large_for_a_half_type_comes_without_a_warning(call):
    x = to_tensor(np.full((2, 2), 6e4, "float16"), stop_gradient=False)
    out = call(x)
    out.backward(paddle.full_like(out, 6e4))
    assert not np.isfinite(x.grad.numpy()).all()
