"""The record of every op by name."""

from tests.ops.samples import (
    arithmetic,
    creation,
    elementwise,
    lerp,
    linalg,
    loss,
    math,
    reduction,
    shape,
    update,
)
from tests.ops.samples.sample import ErrorSample, OpSample, Sample

FAMILIES = (
    arithmetic, creation, elementwise, lerp, linalg, loss, math, reduction, shape, update,
)  # fmt: skip
RECORDS: dict[str, OpSample] = {record.op: record for f in FAMILIES for record in f.SAMPLES}

__all__ = ["FAMILIES", "RECORDS", "ErrorSample", "OpSample", "Sample"]
