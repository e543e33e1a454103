"""Records of arithmetic and copies."""

from __future__ import annotations

import numpy as np

from minipaddle.device.dtype import as_dtype
from tests.ops.samples.sample import (
    ErrorSample,
    OpSample,
    Sample,
    binary_errors,
    pairs,
    singles,
    values,
)

# Away from the kink by more than the numeric derivative steps.
AWAY = 0.125


def _copied(x, y):
    return np.broadcast_to(y, x.shape), y


_NOT_FLOAT = ErrorSample(
    "int", lambda f, t: f(t((2,), "int64")), TypeError, ("float32", "int64", "astype")
)
_NOT_A_TENSOR = ErrorSample("number", lambda f, t: f(1.5), TypeError, ("Tensor", "float"))
_AT_ZERO = Sample("at zero", (np.array([-1.0, 0.0, 1.0]),), gradient=False)


def _quotients():
    """Pairs whose second operand stays away from zero, and numbers on either side."""

    def away(y):
        return np.asarray(np.where(y < 0, y - 0.5, y + 0.5))

    arrays = [s for s in pairs(2.5) if isinstance(s.operands[1], np.ndarray)]
    return (
        *(Sample(s.name, (s.operands[0], away(s.operands[1]))) for s in arrays),
        Sample("by a number", (values((2, 3)), 2.5)),
        Sample("of a number", (1.5, away(values((2, 3))))),
    )


SAMPLES = (
    OpSample("add", lambda x, y: x + y, pairs(2.5), binary_errors("add")),
    OpSample("subtract", lambda x, y: x - y, pairs(2.5), binary_errors("subtract")),
    OpSample("multiply", lambda x, y: x * y, pairs(2.5, -0.5), binary_errors("multiply")),
    OpSample("divide", lambda x, y: x / y, _quotients(), binary_errors("divide")),
    OpSample("square", lambda x: x * x, singles(), (_NOT_A_TENSOR,)),
    OpSample("sign", np.sign, (*singles(AWAY), _AT_ZERO), (_NOT_A_TENSOR,), zero_gradient=True),
    OpSample(
        "tanh",
        np.tanh,
        singles(),
        (_NOT_FLOAT, _NOT_A_TENSOR),
        roundings=lambda x: 4,  # NumPy's vector tanh is good to 4 units in the last place
    ),
    OpSample(
        "cast",
        lambda x, dtype: x,
        (
            *(Sample(f"float64, {s.name}", s.operands, {"dtype": "float64"}) for s in singles()),
            Sample("float32", (values((2, 3)),), {"dtype": "float32"}, gradient=False),
            Sample("float16", (values((2, 3)),), {"dtype": "float16"}, gradient=False),
            Sample("bfloat16", (values((2, 3)),), {"dtype": "bfloat16"}, gradient=False),
            Sample("int", (np.rint(3 * values((5,))),), {"dtype": "int64"}, gradient=False),
            Sample("bool", (np.array([-1.0, 0.0, 2.0]),), {"dtype": "bool"}, gradient=False),
        ),
        (
            ErrorSample("dtype", lambda f, t: f(t((2,)), "float3"), TypeError, ("float3", "int64")),
            ErrorSample("number", lambda f, t: f(1.5, "int64"), TypeError, ("Tensor", "float")),
        ),
        result_dtype=lambda dtype, attributes: as_dtype(attributes["dtype"]),
    ),
    OpSample("assign", lambda x: x, singles(), (_NOT_A_TENSOR,)),
    OpSample(
        "copy_",
        _copied,
        (
            Sample("same", (values((2, 3)), values((2, 3), 1))),
            Sample("row", (values((2, 3)), values((3,), 1))),
            Sample("number", (values((2, 3)), 0.0)),
            Sample("0-d", (values(()), values((), 1))),
            Sample("empty", (values((0, 3)), values((3,), 1))),
        ),
    ),
)
