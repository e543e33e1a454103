"""Forms in place that are made of the functions."""

import inspect

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.functions import inplace


def tensor(values, dtype=None):
    return paddle.to_tensor(values, dtype)


X = [[4.0, -3.0], [2.5, 1.0]]
N = [[4, -3], [2, 1]]
B = [[True, False], [True, True]]
WRITING = {
    "addmm_": (X, lambda: (tensor(X), tensor(X))),
    "baddbmm_": ([X], lambda: (tensor([X]), tensor([X]))),
    "bitwise_and_": (N, lambda: (tensor(N[::-1]),)),
    "bitwise_left_shift_": (N, lambda: (tensor([1, 2]),)),
    "bitwise_not_": (N, tuple),
    "bitwise_or_": (N, lambda: (tensor(N[::-1]),)),
    "bitwise_right_shift_": (N, lambda: (tensor([1, 2]),)),
    "bitwise_xor_": (N, lambda: (tensor(N[::-1]),)),
    "copysign_": (X, lambda: (tensor([1.0, -1.0]),)),
    "cumprod_": (X, lambda: (1,)),
    "cumsum_": (X, lambda: (1,)),
    "frac_": (X, tuple),
    "hypot_": (X, lambda: (tensor([3.0, 4.0]),)),
    "ldexp_": (X, lambda: (tensor([3, -1]),)),
    "logical_and_": (B, lambda: (tensor(B[::-1]),)),
    "logical_not_": (B, tuple),
    "logical_or_": (B, lambda: (tensor(B[::-1]),)),
    "logical_xor_": (B, lambda: (tensor(B[::-1]),)),
    "tril_": (X, tuple),
    "triu_": (X, lambda: (1,)),
}


def test_every_form_is_tested():
    assert set(WRITING) == set(inplace._WRITING)


@pytest.mark.parametrize("name", WRITING)
def test_it_writes_what_the_function_gives(name):
    values, others = WRITING[name]
    x = tensor(values)
    alias, before = x.detach(), x.inplace_version
    wanted = getattr(paddle, name[:-1])(tensor(values), *others()).tolist()
    assert getattr(paddle, name)(x, *others()) is x
    assert x.tolist() == alias.tolist() == wanted
    assert x.inplace_version > before
    assert getattr(tensor(values), name)(*others()).tolist() == wanted


@pytest.mark.parametrize("name", [*inplace._WRITING, *inplace._SHAPING])
def test_signatures_and_words_are_those_of_the_function(name):
    form, function = getattr(paddle, name), getattr(paddle, name[:-1])
    assert inspect.signature(form) == inspect.signature(function)
    assert name[:-1] in form.__doc__


@pytest.mark.parametrize(("name", "arguments"), [("tril_", ()), ("cumsum_", (0,)), ("frac_", ())])
def test_gradients_are_those_of_the_function(name, arguments):
    found = []
    for form in (name, name[:-1]):
        x = tensor(X)
        x.stop_gradient = False
        out = getattr(paddle, form)(x * 2.0, *arguments)
        (out * tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]


def test_a_result_that_does_not_fit_is_refused():
    x = tensor([1.0, 2.0])
    with pytest.raises(TypeError, match="bool"):
        x.logical_not_()
    with pytest.raises(ValueError, match="2, 2"):
        x.hypot_(tensor(X))
    assert x.tolist() == [1.0, 2.0]


SHAPING = [
    ("reshape_", ([3, 2],), [2, 3], [3, 2]),
    ("reshape_", ([-1],), [2, 3], [6]),
    ("flatten_", (), [2, 3], [6]),
    ("squeeze_", (), [2, 1, 3], [2, 3]),
    ("squeeze_", (0,), [2, 3], [2, 3]),
    ("unsqueeze_", (0,), [2, 3], [1, 2, 3]),
    ("transpose_", ([1, 0],), [2, 3], [3, 2]),
    ("t_", (), [2, 3], [3, 2]),
    ("t_", (), [3], [3]),
]


@pytest.mark.parametrize(("name", "arguments", "shape", "wanted"), SHAPING)
def test_the_first_argument_takes_the_shape(name, arguments, shape, wanted):
    host = np.arange(6.0 if len(shape) > 1 else 3.0).reshape(shape)
    leaf = paddle.to_tensor(host, stop_gradient=False)
    x = leaf * 1.0
    function = getattr(paddle, name[:-1])
    right = function(leaf.detach(), *arguments).numpy()
    assert getattr(paddle, name)(x, *arguments) is x
    assert x.shape == wanted
    np.testing.assert_array_equal(x.numpy(), right)
    weight = paddle.to_tensor(np.arange(right.size, dtype="float64").reshape(wanted))
    (x * x * weight).sum().backward()
    other = paddle.to_tensor(host, stop_gradient=False)
    y = function(other * 1.0, *arguments)
    (y * y * weight).sum().backward()
    np.testing.assert_array_equal(leaf.grad.numpy(), other.grad.numpy())


def test_views_follow_a_tensor_whose_shape_has_changed():
    leaf = paddle.ones([2, 3])
    leaf.stop_gradient = False
    x = leaf * 1.0
    row = x[0]
    x.reshape_([3, 2])
    later = x[0]
    x.multiply_(tensor(3.0))
    row.multiply_(tensor(5.0))
    assert x.tolist() == [[15.0, 15.0], [15.0, 3.0], [3.0, 3.0]]
    assert row.tolist() == [15.0] * 3 and later.tolist() == [15.0] * 2
    (row.sum() * 1.0 + later.sum() * 10.0 + x.sum() * 100.0).backward()
    assert leaf.grad.tolist() == [[1665.0, 1665.0, 1515.0], [300.0] * 3]


def test_a_view_whose_shape_has_changed_still_writes_to_its_owner():
    leaf = paddle.ones([2, 4])
    leaf.stop_gradient = False
    x = leaf * 1.0
    half = x[0].reshape_([2, 2])
    again = half.transpose_([1, 0])
    assert again is half
    half[0] = 7.0
    assert x.tolist() == [[7.0, 1.0, 7.0, 1.0], [1.0] * 4]
    x.sum().backward()
    assert leaf.grad.tolist() == [[0.0, 1.0, 0.0, 1.0], [1.0] * 4]


def test_a_copy_in_another_shape_leaves_the_memory():
    x = paddle.ones([2, 2])
    turned = x.t()
    turned.reshape_([4])
    turned.fill_(5.0)
    assert turned.tolist() == [5.0] * 4 and x.tolist() == [[1.0, 1.0]] * 2


def test_a_leaf_that_wants_a_gradient_keeps_its_shape():
    x = paddle.ones([2, 1])
    x.stop_gradient = False
    for call in (lambda: x.reshape_([2]), lambda: x.squeeze_()):
        with pytest.raises(ValueError, match="leaf"):
            call()
        with paddle.no_grad(), pytest.raises(ValueError, match="leaf"):
            call()
    assert x.shape == [2, 1]


def test_fill_and_zero():
    x = paddle.ones([2])
    x.stop_gradient = False
    y = x * 2.0
    assert y.fill_(tensor([3])) is y and y.tolist() == [3.0, 3.0]
    (y * x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert tensor([1, 2]).zero_().tolist() == [0, 0]
    assert tensor([True, False]).fill_(True).tolist() == [True, True]
    with paddle.no_grad():
        assert x.zero_().tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="leaf"):
        x.zero_()
    with pytest.raises(ValueError, match=r"one element.*\[2\]"):
        y.fill_(tensor([1.0, 2.0]))
