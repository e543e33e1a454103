"""nn.Embedding."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.selected_rows import SelectedRows

nn = paddle.nn


def test_looks_rows_up():
    layer = nn.Embedding(5, 3)
    ids = paddle.to_tensor([[1, 4], [0, 1]], dtype="int32")
    np.testing.assert_array_equal(layer(ids).numpy(), layer.weight.numpy()[ids.numpy()])
    assert list(layer.state_dict()) == ["weight"] and layer.weight.shape == [5, 3]
    assert "5, 3" in repr(layer) and "sparse" not in repr(layer)


@pytest.mark.parametrize("padding", [1, -4])
def test_the_padding_row_is_zero_and_stays_so(padding):
    layer = nn.Embedding(5, 3, padding_idx=padding, sparse=True)
    assert not layer.weight.numpy()[1].any() and not layer.weight.stop_gradient
    assert layer.weight.is_leaf and layer.padding_idx == 1
    assert "padding_idx=1, sparse=True" in repr(layer)
    sgd = paddle.optimizer.SGD(0.5, parameters=layer.parameters())
    layer(paddle.to_tensor([1, 2])).sum().backward()
    sgd.step()
    assert not layer.weight.numpy()[1].any()


def test_sparse_and_max_norm_are_handed_on():
    layer = nn.Embedding(5, 3, sparse=True, max_norm=1e-3, norm_type=1.0)
    layer(paddle.to_tensor([1, 2])).sum().backward()
    assert isinstance(layer.weight.grad, SelectedRows)
    sizes = abs(layer.weight.numpy()).sum(axis=1)
    np.testing.assert_allclose(sizes[1:3], 1e-3, rtol=1e-3)
    assert (sizes[[0, 3, 4]] > 1e-2).any()


def test_what_is_refused():
    with pytest.raises(ValueError, match="num_embeddings must be a positive int; got 0"):
        nn.Embedding(0, 3)
    with pytest.raises(ValueError, match=r"embedding_dim must be a positive int; got 2\.0"):
        nn.Embedding(3, 2.0)
    with pytest.raises(ValueError, match=r"padding_idx must lie in \[-3, 3\); got 3"):
        nn.Embedding(3, 2, padding_idx=3)
    with pytest.raises(ValueError, match="weight_attr must not be False"):
        nn.Embedding(3, 2, weight_attr=False)
