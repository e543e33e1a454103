"""Questions about a tensor, and the operators that compare."""

import operator

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.backend import get_place
from minipaddle.imperative.functions import comparison
from tests.device.plug import plugged_in

FLOATS, INTS = ["float16", "bfloat16", "float32", "float64"], ["uint8", "int8", "int32", "int64"]


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, "bool"])
def test_kinds_of_dtypes(dtype):
    x = paddle.ones([2], dtype)
    assert comparison.is_floating_point(x) is (dtype in FLOATS)
    assert comparison.is_integer(x) is (dtype in INTS)
    assert x.is_floating_point() is (dtype in FLOATS) and x.is_integer() is (dtype in INTS)


@pytest.mark.parametrize("name", ["is_floating_point", "is_integer", "is_empty"])
def test_questions_are_put_to_tensors(name):
    with pytest.raises(TypeError, match=f"{name}: x must be a Tensor; got list"):
        getattr(comparison, name)([1.0])


@pytest.mark.parametrize(
    ("shape", "empty"), [([0], True), ([2, 0], True), ([], False), ([1], False)]
)
def test_what_is_empty(shape, empty):
    found = paddle.ones(shape).is_empty()
    assert found.shape == [] and found.dtype == bool and found.item() is empty


def test_is_empty_answers_where_the_tensor_lies():
    with plugged_in():
        x = paddle.to_tensor([1.0], place="xpu:1")
        assert comparison.is_empty(x).place is get_place("xpu:1")


COMPARE = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]


@pytest.mark.parametrize("function", COMPARE)
def test_comparing_operators(function):
    host = np.array([1.0, 2.0, 3.0], np.float32)
    x = paddle.to_tensor(host)
    for other in (2, 2.0, np.float32(2), np.full(3, 2, np.float32), paddle.full([3], 2.0)):
        right = function(host, 2.0).tolist()
        assert function(x, other).tolist() == right
        assert function(other, x).tolist() == function(2.0, host).tolist()


@pytest.mark.parametrize("function", BITS)
def test_bitwise_operators(function):
    host = np.array([1, 2, 7])
    x = paddle.to_tensor(host)
    for other in (3, np.int64(3), np.full(3, 3), paddle.full([3], 3, "int64")):
        assert function(x, other).tolist() == function(host, 3).tolist()
        assert function(other, x).tolist() == function(3, host).tolist()


def test_logic_by_operators():
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    assert ((x > 1) & (x < 3)).tolist() == [False, True, False]
    assert ((x <= 1) | (x >= 3)).tolist() == [True, False, True]
    assert (~(x > 1) ^ True).tolist() == [False, True, True]
    kept = y = x > 1
    y &= x < 3  # makes another tensor, as for every operator of Tensor
    assert y.tolist() == [False, True, False] and kept.tolist() == [False, True, True]


@pytest.mark.parametrize("function", [*COMPARE[:4], *BITS])
def test_what_no_tensor_is_compared_with(function):
    with pytest.raises(TypeError, match=r"not supported|unsupported operand"):
        function(paddle.ones([2], "int64"), "2")
    with pytest.raises(TypeError, match=r"not supported|unsupported operand"):
        function(None, paddle.ones([2], "int64"))


@pytest.mark.parametrize("function", BITS)
def test_floats_have_no_bits(function):
    for x, y in ((paddle.ones([2]), 1), (1, paddle.ones([2])), (paddle.ones([2], "int32"), 1.5)):
        with pytest.raises(TypeError, match=r"bitwise_\w+: takes .*ints; got float32; convert"):
            function(x, y)


def test_comparing_records_nothing():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    for out in (x > 1, x == x, comparison.isnan(x), comparison.isclose(x, x)):
        assert out.stop_gradient
