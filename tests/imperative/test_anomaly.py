"""FLAGS_check_nan_inf names op and operand, anomaly mode the line of the forward program."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.grad_node import grad_state
from minipaddle.imperative.tensor import to_tensor


@pytest.fixture
def checking():
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    yield
    paddle.set_flags({"FLAGS_check_nan_inf": False})
    assert grad_state.interceptor is None


def tensor(values, place, **options):
    return to_tensor(np.asarray(values, np.float32), place=place, **options)


def test_the_op_and_its_operands_are_named(checking, place):
    x, y = tensor([1.0, 3e38], place), tensor([1.0, 2.0], place)
    with pytest.raises(FloatingPointError) as caught, np.errstate(all="ignore"):
        x * y
    text = str(caught.value)
    assert "multiply" in text and "0 NaN and 1 infinite of 2 values" in text
    assert "all of its operands are finite" in text
    assert (x + y).tolist()[0] == 2.0


def test_an_operand_that_was_bad_before_is_named(checking, place):
    bad = tensor([np.nan, np.inf, 1.0], place)
    with pytest.raises(FloatingPointError) as caught:
        paddle.add(tensor([1.0, 1.0, 1.0], place), bad)
    assert "y holds 1 NaN and 1 infinite of 3 values" in str(caught.value)


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_are_checked_too(checking, place, create_graph):
    x = tensor([1.0, 2.0], place, stop_gradient=False)
    out = x * 1.0
    with pytest.raises(FloatingPointError, match="multiply") as caught:
        paddle.grad(out, x, tensor([np.inf, 1.0], place), create_graph=create_graph)
    assert "out_grad holds 0 NaN and 1 infinite" in str(caught.value) or create_graph
    (x * 2.0).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_ints_and_empty_tensors_are_never_bad(checking, place):
    assert (to_tensor([1], place=place) + 1).tolist() == [2]
    assert (to_tensor(np.zeros((0, 2)), place=place) + 1.0).shape == [0, 2]


def test_a_new_thread_checks_as_well(checking):
    caught = []

    def work():
        try:
            paddle.to_tensor([np.inf]) + 1.0
        except FloatingPointError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert len(caught) == 1


def test_the_environment_variable_counts():
    code = "import minipaddle as p; p.to_tensor([float('inf')]) + 1.0"
    environ = {**os.environ, "FLAGS_check_nan_inf": "1"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, timeout=60
    )
    assert run.returncode and "FloatingPointError: the result of add" in run.stderr


def test_other_watchers_stay(checking):
    seen = []

    def look(op, call, args):
        seen.append(op.name)
        return call(*args)

    with paddle.autograd.intercept(look):
        paddle.set_flags({"FLAGS_check_nan_inf": False})
        paddle.ones([1]) + 1.0
        paddle.set_flags({"FLAGS_check_nan_inf": True})
        paddle.ones([1]) + 1.0
    assert seen == ["add", "add"]


def here():
    return sys._getframe(1).f_lineno


@np.errstate(all="ignore")
def test_a_gradient_that_is_not_finite_names_the_line(place):
    x = tensor([0.0, 1.0], place, stop_gradient=False)
    with paddle.autograd.detect_anomaly():
        line, out = here(), x / x
        with pytest.raises(FloatingPointError, match="x_grad of divide_grad") as caught:
            out.sum().backward()
    (note,) = caught.value.__notes__
    assert f"{__file__}:{line}, in test_a_gradient_that_is_not_finite_names_the_line" in note
    assert "line, out = here(), x / x" in note
    assert grad_state.interceptor is None


@np.errstate(all="ignore")
def test_an_op_recorded_before_has_no_line(place):
    x = tensor([0.0, 1.0], place, stop_gradient=False)
    before = x / x
    with paddle.autograd.detect_anomaly():
        out = before * 2.0
        with pytest.raises(FloatingPointError, match="x_grad of divide_grad") as caught:
            out.sum().backward()
    assert not hasattr(caught.value, "__notes__")


def test_a_saved_value_that_was_overwritten_names_the_line(place):
    x = tensor([1.0], place, stop_gradient=False)
    with paddle.autograd.detect_anomaly():
        y = x * 1.0
        line, out = here(), y.square()
        y.add_(1.0)
        with pytest.raises(RuntimeError, match=rf"square was called at .*:{line}, in test_a_saved"):
            out.backward()


def test_an_error_in_a_users_backward_names_the_line(place):
    class Broken(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("lost")

    x = tensor([1.0], place, stop_gradient=False)
    paddle.autograd.set_detect_anomaly(True)
    try:
        line, out = here(), Broken.apply(x)
        with pytest.raises(KeyError) as caught:
            out.backward()
    finally:
        paddle.autograd.set_detect_anomaly(False)
    assert any(f":{line}, in" in note for note in caught.value.__notes__)
    assert grad_state.interceptor is None
