"""Records of arrays made from nothing."""

from __future__ import annotations

import numpy as np

from minipaddle.device.dtype import as_dtype
from tests.ops.samples.sample import ErrorSample, OpSample, Sample

_SHAPES = ((2, 3), (), (0, 3))


def _filled(shape, fill_value, dtype):
    return np.full(shape, fill_value, as_dtype(dtype))


SAMPLES = (
    OpSample(
        "full",
        _filled,
        tuple(
            Sample(
                f"{list(shape)} {dtype}",
                (),
                {"shape": shape, "fill_value": value, "dtype": dtype},
            )
            for shape in _SHAPES
            for value, dtype in (
                (2.5, "float32"),
                (0.1, "float64"),
                (0.1, "bfloat16"),
                (0.1, "float16"),
                (-3, "int64"),
                (7, "uint8"),
                (True, "bool"),
            )
        ),
        (
            ErrorSample("negative", lambda f, t: f([2, -1], 0.0), ValueError, ("shape", "-1")),
            ErrorSample("type", lambda f, t: f([2.5], 0.0), TypeError, ("shape", "2.5")),
            ErrorSample("dtype", lambda f, t: f([2], 0.0, "real"), TypeError, ("real", "float32")),
        ),
    ),
)
