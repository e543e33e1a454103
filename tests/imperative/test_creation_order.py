"""With FLAGS_sort_sum_gradient a tensor's gradients are added newest user first."""

import itertools

import numpy as np
import pytest

import minipaddle as paddle


@pytest.fixture
def sorting():
    paddle.set_flags({"FLAGS_sort_sum_gradient": True})
    yield
    paddle.set_flags({"FLAGS_sort_sum_gradient": False})


def gradient(order):
    """The gradient of x used by four ops, whose results are put together in ``order``.

    Each sends another number, and in float32 their sum depends on the order of adding.
    """
    x = paddle.to_tensor([1.0], stop_gradient=False)
    parts = [x * factor for factor in (1e8, 3.0, -1e8, 5.0)]
    total = parts[order[0]]
    for i in order[1:]:
        total = total + parts[i]
    total.backward()
    return x.grad.item()


def test_the_sum_does_not_depend_on_the_rest_of_the_graph(sorting):
    newest_first = np.float32(0)
    for value in (5.0, -1e8, 3.0, 1e8):
        newest_first = np.float32(newest_first + np.float32(value))
    found = {gradient(order) for order in itertools.permutations(range(4))}
    assert found == {float(newest_first)}


def test_without_the_flag_it_does():
    assert len({gradient(order) for order in itertools.permutations(range(4))}) > 1


def test_everything_else_is_as_before(sorting):
    x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    (first,) = paddle.grad((x * x * x).sum(), x, create_graph=True)
    (second,) = paddle.grad(first.sum(), x)
    assert first.tolist() == [12.0, 27.0] and second.tolist() == [12.0, 18.0]
    paddle.autograd.backward([(x * x).sum(), x.sum()])
    assert x.grad.tolist() == [5.0, 7.0]


def test_nodes_of_several_results_take_part(sorting):
    class Two(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0, x * 3.0

        @staticmethod
        def backward(ctx, first, second):
            return first * 2.0 + second * 3.0

    x = paddle.to_tensor([1.0], stop_gradient=False)
    first, second = Two.apply(x)
    (first * 1.0 + second).backward()
    assert x.grad.tolist() == [5.0]
