"""The record of every op by name."""

from tests.ops.samples import (
    comparison,
    creation,
    elementwise,
    lerp,
    linalg,
    loss,
    reduction,
    search,
    shape,
    update,
)
from tests.ops.samples.sample import ErrorSample, OpSample, Sample

FAMILIES = (
    comparison,
    creation,
    elementwise,
    lerp,
    linalg,
    loss,
    reduction,
    search,
    shape,
    update,
)
RECORDS: dict[str, OpSample] = {record.op: record for f in FAMILIES for record in f.SAMPLES}

__all__ = ["FAMILIES", "RECORDS", "ErrorSample", "OpSample", "Sample"]
