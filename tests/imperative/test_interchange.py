"""NumPy's protocols and from_numpy."""

import operator
import weakref
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
          "complex64", "complex128"]  # fmt: skip


# ---- NumPy's operators and functions ----

ARRAY = np.array([1.0, 2.0, 4.0], np.float32)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "truediv", "eq", "ne", "matmul"])
@pytest.mark.parametrize(
    "left", [ARRAY, np.float32(2), np.float64(2), np.array(3.0, np.float32)], ids=repr
)
def test_numpy_on_the_left_of_an_operator(op: str, left: Any) -> None:
    values = np.array([2.0, 1.0, 8.0], np.float32)
    x = paddle.to_tensor(values)
    function = getattr(operator, op)
    if op == "matmul" and np.ndim(left) == 0:
        with pytest.raises(ValueError, match="matmul"):
            function(left, x)
        return
    result = function(left, x)
    assert type(result) is paddle.Tensor
    np.testing.assert_array_equal(result.numpy(), function(left, values))
    assert result.dtype in (paddle.float32, paddle.bool)


@pytest.mark.parametrize("op", ["add", "mul"])
def test_gradients_flow_through_an_array_on_the_left(op: str) -> None:
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    getattr(operator, op)(ARRAY, x).sum().backward()
    assert x.grad.tolist() == ([1.0, 1.0, 1.0] if op == "add" else ARRAY.tolist())


def test_in_place_with_an_array_on_the_left_makes_a_tensor() -> None:
    array = ARRAY.copy()
    result = array
    result += paddle.ones([3])
    assert type(result) is paddle.Tensor
    assert array.tolist() == ARRAY.tolist()


def test_an_operator_that_tensor_lacks_is_an_error_and_no_object_array() -> None:
    with pytest.raises(TypeError):
        divmod(ARRAY, paddle.ones([3]))
    with pytest.raises(TypeError):
        np.float32(2) << paddle.ones([3])


@pytest.mark.parametrize("wants_grad", [False, True])
def test_numpy_functions_take_values_and_return_arrays(wants_grad: bool) -> None:
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=not wants_grad)
    values = x.numpy()
    for function in (np.sin, np.sum, np.mean, np.max, np.ravel, np.shape, np.ndim, np.transpose):
        result = function(x)
        assert not isinstance(result, paddle.Tensor)
        np.testing.assert_array_equal(result, function(values))
    assert type(np.add(x, x)) is np.ndarray
    assert np.add.reduce(x, axis=0).tolist() == [4.0, 6.0]
    assert np.sum(x, axis=1, keepdims=True).shape == (2, 1)
    assert np.reshape(x, (4,)).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert np.concatenate([x, values, x]).shape == (6, 2)
    assert np.stack((x, x), axis=0).dtype == np.float32
    assert np.where(x, x, a_default := np.zeros(2)).shape == (2, 2) and not a_default.any()
    assert np.einsum("ij,ij->", x, x) == 30.0
    np.testing.assert_allclose(x, values)
    with pytest.raises(TypeError):
        np.add(values, values, out=x)
    assert values.tolist() == x.tolist()


def test_a_function_with_another_type_that_overrides_numpy_is_left_to_that() -> None:
    class Other:
        def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> str:
            return "other's"

    assert np.concatenate([paddle.ones([1]), Other()]) == "other's"


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_tensors_become_arrays_of_their_dtype(dtype: str) -> None:
    x = paddle.ones([2], dtype)
    arrays = [np.asarray(x), np.array(x), np.array([x, x])[0], np.stack([x[0], x[1]])]
    if dtype != "bfloat16":  # NumPy asks its elements for numbers one by one, and ml_dtypes refuses
        arrays.append(np.array([x[0], x[1]]))
    for array in arrays:
        assert array.dtype == x.dtype
        assert array.tolist() == x.tolist()
    assert np.array(x[0]).shape == ()
    target = np.zeros(3)
    target[:2] = paddle.ones([2], "float64")
    assert target.tolist() == [1.0, 1.0, 0.0]
    assert np.arange(5)[paddle.to_tensor([1, 3])].tolist() == [1, 3]


# ---- from_numpy ----


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_from_numpy_shares_memory(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, dtype)
    x = paddle.from_numpy(array)
    assert (x.shape, x.dtype, x.stop_gradient, str(x.place)) == (list(shape), dtype, True, "cpu")
    array[...] = 0
    np.testing.assert_array_equal(x.numpy(), array)
    x.set_value(np.ones(shape, dtype))
    assert array.all()


def test_from_numpy_keeps_strides_and_dtype_objects() -> None:
    array = np.arange(12.0).reshape(3, 4)
    x = paddle.from_numpy(array.T[::-1, ::2])
    np.testing.assert_array_equal(x.numpy(), array.T[::-1, ::2])
    x.add_(1.0)
    assert array[0].tolist() == [1.0, 2.0, 3.0, 4.0] and array[1].tolist() == [4.0, 5.0, 6.0, 7.0]
    for code in ("l", "q"):  # two of NumPy's dtypes are int64; tensors have one
        assert paddle.from_numpy(np.zeros(2, code)).dtype is paddle.int64


def test_from_numpy_takes_gradients_like_any_leaf() -> None:
    array = np.array([1.0, 2.0])
    x = paddle.from_numpy(array)
    x.stop_gradient = False
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    with paddle.no_grad():
        x.subtract_(x.grad)
    assert array.tolist() == [-1.0, -2.0]


def test_from_numpy_keeps_its_array_alive_and_lets_it_go() -> None:
    array = np.zeros(3)
    gone = weakref.ref(array)
    x = paddle.from_numpy(array)
    del array
    assert gone() is not None and x.tolist() == [0.0, 0.0, 0.0]
    del x
    assert gone() is None


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("array", "error", "text"),
    [
        (read_only(np.zeros(2)), ValueError, r"read-only.*to_tensor\(array\)"),
        (np.broadcast_to(np.zeros(1), (3,)), ValueError, "read-only"),
        (np.zeros(2, ">f4"), ValueError, r"byte order.*to_tensor\(array\)"),
        (np.zeros(2, "uint16"), TypeError, "uint16"),
        (np.array(["a"]), TypeError, "dtype"),
        (np.array([None]), TypeError, "dtype"),
        ([1.0], TypeError, "list"),
        (np.float32(1.0), TypeError, "float32"),
        (paddle.ones([1]), TypeError, "Tensor"),
    ],
)
def test_from_numpy_refuses(array: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        paddle.from_numpy(array)
