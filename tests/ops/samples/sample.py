"""Records are written with these; they come from ``minipaddle.testing``."""

from minipaddle.testing.sample import (
    PAIRS,
    SHAPES,
    Array,
    ErrorSample,
    OpSample,
    Sample,
    binary_errors,
    pairs,
    singles,
    terms,
    values,
)

__all__ = [
    "PAIRS",
    "SHAPES",
    "Array",
    "ErrorSample",
    "OpSample",
    "Sample",
    "binary_errors",
    "pairs",
    "singles",
    "terms",
    "values",
]
