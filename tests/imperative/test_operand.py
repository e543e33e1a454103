"""Operands as users give them: numbers, arrays, mixed dtypes, mistakes, and in-place rules."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.dtype import as_dtype, bfloat16, set_default_dtype
from minipaddle.imperative.autograd import no_grad
from minipaddle.imperative.functions.elementwise import (
    add,
    add_,
    assign,
    lerp,
    multiply,
    multiply_,
    square,
    subtract,
    subtract_,
    tanh,
    tanh_,
)
from minipaddle.imperative.functions.linalg import linear, matmul
from minipaddle.imperative.functions.rectifier import relu_
from minipaddle.imperative.functions.reduction import sum as total
from minipaddle.imperative.functions.shape import reshape
from minipaddle.imperative.operand import int_list
from minipaddle.imperative.tensor import Tensor, to_tensor

bfloat16()


def made(dtype, value=1, shape=(2,)):
    return to_tensor(np.full(shape, value).astype(as_dtype(dtype)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "number", [2, 2.5, True, np.int32(2), np.float64(2.5), np.float32(2.5), np.bool_(True)]
)
@pytest.mark.parametrize("function", [add, subtract, multiply])
def test_a_number_takes_the_dtype_of_the_tensor(function, number, dtype):
    x = made(dtype, 3)
    for out, right in (
        (function(x, number), [3.0, number]),
        (function(number, x), [number, 3.0]),
    ):
        assert out.dtype == as_dtype(dtype)
        expected = {add: np.add, subtract: np.subtract, multiply: np.multiply}[function](
            *(float(r) for r in right)
        )
        np.testing.assert_array_equal(out.numpy().astype(float), [expected] * 2)
    assert function(made(dtype, 3, ()), number).dtype == as_dtype(dtype)


@pytest.mark.parametrize("operation", [
    lambda x: x + 2.5, lambda x: 2.5 + x, lambda x: x - 2.5, lambda x: 2.5 - x,
    lambda x: x * 2.5, lambda x: 2.5 * x, lambda x: -x,
])  # fmt: skip
def test_operators_keep_bfloat16_beside_python_numbers(operation):
    x = made("bfloat16", 1.5)
    out = operation(x)
    assert out.dtype is bfloat16()
    assert out.numpy().astype(float)[0] == operation(1.5)


@pytest.mark.parametrize(
    ("dtype", "number", "result"),
    [
        ("int64", 2, "int64"),
        ("int8", 2, "int8"),
        ("int64", 2.5, "float32"),
        ("uint8", 2.5, "float32"),
        ("bool", 2, "int64"),
        ("bool", 2.5, "float32"),
        ("bool", True, "bool"),
    ],
)
def test_a_number_beside_ints_and_bools(dtype, number, result):
    for out in (add(made(dtype), number), add(number, made(dtype))):
        assert out.dtype.name == result
        assert out.tolist()[0] == (True if result == "bool" else 1 + number)


def test_a_float_beside_ints_takes_the_default_dtype():
    set_default_dtype("float64")
    try:
        assert add(made("int64"), 2.5).dtype.name == "float64"
    finally:
        set_default_dtype("float32")


PROMOTED = [
    ("float32", "float64", "float64"),
    ("float16", "float32", "float32"),
    ("bfloat16", "float32", "float32"),
    ("float16", "bfloat16", "float32"),
    ("float32", "int64", "float32"),
    ("float16", "int64", "float16"),
    ("bfloat16", "int32", "bfloat16"),
    ("float64", "bool", "float64"),
    ("int32", "int64", "int64"),
    ("uint8", "int8", "int16"),
    ("int32", "bool", "int32"),
]


@pytest.mark.parametrize(("one", "other", "result"), PROMOTED)
def test_tensors_of_two_dtypes_meet_at_the_wider_one(one, other, result):
    for a, b in ((one, other), (other, one)):
        x, y = made(a, 1), made(b, 1)
        out = add(x, y)
        assert out.dtype.name == result
        assert out.tolist() == [2.0, 2.0]
        assert x.dtype.name == a and y.dtype.name == b


def test_gradients_go_back_to_the_dtype_of_each_operand():
    x, y = made("float16", 3), made("float64", 2)
    x.stop_gradient = y.stop_gradient = False
    multiply(x, y).backward()
    assert x.grad.dtype.name == "float16" and x.grad.tolist() == [2.0, 2.0]
    assert y.grad.dtype.name == "float64" and y.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("function", [matmul, linear])
def test_ops_that_do_not_promote_name_each_dtype(function):
    with pytest.raises(TypeError) as caught:
        function(made("float32", 1, (2, 2)), made("float64", 1, (2, 2)))
    for word in (function.__name__, "x: float32", "float64", "astype"):
        assert word in str(caught.value)


def test_numpy_arrays_are_operands():
    x = to_tensor(np.ones(2, np.float32), stop_gradient=False)
    host = np.array([2.0, 3.0], np.float32)
    for out in (multiply(x, host), multiply(host, x), x * host, host * x):
        assert isinstance(out, Tensor) and out.tolist() == [2.0, 3.0]
    assert add(x, np.ones(2)).dtype.name == "float64"
    out = multiply(x, host)
    host[0] = 99.0  # the op has a copy
    out.backward()
    assert x.grad.tolist() == [2.0, 3.0]
    half = np.ones(2, bfloat16())
    assert add(made("bfloat16"), half).tolist() == [2.0, 2.0]
    assert lerp(made("bfloat16"), half, half).tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match=r"add.*Tensor.*ndarray"):
        add(host, host)


@pytest.mark.parametrize("wrong", [None, "1", [1.0, 2.0], (1.0,), {}, object(), 1j])
def test_what_is_no_operand_is_named(wrong):
    for call, name in ((lambda: add(made("float32"), wrong), "y"),
                       (lambda: add(wrong, made("float32")), "x")):  # fmt: skip
        with pytest.raises(TypeError) as caught:
            call()
        for word in ("add", name, type(wrong).__name__, "Tensor"):
            assert word in str(caught.value)
    with pytest.raises(TypeError, match=type(wrong).__name__):
        made("float32") + wrong


def test_an_optional_operand_may_be_none_and_no_other():
    x, w = made("float32", 1, (2, 2)), made("float32", 1, (2, 2))
    assert linear(x, w, None).tolist() == linear(x, w).tolist()
    with pytest.raises(TypeError, match=r"linear.*weight.*NoneType"):
        linear(x, None)


def test_int_arrays_for_float_ops_say_what_to_do():
    for call in (lambda: tanh(made("int64")), lambda: lerp(made("int64"), made("int64"), 0.5)):
        with pytest.raises(TypeError, match=r"float32.*int64.*astype"):
            call()


def test_shapes_that_do_not_meet_are_both_named():
    with pytest.raises(ValueError) as caught:
        add(made("float32", 1, (2, 3)), made("float64", 1, (4, 2)))
    for word in ("add", "x: [2, 3]", "y: [4, 2]"):
        assert word in str(caught.value)


def test_an_error_leaves_operands_and_recording_as_they_were():
    x = to_tensor([1.0, 2.0], stop_gradient=False)
    with pytest.raises(ValueError):
        multiply(x, to_tensor([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError):
        multiply(x, "2")
    multiply(x, 3.0).backward()
    assert x.grad.tolist() == [3.0, 3.0] and x.inplace_version == 0


def test_a_number_out_of_the_range_of_an_int_dtype_is_named():
    with pytest.raises((ValueError, OverflowError), match="1000"):
        add(made("int8"), 1000)


def test_int_lists():
    assert int_list("axis", None) is None
    assert int_list("axis", 3) == (3,)
    assert int_list("axis", np.int64(3)) == (3,)
    assert int_list("axis", [1, np.int32(2)]) == (1, 2)
    assert int_list("shape", to_tensor([2, 3])) == (2, 3)
    assert int_list("shape", [to_tensor(2), 3]) == (2, 3)
    assert int_list("shape", to_tensor(4)) == (4,)
    for wrong in (1.0, [1.5], "2", [None], {}):
        with pytest.raises(TypeError, match=r"axis.*int"):
            int_list("axis", wrong)


# In place


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ("int64", 2.5),
        ("float32", made("float64")),
        ("float16", made("float32")),
        ("bool", 1),
        ("int8", made("int64")),
        ("float16", made("bfloat16")),
    ],
)
@pytest.mark.parametrize("function", [add_, multiply_])
def test_in_place_never_writes_to_a_converted_copy(function, x, y):
    """Where the result would be of a wider dtype, x is either written or the call is refused."""
    target = made(x)
    before = target.tolist()
    try:
        out = function(target, y)
    except TypeError as error:
        assert function.__name__ in str(error) and x in str(error)
        assert target.tolist() == before and target.inplace_version == 0
    else:
        assert out is target and target.inplace_version == 1
        assert target.dtype.name == x
        assert target.tolist() == [{add_: 2, multiply_: 1}[function]] * 2


def test_in_place_takes_what_fits_into_x():
    x = made("float64")
    assert add_(x, made("float32")) is x and x.tolist() == [2.0, 2.0]
    assert add_(x, 1) is x and subtract_(x, 0.5) is x and x.tolist() == [2.5, 2.5]
    assert add_(x, np.ones(2)) is x and x.tolist() == [3.5, 3.5]
    assert x.inplace_version == 4


@pytest.mark.parametrize("target", [2.0, np.ones(2), None, "x", [1.0]])
def test_in_place_writes_to_tensors_only(target):
    with pytest.raises(TypeError) as caught:
        add_(target, made("float32"))
    assert "add" in str(caught.value) and "x" in str(caught.value)


def test_in_place_on_an_expanded_view_is_refused(place):
    x = to_tensor([1.0, 2.0], place=place).expand([2, 2])
    with pytest.raises(ValueError, match="add"):
        add_(x, 1.0)
    assert x.tolist() == [[1.0, 2.0]] * 2 and x.inplace_version == 0


def test_a_leaf_that_wants_a_gradient_is_not_changed_while_recording():
    x = to_tensor([1.0], stop_gradient=False)
    for function in (lambda: add_(x, 1.0), lambda: relu_(x), lambda: x.tanh_()):
        with pytest.raises(ValueError, match=r"leaf.*no_grad"):
            function()
    assert x.tolist() == [1.0] and x.inplace_version == 0
    with no_grad():
        assert add_(x, 1.0) is x
    assert x.tolist() == [2.0] and x.inplace_version == 1 and x.is_leaf


def test_a_constant_joins_the_graph_of_what_is_written_into_it():
    x, y = to_tensor([1.0, 2.0]), to_tensor([3.0, 4.0], stop_gradient=False)
    add_(x, y)
    assert not x.stop_gradient and not x.is_leaf
    multiply(x, x).backward()
    assert y.grad.tolist() == [8.0, 12.0]


def test_chains_of_in_place_ops():
    a = to_tensor([0.5, -0.5], stop_gradient=False)
    x = assign(a)
    out = tanh_(add_(multiply_(x, 2.0), 1.0))
    assert out is x and x.inplace_version == 3
    out.backward()
    right = 2 * (1 - np.tanh([2.0, 0.0]) ** 2)
    np.testing.assert_allclose(a.grad.numpy(), right, rtol=1e-6)


def test_a_saved_value_that_was_overwritten_is_noticed():
    a = to_tensor([1.0, 2.0], stop_gradient=False)
    x = assign(a)
    out = square(x)
    add_(x, 1.0)
    with pytest.raises(RuntimeError, match="gradient of square needs was changed in place"):
        out.backward()
    y = assign(a)
    out = add(y, 1.0)  # the gradient of add needs no values
    add_(y, 1.0)
    out.backward()
    assert a.grad.tolist() == [1.0, 1.0]


def test_writing_to_a_view_counts_for_the_whole():
    x = to_tensor([[1.0, 2.0], [3.0, 4.0]])
    row = x[1]
    add_(row, 10.0)
    assert x.tolist() == [[1.0, 2.0], [13.0, 14.0]]
    assert x.inplace_version == row.inplace_version == 1
    one = x[0, 1]
    add_(one, 10.0)
    assert x.tolist() == [[1.0, 12.0], [13.0, 14.0]]
    flat = reshape(x, [4])
    multiply_(flat, 0.0)
    assert total(x).item() == 0.0


def test_what_is_no_index():
    x = to_tensor(np.arange(6.0).reshape(2, 3))
    assert x[to_tensor(1)].tolist() == [3.0, 4.0, 5.0]
    assert x[np.int64(1), -1].item() == 5.0
    for wrong in (1.0, "a", [0.5], np.array([0.5])):
        with pytest.raises(TypeError, match="ind"):
            x[wrong]
    for outside in (2, -3, (0, 3), (0, 0, 0)):
        with pytest.raises(IndexError, match=r"\[2, 3\]"):
            x[outside]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + 300,
        lambda x: 300 - x,
        lambda x: x.multiply_(300),
        lambda x: paddle.bitwise_and(x, 300),
        lambda x: paddle.where(x > 0, x, 300),
        lambda x: x.__setitem__(0, 300),
        lambda x: paddle.masked_fill(x, x > 0, 300),
        lambda x: x.__setitem__(x > 0, 300),
        lambda x: x.__setitem__(to_tensor([0]), 300),
        lambda x: paddle.where_(x > 5, x, 300),
        lambda x: paddle.full_like(x, 300),
    ],
)
def test_a_number_that_the_dtype_cannot_hold_is_refused_by_name(call):
    x = to_tensor(np.ones(2, "int8"))
    with pytest.raises(OverflowError, match=r"^\w+(: \w+|\(.*300.*\)): .*out of bounds for int8"):
        call(x)
    assert x.tolist() == [1, 1]
    assert x.inplace_version == 0
