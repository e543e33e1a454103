"""The record of every op by name."""

from tests.ops.samples import (
    arithmetic,
    comparison,
    creation,
    cumulative,
    elementwise,
    indexing,
    joining,
    lerp,
    linalg,
    loss,
    math,
    ordering,
    padding,
    rearrange,
    reduction,
    search,
    shape,
    statistics,
    update,
)
from tests.ops.samples.sample import ErrorSample, OpSample, Sample

FAMILIES = (
    arithmetic,
    comparison,
    creation,
    cumulative,
    elementwise,
    indexing,
    joining,
    lerp,
    linalg,
    loss,
    math,
    ordering,
    padding,
    rearrange,
    reduction,
    search,
    shape,
    statistics,
    update,
)
RECORDS: dict[str, OpSample] = {record.op: record for f in FAMILIES for record in f.SAMPLES}

__all__ = ["FAMILIES", "RECORDS", "ErrorSample", "OpSample", "Sample"]
