"""What every gradient has to do: values of two orders, shape and dtype, memory, fused kernels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.imperative.autograd import backward, no_grad
from minipaddle.imperative.gradient import fit_gradient
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import OPS, Backward, namespace
from minipaddle.testing import derivative
from minipaddle.testing.operands import (
    FLOATS,
    Path,
    at,
    call,
    inputs,
    leaves,
    operands,
    refused,
    results,
    smooth_results,
    strided,
    tensor,
    tensors,
    where,
)
from minipaddle.testing.sample import OpSample, Sample, values


def smooth(record: OpSample) -> list[Sample]:
    """The samples at which the op is differentiable."""
    return [sample for sample in record.samples if sample.gradient]


def check_first_order(record: OpSample, place: Place) -> None:
    """The gradient is that of the reference, at every smooth sample."""
    for sample in smooth(record):
        derivative.check_first_order(record, sample, place)


def check_second_order(record: OpSample, place: Place) -> None:
    """So is the gradient of the gradient."""
    for sample in smooth(record):
        derivative.check_second_order(record, sample, place)


def _flowing(record: OpSample, args: list[Any], sample: Sample) -> list[Tensor]:
    """The results of a call that a gradient flows from."""
    return [out for out in smooth_results(call(record, args, sample)) if not out.stop_gradient]


def check_shape_and_dtype(record: OpSample, dtype: str, place: Place) -> None:
    """A gradient has the shape, dtype and place of its input, and is finite."""
    for sample in record.samples:
        args, given = leaves(record, sample, operands(record, sample, dtype), place)
        what = where(record, sample, dtype)
        outs = call(record, args, sample)
        for out in results(outs)[1:] if isinstance(outs, tuple) else []:
            assert out.stop_gradient, f"{what}: a gradient flows from a result after the first"
        flowing = [out for out in smooth_results(outs) if not out.stop_gradient]
        if not flowing:
            assert all(out.dtype.name not in FLOATS for out in smooth_results(outs)), what
            continue
        backward(flowing)
        for x in given:
            assert x.grad is not None, f"{what}: no gradient"
            assert x.grad.shape == x.shape and x.grad.dtype == x.dtype, what
            assert x.grad.place is place, what
            assert np.isfinite(x.grad.numpy().astype(np.float64)).all(), what
        _check_no_gradient_elsewhere(args, given, what)


def _check_no_gradient_elsewhere(args: list[Any], given: list[Tensor], what: str) -> None:
    for arg in itertools.chain.from_iterable(map(results, args)):
        if isinstance(arg, Tensor) and not any(arg is x for x in given):
            assert arg.grad is None, f"{what}: an operand with a dtype of its own has a gradient"


def check_cleared(record: OpSample, dtype: str, place: Place) -> None:
    """A cleared gradient is overwritten and any other added to.

    The memory of a cleared gradient is where fused kernels write the next one to.
    """
    for sample in record.samples:
        args, given = leaves(record, sample, operands(record, sample, dtype), place)
        if not _flowing(record, args, sample):
            continue
        seen = []
        for clear in (True, True, False):
            backward(_flowing(record, args, sample))
            seen.append([x.grad.numpy() for x in given])
            if clear:
                for x in given:
                    x.clear_grad()
                if len(seen) == 1:  # one that nobody has looked at since keeps its memory
                    assert all(x.grad.numpy().any() == 0 for x in given)
                    for x in given:
                        x.clear_grad()
        what = where(record, sample, dtype)
        for first, again, third in zip(*seen, strict=True):
            np.testing.assert_array_equal(first, again, what)
            np.testing.assert_array_equal(first, third, what)
        backward(_flowing(record, args, sample))
        for first, x in zip(seen[0], given, strict=True):
            np.testing.assert_array_equal(x.grad.numpy(), first + first, what)


def check_each_alone(record: OpSample, place: Place) -> None:
    """Each input alone gets the gradient that it gets with the others."""
    for sample in smooth(record):
        host = operands(record, sample)
        args, given = leaves(record, sample, host, place)
        backward(_flowing(record, args, sample))
        for i, path in enumerate(inputs(record, sample)):
            args = tensors(host, place)
            at(args, path).stop_gradient = False
            backward(_flowing(record, args, sample))
            alone = [at(args, other).grad for other in inputs(record, sample)]
            np.testing.assert_array_equal(
                alone[i].numpy(), given[i].grad.numpy(), where(record, sample, path)
            )
            assert all(one is None for j, one in enumerate(alone) if j != i)


def check_gaps(record: OpSample, place: Place) -> None:
    """Gradients pass through views with gaps."""
    for sample in smooth(record):
        host = operands(record, sample)
        args, given = leaves(record, sample, host, place)
        gaps = [strided(value, place) for value in host]
        views = [at(gaps, path) for path in inputs(record, sample)]
        for view in views:
            view.stop_gradient = False
        backward(_flowing(record, args, sample))
        backward(_flowing(record, gaps, sample))
        for view, x in zip(views, given, strict=True):
            np.testing.assert_allclose(
                view.grad.numpy(), x.grad.numpy(), 1e-13, 1e-13, err_msg=where(record, sample)
            )


def check_inplace(record: OpSample, place: Place) -> None:
    """The form in place has the plain form's gradient, or says that it lost what that needs."""
    for sample in smooth(record):
        paths = inputs(record, sample)
        for path in paths if (0,) in paths else []:
            _check_inplace(record, sample, path, place)


def _saves_x_for(record: OpSample, path: Path) -> bool:
    """Whether a gradient for ``path`` needs the values that the in-place form overwrites."""
    names = OPS[record.op].operands
    return any(
        saved.name == names[0] and not saved.shape_only and saved.only_for in (None, names[path[0]])
        for saved in _rule(record).saved
    )


def _rule(record: OpSample) -> Backward:
    rule = OPS[record.op].backward
    assert rule is not None, f"{record.op} declares no gradient"
    return rule


def _check_inplace(record: OpSample, sample: Sample, path: Path, place: Place) -> None:
    host = operands(record, sample)
    plain, written = tensors(host, place), tensors(host, place)
    at(plain, path).stop_gradient = False
    out = call(record, plain, sample)
    if out.shape != plain[0].shape:
        return
    seed = tensor(values(tuple(out.shape), 93), place)
    out.backward(seed)
    leaf = at(written, path)
    leaf.stop_gradient = False
    written[0] = FUNCTIONS["assign"](written[0])
    out = FUNCTIONS[f"{record.op}_"](*written, **sample.attributes)
    what = where(record, sample, path)
    assert out is written[0], what
    if _saves_x_for(record, path):
        with refused(RuntimeError, (f"gradient of {record.op} needs was changed in place",), what):
            out.backward(seed)
        return
    out.backward(seed)
    np.testing.assert_array_equal(leaf.grad.numpy(), at(plain, path).grad.numpy(), what)


def slots(record: OpSample, sample: Sample) -> list[Path]:
    """Where the operands stand that the gradients of a rule belong to, in the rule's order."""
    found: list[Path] = []
    names = OPS[record.op].operands
    for gradient in _rule(record).gradients:
        i = names.index(gradient.removesuffix("_grad"))
        value = sample.operands[i]
        found += [(i, j) for j in range(len(value))] if isinstance(value, list) else [(i,)]
    return found


def check_fused(record: OpSample, with_into: bool, place: Place) -> None:
    """A fused gradient is its formula, whichever of the inputs want one."""
    for sample in smooth(record):
        paths = inputs(record, sample)
        for bits in itertools.product((False, True), repeat=len(paths)):
            chosen = {path for path, bit in zip(paths, bits, strict=True) if bit}
            if chosen:
                _Fused(record, sample, chosen, place).check(with_into)


class _Fused:
    """One call's gradient by the fused kernel and by the formula, on the same saved values."""

    def __init__(self, record: OpSample, sample: Sample, chosen: set[Path], place: Place) -> None:
        self.place, self.space, self.rule = place, namespace(place), _rule(record)
        self.slots = slots(record, sample)
        self.wanted = tuple(path in chosen for path in self.slots)
        self.host = operands(record, sample)
        args = tensors(self.host, place)
        for path in chosen:
            at(args, path).stop_gradient = False
        outs = _flowing(record, args, sample)
        node: Any = outs[0].edge
        seeds = [self.put(values(tuple(out.shape), 94 + i)) for i, out in enumerate(outs)]
        self.rest = (*node.saved, *seeds, *node.attributes)
        self.kind, self.terms = type(seeds[0]), sum(out.size for out in outs)
        self.what = where(record, sample, "wanted", self.wanted)

    def put(self, array: Any) -> Any:
        return self.place.backend.from_host(array, self.place.index)

    def fitted(self, gradient: Any, i: int) -> Any:
        """What the engine makes of a gradient, as a host array."""

        class Edge:
            shape, dtype = at(self.host, self.slots[i]).shape, np.dtype(np.float64)

        fit: Any = fit_gradient  # it reads nothing of an edge but these two
        return self.place.backend.to_host(fit(self.space, gradient, gradient.shape, Edge))

    def run(self, into: Any) -> list[Any]:
        """The fused kernel's gradients; what it was given is as it was."""
        fused = self.rule.table[self.place]
        assert fused.fused, f"{self.rule.name} has no kernel here"
        to_host = self.place.backend.to_host
        arrays = [value for value in self.rest if type(value) is self.kind]
        before = [np.array(to_host(value)) for value in arrays]
        found = list(fused.function(*self.rest, self.wanted, into))
        for old, new in zip(before, arrays, strict=True):
            np.testing.assert_array_equal(to_host(new), old, self.what)
        return found

    def into(self) -> tuple[Any, ...]:
        """Memory for each gradient that is wanted."""
        pairs = zip(self.slots, self.wanted, strict=True)
        return tuple(
            self.put(np.full(at(self.host, path).shape, np.nan)) if want else None
            for path, want in pairs
        )

    def check(self, with_into: bool) -> None:
        into = self.into() if with_into else None
        found = self.run(into)
        assert self.rule.formula is not None, self.what
        right = self.rule.formula(self.space, *self.rest)
        assert len(found) == len(self.wanted), self.what
        for i, want in enumerate(self.wanted):
            if not want:
                assert found[i] is None or into is None or found[i] is not into[i], self.what
                continue
            what = f"{self.what} gradient {i}"
            assert type(found[i]) is self.kind, what
            got, formula = self.fitted(found[i], i), self.fitted(right[i], i)
            # Two orders of summing at most ``terms`` products of numbers of order 1.
            eps = np.finfo(np.float64).eps
            size = 8 * (1 + self.terms) * eps * max(1, abs(formula).max(initial=0))
            np.testing.assert_allclose(got, formula, rtol=0, atol=size, err_msg=what)
            if into is not None:
                _check_written(found[i], into[i], what)


def _check_written(found: Any, into: Any, what: str) -> None:
    if isinstance(found, np.ndarray) and found.shape == into.shape and found.flags.c_contiguous:
        same = found is into or not np.shares_memory(found, into)
        assert same, f"{what}: what is returned must be the array that was written"


def check_nothing_recorded(record: OpSample, place: Place) -> None:
    """Nothing is recorded where no operand wants a gradient, or under no_grad()."""
    sample = record.samples[0]
    host = operands(record, sample)
    assert not _flowing(record, tensors(host, place), sample), where(record, sample)
    args, _ = leaves(record, sample, host, place)
    with no_grad():
        assert not _flowing(record, args, sample), where(record, sample)


def fused_gradients(record: OpSample, places: list[Place]) -> Iterator[Place]:
    """The places on which the op's gradient has a kernel of its own."""
    rule = OPS[record.op].backward
    for place in places:
        if rule is not None and place.backend.name in rule.fused:
            yield place
