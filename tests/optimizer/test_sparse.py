"""Optimizers on sparse gradients: the same as on dense ones, bit for bit."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.selected_rows import SelectedRows

F = paddle.nn.functional
MAKERS = {
    "SGD": lambda params: paddle.optimizer.SGD(0.1, parameters=params),
    "Adam": lambda params: paddle.optimizer.Adam(0.1, parameters=params),
}


def params_of(dtype):
    rng = np.random.default_rng(0)
    shapes = ((9, 20), (20, 3), (7, 2))
    return [
        paddle.to_tensor(rng.standard_normal(shape).astype(dtype), stop_gradient=False)
        for shape in shapes
    ]


def trained(maker, sparse, dtype="float32", clear=True, steps=6, shared=()):
    """Two tables and a matrix after some steps; in the steps ``shared`` a table is used densely."""
    params = table, matrix, other = params_of(dtype)
    optimizer = MAKERS[maker](params)
    rng = np.random.default_rng(1)
    for step in range(steps):
        ids = rng.integers(0, 7, (2, 8))
        out = paddle.tanh(paddle.matmul(F.embedding(ids, table, sparse=sparse), matrix))
        loss = (out * out).mean() + F.embedding(ids % 3, other, sparse=sparse).sum()
        if step in shared:
            loss = loss + (table * table).mean()
        loss.backward()
        assert isinstance(other.grad, SelectedRows) is sparse
        optimizer.step()
        optimizer.clear_grad(clear)
    return params, optimizer


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("clear", [True, False])
@pytest.mark.parametrize("maker", MAKERS)
def test_as_dense(maker, clear, dtype):
    (one, *_), (two, *_) = trained(maker, False, dtype, clear), trained(maker, True, dtype, clear)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("maker", MAKERS)
def test_as_dense_where_a_gradient_is_dense_at_times(maker):
    for shared in ((0,), (3,), (1, 2, 4)):
        (one, first), (two, second) = (trained(maker, s, shared=shared) for s in (False, True))
        for a, b in zip(one, two, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)
        for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-5)


def test_sgd_leaves_the_other_rows_and_needs_no_dense_memory():
    table = paddle.ones([1000, 4])
    table.stop_gradient = False
    sgd = paddle.optimizer.SGD(0.5, parameters=[table])
    for step in range(1, 3):
        F.embedding([7, 9, 7], table, sparse=True).sum().backward()
        sgd.step()
        sgd.clear_grad()
        assert table.leaf.home is None and table.inplace_version == step
    moved = np.ones(1000)
    moved[[7, 9]] = [-1, 0]
    np.testing.assert_array_equal(table.numpy()[:, 0], moved)


def test_gradients_added_up_over_several_backwards():
    results = []
    for sparse in (False, True):
        (table, *_), sgd = trained("SGD", sparse, steps=1)
        for ids in ([1, 2], [2, 3]):
            F.embedding(ids, table, sparse=sparse).sum().backward()
        sgd.step()
        results.append(table.numpy())
    np.testing.assert_array_equal(*results)
