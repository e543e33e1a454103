"""Record of lerp: every way in which three shapes meet, and weights on both sides of 0.5."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import PAIRS, ErrorSample, OpSample, Sample, values


def _reference(x, y, weight):
    return x + weight * (y - x)


def _magnitude(x, y, weight):
    return (1 + abs(weight)) * (np.abs(x) + np.abs(y))


# The shapes of x, y and weight. The first two are the regression cases of Paddle's own suite.
TRIPLES = {
    "middle axes of both": ((2, 1, 2, 5), (2, 2, 1, 5), ()),
    "weight row": ((4, 2, 2, 3), (4, 2, 2, 3), (3,)),
    "all differ": ((2, 1, 1), (1, 3, 1), (1, 1, 2)),
    "weight [5] is no number": ((5,), (5,), (5,)),
    "weight of higher rank": ((3,), (3,), (5, 1)),
    "weight larger than both": ((2, 3), (2, 2, 3), (2, 2, 2, 3)),
    "weight of one element": ((2, 3), (2, 3), (1,)),
    "weight of one element, rank 3": ((2, 3), (3,), (1, 1, 1)),
    "weight of one element, ends 0-d": ((), (), (1,)),
    "x starts, y spreads": ((2, 1, 1, 1), (2, 3, 2, 2), (3, 1, 2)),
    "x [2,3], y [4,2,3]": ((2, 3), (4, 2, 3), (2, 3)),
    "x [4,2,3], y [2,3]": ((4, 2, 3), (2, 3), (3,)),
    "x [1], y [3,1]": ((1,), (3, 1), (3, 1)),
    "only weight empty": ((1, 3), (1, 3), (0, 3)),
    "only x empty": ((0, 3), (1, 3), ()),
    "0-d everything": ((), (), ()),
    "0-d start": ((), (2, 2), ()),
    "0-d end": ((2, 2), (), ()),
}


def _weights(shape, salt=9):
    """Weights inside and outside [0, 1], on both sides of the branch at 0.5."""
    return values(shape, salt) * 0.75 + 0.5


SAMPLES = (
    OpSample(
        "lerp",
        _reference,
        (
            *(
                Sample(name, (values(x, 7), values(y, 8), _weights(w)))
                for name, (x, y, w) in TRIPLES.items()
            ),
            *(
                Sample(f"number {w}, {name}", (values(x, 7), values(y, 8), w))
                for w in (0.25, 0.75)
                for name, (x, y) in PAIRS.items()
            ),
            *(
                Sample(f"weight {w}", (values((2, 3), 7), values((2, 3), 8), w))
                for w in (0, 1, 0.0, 0.5, 1.0, -1.5, 2.5)
            ),
        ),
        (
            ErrorSample(
                "ends",
                lambda f, t: f(t((2, 3)), t((4,)), 0.5),
                ValueError,
                ("lerp", "[2, 3]", "[4]"),
            ),
            ErrorSample(
                "weight",
                lambda f, t: f(t((2, 3)), t((2, 3)), t((2,))),
                ValueError,
                ("lerp", "weight", "[2, 3]", "[2]"),
            ),
            ErrorSample(
                "mixed dtypes",
                lambda f, t: f(t((2,)), t((2,), "float64"), 0.5),
                TypeError,
                ("lerp", "x: float32", "y: float64", "astype"),
            ),
            ErrorSample(
                "weight of another dtype",
                lambda f, t: f(t((2,)), t((2,)), t((2,), "float64")),
                TypeError,
                ("lerp", "weight: float64"),
            ),
            ErrorSample(
                "int ends",
                lambda f, t: f(t((2,), "int64"), t((2,), "int64"), 0.5),
                TypeError,
                ("lerp", "float32", "int64", "astype"),
            ),
            ErrorSample(
                "text",
                lambda f, t: f(t((2,)), t((2,)), "0.5"),
                TypeError,
                ("lerp", "weight", "str"),
            ),
            ErrorSample(
                "None", lambda f, t: f(t((2,)), None, 0.5), TypeError, ("lerp", "y", "NoneType")
            ),
        ),
        roundings=lambda x, y, weight: 4,  # y - x, 1 - w, the product and the sum
        magnitude=_magnitude,
    ),
)
