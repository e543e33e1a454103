"""Recording on and off, and the interceptor: nesting, decorators, threads."""

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import minipaddle as paddle
from minipaddle.imperative.grad_node import grad_state


@pytest.fixture
def x() -> paddle.Tensor:
    return paddle.to_tensor([1.0, 2.0], stop_gradient=False)


@pytest.fixture(autouse=True)
def mode_is_restored() -> Iterator[None]:
    yield
    assert grad_state.recording
    assert grad_state.interceptor is None


def recorded(x: paddle.Tensor) -> bool:
    return not (x * 2.0).stop_gradient


def in_a_thread(function: Callable[[], Any]) -> Any:
    result: list[Any] = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join(30)
    assert result
    return result[0]


# ---- no_grad, enable_grad, set_grad_enabled ----


def test_ops_are_recorded_where_an_input_wants_a_gradient(x: paddle.Tensor) -> None:
    assert paddle.is_grad_enabled()
    assert recorded(x)
    assert not recorded(paddle.ones([2]))
    assert not (x + paddle.ones([2])).stop_gradient


def test_no_grad_as_a_context(x: paddle.Tensor) -> None:
    with paddle.no_grad():
        assert not paddle.is_grad_enabled()
        y = x * 2.0
        assert y.stop_gradient
        assert y.is_leaf
    assert recorded(x)


def test_contexts_nest(x: paddle.Tensor) -> None:
    with paddle.no_grad():
        with paddle.enable_grad():
            assert recorded(x)
            with paddle.set_grad_enabled(False):
                assert not recorded(x)
            assert recorded(x)
        assert not recorded(x)
        with paddle.no_grad():
            assert not recorded(x)
        assert not recorded(x)
    assert recorded(x)


@pytest.mark.parametrize("mode", [True, False])
def test_set_grad_enabled(x: paddle.Tensor, mode: bool) -> None:
    with paddle.set_grad_enabled(mode):
        assert recorded(x) is mode
    assert recorded(x)

    @paddle.set_grad_enabled(mode)
    def function() -> bool:
        return recorded(x)

    assert function() is mode


def test_one_object_may_be_entered_again(x: paddle.Tensor) -> None:
    off = paddle.no_grad()
    with off:
        with paddle.enable_grad(), off:
            assert not recorded(x)
        assert not recorded(x)
    assert recorded(x)
    with off:
        assert not recorded(x)


def test_an_exception_restores_the_mode(x: paddle.Tensor) -> None:
    with pytest.raises(KeyError), paddle.no_grad():
        raise KeyError
    assert recorded(x)


@pytest.mark.parametrize("brackets", [True, False])
@pytest.mark.parametrize(("decorator", "mode"), [("no_grad", False), ("enable_grad", True)])
def test_decorators(x: paddle.Tensor, brackets: bool, decorator: str, mode: bool) -> None:
    decorate = getattr(paddle, decorator)

    def function(a: paddle.Tensor, *, factor: float) -> tuple[float, bool]:
        """What it does."""
        return (a * factor).sum().item(), recorded(a)

    wrapped = decorate()(function) if brackets else decorate(function)
    with paddle.set_grad_enabled(not mode):
        assert wrapped(x, factor=2.0) == (6.0, mode)
        assert paddle.is_grad_enabled() is not mode
    assert wrapped.__name__ == "function"
    assert wrapped.__doc__ == "What it does."


def test_a_decorated_method_and_recursion(x: paddle.Tensor) -> None:
    class Model:
        @paddle.no_grad()
        def run(self, depth: int) -> bool:
            return self.run(depth - 1) if depth else recorded(x)

    assert Model().run(3) is False
    assert recorded(x)


def test_a_decorated_generator_runs_in_the_mode_and_the_caller_does_not(x: paddle.Tensor) -> None:
    @paddle.no_grad()
    def batches() -> Iterator[bool]:
        for _ in range(2):
            yield recorded(x)

    for inside in batches():
        assert inside is False
        assert recorded(x)


def test_a_decorated_generator_takes_what_is_sent_and_thrown() -> None:
    @paddle.no_grad()
    def talk() -> Iterator[Any]:
        got = yield "first"
        try:
            yield got, paddle.is_grad_enabled()
        except KeyError:
            yield "caught", paddle.is_grad_enabled()
        return "last"

    generator: Any = talk()
    assert next(generator) == "first"
    assert generator.send(5) == (5, False)
    assert generator.throw(KeyError()) == ("caught", False)
    with pytest.raises(StopIteration) as end:
        next(generator)
    assert end.value.value == "last"


def test_a_decorated_generator_is_closed_in_time() -> None:
    closed: list[bool] = []

    @paddle.no_grad()
    def watch() -> Iterator[int]:
        try:
            yield 1
        finally:
            closed.append(paddle.is_grad_enabled())

    generator: Any = watch()
    next(generator)
    generator.close()
    assert len(closed) == 1


def test_any_callable_can_be_decorated(x: paddle.Tensor) -> None:
    layer = paddle.nn.Linear(2, 1)
    for function in (layer, functools.partial(layer), layer.forward):
        assert paddle.no_grad()(function)(x).stop_gradient
        assert paddle.no_grad(function)(x).stop_gradient
        assert not function(x).stop_gradient


def test_the_mode_belongs_to_the_thread(x: paddle.Tensor) -> None:
    with paddle.no_grad():
        assert in_a_thread(lambda: recorded(x)) is True
        assert not recorded(x)

    @paddle.no_grad()
    def off() -> bool:
        return recorded(x)

    assert in_a_thread(off) is False
    assert recorded(x)


def test_a_tensor_made_without_recording_can_become_a_leaf(x: paddle.Tensor) -> None:
    with paddle.no_grad():
        y = x * 2.0
    y.stop_gradient = False
    (y * 3.0).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0]
    assert x.grad is None


def test_backward_works_inside_no_grad(x: paddle.Tensor) -> None:
    y = x * 2.0
    with paddle.no_grad():
        y.backward()
        assert not paddle.is_grad_enabled()
    assert x.grad.tolist() == [2.0, 2.0]


# ---- interceptor ----


def watcher(log: list[str], label: str) -> Callable[..., Any]:
    def look(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        log.append(f"{label}>{op.name}")
        result = call(*args)
        log.append(f"{label}<{op.name}")
        return result

    return look


def test_the_interceptor_sees_ops_and_their_arguments(x: paddle.Tensor) -> None:
    seen: list[Any] = []

    def look(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        seen.append((op.name, args))
        return call(*args)

    with paddle.autograd.intercept(look):
        y = paddle.lerp(x, y=x, weight=0.5)
        y.reshape([2, 1])
    x * 2.0
    assert [name for name, _ in seen] == ["lerp", "reshape"]
    assert seen[0][1] == (x, x, 0.5)
    assert not y.stop_gradient


def test_the_inner_interceptor_comes_first_and_calls_the_outer(x: paddle.Tensor) -> None:
    log: list[str] = []
    with paddle.autograd.intercept(watcher(log, "outer")):
        with paddle.autograd.intercept(watcher(log, "inner")):
            x * 2.0
        assert log == [
            "inner>multiply",
            "outer>multiply",
            "outer<multiply",
            "inner<multiply",
        ]
        log.clear()
        x * 2.0
        assert log == ["outer>multiply", "outer<multiply"]


def test_the_interceptor_changes_arguments_and_results(x: paddle.Tensor) -> None:
    def half_then_double(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return call(args[0], 10.0) if op.name == "multiply" else call(*args)

    with paddle.autograd.intercept(half_then_double):
        y = x * 2.0
    assert y.tolist() == [10.0, 20.0]
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_in_place_ops_go_through_it_too() -> None:
    log: list[str] = []
    y = paddle.ones([2])
    with paddle.autograd.intercept(watcher(log, "a")):
        assert y.add_(1.0) is y
    assert log[0].startswith("a>add")
    assert y.tolist() == [2.0, 2.0]


def test_one_interceptor_object_may_be_entered_twice(x: paddle.Tensor) -> None:
    log: list[str] = []
    watch = paddle.autograd.intercept(watcher(log, "a"))
    with watch:
        with watch:
            x * 2.0
        assert log == ["a>multiply", "a>multiply", "a<multiply", "a<multiply"]
    log.clear()
    x * 2.0
    assert log == []


def test_the_interceptor_belongs_to_the_thread(x: paddle.Tensor) -> None:
    log: list[str] = []
    with paddle.autograd.intercept(watcher(log, "a")):
        in_a_thread(lambda: x * 2.0)
    assert log == []


def test_an_interceptor_that_raises_is_taken_away_with_its_context(x: paddle.Tensor) -> None:
    def refuse(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        raise LookupError(op.name)

    with pytest.raises(LookupError, match="multiply"), paddle.autograd.intercept(refuse):
        x * 2.0
    assert recorded(x)


def test_ops_inside_of_an_interceptor_are_intercepted_only_by_itself_once(
    x: paddle.Tensor,
) -> None:
    """An op that converts its operands calls another op: both are seen, each once."""
    log: list[str] = []
    wide = paddle.to_tensor([1.0, 2.0], dtype="float64")
    with paddle.autograd.intercept(watcher(log, "a")):
        y = x * wide
    assert log == ["a>multiply", "a>cast", "a<cast", "a<multiply"]
    assert y.dtype == paddle.float64
