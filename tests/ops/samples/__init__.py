"""The record of every op by name."""

from tests.ops.samples import (
    creation,
    cumulative,
    elementwise,
    lerp,
    linalg,
    loss,
    reduction,
    shape,
    statistics,
    update,
)
from tests.ops.samples.sample import ErrorSample, OpSample, Sample

FAMILIES = (
    creation, cumulative, elementwise, lerp, linalg, loss, reduction, shape, statistics, update,
)  # fmt: skip
RECORDS: dict[str, OpSample] = {record.op: record for f in FAMILIES for record in f.SAMPLES}

__all__ = ["FAMILIES", "RECORDS", "ErrorSample", "OpSample", "Sample"]
