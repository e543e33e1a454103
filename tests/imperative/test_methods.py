"""Methods and operators of Tensor: arithmetic, conversion to Python, indexing, detach."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from tests.imperative.leaves import leaf

# ---- operators ----


@pytest.mark.parametrize(
    ("expression", "value", "gradient"),
    [
        (lambda x: x + 2.0, [3.0, 4.0], [1.0, 1.0]),
        (lambda x: 2.0 + x, [3.0, 4.0], [1.0, 1.0]),
        (lambda x: x - 2.0, [-1.0, 0.0], [1.0, 1.0]),
        (lambda x: 2.0 - x, [1.0, 0.0], [-1.0, -1.0]),
        (lambda x: x * 3, [3.0, 6.0], [3.0, 3.0]),
        (lambda x: 3 * x, [3.0, 6.0], [3.0, 3.0]),
        (lambda x: -x, [-1.0, -2.0], [-1.0, -1.0]),
        (lambda x: x + x * x, [2.0, 6.0], [3.0, 5.0]),
        (lambda x: np.array([10.0, 20.0]) * x, [10.0, 40.0], [10.0, 20.0]),
        (lambda x: x - np.array([10.0, 20.0]), [-9.0, -18.0], [1.0, 1.0]),
        (lambda x: np.array([10.0, 20.0]) - x, [9.0, 18.0], [-1.0, -1.0]),
        (lambda x: np.float64(2.0) * x, [2.0, 4.0], [2.0, 2.0]),
        (lambda x: x @ np.array([[1.0], [2.0]]), [5.0], [1.0, 2.0]),
    ],
)
def test_operators(expression: Any, value: list[float], gradient: list[float]) -> None:
    x = leaf([1.0, 2.0])
    y = expression(x)
    assert isinstance(y, paddle.Tensor)
    assert y.tolist() == value
    y.sum().backward()
    assert x.grad.tolist() == gradient


def test_augmented_assignment_makes_a_new_tensor() -> None:
    x = leaf([1.0])
    before = x
    x += 1.0
    x *= 3.0
    x -= 1.0
    assert x is not before
    assert before.tolist() == [1.0]
    x.backward()
    assert before.grad.tolist() == [3.0]


def test_operators_refuse_what_is_no_number() -> None:
    x = leaf([1.0])
    for wrong in ("a", None, {}, [1.0]):
        with pytest.raises(TypeError):
            x + wrong
        with pytest.raises(TypeError):
            x * wrong


def test_negating_keeps_the_dtype() -> None:
    assert (-paddle.to_tensor([1, 2])).tolist() == [-1, -2]
    assert (-paddle.to_tensor([1, 2])).dtype == paddle.int64
    assert (-paddle.to_tensor([1.0], dtype="float16")).dtype == paddle.float16


# ---- conversion ----


def test_item() -> None:
    assert paddle.to_tensor([[2.5]]).item() == 2.5
    assert isinstance(paddle.to_tensor(3).item(), int)
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.item(2) == 3.0
    assert x.item(0, 1) == 2.0
    with pytest.raises(ValueError, match=r"\[2, 2\]"):
        x.item()
    with pytest.raises(IndexError):
        x.item(9)


def test_numbers() -> None:
    assert float(paddle.to_tensor([2.5])) == 2.5
    assert int(paddle.to_tensor(2.9)) == 2
    assert bool(paddle.to_tensor([[1.0]])) is True
    assert bool(paddle.to_tensor(0)) is False
    assert range(5)[paddle.to_tensor(3)] == 3
    assert float(leaf(1.5)) == 1.5


@pytest.mark.parametrize("kind", [float, int, bool])
@pytest.mark.parametrize("shape", [[2], [0], [1, 2]])
def test_only_one_element_becomes_a_number(kind: type, shape: list[int]) -> None:
    with pytest.raises(TypeError, match=kind.__name__):
        kind(paddle.zeros(shape))


def test_only_an_int_is_an_index() -> None:
    with pytest.raises(TypeError, match="float32"):
        [1, 2][paddle.to_tensor(1.0)]
    with pytest.raises(TypeError):
        [1, 2][paddle.to_tensor([0, 1])]


def test_numpy_takes_copies() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    array = np.asarray(x)
    array[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    assert np.asarray(x, dtype="float64").dtype == np.float64
    assert np.array(x, copy=True).tolist() == [1.0, 2.0]
    assert np.tanh(x).shape == (2,)
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, copy=False)


def test_tolist() -> None:
    assert paddle.to_tensor(1.5).tolist() == 1.5
    assert paddle.zeros([0, 2]).tolist() == []
    assert paddle.to_tensor([[1, 2]]).tolist() == [[1, 2]]


def test_astype() -> None:
    x = leaf([1.5, 2.5], "float32")
    y = x.astype("float64")
    assert y.dtype == paddle.float64
    (y * y).sum().backward()
    assert x.grad.dtype == paddle.float32
    assert x.grad.tolist() == [3.0, 5.0]


@pytest.mark.parametrize(
    "convert",
    [lambda x: x.astype("int64"), lambda x: x.astype("bool"), lambda x: x.sum(dtype="int64")],
)
def test_no_gradient_flows_through_integers(convert: Any) -> None:
    """It would be cut to whole numbers on its way."""
    x = leaf([1.5])
    assert convert(x).stop_gradient
    (convert(x) * 2.5 * x).backward()
    assert x.grad.tolist() == [2.5]


def test_detach_shares_memory_and_stops_gradients() -> None:
    x = leaf([1.0, 2.0])
    y = x.detach()
    assert y.stop_gradient
    y.set_value([3.0, 4.0])
    assert x.tolist() == [3.0, 4.0]
    (x * y).sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]


def test_clone_copies_and_lets_gradients_through() -> None:
    x = leaf([1.0, 2.0])
    y = x.clone()
    y.add_(10.0)
    assert x.tolist() == [1.0, 2.0]
    (y * 3.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


# ---- indexing ----

ARRAY = np.arange(24.0).reshape(2, 3, 4)
INDICES = [
    0,
    -1,
    slice(1),
    slice(None, None, -1),
    slice(0, 3, 2),
    (0, 1),
    (1, 2, 3),
    (slice(None), 1),
    (Ellipsis, 0),
    (0, Ellipsis),
    (None, 1),
    (slice(None), None, slice(0, 2)),
    Ellipsis,
    None,
    (slice(5, 9),),
    np.int64(1),
    (),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing_and_its_gradient(index: Any) -> None:
    x = leaf(ARRAY)
    part = x[index]
    np.testing.assert_array_equal(part.numpy(), ARRAY[index])
    assert tuple(part.shape) == ARRAY[index].shape
    weights = np.arange(1.0, ARRAY[index].size + 1).reshape(ARRAY[index].shape)
    (part * paddle.to_tensor(weights)).sum().backward()
    expected = np.zeros_like(ARRAY)
    expected[index] = weights
    np.testing.assert_array_equal(x.grad.numpy(), expected)


@pytest.mark.parametrize("index", [0, (1, 2, 3), slice(1), (Ellipsis, 0)], ids=str)
def test_an_indexed_part_is_a_view(index: Any) -> None:
    x = paddle.to_tensor(ARRAY)
    part = x[index]
    part.set_value(np.full(part.shape, -1.0))
    expected = ARRAY.copy()
    expected[index] = -1.0
    np.testing.assert_array_equal(x.numpy(), expected)


def test_an_int_tensor_is_an_index() -> None:
    assert paddle.to_tensor([1.0, 2.0])[paddle.to_tensor(1)].item() == 2.0


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (2, IndexError),
        (-3, IndexError),
        ((0, 0, 0, 0), IndexError),
        ((Ellipsis, Ellipsis), IndexError),
        ("a", TypeError),
        (1.0, TypeError),
        ([0.5], TypeError),
        (np.array([1.0]), TypeError),
        (np.ones(9, bool), IndexError),
    ],
)
def test_a_wrong_index_is_an_error(index: Any, error: type[Exception]) -> None:
    x = leaf(ARRAY)
    with pytest.raises(error):
        x[index]


def test_iteration() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    rows = list(x)
    assert [row.tolist() for row in rows] == [[1.0, 2.0], [3.0, 4.0]]
    first, second = x
    (first * 10.0 + second).sum().backward()
    assert x.grad.tolist() == [[10.0, 10.0], [1.0, 1.0]]
    assert [float(v) for v in paddle.to_tensor([1.0, 2.0])] == [1.0, 2.0]
    assert list(paddle.zeros([0])) == []


def test_a_0d_tensor_has_no_length_and_no_elements() -> None:
    x = paddle.to_tensor(1.0)
    with pytest.raises(TypeError, match="0-d"):
        len(x)
    with pytest.raises(TypeError, match="0-d"):
        iter(x)
    with pytest.raises(IndexError):
        x[0]


def test_backward_as_a_method_passes_everything_on() -> None:
    x = leaf([2.0])
    y = x.square()
    y.backward(paddle.to_tensor([10.0], dtype="float64"), retain_graph=True)
    y.backward(retain_graph=True, create_graph=True)
    assert x.grad.tolist() == [44.0]
    assert not x.grad.stop_gradient


def test_plus_gives_equal_values():
    x = paddle.to_tensor([1.0, -2.0], stop_gradient=False)
    (+x).sum().backward()
    assert (+x).tolist() == [1.0, -2.0] and x.grad.tolist() == [1.0, 1.0]
