"""Which instances of which templates the GPU kernels of all ops ask for, found without a GPU.

They are listed nowhere: the modules of kernels make them up from dtypes, layouts and sizes, and a
list beside them would be out of date with the next change. So the modules themselves are asked.
Every op is called on the inputs that its tests have, in every dtype, with and without gaps in
memory and with an axis drawn out, and differentiated, with a stand-in in CuPy's place that notes
what would be compiled. That takes some seconds, and leaves no file that has to be kept up to date.
What no sample comes to is an error (``unreached``), so that a new kernel cannot go unnoticed.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tools.cupy_stand_in import install

FOLDER = Path(__file__).resolve().parent.parent / "minipaddle" / "ops" / "kernels" / "gpu"
Instances = dict[Path, list[str]]
# Ops whose kernels share out long rows and columns among blocks, and how long that is.
_LONG_OPS = {
    "all", "amax", "amin", "any", "cumprod", "cumsum", "hard_cross_entropy",
    "layer_norm_rows",
    "log_softmax", "logcumsumexp", "logsumexp", "max", "mean", "min", "nanmean", "nansum", "norm",
    "prod", "rms_norm_rows", "scatter_flat", "softmax", "squared_norm", "std", "sum", "var",
}  # fmt: skip
_LONG = 2**17
_WIDE = 32  # how many times as long as in a sample an axis is made for vectors and tiles


class Recording(NamedTuple):
    """What a run over all ops has found.

    Attributes:
        instances: For each .cu file the templates with their arguments.
        options: What else the compiler is told.
        calls: How many calls were made.
        stopped: Those that ended in an exception, by its text. Ops that look at values meet the
            zeros of kernels that have not run.
    """

    instances: Instances
    options: tuple[str, ...]
    calls: int
    stopped: Counter[str]


def record(ops: Path | None = None) -> Recording:
    """Calls ops as their tests do, with a stand-in for CuPy in this process.

    Args:
        ops: A YAML file of ops from outside the tree; by default the ops of minipaddle.
    """
    requests = install()
    backend = importlib.import_module("minipaddle.device.backend")
    source = importlib.import_module("minipaddle.ops.kernels.gpu.source")
    if ops is None:
        paths = sorted(FOLDER.glob("*.cu"))
        records = list(importlib.import_module("tests.ops.samples").RECORDS.values())
        assert not (gone := _LONG_OPS - {one.op for one in records}), gone
    else:
        paths = [ops.resolve().with_suffix(".cu")]
        records = importlib.import_module("minipaddle.testing.runner").read_records(ops)
    place = backend.get_place("gpu:0")
    calls, stopped = 0, Counter[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in records:
            for call in _calls(one, place):
                calls += 1
                try:
                    call()
                except Exception as error:
                    stopped[f"{one.op}: {type(error).__name__}: {error}"] += 1
    files = {source.source_text(path): path for path in paths}
    instances: Instances = {path: [] for path in paths}
    for code, expression in requests:
        if code in files:
            instances[files[code]].append(expression)
    options = tuple(dict.fromkeys(option for some in requests.values() for option in some))
    return Recording({k: sorted(v) for k, v in instances.items()}, options, calls, stopped)


def _calls(record: Any, place: Any) -> Iterator[Callable[[], Any]]:
    """Calls of one op, to be made one after the other."""
    op_module = importlib.import_module("minipaddle.ops.op")
    operands = importlib.import_module("minipaddle.testing.operands")
    drawn = importlib.import_module("minipaddle.testing.random_suite").drawn
    functions = importlib.import_module("minipaddle.imperative.operand").FUNCTIONS
    op = op_module.OPS[record.op]
    for dtype in operands.dtypes(op):
        for sample in (*record.samples, *record.draws):
            host = operands.operands(record, sample, dtype)
            if operands.is_random(op):
                yield lambda s=sample, d=dtype: drawn(record, s, d, place, 0)
            elif record.op not in functions:
                yield lambda h=host, s=sample: getattr(op_module.namespace(place), record.op)(
                    *operands.arrays(h, place), *s.attributes.values()
                )
            if record.op not in functions:
                continue
            yield lambda h=host, s=sample: _differentiate(record, s, h, place)
            yield lambda h=host, s=sample: operands.call(
                record, [operands.strided(value, place) for value in h], s
            )
            if op.inplace:
                yield lambda h=host, s=sample: functions[f"{record.op}_"](
                    *operands.tensors(h, place), **s.attributes
                )
        yield from _wide_calls(record, place, dtype)
        yield from _long_calls(record, place, dtype)


def _wide_calls(record: Any, place: Any, dtype: str) -> Iterator[Callable[[], Any]]:
    """Calls with axes so long that whole packs are read, in rows and in columns."""
    operands = importlib.import_module("minipaddle.testing.operands")
    op = importlib.import_module("minipaddle.ops.op").OPS[record.op]
    elementwise = op.inplace or record.op == "cast"  # the result is no larger than an operand
    for sample in record.samples if elementwise and op.operands else ():
        host = [_widened(a) for a in operands.operands(record, sample, dtype)]
        yield lambda h=host, s=sample: _differentiate(record, s, h, place)
        yield lambda h=host, s=sample: operands.call(
            record, [_by_columns(operands.tensor(a, place)) for a in h], s
        )


def _widened(operand: Any) -> Any:
    if not isinstance(operand, np.ndarray):
        return operand
    last = operand.ndim - 2
    return np.tile(
        operand, [_WIDE if 1 < n < _WIDE and i >= last else 1 for i, n in enumerate(operand.shape)]
    )


def _by_columns(operand: Any) -> Any:
    """The same values, with the last two axes the other way round in memory."""
    if getattr(operand, "ndim", 0) < 2:
        return operand
    turn = [*range(operand.ndim - 2), operand.ndim - 1, operand.ndim - 2]
    return operand.transpose(turn).clone().transpose(turn)


def _long_calls(record: Any, place: Any, dtype: str) -> Iterator[Callable[[], Any]]:
    """Calls with one axis so long that kernels share it out among blocks."""
    operands = importlib.import_module("minipaddle.testing.operands")
    for sample in record.samples if record.op in _LONG_OPS else ():
        shapes = [a.shape for a in sample.operands if isinstance(a, np.ndarray) and a.size]
        for length in {n for shape in shapes for n in shape if n > 1}:
            host = [_drawn_out(a, length) for a in operands.operands(record, sample, dtype)]
            yield lambda h=host, s=sample: _differentiate(record, s, h, place)


def _drawn_out(operand: Any, length: int) -> Any:
    """The operand, repeated along the axes of this length."""
    if not isinstance(operand, np.ndarray):
        return operand
    times = [-(-_LONG // length) if n == length else 1 for n in operand.shape]
    return np.tile(operand, times) if sum(n == length for n in operand.shape) == 1 else operand


def _differentiate(record: Any, sample: Any, host: list[Any], place: Any) -> None:
    """A call, and the gradient of what flows from it."""
    operands = importlib.import_module("minipaddle.testing.operands")
    autograd = importlib.import_module("minipaddle.imperative.autograd")
    args = [operands.tensor(value, place, stop_gradient=False) for value in host]
    out = operands.call(record, args, sample)
    flowing = [one for one in operands.smooth_results(out) if not one.stop_gradient]
    if flowing:
        autograd.backward(flowing)


_KERNEL = r"__global__ void(?:\s+__launch_bounds__\(.*?\)(?=\s))?\s+(\w+)\("
_FUNCTOR = r"^template <[^\n]*>\s*struct\s+(\w+)"


def unreached(instances: Instances, headers: Iterable[Path] = ()) -> dict[Path, list[str]]:
    """Kernels and functors of each .cu file, and kernels of headers, that no instance names."""
    found = {}
    for path, expressions in instances.items():
        text = path.read_text("utf-8")
        said = Counter(re.findall(r"\w+", text))
        asked = set(re.findall(r"\w+", " ".join(expressions)))
        names = [*re.findall(_FUNCTOR, text, re.MULTILINE), *re.findall(_KERNEL, text)]
        # What the file mentions again, as a base of another, need not be named by itself.
        missing = [name for name in names if said[name] == 1 and name not in asked]
        if missing or not expressions:
            found[path] = missing or ["the whole file"]
    asked = {one.partition("<")[0] for expressions in instances.values() for one in expressions}
    for path in headers:
        if missing := set(re.findall(_KERNEL, path.read_text("utf-8"))) - asked:
            found[path] = sorted(missing)
    return found


def cover(expressions: list[str]) -> list[str]:
    """Some of the instances, in which every word beneath every kernel occurs.

    So each kernel is there with each functor, each element type and each width that it has, though
    not with all combinations of these.
    """
    words = {}
    for expression in expressions:
        kernel, *rest = re.findall(r"\w+", expression)
        words[expression] = {(kernel, word) for word in (*rest, "")}
    left = set().union(*words.values())
    chosen = []
    while left:
        best = max(expressions, key=lambda one: len(words[one] & left))
        chosen.append(best)
        left -= words[best]
    return chosen
