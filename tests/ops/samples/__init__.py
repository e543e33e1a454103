"""The record of every op by name."""

from tests.ops.samples import (
    activation,
    arithmetic,
    comparison,
    creation,
    cumulative,
    elementwise,
    embedding,
    joining,
    lerp,
    linalg,
    loss,
    math,
    padding,
    rearrange,
    rectifier,
    reduction,
    search,
    shape,
    statistics,
    update,
)
from tests.ops.samples.sample import ErrorSample, OpSample, Sample

FAMILIES = (
    activation,
    arithmetic,
    comparison,
    creation,
    cumulative,
    elementwise,
    embedding,
    joining,
    lerp,
    linalg,
    loss,
    math,
    padding,
    rearrange,
    rectifier,
    reduction,
    search,
    shape,
    statistics,
    update,
)
RECORDS: dict[str, OpSample] = {record.op: record for f in FAMILIES for record in f.SAMPLES}

__all__ = ["FAMILIES", "RECORDS", "ErrorSample", "OpSample", "Sample"]
