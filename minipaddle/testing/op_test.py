"""OpTest: the test class in which Paddle's op tests are written.

What it demands is Paddle's: float64 outputs without an absolute tolerance, float64 gradients within
1e-7 of central differences of step 1e-5, and of the class as a whole that it checks the gradient,
in float64, on inputs of 100 elements or more. ``exempt`` takes a class out of one rule and wants a
reason.
"""

from __future__ import annotations

import inspect
import random
import unittest
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.device.dtype import as_dtype, is_float, is_half
from minipaddle.imperative.autograd import grad, no_grad
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import to_tensor
from minipaddle.testing.binding import arguments, listed, named, named_results, tensors
from minipaddle.testing.class_rules import LEAST_ELEMENTS, Seen
from minipaddle.testing.finite_difference import (
    central_differences,
    gradient_difference,
    gradient_limits,
    output_limits,
    value_difference,
)
from minipaddle.testing.places import present_places

Array = np.ndarray[Any, Any]

# Paddle's switches for machinery that is not here; Paddle's tests pass them.
_IGNORED = frozenset(
    {"check_auto_parallel", "check_cinn", "check_dygraph", "check_eager", "check_pir",
     "check_prim", "check_prim_pir", "check_symbol_infer", "only_check_prim", "numeric_place"}
)  # fmt: skip


class OpTest(unittest.TestCase):
    """A test of one op, written in ``setUp`` as data.

    Attributes:
        op_type: The op's name.
        python_api: The function under test; by default the op of that name.
        inputs: Name -> array, ``(array, lod)`` or list of ``(name, array)``. Names are those of the
            function's parameters, in any case of letters.
        outputs: Name -> expected array or list, in the order of the function's results.
        attrs: The function's other arguments.
        places: Where it runs; by default the CPU and every registered device that is there.
        exempt_from: Rule -> reason; see ``exempt``.

    Example:
        >>> import numpy as np
        >>> from minipaddle.testing import OpTest
        >>> class TestSquare(OpTest):
        ...     def setUp(self):
        ...         self.op_type = "square"
        ...         x = np.random.uniform(0.5, 1, (10, 10))
        ...         self.inputs, self.outputs = {"X": x}, {"Out": x * x}
        ...
        ...     def test_output(self):
        ...         self.check_output()
        ...
        ...     def test_grad(self):
        ...         self.check_grad(["X"], "Out")
        >>> import unittest
        >>> cases = unittest.defaultTestLoader.loadTestsFromTestCase(TestSquare)
        >>> cases.run(unittest.TestResult()).wasSuccessful()
        True
    """

    op_type: str
    python_api: Callable[..., Any] | None = None
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    attrs: dict[str, Any] = {}  # noqa: RUF012 - a test sets its own, none changes this one
    places: list[Place] | None = None
    exempt_from: ClassVar[dict[str, str]] = {}
    _seen: ClassVar[Seen] = Seen()

    @classmethod
    def setUpClass(cls) -> None:
        """Starts NumPy's and Python's random numbers at Paddle's seeds."""
        cls._seen = Seen(states=(np.random.get_state(), random.getstate()))
        np.random.seed(123)
        random.seed(124)

    @classmethod
    def tearDownClass(cls) -> None:
        """Puts the random numbers back, and holds the class to its rules if all of it has run."""
        seen = cls._seen
        np.random.set_state(seen.states[0])
        random.setstate(seen.states[1])
        if not seen.ran >= set(unittest.defaultTestLoader.getTestCaseNames(cls)):
            return  # somebody picked single tests
        texts = [text for rule, text in seen.every_complaint() if rule not in cls.exempt_from]
        if texts:
            raise AssertionError(f"{cls.__name__}: {'; '.join(dict.fromkeys(texts))}")

    def run(self, result: Any = None) -> Any:
        """Runs the test and remembers that it has run."""
        done = super().run(result)
        self._seen.ran.add(self._testMethodName)
        return done

    @property
    def dtype(self) -> Any:
        """The dtype under test: the widest float among the inputs, else that of the first."""
        found = [as_dtype(array.dtype) for array in named(self.inputs).values()]
        floats = [dtype for dtype in found if is_float(dtype)]
        return max(floats, key=lambda one: one.itemsize) if floats else found[0]

    def check_output(
        self,
        atol: float = 1e-5,
        rtol: float = 1e-5,
        no_check_set: Any = None,
        equal_nan: bool = False,
        inplace_atol: float | None = None,
        **switches: bool,
    ) -> None:
        """Runs the op on every place and compares its results with ``outputs``.

        Args:
            atol: Absolute tolerance; 0 in float64, at least 1e-3 and 1e-2 in the half types.
            rtol: Relative tolerance; 1e-3 and 1e-2 in the half types.
            no_check_set: Names of outputs that are not compared, or not returned at all.
            equal_nan: NaN equals NaN.
            inplace_atol: How far the form in place may be from the plain one; None is bit-equal.
            **switches: Paddle's, for machinery that is not here.

        Raises:
            AssertionError: An output differs; the text says where and by how much.
        """
        for place in self.places or present_places():
            self.check_output_with_place(
                place, atol, rtol, no_check_set, equal_nan, inplace_atol, **switches
            )

    def check_output_with_place(
        self,
        place: Place,
        atol: float = 1e-5,
        rtol: float = 1e-5,
        no_check_set: Any = None,
        equal_nan: bool = False,
        inplace_atol: float | None = None,
        **switches: bool,
    ) -> None:
        """``check_output`` on one place."""
        _check_switches("check_output", switches)
        arrays, absent = named(self.inputs), listed(no_check_set)
        _, outs = self._call(place, arrays, set(arrays), absent)
        if any(not out.stop_gradient for out in outs.values()):
            self._seen.differentiable = self.op_type
        atol, rtol = output_limits(self.dtype, atol, rtol, "accuracy" not in self.exempt_from)
        for name, expected in named(self.outputs).items():
            if name in absent:
                continue
            difference = value_difference(expected, outs[name].numpy(), atol, rtol, equal_nan)
            self._fail_if(difference, place, f"output {name}", expected)
        if f"{self.op_type}_" in FUNCTIONS and "inplace" not in self.exempt_from:
            self._check_inplace(place, inplace_atol)

    def check_grad(
        self,
        inputs_to_check: Any,
        output_names: Any,
        no_grad_set: Any = None,
        numeric_grad_delta: float = 0.005,
        in_place: bool = False,
        max_relative_error: float = 0.005,
        user_defined_grads: Any = None,
        user_defined_grad_outputs: Any = None,
        **switches: bool,
    ) -> None:
        """Compares the op's gradients with finite differences of the mean of its outputs.

        Args:
            inputs_to_check: Names of inputs.
            output_names: Name or names of the outputs that enter the loss, each by its mean.
            no_grad_set: Names of inputs that no gradient is recorded for.
            numeric_grad_delta: Step of the difference; 1e-5 in float64.
            in_place: Taken for Paddle's signature; the inputs are fed anew for every run.
            max_relative_error: Limit of the difference divided by the gradient's size; 1e-7 in
                float64, at least 1e-3 and 1e-2 in the half types. Those are compared with the
                gradient of the same op in float32.
            user_defined_grads: The expected gradients, one an input, instead of differences.
            user_defined_grad_outputs: Gradient of each output to start with, instead of the mean's.
            **switches: Paddle's, for machinery that is not here.

        Raises:
            AssertionError: A gradient differs; the text says where and by how much.
        """
        for place in self.places or present_places():
            self.check_grad_with_place(
                place, inputs_to_check, output_names, no_grad_set, numeric_grad_delta, in_place,
                max_relative_error, user_defined_grads, user_defined_grad_outputs, **switches,
            )  # fmt: skip

    def check_grad_with_place(
        self,
        place: Place,
        inputs_to_check: Any,
        output_names: Any,
        no_grad_set: Any = None,
        numeric_grad_delta: float = 0.005,
        in_place: bool = False,
        max_relative_error: float = 0.005,
        user_defined_grads: Any = None,
        user_defined_grad_outputs: Any = None,
        **switches: bool,
    ) -> None:
        """``check_grad`` on one place."""
        _check_switches("check_grad", switches)
        names, outputs = listed(inputs_to_check), listed(output_names)
        self._note_gradient(names, no_grad_set)
        exact = "accuracy" not in self.exempt_from
        delta, limit = gradient_limits(self.dtype, numeric_grad_delta, max_relative_error, exact)
        seeds = listed(user_defined_grad_outputs)
        arrays, kept = self._arrays(names), set(no_grad_set or ())
        found = self._gradients(place, arrays, names, outputs, kept, seeds)
        if user_defined_grads is not None:
            expected = [np.asarray(one) for one in user_defined_grads]
        elif is_half(self.dtype):
            wide = {n: a.astype(np.float32) if is_float(as_dtype(a.dtype)) else a
                    for n, a in arrays.items()}  # fmt: skip
            expected = self._gradients(place, wide, names, outputs, kept, seeds)
        else:
            loss = self._loss(place, arrays, outputs, seeds)
            expected = [central_differences(loss, arrays[name], delta) for name in names]
        for name, right, one in zip(names, expected, found, strict=True):
            difference = gradient_difference(right, one, self.dtype, limit)
            self._fail_if(difference, place, f"gradient of {name}", arrays[name])

    def _note_gradient(self, names: list[Any], no_grad_set: Any) -> None:
        seen, arrays = self._seen, self._arrays(names)
        seen.dtypes.add(self.dtype.name)
        if no_grad_set:
            seen.complaints.append(("no_grad_set", "no_grad_set leaves gradients unchecked"))
        for name in names:
            array = arrays[name]
            if array.ndim and array.size < LEAST_ELEMENTS:
                text = f"input {name} has {array.size} elements, fewer than {LEAST_ELEMENTS}"
                seen.complaints.append(("size", text))

    def _arrays(self, names: list[Any]) -> dict[str, Any]:
        """Own copies of all inputs, among which ``names`` are."""
        arrays = {name: np.array(array) for name, array in named(self.inputs).items()}
        for name in names:
            if name not in arrays:
                raise ValueError(f"{self.op_type}: no input {name!r}; there are {list(arrays)}")
        return arrays

    def _loss(
        self, place: Place, arrays: dict[str, Any], outputs: list[Any], seeds: list[Any]
    ) -> Callable[[], Any]:
        """The number that is differentiated: the mean of the outputs' means, or what seeds say."""

        def run() -> Any:
            _, outs = self._call(place, arrays, set(), self._beside(outputs))
            values = [outs[name].numpy().astype(np.longdouble) for name in outputs]
            if seeds:
                return sum((v * s).sum() for v, s in zip(values, seeds, strict=True))
            return sum(v.mean() if v.size else 0.0 for v in values) / len(values)

        return run

    def _gradients(
        self,
        place: Place,
        arrays: dict[str, Any],
        names: list[Any],
        outputs: list[Any],
        kept: set[Any],
        seeds: list[Any],
    ) -> list[Any]:
        """The op's own gradients of the same loss."""
        inputs, outs = self._call(place, arrays, set(arrays) - kept, self._beside(outputs))
        chosen = [outs[name] for name in outputs]
        starts = seeds or [np.full(o.shape, 1 / max(1, o.size * len(chosen))) for o in chosen]
        given = [
            to_tensor(np.asarray(s).astype(o.dtype), place=place)
            for s, o in zip(starts, chosen, strict=True)
        ]
        found = grad(chosen, [inputs[name] for name in names], given, allow_unused=True)
        return [
            np.zeros(arrays[name].shape) if one is None else one.numpy()
            for name, one in zip(names, found, strict=True)
        ]

    def _beside(self, outputs: list[Any]) -> list[str]:
        """The outputs that are not named, which may then be missing."""
        return [name for name in named(self.outputs) if name not in outputs]

    def _function(self) -> Callable[..., Any]:
        """``python_api``, also one set on the class, or the op that ``op_type`` names."""
        given = inspect.getattr_static(self, "python_api", None)
        function = getattr(given, "__func__", given) or FUNCTIONS.get(self.op_type)
        if function is None:
            raise ValueError(f"no op is called {self.op_type!r}; set self.python_api in setUp")
        return function

    def _call(
        self, place: Place, arrays: dict[str, Any], wants: set[Any], absent: Sequence[str] = ()
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """One run: the input tensors and the results by name."""
        given, function = tensors(arrays, wants, place), self._function()
        out = function(**arguments(function, self.inputs, given, self.attrs))
        return given, named_results(out, self.outputs, list(absent))

    def _check_inplace(self, place: Place, atol: float | None) -> None:
        """Result and gradients of the form in place are the plain form's."""
        (plain, first), (written, second) = (
            self._with_gradients(place, FUNCTIONS[name])
            for name in (self.op_type, f"{self.op_type}_")
        )
        if written is None:
            return
        pairs = [("in-place result", plain, written)]
        pairs += [(f"in-place gradient of {n}", first[n], second[n]) for n in second]
        for what, right, found in pairs:
            difference = value_difference(right, found, atol or 0.0, 0.0, True)
            self._fail_if(difference, place, what, right)

    def _with_gradients(self, place: Place, function: Callable[..., Any]) -> tuple[Any, Any]:
        """A call's result and gradients by name; (None, {}) if it cannot be done in place."""
        arrays = named(self.inputs)
        given = tensors(arrays, set(arrays), place)
        args = list(arguments(function, self.inputs, given, self.attrs).values())
        args[0] = FUNCTIONS["assign"](args[0])  # a leaf is not written in place
        with no_grad():
            fits = FUNCTIONS[self.op_type](*args)
        if fits.shape != args[0].shape or fits.dtype != args[0].dtype:
            return None, {}
        out = function(*args)
        leaves = {name: leaf for name, leaf in given.items() if not leaf.stop_gradient}
        if out.stop_gradient or not leaves:
            return out.numpy(), {}
        try:
            found = grad(out, list(leaves.values()), allow_unused=True)
        except RuntimeError as error:
            if "changed in place" not in str(error):
                raise
            return out.numpy(), {}  # the gradient needs what was overwritten, and says so
        values = zip(leaves, found, strict=True)
        return out.numpy(), {name: one.numpy() for name, one in values if one is not None}

    def _fail_if(self, difference: str, place: Place, what: str, array: Array) -> None:
        if difference:
            raise self.failureException(
                f"{self.op_type} on {place}: {what} of shape {list(array.shape)}, dtype "
                f"{array.dtype}: {difference}"
            )


def _check_switches(method: str, switches: dict[str, Any]) -> None:
    unknown = set(switches) - _IGNORED
    if unknown:
        raise TypeError(f"{method}() got unknown arguments: {', '.join(sorted(unknown))}")
