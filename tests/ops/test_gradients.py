"""Gradients of every op: first and second order, fused and by formula, shape and dtype."""

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS
from minipaddle.testing import gradient_suite
from minipaddle.testing.operands import FLOATS, tensor
from tests.ops.operands import DIFFERENTIABLE
from tests.ops.samples import RECORDS

FUSED = [name for name in DIFFERENTIABLE if OPS[name].backward.fused]
INPLACE = [name for name in DIFFERENTIABLE if OPS[name].inplace]


@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_first_order(op, place):
    gradient_suite.check_first_order(RECORDS[op], place)


@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_second_order(op, place):
    gradient_suite.check_second_order(RECORDS[op], place)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_a_gradient_has_the_shape_and_dtype_of_its_input(op, dtype, place):
    gradient_suite.check_shape_and_dtype(RECORDS[op], dtype, place)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_a_cleared_gradient_is_overwritten_and_any_other_added_to(op, dtype, place):
    gradient_suite.check_cleared(RECORDS[op], dtype, place)


@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_each_input_alone_gets_the_gradient_it_gets_with_the_others(op, place):
    gradient_suite.check_each_alone(RECORDS[op], place)


@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_gradients_pass_through_views_with_gaps(op, place):
    gradient_suite.check_gaps(RECORDS[op], place)


@pytest.mark.parametrize("op", INPLACE)
def test_the_in_place_form_has_the_gradient_of_the_plain_one(op, place):
    gradient_suite.check_inplace(RECORDS[op], place)


@pytest.mark.parametrize("op", FUSED)
@pytest.mark.parametrize("with_into", [False, True], ids=["new arrays", "into"])
def test_a_fused_gradient_is_its_formula(op, with_into):
    gradient_suite.check_fused(RECORDS[op], with_into, get_place("cpu"))


def test_at_the_kink_relu_and_sign_have_the_gradient_zero(place):
    for op, right in (("relu", [0.0, 0.0, 0.0, 1.0, np.nan]), ("sign", [0.0, 0.0, 0.0, 0.0, 0.0])):
        x = tensor(np.array([-1.0, -0.0, 0.0, 1.0, np.nan]), place, stop_gradient=False)
        FUNCTIONS[op](x).backward()
        np.testing.assert_array_equal(x.grad.numpy(), right, op)


@pytest.mark.parametrize("op", DIFFERENTIABLE)
def test_nothing_is_recorded_without_need(op, place):
    gradient_suite.check_nothing_recorded(RECORDS[op], place)
