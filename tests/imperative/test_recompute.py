"""recompute: the gradients of the function itself, from less memory."""

import gc
import weakref

import numpy as np
import pytest

import minipaddle as paddle

nn = paddle.nn
recompute = paddle.distributed.fleet.utils.recompute


def part(seed=0):
    layers = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))
    rng = np.random.default_rng(seed)
    for parameter in layers.parameters():
        parameter.set_value(rng.standard_normal(parameter.shape))
    return layers


def gradients(tensors):
    found = [t.grad.numpy() for t in tensors]
    for t in tensors:
        t.clear_grad()
    return found


def compare(function, tensors):
    """``function(call)`` returns a loss; ``call`` is recompute, or calls the function itself."""
    plain = function(lambda f, *args, **kwargs: f(*args, **kwargs))
    plain.backward()
    expected = gradients(tensors)
    saving = function(recompute)
    assert saving.item() == plain.item()
    saving.backward()
    for a, b in zip(gradients(tensors), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def leaf(shape=(2, 4), seed=5):
    values = np.random.default_rng(seed).standard_normal(shape).astype("float32")
    return paddle.to_tensor(values, stop_gradient=False)


def test_a_layer_has_the_same_gradients():
    layers, x = part(), leaf()
    compare(lambda call: call(layers, x).sum(), [x, *layers.parameters()])


def test_inputs_without_a_gradient_do():
    layers, x = part(), leaf().detach()
    compare(lambda call: call(layers, x).sum(), layers.parameters())


def test_parameters_used_in_several_parts_and_outside():
    layers, x = part(), leaf()
    compare(
        lambda call: layers(call(layers, call(layers, x))).sum() + layers[0].weight.sum(),
        [x, *layers.parameters()],
    )


def test_parts_inside_parts_and_closures():
    inner, outer, x = part(1), part(2), leaf()
    compare(
        lambda call: call(lambda y: outer(call(inner, y)) * y, x).sum(),
        [x, *inner.parameters(), *outer.parameters()],
    )


def test_arguments_and_results_in_containers():
    x, y, z = leaf(seed=1), leaf(seed=2), leaf(seed=3)

    def function(pair, table, scale=1.0, last=None):
        a, (b, number) = pair
        return {"sum": a * b * scale, "rest": [last * table["y"], number, b.detach()]}

    def loss(call):
        found = call(function, (x, [y, 3]), {"y": y}, scale=2.0, last=z)
        assert found["rest"][1] == 3 and found["rest"][2].stop_gradient
        return found["sum"].sum() + found["rest"][0].sum()

    compare(loss, [x, y, z])


def test_a_result_that_is_not_used():
    x, y = leaf(seed=1), leaf(seed=2)
    compare(lambda call: call(lambda a, b: (a * a, a * b), x, y)[1].sum(), [x, y])


def test_random_numbers_are_the_same_in_both_calls():
    x, before = leaf((50, 50)), None
    seen = []

    def function(a):
        y = nn.functional.dropout(a, 0.5)
        seen.append(y.numpy())
        return y

    paddle.seed(3)
    loss = recompute(function, x).sum()
    before = paddle.get_rng_state()
    loss.backward()
    np.testing.assert_array_equal(*seen)
    assert paddle.get_rng_state() == before
    np.testing.assert_array_equal(x.grad.numpy() != 0, seen[0] != 0)
    recompute(function, x, preserve_rng_state=False).sum().backward()
    assert not np.array_equal(*seen[2:])


def test_without_recording_it_is_a_call():
    layers, x = part(), leaf()
    with paddle.no_grad():
        y = recompute(layers, x)
    assert y.stop_gradient and y.tolist() == layers(x).tolist()
    assert recompute(lambda a: a * 2, paddle.ones([1])).stop_gradient


def test_what_is_in_between_is_not_kept():
    x, made = leaf(), []

    def function(a):
        made.append(weakref.ref(hidden := (a * 2).data))
        return paddle.tanh(paddle.tanh(paddle.to_tensor(0.0) + paddle.exp(a * hidden.sum()))) * 0.0

    loss = recompute(function, x).sum()
    assert made[0]() is None
    gc.collect()
    gc.disable()
    loss.backward()
    del loss
    assert gc.collect() == 0 and made[1]() is None
    gc.enable()


def test_an_argument_that_was_overwritten_is_an_error():
    x = leaf()
    y = x * 1.0
    loss = recompute(paddle.tanh, y).sum()
    y.add_(paddle.ones([2, 4]))
    with pytest.raises(RuntimeError, match="recompute needs was changed in place"):
        loss.backward()


def test_gradients_of_gradients_are_refused():
    x = leaf()
    loss = recompute(paddle.tanh, x).sum()
    with pytest.raises(RuntimeError, match="cannot be differentiated again"):
        paddle.grad(loss, [x], create_graph=True)


def test_a_second_backward_needs_retain_graph():
    layers, x = part(), leaf()
    loss = recompute(layers, x).sum()
    loss.backward(retain_graph=True)
    first = gradients(layers.parameters())
    loss.backward()
    for a, b in zip(first, gradients(layers.parameters()), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(RuntimeError, match="retain_graph"):
        loss.backward()
