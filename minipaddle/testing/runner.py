"""``python -m minipaddle.testing my_ops.yaml``: the generic suite on ops from outside the tree."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TextIO

from minipaddle.device.backend import Place, get_place
from minipaddle.device.dtype import bfloat16
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS
from minipaddle.testing import forward_suite, gradient_suite, mutation, random_suite
from minipaddle.testing.operands import FLOATS, array_paths, dtypes, is_random
from minipaddle.testing.places import present_places
from minipaddle.testing.sample import OpSample
from minipaddle.utils.load_op import load_op


class Check(NamedTuple):
    """One check of one op on one place."""

    name: str
    run: Callable[[], None]


def read_samples(path: Path) -> ModuleType:
    """The module ``NAME_samples.py`` beside the ops file ``NAME.yaml``.

    Raises:
        FileNotFoundError: It is not there.
    """
    file = path.resolve().with_name(f"{path.stem}_samples.py")
    if not file.is_file():
        raise FileNotFoundError(f"{path.name}: its samples belong beside it, into {file}")
    spec = importlib.util.spec_from_file_location(str(file.with_suffix("")), file)
    assert spec is not None and spec.loader is not None, file
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_records(path: Path) -> list[OpSample]:
    """Loads the ops of a file, and the record of each.

    Raises:
        ValueError: The samples lack an op, or have one that the file does not declare.
    """
    ops = load_op(path)
    samples = read_samples(path)
    records = {record.op: record for record in getattr(samples, "SAMPLES", ())}
    declared = [name for name in vars(ops) if name in OPS]
    for name in declared:
        if name not in records or not records[name].samples:
            raise ValueError(f"{path.stem}_samples.py: SAMPLES has no sample of op {name!r}")
    for name in records:
        if name not in declared:
            raise ValueError(f"{path.stem}_samples.py: {path.name} declares no op {name!r}")
    return [records[name] for name in declared]


def _has_bfloat16() -> bool:
    try:
        bfloat16()
    except ImportError:
        return False
    return True


def checks(record: OpSample, places: list[Place]) -> Iterator[Check]:
    """The generic suite on one op.

    Args:
        record: What the op is held to.
        places: Where; the first is the one that other places' operands are mixed with.
    """
    absent = () if _has_bfloat16() else ("bfloat16",)
    op = OPS[record.op]
    for place in places:
        for dtype in dtypes(op):
            if dtype in absent:
                continue
            for name, check in _of_dtype(record, dtype):
                yield Check(f"{name}, {dtype}, {place}", partial(check, record, dtype, place))
        for name, check in _of_place(record):
            yield Check(f"{name}, {place}", partial(check, record, place))
        for number, error in enumerate(record.errors):
            run = partial(forward_suite.check_error, record, number, FUNCTIONS[record.op], place)
            yield Check(f"refuses {error.name}, {place}", run)
    if any(len(array_paths(sample)) > 1 for sample in record.samples):
        for place in places[1:]:
            run = partial(forward_suite.check_mixed_places, record, places[0], place)
            yield Check(f"refuses operands on {places[0]} and {place}", run)


def _of_dtype(record: OpSample, dtype: str) -> Iterator[tuple[str, Any]]:
    yield "values", forward_suite.check_forward
    yield "operands with gaps", forward_suite.check_gaps
    if OPS[record.op].inplace:
        yield "form in place", forward_suite.check_inplace
    if OPS[record.op].backward is not None and dtype in FLOATS:
        yield "gradient's shape and dtype", gradient_suite.check_shape_and_dtype
        yield "gradient added to another", gradient_suite.check_cleared
    if is_random(OPS[record.op]):
        yield "draws that a seed repeats", random_suite.check_seed
        yield "distribution of draws", random_suite.check_distribution


def _of_place(record: OpSample) -> Iterator[tuple[str, Any]]:
    op = OPS[record.op]
    yield "refuses other dtypes", forward_suite.check_refused_dtypes
    if op.view:
        yield "shares memory", forward_suite.check_view
    if op.backward is None:
        return
    yield "first-order gradient", gradient_suite.check_first_order
    yield "second-order gradient", gradient_suite.check_second_order
    yield "gradient of each input alone", gradient_suite.check_each_alone
    yield "gradient through views with gaps", gradient_suite.check_gaps
    yield "nothing recorded without need", gradient_suite.check_nothing_recorded
    if op.inplace:
        yield "gradient of the form in place", gradient_suite.check_inplace
    if op.backward.fused:
        yield "fused gradient is the formula", _check_fused
    yield "samples notice a wrong gradient", _check_samples


def _check_fused(record: OpSample, place: Place) -> None:
    for here in gradient_suite.fused_gradients(record, [place]):
        for with_into in (False, True):
            gradient_suite.check_fused(record, with_into, here)


def _check_samples(record: OpSample, place: Place) -> None:
    """A formula whose gradient is off by one does not pass."""
    backward = OPS[record.op].backward
    for i, name in enumerate(backward.gradients if backward else ()):
        with mutation.mutated(record.op, "formula", i, mutation.shifted, place.backend.name):
            wrong = mutation.passes(record, place)
        assert not wrong, f"{record.op}: with {name} off by one, no sample's gradient is wrong"


def run_suite(records: list[OpSample], places: list[Place], out: TextIO) -> int:
    """Runs the checks of all records and prints a line for each; returns how many failed."""
    failed = total = 0
    for record in records:
        print(record.op, file=out)
        for check in checks(record, places):
            total += 1
            text = _failure(check)
            failed += bool(text)
            print(f"  {'FAILED' if text else 'ok':6}  {check.name}", file=out)
            for line in text.strip().splitlines():
                print(f"          {line}", file=out)
    names = ", ".join(map(str, places))
    ops = "1 op" if len(records) == 1 else f"{len(records)} ops"
    print(f"{ops} on {names}: {total} checks, {failed} failed", file=out)
    return failed


def _failure(check: Check) -> str:
    """What a check has to say; "" where the op passes it."""
    try:
        check.run()
    except AssertionError as error:
        return str(error) or "".join(traceback.format_exc(limit=-1))
    except Exception:
        return traceback.format_exc(limit=-4)
    return ""


def main(arguments: list[str] | None = None) -> int:
    """Parses the command line and runs; 0 if all checks passed, else 1."""
    parser = argparse.ArgumentParser(prog="python -m minipaddle.testing", description=__doc__)
    parser.add_argument("ops", type=Path, help="a YAML file; NAME.py and NAME_samples.py beside it")
    parser.add_argument(
        "--device", action="append", metavar="DEVICE",
        help="where to run, as 'gpu:0'; again for more; by default every kind that is there",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        places = [get_place(name) for name in options.device or ()] or present_places()
        records = read_records(options.ops)
    except (OSError, ValueError, TypeError) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    return int(run_suite(records, places, sys.stdout) > 0)
