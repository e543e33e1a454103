"""Optimizers on sparse gradients: the same as on dense ones, bit for bit."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.selected_rows import SelectedRows

F = paddle.nn.functional
nn, opt = paddle.nn, paddle.optimizer
MAKERS = {
    "SGD": lambda params: opt.SGD(0.1, parameters=params),
    "SGD, L2": lambda params: opt.SGD(0.1, parameters=params, weight_decay=0.1),
    "SGD, value": lambda params: opt.SGD(0.1, params, grad_clip=nn.ClipGradByValue(0.2)),
    "SGD, norm": lambda params: opt.SGD(0.1, params, grad_clip=nn.ClipGradByNorm(0.2)),
    "SGD, global": lambda params: opt.SGD(0.1, params, grad_clip=nn.ClipGradByGlobalNorm(0.2)),
    "SGD, master": lambda params: opt.SGD(0.1, params, multi_precision=True),
    "Momentum": lambda params: opt.Momentum(0.1, 0.9, params),
    "Adam": lambda params: opt.Adam(0.1, parameters=params),
    "Adam, lazy, L2": lambda params: opt.Adam(
        0.1, parameters=params, lazy_mode=True, weight_decay=0.1
    ),
    "AdamW": lambda params: opt.AdamW(0.1, parameters=params),
    "Adagrad": lambda params: opt.Adagrad(0.1, parameters=params),
    "RMSProp": lambda params: opt.RMSProp(0.1, parameters=params, centered=True),
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
        if "norm" in maker or "global" in maker:  # the sum of squares is taken in another order
            tolerance = 1e-2 if dtype == "float16" else 1e-4
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("maker", MAKERS)
def test_as_dense_where_a_gradient_is_dense_at_times(maker):
    for shared in ((0,), (3,), (1, 2, 4)):
        (one, first), (two, second) = (trained(maker, s, shared=shared) for s in (False, True))
        for a, b in zip(one, two, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)
        for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


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


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("kind", [opt.Adam, opt.AdamW])
def test_lazy_adam_touches_only_the_rows_that_were_used(kind, amsgrad):
    """A row that is used in every step goes as in dense training, one that is not stays."""
    tables = [paddle.ones([4, 2]) for _ in range(2)]
    for table in tables:
        table.stop_gradient = False
    lazy, dense = (
        kind(0.1, parameters=[table], lazy_mode=i == 0, amsgrad=amsgrad, epsilon=1e-3)
        for i, table in enumerate(tables)
    )
    for step in range(3):
        for optimizer, table in zip((lazy, dense), tables, strict=True):
            ids = [1, 2, 1] if step == 0 else [1, 1]
            (F.embedding(ids, table, sparse=True) * (step + 1)).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
        if step == 0:
            after_one = tables[0].numpy()
    found, right = (table.numpy() for table in tables)
    np.testing.assert_allclose(found[1], right[1], rtol=1e-6)
    np.testing.assert_array_equal(found[2], after_one[2])
    np.testing.assert_array_equal(found[[0, 3]], np.ones((2, 2)))
    assert (found[2] != right[2]).all()
    moment = lazy.state_dict()[f"{tables[0].name}_moment1_0"].numpy()
    assert (moment[[0, 3]] == 0).all() and (moment[[1, 2]] != 0).all()


def test_lazy_adam_of_a_half_type():
    table = paddle.ones([4, 2], "float16")
    table.stop_gradient = False
    adam = opt.Adam(0.125, parameters=[table], lazy_mode=True)
    F.embedding([1], table, sparse=True).sum().backward()
    adam.step()
    np.testing.assert_array_equal(table.numpy()[:, 0], [1, 0.875, 1, 1])


def test_a_clip_by_value_acts_on_the_sum_of_a_row():
    table = paddle.zeros([3, 1])
    table.stop_gradient = False
    sgd = opt.SGD(1.0, [table], grad_clip=nn.ClipGradByValue(1.5))
    F.embedding([0, 0, 1], table, sparse=True).sum().backward()
    sgd.step()
    assert table.tolist() == [[-1.5], [-1.0], [0.0]]
