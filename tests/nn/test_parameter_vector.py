"""Parameters as a vector."""

import pytest

import minipaddle as paddle
from minipaddle import nn


def test_there_and_back() -> None:
    one, two = nn.Linear(2, 3), nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(one.parameters())
    assert vector.tolist() == [*one.weight.flatten().tolist(), *one.bias.tolist()]
    array = two.weight.data
    nn.utils.vector_to_parameters(vector, two.parameters())
    assert two.weight.tolist() == one.weight.tolist()
    assert two.weight.data is array
    two.weight.set_value(two.weight * 2.0)
    assert one.weight.tolist() != two.weight.tolist()


def test_gradients_flow_through_the_vector() -> None:
    layer = nn.Linear(1, 1)
    (nn.utils.parameters_to_vector(layer.parameters()) * 3.0).sum().backward()
    assert layer.weight.grad.item() == layer.bias.grad.item() == 3.0


def test_a_longer_vector_is_read_from_the_front() -> None:
    layer = nn.Linear(1, 1)
    nn.utils.vector_to_parameters(paddle.to_tensor([1.0, 2.0, 3.0]), iter(layer.parameters()))
    assert (layer.weight.item(), layer.bias.item()) == (1.0, 2.0)


def test_what_does_not_fit_changes_nothing() -> None:
    layer = nn.Linear(2, 1)
    before = layer.weight.tolist()
    for vector in (paddle.ones([2]), paddle.ones([3, 1])):
        with pytest.raises(ValueError, match="3 elements"):
            nn.utils.vector_to_parameters(vector, layer.parameters())
    assert layer.weight.tolist() == before
    with pytest.raises(ValueError, match="at least one"):
        nn.utils.parameters_to_vector([])
