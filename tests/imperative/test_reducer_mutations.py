"""What holds the Reducer together: each test passes, and fails once a piece of it is taken away.

The pieces: the lock around either change of the count, the ``finally`` of a communication thread,
``wait_compute``, ``wait_comm``, bucket and ring passed by value, the weak reference of a hook.
"""

import ast
import inspect
import threading
import types
import weakref

import pytest

from minipaddle.imperative import launching
from minipaddle.imperative import reducer as reducer_module
from minipaddle.imperative.reducer import Reducer
from minipaddle.imperative.run_end import queue_callback
from tests.imperative.reducer_harness import (
    SMALL,
    LoneGroup,
    QueueingGroup,
    check_gradients,
    loss_of,
    make_parameters,
    wait_until,
    wrap,
)

PAUSE = 0.2


# ---- what is true of the Reducer ----


class Racing(LoneGroup):
    """Brings the two threads together where they change the count of a reducer from ``racing``.

    ``pausing`` is the thread that is held between reading and writing the count, while bucket 0
    ends and bucket 1 is launched; with the lock in place the other one cannot write meanwhile.
    """

    def __init__(self, pausing):
        super().__init__(timeout=PAUSE)
        self.pausing = pausing
        self.reading, self.written = threading.Event(), threading.Event()
        self.counts = []
        self.on_reduce = self.end_of_bucket

    def wait_compute(self, ring):
        token = super().wait_compute(ring)
        if len(self.computed) == 2:
            if self.pausing == "worker":
                assert self.reading.wait(10)
            else:
                self.armed = threading.current_thread()
        return token

    def end_of_bucket(self, buffer):
        if buffer.number == 0:
            if self.pausing == "backward":
                assert self.reading.wait(10)
            else:
                self.armed = threading.current_thread()

    armed = None

    def read(self):
        value = self.counts[-1]
        if self.armed is threading.current_thread():
            self.armed = None
            self.written.clear()
            self.reading.set()
            self.written.wait(PAUSE)
        return value

    def write(self, value):
        self.counts.append(value)
        self.written.set()


def racing(cls):
    """A class whose count is read and written through its group."""
    count = property(lambda self: self.group.read(), lambda self, value: self.group.write(value))
    return type("Racing", (cls,), {"comm_op_count_": count})


def check_count(cls, pausing):
    group = Racing(pausing)
    parameters = make_parameters([(2,)] * 3)
    _reducer = wrap(parameters, group, SMALL, racing(cls))
    try:
        loss_of(parameters).backward()
    except Exception as error:
        raise AssertionError("backward does not end as it should") from error
    assert group.reading.is_set()
    assert min(group.counts) == 0 and group.counts[-1] == 0


def check_count_of_a_failure(cls):
    group = LoneGroup()
    group.on_reduce = lambda buffer: 1 / buffer.number
    parameters = make_parameters([(2,)] * 3)
    reducer = wrap(parameters, group, SMALL, cls)
    with pytest.raises(RuntimeError, match="bucket 0 of 3"):
        loss_of(parameters).backward()
    assert reducer.comm_op_count_ == 0


def check_queued_work(cls):
    """The group's reduction starts at the token and ends when somebody waits for it."""
    group = QueueingGroup(2)
    parameters = make_parameters([(2,)] * 3)
    _reducer = wrap(parameters, group, SMALL, cls)
    for _ in range(2):
        loss_of(parameters, 2.0).backward()
        check_gradients(parameters)
        for _, parameter in parameters:
            parameter.clear_grad()


def check_late_workers(cls):
    """All buckets are launched in one go, and only then do the communication threads start."""
    group = LoneGroup(3)
    parameters = make_parameters([(2,)] * 7)
    reducer = wrap(parameters, group, SMALL, cls)
    gate = threading.Event()
    for lane in range(3):
        reducer.comm_pool_.submit(lane, lambda: gate.wait(10))

    def last(_):
        assert group.computed == []
        queue_callback(lambda error: gate.set(), -1)

    parameters[6][1].register_hook(last)
    loss_of(parameters[6:] + parameters[:6]).backward()
    assert sorted(number for number, *_ in group.reduced) == list(range(7))
    for number, ring, token, _ in group.reduced:
        assert ring == number % 3 and token == ("computed", ring, number + 1)


def check_lifetime(cls):
    parameters = make_parameters([(2,)] * 3)
    reducer = wrap(parameters, LoneGroup(), SMALL, cls)
    loss_of(parameters).backward()
    gone = weakref.ref(reducer)
    del reducer
    wait_until(lambda: gone() is None, 1.0)


CHECKS = {
    "count, backward held": lambda cls: check_count(cls, "backward"),
    "count, worker held": lambda cls: check_count(cls, "worker"),
    "count of a failure": check_count_of_a_failure,
    "queued work": check_queued_work,
    "late workers": check_late_workers,
    "lifetime": check_lifetime,
}


# ---- what it is without a piece ----


class Mutation(ast.NodeTransformer):
    """Changes one method of the Reducer or its base; ``changed`` counts the places."""

    changed = 0

    def __init__(self, method):
        self.method = method

    def visit_ClassDef(self, node):
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and (node.name, item.name) in (
                ("Reducer", self.method),
                ("LaunchOrder", self.method),
            ):
                self.generic_visit(item)
        return node


class DropLock(Mutation):
    def visit_With(self, node):
        self.generic_visit(node)
        counts = [s for s in node.body if isinstance(s, ast.AugAssign)]
        if not counts:
            return node
        self.changed += 1
        others = [s for s in node.body if s not in counts]
        return [*counts, ast.With(node.items, others or [ast.Pass()])]


class DropFinally(Mutation):
    def visit_Try(self, node):
        self.changed += bool(node.finalbody)
        return ast.Try(node.body + node.finalbody, node.handlers, node.orelse, [])


class DropCall(Mutation):
    def __init__(self, method, name, instead="None"):
        super().__init__(method)
        self.name, self.instead = name, instead

    def visit_Call(self, node):
        if ast.unparse(node.func) != self.name:
            self.generic_visit(node)
            return node
        self.changed += 1
        return ast.parse(self.instead, mode="eval").body


LATE_NAMES = "lambda: self.fused_allreduce_schedule(bucket, ring, token)"
LATE_INDEX = (
    "functools.partial(lambda ring, token: self.fused_allreduce_schedule("
    "self.buckets[self.next_group_ - 1], ring, token), ring, token)"
)
LATE_RING = (
    "functools.partial(lambda bucket, token: self.fused_allreduce_schedule("
    "bucket, (self.next_group_ - 1) % self.group.nrings, token), bucket, token)"
)

MUTATIONS = {
    "no lock around the launch": (DropLock("mark_group_ready"), "count, backward held"),
    "no lock around the end": (DropLock("fused_allreduce_schedule"), "count, worker held"),
    "no finally": (DropFinally("fused_allreduce_schedule"), "count of a failure"),
    "no wait_compute": (DropCall("mark_group_ready", "self.group.wait_compute"), "queued work"),
    "no wait_comm": (DropCall("finalize_backward", "self.group.wait_comm"), "queued work"),
    "names by reference": (
        DropCall("mark_group_ready", "functools.partial", LATE_NAMES),
        "late workers",
    ),
    "next_group_ read in the worker": (
        DropCall("mark_group_ready", "functools.partial", LATE_INDEX),
        "late workers",
    ),
    "ring found in the worker": (
        DropCall("mark_group_ready", "functools.partial", LATE_RING),
        "late workers",
    ),
    "hooks hold the reducer": (DropCall("__init__", "weakref.ref", "lambda: self"), "lifetime"),
}


def source():
    """launching.py and reducer.py as one module."""
    base, reducer = (ast.parse(inspect.getsource(module)) for module in (launching, reducer_module))
    own = [
        node
        for node in reducer.body
        if not (
            isinstance(node, ast.ImportFrom) and node.module in ("__future__", launching.__name__)
        )
    ]
    return ast.Module([*base.body, *own], [])


def mutated(mutation):
    mutation.changed = 0
    tree = ast.fix_missing_locations(mutation.visit(source()))
    assert mutation.changed == 1, "the piece to take away is not in the source as it was"
    module = types.ModuleType(reducer_module.__name__)
    exec(compile(tree, "mutated_reducer.py", "exec"), module.__dict__)
    module._GRACE = PAUSE
    return module.Reducer


@pytest.fixture(autouse=True)
def short_grace(monkeypatch):
    monkeypatch.setattr(reducer_module, "_GRACE", 2.0)


@pytest.mark.parametrize("check", CHECKS)
def test_it_is_true_of_the_reducer(check):
    CHECKS[check](Reducer)


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_it_is_not_true_without_the_piece(mutation):
    """Taking away the piece that the mutation names makes the check beside it fail."""
    change, check = MUTATIONS[mutation]
    cls = mutated(change)
    with pytest.raises(AssertionError):
        CHECKS[check](cls)


def test_the_source_without_a_mutation_passes_every_check():
    """So it is the missing piece that fails, and not the way in which the class was made."""
    module = types.ModuleType(reducer_module.__name__)
    exec(compile(source(), "copied_reducer.py", "exec"), module.__dict__)
    for check in CHECKS.values():
        check(module.Reducer)
