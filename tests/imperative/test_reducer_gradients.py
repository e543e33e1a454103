"""The Reducer: where gradients lie, and what ends with a Reducer's life."""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.reducer import Reducer
from tests.imperative.reducer_harness import (
    SHAPES,
    SMALL,
    LoneGroup,
    QueueingGroup,
    check_gradients,
    comm_threads,
    loss_of,
    make_parameters,
    wait_until,
    wrap,
)

# ---- where gradients lie ----


def test_gradients_are_views_of_the_buckets_and_are_written_there():
    """A backward allocates nothing of the size of a gradient."""
    layer = paddle.nn.Linear(1000, 1000)
    reducer = wrap(list(layer.named_parameters()), LoneGroup(), [10**9])
    (bucket,) = reducer.buckets
    x = paddle.ones([2, 1000])
    for clear_to_zero in (True, False, True):
        loss = layer(x).sum()
        tracemalloc.start()
        try:
            loss.backward()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < bucket.buffer.array.nbytes / 8
        for parameter in layer.parameters():
            assert np.shares_memory(parameter.grad.data, bucket.buffer.array)
            np.testing.assert_array_equal(parameter.grad.numpy(), 2.0)
            parameter.clear_grad(clear_to_zero)


def test_a_gradient_of_the_user_is_copied_in():
    parameters = make_parameters(SHAPES)
    reducer = wrap(parameters, LoneGroup(), [1000])
    given = [paddle.full(list(shape), 2.0 * (i + 1)) for i, shape in enumerate(SHAPES)]
    for (_, parameter), grad in zip(parameters, given, strict=True):
        parameter.grad = grad
    loss_of(parameters, 3.0).backward()
    check_gradients(parameters, 5.0)
    for i, ((_, parameter), grad) in enumerate(zip(parameters, given, strict=True)):
        assert np.shares_memory(parameter.grad.data, reducer.buckets[0].buffer.array)
        assert not np.shares_memory(grad.data, parameter.grad.data)
        np.testing.assert_array_equal(grad.numpy(), 2.0 * (i + 1))


def test_create_graph_is_copied_in():
    parameters = make_parameters([(3,), (2,)])
    group = QueueingGroup()
    reducer = wrap(parameters, group, [1000])
    total = sum((paddle.square(parameter).sum() for _, parameter in parameters), paddle.zeros([]))
    paddle.autograd.backward(total, create_graph=True)
    for _, parameter in parameters:
        np.testing.assert_array_equal(parameter.grad.numpy(), parameter.numpy())  # half of 2p
        assert np.shares_memory(parameter.grad.data, reducer.buckets[0].buffer.array)


def test_the_tensor_that_grad_returned_stays_the_gradient():
    parameters = make_parameters(SHAPES)
    loss_of(parameters, 2.0).backward()
    shown = [parameter.grad for _, parameter in parameters]
    _reducer = wrap(parameters, LoneGroup(), [1000])
    check_gradients(parameters, 2.0)
    loss_of(parameters, 3.0).backward()
    check_gradients(parameters, 5.0)
    for (_, parameter), grad in zip(parameters, shown, strict=True):
        assert parameter.grad is grad


def test_dtypes_have_buckets_of_their_own():
    parameters = [
        *make_parameters([(2,), (3,)]),
        ("p2", make_parameters([(4,)], "float64")[0][1]),
        ("p3", make_parameters([(5,)], "float16")[0][1]),
    ]
    group = LoneGroup()
    reducer = wrap(parameters, group, [1000])
    assert [bucket.members for bucket in reducer.buckets] == [[3], [2], [0, 1]]
    assert [b.array.dtype.name for b in group.buffers] == ["float16", "float64", "float32"]
    total = sum((p.astype("float64").sum() * (i + 1) for i, (_, p) in enumerate(parameters)), 0.0)
    total.backward()
    check_gradients(parameters)


# ---- lifetime ----


def test_dropping_a_reducer_frees_it_at_once_and_ends_its_threads():
    before = set(comm_threads())
    parameters = make_parameters(SHAPES)
    gc.collect()
    gc.disable()
    try:
        group = LoneGroup(3)
        reducer = wrap(parameters, group)
        loss_of(parameters).backward()
        group.on_reduce = lambda buffer: 1 / 0
        try:
            loss_of(parameters).backward()
        except RuntimeError:
            pass
        group.on_reduce = None
        assert len(set(comm_threads()) - before) == 3
        gone = weakref.ref(reducer)
        del reducer
        wait_until(lambda: gone() is None, 5.0)
        wait_until(lambda: set(comm_threads()) <= before)
        found = gc.collect()
    finally:
        gc.enable()
    assert found == 0

    group.reduced.clear()
    for _, parameter in parameters:
        parameter.clear_grad()
    loss_of(parameters).backward()
    check_gradients(parameters)
    assert group.reduced == []

    again = wrap(parameters, group)
    check_gradients(parameters)
    loss_of(parameters).backward()
    check_gradients(parameters, 2.0)
    assert len(group.reduced) == 4 and again.comm_op_count_ == 0


def test_a_reducer_dropped_while_its_thread_works():
    before = set(comm_threads())
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    wrapped = [wrap(parameters, group)]
    group.on_reduce = lambda buffer: wrapped.clear()  # the last reference goes in the thread
    loss_of(parameters).backward()
    check_gradients(parameters)
    wait_until(lambda: set(comm_threads()) <= before)


def test_two_reducers_on_one_parameter_are_refused():
    before = set(comm_threads())
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    reducer = wrap(parameters, group)
    other = [*make_parameters([(2,)]), *parameters[2:3]]
    try:
        Reducer(other, LoneGroup(), SMALL)
    except RuntimeError as error:
        text = str(error)
    else:
        text = ""
    assert "p2" in text and "another DataParallel" in text
    wait_until(lambda: len(set(comm_threads()) - before) == 1)
    loss_of(parameters).backward()  # the first one has lost nothing
    check_gradients(parameters)
    for _, parameter in parameters:
        owners = [np.shares_memory(parameter.grad.data, b.buffer.array) for b in reducer.buckets]
        assert any(owners)
    loss_of(other[:1]).backward()  # and the free parameter is still free
    assert Reducer(other[:1], LoneGroup(), SMALL).buckets[0].members == [0]


def test_two_reducers_in_one_backward_both_end_though_one_fails():
    """One has an unused parameter; the other must be usable afterwards, whichever ends first."""
    first, second = make_parameters([(2,), (3,)]), make_parameters([(2,), (3,)])
    groups = LoneGroup(), LoneGroup()
    for order in (1, -1):
        parts = [(first, groups[0]), (second, groups[1])][::order]
        (whole, whole_group), (lacking, lacking_group) = parts
        kept = [wrap(whole, whole_group), wrap(lacking, lacking_group)]
        for terms in ([whole, lacking[:1]], [lacking[:1], whole]):
            with pytest.raises(RuntimeError, match=r"p1.*unused"):
                (loss_of(terms[0]) + loss_of(terms[1])).backward()
            for _, parameter in whole + lacking:
                parameter.clear_grad()
            for reducer, parameters in zip(kept, (whole, lacking), strict=True):
                reducer.prepare_for_backward(True)
                loss_of(parameters, 2.0).backward()
                check_gradients(parameters, 2.0)
                assert reducer.comm_op_count_ == 0
            for _, parameter in whole + lacking:
                parameter.clear_grad()
        del kept, reducer


def test_released_parameters_can_be_taken_while_the_first_reducer_lives():
    """A communication thread may hold a Reducer a moment longer than its wrapper does."""
    layer = paddle.nn.Linear(4, 3)
    first = wrap(list(layer.named_parameters()), LoneGroup(), [1000])
    with pytest.raises(RuntimeError, match="another DataParallel"):
        wrap(list(layer.named_parameters()), LoneGroup(), [1000])
    first.release()
    second = wrap(list(layer.named_parameters()), LoneGroup(), [1000])
    first.release()  # takes nothing away from the second
    layer(paddle.ones([2, 4])).sum().backward()
    assert second.group.reduced and not first.group.reduced
