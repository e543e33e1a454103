"""jacobian and hessian against closed forms."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.autograd import hessian, jacobian
from minipaddle.imperative.tensor import to_tensor


def leaf(shape, place, salt=0):
    values = np.random.default_rng([salt, *shape]).uniform(-2.0, 2.0, shape)
    return to_tensor(values, place=place, stop_gradient=False)


def close(found, right):
    np.testing.assert_allclose(found.numpy(), right, rtol=1e-12, atol=1e-12)


def test_of_a_linear_map(place):
    x, a = leaf((3,), place), leaf((2, 3), place, 1)
    y = paddle.matmul(a, x)
    close(jacobian(y, x), a.numpy())
    by_matrix = jacobian(y, a)
    assert by_matrix.shape == [2, 2, 3]
    close(by_matrix, np.einsum("ij,k->ijk", np.eye(2), x.numpy()))


def test_several_of_either(place):
    x, z = leaf((2,), place), leaf((), place, 1)
    ys = (x * z, x.sum())
    (by_x, by_z), (sum_by_x, sum_by_z) = jacobian(ys, (x, z))
    close(by_x, np.eye(2) * z.numpy())
    close(by_z, x.numpy())
    close(sum_by_x, np.ones(2))
    assert sum_by_z.shape == [] and sum_by_z.item() == 0.0
    close(jacobian(ys, x)[0], np.eye(2) * z.numpy())
    close(jacobian(x * z, (x, z))[1], x.numpy())


def test_of_a_constant_and_of_nothing(place):
    x = leaf((2,), place)
    assert jacobian(to_tensor(np.ones(3), place=place), x).tolist() == [[0.0, 0.0]] * 3
    assert jacobian(x[0:0], x).shape == [0, 2]


def test_entries_of_a_batch(place):
    x = leaf((4, 3), place)
    y = paddle.square(x)[:, 0:2]
    found = jacobian(y, x, batch_axis=0)
    assert found.shape == [4, 2, 3]
    right = np.zeros((4, 2, 3))
    for i in range(2):
        right[:, i, i] = 2 * x.numpy()[:, i]
    close(found, right)


def test_a_jacobian_can_be_differentiated(place):
    x = leaf((3,), place)
    (gradient,) = paddle.grad(jacobian(x * x * x, x).sum(), x)
    close(gradient, 6 * x.numpy())


def test_hessian_of_a_quadratic_form(place):
    x, a = leaf((3,), place), leaf((3, 3), place, 1)
    found = hessian(paddle.matmul(x, paddle.matmul(a, x)), x)
    close(found, a.numpy() + a.numpy().T)


def test_hessian_by_several(place):
    x, z = leaf((2,), place), leaf((2,), place, 1)
    (xx, xz), (zx, zz) = hessian((x * x * z).sum(), (x, z))
    close(xx, np.diag(2 * z.numpy()))
    close(xz, np.diag(2 * x.numpy()))
    close(zx, np.diag(2 * x.numpy()))
    close(zz, np.zeros((2, 2)))


def test_hessians_of_a_batch(place):
    x = leaf((4, 2), place)
    found = hessian((x * x * x).sum(axis=1), x, batch_axis=0)
    right = np.zeros((4, 2, 2))
    for i in range(2):
        right[:, i, i] = 6 * x.numpy()[:, i]
    close(found, right)


def test_what_is_refused(place):
    x = leaf((2, 3), place)
    with pytest.raises(ValueError, match=r"one element; got shape \[2, 3\]"):
        hessian(x * x, x)
    with pytest.raises(ValueError, match=r"one element per batch entry; got shape \[2, 3\]"):
        hessian(x * x, x, batch_axis=0)
    with pytest.raises(ValueError, match="None or 0; got 1"):
        jacobian(x * x, x, batch_axis=1)
    with pytest.raises(ValueError, match=r"batch sizes .* \[3\], xs \[2, 3\]"):
        jacobian((x * x).sum(axis=0), x, batch_axis=0)
