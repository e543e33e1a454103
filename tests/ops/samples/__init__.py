"""The record of every op by name."""

from tests.ops.samples import (
    activation,
    creation,
    elementwise,
    lerp,
    linalg,
    loss,
    rectifier,
    reduction,
    shape,
    update,
)
from tests.ops.samples.sample import ErrorSample, OpSample, Sample

FAMILIES = (
    activation,
    creation,
    elementwise,
    lerp,
    linalg,
    loss,
    rectifier,
    reduction,
    shape,
    update,
)
RECORDS: dict[str, OpSample] = {record.op: record for f in FAMILIES for record in f.SAMPLES}

__all__ = ["FAMILIES", "RECORDS", "ErrorSample", "OpSample", "Sample"]
