"""A reader of pickles that makes plain values and arrays, and can do nothing else.

It is a small stack machine of its own rather than a subclass of ``pickle.Unpickler``: that one
trusts lengths and memo numbers of the file, and calls whatever BUILD and APPENDS find on an object.

References:
    The opcodes are those of Python's Lib/pickletools.py.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from minipaddle.saving.errors import CheckpointError
from minipaddle.saving.pickled import (
    ALLOWED,
    Allowed,
    ElementType,
    StoredArray,
    canonical,
    check_keys,
    refusal,
    text,
)
from minipaddle.saving.source import Source, Span

LONG_BYTES = 4096  # bytes from this length on stay in the file
_BYTE, _SHORT, _INT, _WORD, _LONG, _DOUBLE = map(
    struct.Struct, ("<B", "<H", "<i", "<I", "<Q", ">d")
)


class PickleReader:
    """Reads one pickle of protocol 2 to 5.

    Args:
        source: Where it begins.
        allowed: Names that it may use.
        persistent: What a persistent id stands for; None if there may be none.
    """

    def __init__(
        self,
        source: Source,
        allowed: Mapping[str, Allowed] = ALLOWED,
        persistent: Callable[[Any], Any] | None = None,
    ) -> None:
        self.source = source
        self.allowed = allowed
        self.persistent = persistent
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []  # the stacks under each mark
        self.memo: dict[int, Any] = {}

    def load(self) -> Any:
        """The value, in which arrays and long bytes are still in the file.

        Raises:
            CheckpointError: The pickle is damaged, or uses what is not allowed.
        """
        source, budget = self.source, self.source.budget
        while True:
            code = source.read(1)
            if code == b".":
                return self.stack.pop()
            run = _OPCODES.get(code)
            if run is None:
                raise CheckpointError(
                    f"it is damaged, or no checkpoint: byte {source.position - 1} is no opcode "
                    "that one has"
                )
            budget.spend_objects(1)
            run(self)

    def marked(self) -> list[Any]:
        """What was pushed since the last mark; the stack is then as before it."""
        items, self.stack = self.stack, self.below.pop()
        return items

    def name(self, module: Any, name: Any) -> None:
        """Pushes what an allowed name stands for."""
        if not isinstance(module, str) or not isinstance(name, str):
            raise CheckpointError("it is damaged: a name in it is no text")
        found = self.allowed.get(canonical(module, name))
        if found is None:
            raise refusal(f"{module}.{name}")
        self.stack.append(found)

    def whole(self, value: Any) -> Any:
        """``value``, with bytes that were left in the file."""
        return self.source.bytes_of(value) if isinstance(value, Span) else value


def _push(value: Callable[[], Any]) -> Callable[[PickleReader], None]:
    return lambda r: r.stack.append(value())


def _number(layout: struct.Struct) -> Callable[[PickleReader], None]:
    return lambda r: r.stack.append(r.source.number(layout))


def _text(layout: struct.Struct) -> Callable[[PickleReader], None]:
    def run(r: PickleReader) -> None:
        raw = r.source.read(r.source.number(layout))
        r.stack.append(raw.decode("utf-8", "surrogatepass"))

    return run


def _text_of_python2(layout: struct.Struct) -> Callable[[PickleReader], None]:
    return lambda r: r.stack.append(text(r.source.read(r.source.number(layout))))


def _bytes(layout: struct.Struct) -> Callable[[PickleReader], None]:
    def run(r: PickleReader) -> None:
        length = r.source.number(layout)
        take = r.source.skip if length >= LONG_BYTES else r.source.read
        r.stack.append(take(length))

    return run


def _integer(layout: struct.Struct) -> Callable[[PickleReader], None]:
    def run(r: PickleReader) -> None:
        raw = r.source.read(r.source.number(layout))
        r.stack.append(int.from_bytes(raw, "little", signed=True))

    return run


def _tuple_of(count: int) -> Callable[[PickleReader], None]:
    def run(r: PickleReader) -> None:
        stack = r.stack
        if len(stack) < count:
            raise CheckpointError("it is damaged: a tuple lacks items")
        stack[-count:] = [tuple(stack[-count:])]

    return run


def _get(layout: struct.Struct) -> Callable[[PickleReader], None]:
    return lambda r: r.stack.append(r.memo[r.source.number(layout)])


def _put(layout: struct.Struct) -> Callable[[PickleReader], None]:
    def run(r: PickleReader) -> None:
        r.memo[r.source.number(layout)] = r.stack[-1]

    return run


def _memoize(r: PickleReader) -> None:
    r.memo[len(r.memo)] = r.stack[-1]


def _protocol(r: PickleReader) -> None:
    version = r.source.number(_BYTE)
    if not 2 <= version <= 5:
        raise CheckpointError(f"it is a pickle of protocol {version}; 2 to 5 are read")


def _frame(r: PickleReader) -> None:
    length = r.source.number(_LONG)
    if length > r.source.end - r.source.position:
        raise CheckpointError("it is damaged or cut short: a frame in it has no end")


def _mark(r: PickleReader) -> None:
    r.below.append(r.stack)
    r.stack = []


def _pop(r: PickleReader) -> None:
    if r.stack:
        r.stack.pop()
    else:
        r.marked()


def _pop_mark(r: PickleReader) -> None:
    r.marked()


def _tuple(r: PickleReader) -> None:
    items = tuple(r.marked())
    r.stack.append(items)


def _frozenset(r: PickleReader) -> None:
    items = [r.whole(item) for item in r.marked()]
    check_keys(items)
    r.stack.append(frozenset(items))


def _append(r: PickleReader) -> None:
    item = r.stack.pop()
    _target(r, list).append(item)


def _appends(r: PickleReader) -> None:
    items = r.marked()
    _target(r, list).extend(items)


def _set_item(r: PickleReader) -> None:
    value = r.stack.pop()
    _set_pairs(r, [r.stack.pop(), value])


def _set_pairs(r: PickleReader, items: list[Any]) -> None:
    target = _target(r, dict, OrderedDict)
    if len(items) % 2:
        raise CheckpointError("it is damaged: a key has no value")
    keys = [r.whole(key) for key in items[::2]]
    check_keys(keys)
    target.update(zip(keys, items[1::2], strict=True))


def _add_items(r: PickleReader) -> None:
    items = [r.whole(item) for item in r.marked()]
    check_keys(items)
    _target(r, set).update(items)


def _target(r: PickleReader, *kinds: type) -> Any:
    """The container on top of the stack, of exactly one of the given types."""
    target = r.stack[-1]
    if type(target) not in kinds:
        raise CheckpointError(f"it is damaged: it puts items into a {type(target).__name__}")
    return target


def _build(r: PickleReader) -> None:
    state = r.stack.pop()
    target = r.stack[-1]
    if isinstance(target, (StoredArray, ElementType)):
        target.build(state)
    elif type(target) is not OrderedDict or type(state) is not dict or set(state) != {"_metadata"}:
        # PyTorch keeps version numbers of its layers beside a state_dict; nothing here needs them.
        raise CheckpointError(f"it is damaged: it sets the state of a {type(target).__name__}")


def _reduce(r: PickleReader) -> None:
    args = r.stack.pop()
    called = r.stack.pop()
    if not isinstance(called, Allowed) or called.make is None or type(args) is not tuple:
        what = called.name if isinstance(called, Allowed) else type(called).__name__
        raise CheckpointError(f"calling {what} is not allowed in a checkpoint")
    short = tuple(map(r.whole, args)) if called.name != _FROM_BUFFER else args
    r.stack.append(called.make(short, r.source.budget))


_FROM_BUFFER = "numpy._core.numeric._frombuffer"


def _persistent(r: PickleReader) -> None:
    if r.persistent is None:
        raise CheckpointError("it points to data outside itself, as only PyTorch's files may")
    r.stack.append(r.persistent(r.stack.pop()))


def _global(r: PickleReader) -> None:
    module = r.source.line()
    r.name(module, r.source.line())


def _stack_global(r: PickleReader) -> None:
    name = r.stack.pop()
    r.name(r.stack.pop(), name)


_OPCODES: dict[bytes, Callable[[PickleReader], None]] = {
    b"\x80": _protocol,
    b"\x95": _frame,
    b"N": _push(lambda: None),
    b"\x88": _push(lambda: True),
    b"\x89": _push(lambda: False),
    b"K": _number(_BYTE),
    b"M": _number(_SHORT),
    b"J": _number(_INT),
    b"\x8a": _integer(_BYTE),
    b"\x8b": _integer(_WORD),
    b"G": _number(_DOUBLE),
    b"\x8c": _text(_BYTE),
    b"X": _text(_WORD),
    b"\x8d": _text(_LONG),
    b"U": _text_of_python2(_BYTE),
    b"T": _text_of_python2(_WORD),
    b"C": _bytes(_BYTE),
    b"B": _bytes(_WORD),
    b"\x8e": _bytes(_LONG),
    b"\x96": _bytes(_LONG),  # a bytearray, whose place bytes can take
    b"\x98": lambda r: None,  # READONLY_BUFFER
    b"]": _push(list),
    b"}": _push(dict),
    b"\x8f": _push(set),
    b")": _push(tuple),
    b"\x85": _tuple_of(1),
    b"\x86": _tuple_of(2),
    b"\x87": _tuple_of(3),
    b"t": _tuple,
    b"\x91": _frozenset,
    b"(": _mark,
    b"0": _pop,
    b"1": _pop_mark,
    b"2": lambda r: r.stack.append(r.stack[-1]),
    b"a": _append,
    b"e": _appends,
    b"s": _set_item,
    b"u": lambda r: _set_pairs(r, r.marked()),
    b"\x90": _add_items,
    b"h": _get(_BYTE),
    b"j": _get(_WORD),
    b"q": _put(_BYTE),
    b"r": _put(_WORD),
    b"\x94": _memoize,
    b"c": _global,
    b"\x93": _stack_global,
    b"R": _reduce,
    b"b": _build,
    b"Q": _persistent,
}
