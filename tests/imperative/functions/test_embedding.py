"""embedding: what Paddle does with it, and sparse gradients wherever a gradient goes."""

import copy
import pickle

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.selected_rows import SelectedRows
from tests.device.plug import plugged_in

F = paddle.nn.functional
IDS = np.array([[3, 1], [3, 4]])


def table(rows=6, width=2, dtype="float64", seed=0):
    made = np.random.default_rng(seed).standard_normal((rows, width)).astype(dtype)
    return paddle.to_tensor(made, stop_gradient=False)


def seed_of(out, number=1):
    drawn = np.random.default_rng(number).standard_normal(out.shape)
    return paddle.to_tensor(drawn.astype(out.dtype))


def look_up(weight, sparse=True, ids=IDS, number=1, **options):
    """One backward through a look-up, with a seed of no special values."""
    out = F.embedding(ids, weight, sparse=sparse, **options)
    out.backward(seed_of(out, number))


# ---- the function ----


def test_padding_counts_from_the_end_too():
    for padding in (3, -3):
        weight = table()
        out = F.embedding(IDS, weight, padding_idx=padding)
        assert not out.numpy()[IDS == 3].any() and out.numpy()[IDS != 3].all()
        out.sum().backward()
        np.testing.assert_array_equal(weight.grad.numpy()[:, 0], [0, 1, 0, 0, 1, 0])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("width", [2, 20])
def test_the_gradient_is_divided_by_how_often_a_row_is_used(width, sparse):
    weight = table(width=width)
    F.embedding(IDS, weight, sparse=sparse, scale_grad_by_freq=True).sum().backward()
    np.testing.assert_array_equal(weight.grad.numpy()[:, 0], [0, 1, 0, 1, 1, 0])


def test_max_norm_scales_the_rows_that_are_used_in_the_table_itself():
    weight = paddle.to_tensor([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]], stop_gradient=False)
    out = F.embedding(paddle.to_tensor([0, 1, 0]), weight, max_norm=1.0)
    np.testing.assert_allclose(out.numpy(), [[0.6, 0.8], [0.3, 0.4], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(weight.numpy(), [[0.6, 0.8], [0.3, 0.4], [30, 40]], rtol=1e-6)
    assert weight.inplace_version == 1
    out.sum().backward()
    assert weight.grad.tolist() == [[2, 2], [1, 1], [0, 0]]
    F.embedding([2], weight, max_norm=7.0, norm_type=1.0)
    np.testing.assert_allclose(weight.numpy()[2], [3.0, 4.0], rtol=1e-6)


def test_what_is_refused():
    weight = table()
    with pytest.raises(IndexError, match=r"id 6 is out of range.*0\.\.5"):
        F.embedding([6], weight)
    with pytest.raises(IndexError, match="id -1"):
        F.embedding([-1], weight, max_norm=1.0)
    with pytest.raises(ValueError, match="max_norm must be positive; got 0"):
        F.embedding([1], weight, max_norm=0.0)
    with pytest.raises(ValueError, match="norm_type must be positive"):
        F.embedding([1], weight, max_norm=1.0, norm_type=0.0)
    with pytest.raises(ValueError, match=r"padding_idx must lie in \[-6, 6\); got -7"):
        F.embedding([1], weight, padding_idx=-7)


def test_saved_ids_must_not_change():
    ids, weight = paddle.to_tensor([1, 2]), table()
    out = F.embedding(ids, weight)
    ids.set_value([3, 3])
    with pytest.raises(RuntimeError, match="changed in place"):
        out.sum().backward()


# ---- SelectedRows ----


def test_a_sparse_gradient_has_the_rows_that_were_used():
    weight = table()
    look_up(weight)
    grad = weight.grad
    assert isinstance(grad, SelectedRows)
    assert grad.rows.dtype == np.int64 and grad.rows.tolist() == [3, 1, 3, 4]
    assert (grad.height, grad.shape, grad.value.shape) == (6, [6, 2], (4, 2))
    assert grad.dtype == weight.dtype and grad.place is weight.place
    merged = grad.merge()
    assert merged.rows.tolist() == [1, 3, 4]
    np.testing.assert_array_equal(merged.value[1], grad.value[0] + grad.value[2])
    for one in (grad, merged):
        np.testing.assert_array_equal(one.numpy(), dense_gradient())
        assert type(one.to_dense()) is paddle.Tensor and one.to_dense().shape == [6, 2]
    assert repr(merged) == (
        "SelectedRows(rows=[1, 3, 4], shape=[6, 2], dtype=float64, place=Place(cpu))"
    )


def dense_gradient(**options):
    weight = table()
    look_up(weight, sparse=False, **options)
    return weight.grad.numpy()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("padding", [None, 3])
def test_sparse_is_dense(dtype, padding):
    grads = []
    for sparse in (False, True):
        weight = paddle.cast(table(width=20), dtype).detach()
        weight.stop_gradient = False
        look_up(weight, sparse, ids=np.arange(50) % 5, padding_idx=padding)
        grads.append(weight.grad)
    dense, rows = grads
    assert rows.dtype == dtype and (padding is None or padding not in rows.rows)
    np.testing.assert_array_equal(dense.numpy(), rows.numpy())
    np.testing.assert_array_equal(dense.numpy(), rows.merge().numpy())


def test_the_gradient_is_no_view_of_the_users_arrays():
    ids, weight = paddle.to_tensor([1, 2]), table()
    out = F.embedding(ids, weight, sparse=True)
    seed = paddle.ones([2, 2], "float64")
    out.backward(seed)
    seed.set_value(np.zeros([2, 2]))
    ids.set_value([0, 0])
    assert weight.grad.merge().rows.tolist() == [1, 2] and weight.grad.value.all()


def test_two_uses_and_two_backwards_are_added_row_by_row():
    weight = table(rows=20)
    a, b = F.embedding([1, 2], weight, sparse=True), F.embedding([2, 3], weight, sparse=True)
    (a.sum() + 2 * b.sum()).backward()
    assert sorted(weight.grad.rows.tolist()) == [1, 2, 2, 3]
    before = weight.grad
    look_up(weight)
    assert len(weight.grad.rows) == 8 and len(before.rows) == 4
    np.testing.assert_array_equal(weight.grad.numpy()[2], [3, 3])
    for _ in range(9):
        look_up(weight)
    assert len(weight.grad.rows) <= 20, "more rows than there are in the whole"


def test_a_dense_gradient_beside_a_sparse_one_makes_it_dense():
    for first, second in ((True, False), (False, True)):
        weight = table()
        look_up(weight, first)
        look_up(weight, second, number=2)
        assert isinstance(weight.grad, paddle.Tensor)
        np.testing.assert_array_equal(
            weight.grad.numpy(), dense_gradient() + dense_gradient(number=2)
        )
    weight = table()
    (F.embedding(IDS, weight, sparse=True).sum() + weight.sum()).backward()
    assert weight.grad.numpy()[:, 0].tolist() == [1, 2, 1, 3, 2, 1]


def test_a_gradient_that_the_user_has_set_is_added_to():
    weight = table()
    weight.grad = paddle.ones([6, 2], "float64")
    look_up(weight)
    np.testing.assert_array_equal(weight.grad.numpy(), dense_gradient() + 1)
    weight.grad = None
    look_up(weight)
    assert isinstance(weight.grad, SelectedRows)


@pytest.mark.parametrize("to_zero", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_cleared(to_zero, second):
    weight = table()
    look_up(weight, number=2)
    weight.clear_grad(to_zero)
    if to_zero:
        assert not weight.grad.numpy().any() and not len(weight.grad.rows)
    else:
        assert weight.grad is None
    look_up(weight, second)
    assert isinstance(weight.grad, SelectedRows) is second
    np.testing.assert_array_equal(weight.grad.numpy(), dense_gradient())


def test_dense_memory_that_was_cleared_is_not_written_by_a_sparse_gradient():
    weight = table()
    look_up(weight, sparse=False, number=2)
    weight.clear_grad()
    look_up(weight)
    assert isinstance(weight.grad, SelectedRows)
    weight.clear_grad()
    look_up(weight, sparse=False)
    np.testing.assert_array_equal(weight.grad.numpy(), dense_gradient())


def test_a_hook_sees_a_dense_gradient():
    weight, seen = table(), []
    weight.register_hook(lambda g: seen.append(g) or g * 2)
    look_up(weight)
    np.testing.assert_array_equal(seen[0].numpy(), dense_gradient())
    np.testing.assert_array_equal(weight.grad.numpy(), 2 * dense_gradient())


def test_a_table_that_is_no_leaf():
    leaf = table()
    weight = leaf * 2
    weight.retain_grads()
    look_up(weight)
    np.testing.assert_array_equal(weight.grad.numpy(), dense_gradient())
    np.testing.assert_array_equal(leaf.grad.numpy(), 2 * dense_gradient())
    leaf = table()
    look_up(leaf[:5])  # a view
    np.testing.assert_array_equal(leaf.grad.numpy(), dense_gradient())


def test_grad_gives_tensors():
    weight = table()
    out = F.embedding(IDS, weight, sparse=True)
    (found,) = paddle.grad([out, out + 1], weight, [seed_of(out), seed_of(out)])
    assert isinstance(found, paddle.Tensor) and weight.grad is None
    np.testing.assert_array_equal(found.numpy(), 2 * dense_gradient())


def test_create_graph_is_dense_and_differentiable():
    weight = table()
    out = F.embedding(IDS, weight, sparse=True)
    (first,) = paddle.grad((out * out * out).sum(), weight, create_graph=True)
    first.sum().backward()
    times = np.bincount(IDS.reshape(-1), minlength=6)[:, None]
    np.testing.assert_allclose(weight.grad.numpy(), 6 * weight.numpy() * times)
    weight = table()
    look_up(weight)
    out = F.embedding(IDS, weight, sparse=True)
    out.backward(seed_of(out), create_graph=True)
    assert isinstance(weight.grad, paddle.Tensor)
    np.testing.assert_array_equal(weight.grad.numpy(), 2 * dense_gradient())


def test_not_finite_gradients_are_found():
    weight = table()
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        with pytest.raises(FloatingPointError, match="embedding_lookup_grad holds 8 NaN"):
            out = F.embedding(IDS, weight, sparse=True)
            out.backward(paddle.full(out.shape, float("nan"), "float64"))
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})


def test_on_another_kind_of_device():
    with plugged_in():
        weight = paddle.to_tensor(table().numpy(), place="xpu:0", stop_gradient=False)
        ids = paddle.to_tensor(IDS, place="xpu:0")
        for _ in range(2):
            F.embedding(ids, weight, padding_idx=1, sparse=True).sum().backward()
        assert "rows=[3, 3, 4, 3, 3, 4]" in repr(weight.grad)
        assert "rows=[3, 4]" in repr(weight.grad.merge())
        before = weight.numpy()
        paddle.optimizer.SGD(0.5, parameters=[weight]).step()
        np.testing.assert_array_equal((before - weight.numpy())[:, 0].round(9), [0, 0, 0, 2, 1, 0])
        F.embedding(ids, weight, max_norm=0.5)
        assert np.linalg.norm(weight.numpy()[[1, 3, 4]], axis=1).max() < 0.5 + 1e-6


def test_copies_leave_the_gradient_behind():
    weight = table()
    look_up(weight)
    for one in (copy.deepcopy(weight), pickle.loads(pickle.dumps(weight))):
        assert one.grad is None
        np.testing.assert_array_equal(one.numpy(), weight.numpy())
