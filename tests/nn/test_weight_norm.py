"""weight_norm and its undoing. Values are in layers/test_against_paddle."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn


@pytest.mark.parametrize("dim", [0, 1, None, -1])
def test_the_weight_stays_and_is_undone(dim: int | None) -> None:
    layer, x = nn.Linear(3, 2), paddle.ones([1, 3])
    before, out = layer.weight.numpy(), layer(x).numpy()
    assert nn.utils.weight_norm(layer, dim=dim) is layer
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_v", "weight_g"]
    assert layer.weight_g.shape == ([] if dim in (None, -1) else [before.shape[dim]])
    np.testing.assert_allclose(layer(x).numpy(), out, rtol=1e-5)
    assert nn.utils.remove_weight_norm(layer) is layer
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight"]
    np.testing.assert_allclose(layer.weight.numpy(), before, rtol=1e-5)
    assert not layer._forward_pre_hooks


def test_length_and_direction_are_trained() -> None:
    layer = nn.utils.weight_norm(nn.Linear(3, 2))
    sgd = paddle.optimizer.SGD(0.1, layer.parameters())
    before = layer.weight.numpy()
    layer(paddle.ones([1, 3])).sum().backward()
    sgd.step()
    layer(paddle.ones([1, 3]))
    assert (layer.weight.numpy() != before).all()
    lengths = np.linalg.norm(layer.weight.numpy(), axis=1)
    np.testing.assert_allclose(lengths, abs(layer.weight_g.numpy()), rtol=1e-5)
    assert "weight" not in layer.state_dict()


def test_what_cannot_be_normalized() -> None:
    layer = nn.utils.weight_norm(nn.Linear(3, 2))
    with pytest.raises(RuntimeError, match="already"):
        nn.utils.weight_norm(layer)
    with pytest.raises(ValueError, match="no parameter 'other'"):
        nn.utils.weight_norm(layer, "other")
    with pytest.raises(ValueError, match="dim"):
        nn.utils.weight_norm(nn.Linear(3, 2), dim=2)
    with pytest.raises(ValueError, match="not normalized"):
        nn.utils.remove_weight_norm(nn.Linear(3, 2))
