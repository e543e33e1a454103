"""The generic checks on ops of every form: operands with a dtype, lists, several results."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.backend import get_place
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS, Backward, Op, Param, namespace
from minipaddle.testing import forward_suite, gradient_suite, random_suite
from minipaddle.testing.derivative import check_second_order
from minipaddle.testing.operands import inputs, refused
from minipaddle.testing.sample import OpSample, Sample, values

CPU = get_place("cpu")
X, Y, COUNT = values((2, 3), 1), values((2, 3), 2), np.array([[1, 2, 0], [3, 1, 2]])


def _weigh(x, count):  # an operand with a dtype of its own
    return x * paddle.cast(count, x.dtype)


def _total(x):  # a list operand
    out = x[0]
    for i, item in enumerate(x[1:], 2):
        out = out + item * i
    return paddle.assign(out)


def _with_sign(x):  # two results, the second without a gradient
    return x * x, paddle.cast(paddle.sign(x.detach()), "int64")


def _multiples(x):  # a list of results
    return [x * x, x * 3]


FORMS = {
    "weigh": (_weigh, lambda x, count: x * count, (X, COUNT), ("Tensor", "Tensor:int")),
    "total": (
        _total,
        lambda x: sum(item * i for i, item in enumerate(x, 1)),
        ([X, Y],),
        ("Tensor[]",),
    ),
    "with_sign": (
        _with_sign,
        lambda x: (x * x, np.sign(x).astype(np.int64)),
        (X,),
        ("Tensor",),
    ),
    "multiples": (_multiples, lambda x: [x * x, x * 3], (X,), ("Tensor",)),
}


@pytest.fixture(params=FORMS)
def record(request, monkeypatch):
    """A record of one form, its op put together from others."""
    return put(request.param, monkeypatch)


def put(name, monkeypatch, function=None, reference=None):
    made, right, operands, types = FORMS[name]
    names = ["x", "count"][: len(types)]
    params = tuple(Param(n, kind) for n, kind in zip(names, types, strict=True))
    backward = Backward(f"{name}_grad", (), (), ("x_grad",))
    monkeypatch.setitem(OPS, name, Op(name, params, dtypes="numeric", backward=backward))
    monkeypatch.setitem(FUNCTIONS, name, function or made)
    return OpSample(name, reference or right, (Sample("plain", operands),))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_forward(record, dtype):
    forward_suite.check_forward(record, dtype, CPU)
    forward_suite.check_gaps(record, dtype, CPU)
    forward_suite.check_same_bits(record, dtype, [CPU, CPU])


def test_gradients(record):
    gradient_suite.check_first_order(record, CPU)
    gradient_suite.check_second_order(record, CPU)
    gradient_suite.check_each_alone(record, CPU)
    gradient_suite.check_gaps(record, CPU)
    gradient_suite.check_nothing_recorded(record, CPU)
    for dtype in ("float32", "float64"):
        gradient_suite.check_shape_and_dtype(record, dtype, CPU)
        gradient_suite.check_cleared(record, dtype, CPU)


def test_where_the_inputs_are(monkeypatch):
    found = {}
    for name in FORMS:
        record = put(name, monkeypatch)
        found[name] = inputs(record, record.samples[0])
    assert found == {
        "weigh": [(0,)],
        "total": [(0, 0), (0, 1)],
        "with_sign": [(0,)],
        "multiples": [(0,)],
    }
    record = put("total", monkeypatch)
    assert gradient_suite.slots(record, record.samples[0]) == [(0, 0), (0, 1)]


WRONG = {
    "weigh": lambda x, count: x * paddle.cast(count, x.dtype) + x - x.detach(),
    "total": lambda x: x[0] + x[1] * 4 - x[1].detach() * 2,
    "with_sign": lambda x: (x * x.detach(), paddle.cast(paddle.sign(x.detach()), "int64")),
    "multiples": lambda x: [x * x, x.detach() * 2 + x],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_gradient_of_any_result_or_item_is_noticed(name, monkeypatch):
    record = put(name, monkeypatch, WRONG[name])
    forward_suite.check_forward(record, "int32", CPU)
    with pytest.raises(AssertionError, match=f"{name}, sample 'plain' grad"):
        gradient_suite.check_first_order(record, CPU)


def test_a_first_order_that_is_right_by_chance_fails_the_second(monkeypatch):
    record = put("multiples", monkeypatch, lambda x: [(x * 2 - x.detach()) * x.detach(), x * 3])
    gradient_suite.check_first_order(record, CPU)
    with pytest.raises(AssertionError, match="second order"):
        check_second_order(record, record.samples[0], CPU)


def test_a_wrong_second_result_is_noticed(monkeypatch):
    record = put("with_sign", monkeypatch, lambda x: (x * x, paddle.sign(x).detach()))
    with pytest.raises(AssertionError, match=r"result 1: dtype float64, not int64"):
        forward_suite.check_forward(record, "float64", CPU)
    record = put("with_sign", monkeypatch, lambda x: (x * x, paddle.cast(x.detach(), "int64")))
    with pytest.raises(AssertionError, match="result 1"):
        forward_suite.check_forward(record, "float64", CPU)


def test_a_gradient_from_a_result_after_the_first_is_noticed(monkeypatch):
    record = put("with_sign", monkeypatch, lambda x: (x * x, x * 2), lambda x: (x * x, x * 2))
    with pytest.raises(AssertionError, match="after the first"):
        gradient_suite.check_shape_and_dtype(record, "float64", CPU)


def test_refused():
    with refused(ValueError, ("left",), "case"):
        raise ValueError("left and right")
    with (
        pytest.raises(AssertionError, match="case: must raise ValueError"),
        refused(ValueError, (), "case"),
    ):
        pass
    for error, words, text in (
        (ValueError("left"), ("left", "right"), r"case: .*lacks \['right'\]"),
        (UnicodeError(), (), "case: raises UnicodeError, not ValueError"),
    ):
        with pytest.raises(AssertionError, match=text), refused(ValueError, words, "case"):
            raise error


def _fair(x, generator):
    return generator.bits.random(x.shape) * 2


def _one_for_two(x, generator):
    return np.repeat(generator.bits.random(x.size // 2), 2) * 2


def _bent(x, generator):
    return 2 * generator.bits.random(x.shape) ** 1.05


def _of_its_own(x, generator):
    return np.random.default_rng().random(x.shape) * 2


def _always_alike(x, generator):
    return np.random.default_rng(1).random(x.shape) * 2


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (_fair, None),
        (_one_for_two, "correlate"),
        (_bent, "distribution"),
        (_of_its_own, "many"),
        (_always_alike, "many"),
    ],
)
def test_wrong_draws_are_noticed(draw, words, monkeypatch):
    op = Op("spread", (Param("x", "Tensor"), Param("generator", "Generator")))
    op.kernels.registered["cpu"] = draw
    monkeypatch.setitem(OPS, "spread", op)
    namespace(CPU).forget()
    draws = (Sample("many", (np.ones(50_000),)),)
    record = OpSample("spread", abs, (), draws=draws, cdf=lambda found, x: np.clip(found / 2, 0, 1))
    found = ""
    for check in (random_suite.check_seed, random_suite.check_distribution):
        try:
            check(record, "float64", CPU)
        except AssertionError as error:
            found += str(error)
    namespace(CPU).forget()
    assert words in found if words else not found
