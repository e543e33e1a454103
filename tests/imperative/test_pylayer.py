"""PyLayer: a user's forward and backward take their place in the graph like any op."""

import gc
import weakref

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.autograd import PyLayer
from minipaddle.imperative.tensor import to_tensor


def leaf(values, place, dtype="float64"):
    return to_tensor(np.asarray(values, dtype), place=place, stop_gradient=False)


class Tanh(PyLayer):
    """Keeps its result."""

    @staticmethod
    def forward(ctx, x):
        out = x.tanh()
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensor()
        return grad * (1.0 - out * out)


class Mix(PyLayer):
    """Two results of two tensors, of which one comes in a list, and a number."""

    @staticmethod
    def forward(ctx, x, others, factor=1.0):
        (y,) = others
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        return x * y * factor, x + y

    @staticmethod
    def backward(ctx, product, total):
        x, y = ctx.saved_tensor()
        return product * y * ctx.factor + total, product * x * ctx.factor + total


def test_first_and_second_order(place):
    x = leaf([0.3, -1.2], place)
    found = []
    for function in (Tanh.apply, paddle.tanh):
        (first,) = paddle.grad((function(x) * 3.0).sum(), x, create_graph=True)
        (second,) = paddle.grad((first * first).sum(), x)
        found.append((first.numpy(), second.numpy()))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-14)


def test_several_results_and_arguments(place):
    x, y = leaf([2.0, 3.0], place), leaf([5.0, 7.0], place)
    product, total = Mix.apply(x, [y], factor=2.0)
    assert product.tolist() == [20.0, 42.0] and total.tolist() == [7.0, 10.0]
    (product.sum() + total.sum() * 3.0).backward()
    assert x.grad.tolist() == [13.0, 17.0] and y.grad.tolist() == [7.0, 9.0]


def test_a_result_that_is_not_used_sends_zeros(place):
    x, y = leaf([2.0], place), leaf([5.0], place)
    product, _ = Mix.apply(x, [y])
    product.backward()
    assert x.grad.tolist() == [5.0] and y.grad.tolist() == [2.0]


def test_a_result_that_is_not_used_sends_none_if_asked(place):
    seen = []

    class Look(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1.0, x * 2.0

        @staticmethod
        def backward(ctx, first, second):
            seen.append((first, second))
            return second

    x = leaf([1.0], place)
    Look.apply(x)[1].backward()
    assert seen[0][0] is None and x.grad.tolist() == [1.0]


def test_each_result_can_be_hooked_retained_and_asked_for(place):
    x, y = leaf([2.0], place), leaf([5.0], place)
    product, total = Mix.apply(x, [y])
    product.register_hook(lambda g: g * 10.0)
    total.retain_grads()
    (product + total * 2.0).backward(retain_graph=True)
    assert total.grad.tolist() == [2.0] and x.grad.tolist() == [52.0]
    assert [g.tolist() for g in paddle.grad(product + total, [product, total])] == [[10.0], [1.0]]


def test_no_gradient_for_a_constant_argument_and_none_from_backward(place):
    class Half(PyLayer):
        @staticmethod
        def forward(ctx, x, mask):
            ctx.mask = mask
            return x * mask

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.mask, None

    x, mask = leaf([1.0, 2.0], place), to_tensor(np.array([1.0, 0.0]), place=place)
    out = Half.apply(x, mask)
    assert not out.stop_gradient
    out.backward()
    assert x.grad.tolist() == [1.0, 0.0] and mask.grad is None
    assert Half.apply(x.detach(), mask).stop_gradient
    with paddle.no_grad():
        assert Half.apply(x, mask).stop_gradient


def test_int_and_constant_results_have_no_gradient(place):
    class Parts(PyLayer):
        @staticmethod
        def forward(ctx, x):
            constant = x * 2.0
            ctx.mark_not_differentiable(constant)
            return x * 3.0, constant, x.astype("int64")

        @staticmethod
        def backward(ctx, grad):
            return grad * 3.0

    first, constant, whole = Parts.apply(leaf([1.5], place))
    assert not first.stop_gradient and constant.stop_gradient and whole.stop_gradient


def test_an_argument_handed_back_keeps_its_own_graph(place):
    class Same(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 7.0

    x = leaf([1.0], place)
    out = Same.apply(x)
    assert out is not x and x.is_leaf
    out.backward()
    assert x.grad.tolist() == [7.0]


@pytest.mark.parametrize(
    ("returned", "error", "words"),
    [
        (lambda g: (g, g), ValueError, "1; it returned 2"),
        (lambda g: g.sum(), ValueError, r"result 0 must have the shape of its argument, \[2\]"),
        (lambda g: 1.0, TypeError, "result 0 is float"),
    ],
)
def test_a_wrong_backward_is_explained_and_leaves_the_engine_usable(returned, error, words, place):
    class Wrong(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, grad):
            return returned(grad)

    x = leaf([1.0, 2.0], place)
    with pytest.raises(error, match=words):
        Wrong.apply(x).sum().backward()
    assert x.grad is None
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_what_is_saved_must_be_tensors_and_once():
    class Twice(PyLayer):
        @staticmethod
        def forward(ctx, x):
            with pytest.raises(TypeError, match="int"):
                ctx.save_for_backward(1)
            ctx.save_for_backward(x)
            with pytest.raises(RuntimeError, match="once"):
                ctx.save_for_backward(x)
            return x

    Twice.apply(paddle.ones([1]))
    with pytest.raises(TypeError, match="forward"):
        PyLayer.apply(paddle.ones([1]))


def test_a_saved_tensor_that_was_overwritten_is_refused(place):
    x, y = leaf([2.0], place), leaf([5.0], place)
    scaled = x * 1.0
    product, _ = Mix.apply(scaled, [y])
    scaled.add_(1.0)
    with pytest.raises(RuntimeError, match="Mix needs was changed in place"):
        product.backward()


def test_a_second_backward_needs_retain_graph(place):
    x = leaf([0.5], place)
    out = Tanh.apply(x)
    out.backward(retain_graph=True)
    out.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        out.backward()


def test_a_dropped_call_is_freed_at_once(place):
    gc.collect()
    gc.disable()
    try:
        x = leaf([0.5], place)
        out = Tanh.apply(x)
        gone = weakref.ref(out)
        node = weakref.ref(out.edge)
        del out
        assert gone() is None and node() is None
        Tanh.apply(x).backward()
        assert gc.collect() == 0
    finally:
        gc.enable()


class Ten(PyLayer):
    """Hands out its argument, or a view of it, with ten times the gradient."""

    @staticmethod
    def forward(ctx, x, index):
        return x if index is None else x[index]

    @staticmethod
    def backward(ctx, grad):
        return grad * 10.0


@pytest.mark.parametrize("index", [None, slice(None)])
def test_memory_that_was_handed_out_is_not_written_with_wrong_gradients(index, place):
    x, w = leaf([1.0, 2.0], place), leaf([3.0, 4.0], place)
    base = x * 1.0
    out = Ten.apply(base, index)
    with pytest.raises(ValueError, match=r"add_: \w+ is what a PyLayer made of its argument"):
        out.add_(w)
    with pytest.raises(ValueError, match=r"view of \w+ is a leaf"):
        Ten.apply(x, index).add_(w)
    base.add_(w)
    with pytest.raises(RuntimeError, match="Ten returned its argument or a view of it"):
        out.sum().backward()
    with pytest.raises(RuntimeError, match="Ten returned its argument or a view of it"):
        paddle.grad(out.sum(), [w])
    base.sum().backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([1.0, 1.0], [1.0, 1.0])


def test_one_tensor_returned_twice_is_two_results(place):
    class Two(PyLayer):
        @staticmethod
        def forward(ctx, x):
            y = x * 2.0
            return y, y

        @staticmethod
        def backward(ctx, first, second):
            return first + second * 100.0

    x = leaf([1.0], place)
    first, second = Two.apply(x)
    (first * 3.0 + second * 5.0).backward()
    assert x.grad.tolist() == [503.0]


def test_a_leaf_from_elsewhere_that_is_returned_stays_a_leaf(place):
    weight, x = leaf([1.0], place), leaf([3.0], place)

    class Swap(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return weight

        @staticmethod
        def backward(ctx, grad):
            return grad * 7.0

    out = Swap.apply(x)
    assert weight.is_leaf
    assert out is not weight
    (out + weight * 2.0).backward()
    assert (x.grad.tolist(), weight.grad.tolist()) == ([7.0], [2.0])
