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
from collections.abc import Callable, Iterator
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


def record(names: set[str] | None = None) -> Recording:
    """Calls ops as their tests do, with a stand-in for CuPy in this process.

    Args:
        names: The ops; by default all.
    """
    requests = install()
    backend = importlib.import_module("minipaddle.device.backend")
    source = importlib.import_module("minipaddle.ops.kernels.gpu.source")
    records = importlib.import_module("tests.ops.samples").RECORDS
    assert not (gone := _LONG_OPS - set(records)), gone
    place = backend.get_place("gpu:0")
    calls, stopped = 0, Counter[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, one in records.items():
            for call in _calls(one, place) if names is None or name in names else ():
                calls += 1
                try:
                    call()
                except Exception as error:
                    stopped[f"{name}: {type(error).__name__}: {error}"] += 1
    files = {source.source_text(path): path for path in sorted(FOLDER.glob("*.cu"))}
    instances: Instances = {path: [] for path in files.values()}
    for code, expression in requests:
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
        yield from _long_calls(record, place, dtype)


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


_TEMPLATE = re.compile(
    r"^template <[^\n]*>\s*(?:struct|__global__ void(?: __launch_bounds__\([^\n]*?\))?)\s+(\w+)",
    re.MULTILINE,
)


def unreached(instances: Instances) -> dict[Path, list[str]]:
    """The kernels and functors of each .cu file that no instance names, nor the file itself."""
    found = {}
    for path, expressions in instances.items():
        text = path.read_text("utf-8")
        said = Counter(re.findall(r"\w+", text))
        asked = set(re.findall(r"\w+", " ".join(expressions)))
        names = dict.fromkeys(_TEMPLATE.findall(text))
        missing = [name for name in names if said[name] == 1 and name not in asked]
        if missing or not expressions:
            found[path] = missing or ["the whole file"]
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
