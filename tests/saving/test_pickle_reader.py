"""The reader of pickles: hostile ones are refused, whatever they try, at little cost."""

import pickle
import pickletools
import struct
import tracemalloc
from collections import Counter, OrderedDict

import numpy as np
import pytest

from minipaddle.saving import CheckpointError, pickle_reader
from tests.saving.pickles import array, load, name, number, pickle_of, text


class Evil:
    def __init__(self, function, *args):
        self.what = function, args

    def __reduce__(self):
        return self.what


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    ("function", "shown"),
    [(eval, "builtins.eval"), (exec, "builtins.exec"), (__import__, "builtins.__import__"),
     (getattr, "builtins.getattr"), (open, "io.open"), (np.load, "numpy.*load"),
     (pickle.loads, "pickle.loads"), (print, "builtins.print"), (type, "builtins.type")],
)  # fmt: skip
def test_functions_are_refused_by_name(function, shown, protocol):
    content = pickle.dumps({"w": Evil(function, "1 + 1")}, protocol=protocol)
    with pytest.raises(CheckpointError, match=f"({shown}|__builtin__.*) .*not allowed in a check"):
        load(content)


def test_the_refusal_says_what_to_do():
    torch = pickle_of(name("torch.nn.modules.linear", "Linear"))
    with pytest.raises(CheckpointError, match=r"save model.state_dict\(\) in PyTorch"):
        load(torch)
    with pytest.raises(CheckpointError, match=r"save layer.state_dict\(\) in Paddle"):
        load(pickle_of(name("paddle.nn.layer.common", "Linear")))
    with pytest.raises(
        CheckpointError, match=r"<BytesIO>: my\.own is not allowed.*nothing was run"
    ):
        load(pickle_of(name("my", "own")))


@pytest.mark.parametrize(
    "tail",
    [
        text("1+1") + b"\x85R",
        text("__import__('os').system('true')") + b"}" + b"\x86R",
        text("data") + b"K\1\x86R",
        b"]\x85R",
        b")R",
    ],
)
def test_eval_is_what_paddle_writes_or_nothing(tail):
    with pytest.raises(CheckpointError):
        load(pickle_of(name("builtins", "eval"), tail))
    tensor = name("builtins", "eval") + text("data") + b"}" + text("data")
    tensor += array((1,), b"\0\0\x80?") + b"s\x86R"
    assert load(pickle_of(b"]", tensor, b"a"))[0].tolist() == [1.0]


OPCODES = {opcode.code: opcode for opcode in pickletools.opcodes}


def test_every_opcode_is_known_or_refused():
    """What protocol 0 and 1 alone have, extension codes, classes and outside buffers are not."""
    known = {code.decode("latin-1") for code in pickle_reader._OPCODES} | {"."}
    refused = {OPCODES[code].name for code in set(OPCODES) - known}
    assert refused == {
        "INT", "LONG", "STRING", "UNICODE", "FLOAT", "LIST", "DICT", "GET", "PUT", "EXT1", "EXT2",
        "EXT4", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "PERSID", "NEXT_BUFFER",
    }  # fmt: skip
    assert known <= set(OPCODES)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_plain_values_and_arrays_of_pythons_own_pickle(protocol):
    value = {
        "a": [1, -1, 2**40, 2**3000, 1.5, True, None, "text", "x" * 70000, b"raw", b"z" * 9000],
        "c": (1 + 2j, {1, 2}, (), (1,), (1, 2, 3), (1, 2, 3, 4)),
        "o": OrderedDict(b=1, a=2),
        "n": Counter("aab"),
    }
    value["twice"] = [value["c"], value["c"]]
    if protocol >= 4:
        value["f"] = frozenset([1, 2])
    found = load(pickle.dumps(value, protocol=protocol))
    assert found == value
    assert type(found["o"]) is OrderedDict and found["twice"][0] is found["c"]
    arrays = [np.arange(2000.0), np.arange(6).reshape(2, 3).T, np.array(3), np.zeros((0, 2))]
    for one, other in zip(
        load(pickle.dumps(arrays, protocol=protocol), return_numpy=True), arrays, strict=True
    ):
        np.testing.assert_array_equal(one, other, strict=True)
        assert one.flags.writeable


def test_names_of_numpy_1_and_of_python_2():
    old = pickle.dumps({"w": np.arange(3)}, protocol=2)
    old = old.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    assert load(old)["w"].tolist() == [0, 1, 2]
    # Python 2 wrote bytes as strings, and tuples by name.
    raw = struct.pack("<3f", 1, 2, 3)
    content = array((3,), b"").removesuffix(b"B\0\0\0\0tb") + b"U" + bytes([len(raw)]) + raw + b"tb"
    assert load(pickle_of(content)).tolist() == [1, 2, 3]
    assert load(pickle_of(name("__builtin__", "tuple"), b"](K\1K\2e\x85R")) == (1, 2)


HUGE = (1 << 62) + 5
BOMBS = {
    "bytes": b"\x8e" + struct.pack("<Q", HUGE),
    "short bytes": b"B" + struct.pack("<I", 0xFFFFFFFF),
    "a bytearray": b"\x96" + struct.pack("<Q", 1 << 40),
    "text": b"\x8d" + struct.pack("<Q", HUGE),
    "an int": b"\x8b" + struct.pack("<I", 0xFFFFFFF0),
    "a frame": b"\x95" + struct.pack("<Q", HUGE),
    "an array": array((1 << 40,), b"abcd"),
    "an array of zero bytes": array((0, HUGE), b""),
    "axes": array((1,) * 100, b"abcd"),
    "a negative length": array((-1, -1), b"abcd"),
    "a wrong length": array((3,), b"\0" * 8),
    "dtype of objects": array((1,), b"\0" * 8, "O8"),
    "dtype of void": array((1,), b"\0" * 8, "V8"),
    "a giant dtype": array((1,), b"\0" * 8, "S99999999999"),
    "byte order": array((1,), b"\0" * 4, "f4", "?"),
    "many copies": text("x" * 3000) + b"q\0" + b"](" + (
        name("_codecs", "encode") + b"h\0" + text("latin1") + b"\x86R") * 40_000 + b"e",
    "many sets": b"](" + b"N" * 3000 + b"eq\0" + (name("builtins", "set") + b"h\0\x85R") * 9000,
    "depth": b"]" * 100_000 + b"a" * 99_999,
    "a deep key": b"}" + b")" + b"\x85" * 100_000 + b"Ns",
    "a wide key": b"}" + b")" + b"2\x86" * 60 + b"Ns",
    "a deep item of a set": b"\x8f(" + b")" + b"\x85" * 100_000 + b"\x90",
    "itself": b"]q\0h\0a",
    "itself in a tuple": b"]q\0h\0\x85a",
    "marks": b"(" * 100_000,
    "an empty stack": b"0" * 10,
    "a memo": b"h\x07",
    "appending to a tuple": b")Na",
    "extending text": b"U\1a(Ne",
    "an item of a list": b"]K\0Ns",
    "half a pair": b"}(Nu",
    "items of a dict": b"}(N\x90",
    "state of a list": b"]}b",
    "state of a dict": b"}}" + text("keys") + b"Nsb",
    "state of an ordered dict": name("collections", "OrderedDict") + b")R}" + text("keys") + b"Nsb",
    "state of a type": name("numpy", "ndarray") + b"}b",
    "a type as a value": name("numpy", "ndarray"),
    "calling a type": name("numpy", "ndarray") + b"K\7\x85R",
    "calling text": b"U\1a)R",
    "arguments that are no tuple": name("builtins", "set") + b"]R",
    "bytes of a number": name("builtins", "bytes") + number(1 << 40) + b"\x85R",
    "a persistent id": b"U\1aQ",
    "a long name": b"c" + b"a" * 100_000,
    "a name that is no text": b"NN\x93",
    "an unhashable key": b"}]Ns",
    "a dtype as a key": b"}" + name("numpy", "dtype") + text("f4") + b"\x89\x88\x87RNs",
    "an array without contents": name("numpy.core.multiarray", "_reconstruct") + b")R",
    "contents twice": array((1,), b"abcd") + b"(K\1" + number(1) + b"\x85tb",
    "no stop": b"N" * 10 + b"\x80",
}  # fmt: skip


@pytest.mark.parametrize("what", BOMBS)
def test_bombs_are_refused_at_little_cost(what, monkeypatch):
    """What takes more time than a file of this length may, meets the limit of a test."""
    monkeypatch.setattr("minipaddle.saving.source.MAX_OBJECTS", 1_000_000)
    content = pickle_of(BOMBS[what])
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError):
            load(content)
        assert tracemalloc.get_traced_memory()[1] < 250 << 20
    finally:
        tracemalloc.stop()


def test_a_file_cut_anywhere_is_refused():
    content = pickle.dumps({"w": np.arange(3.0), "b": [1, "x", b"y"]}, protocol=4)
    for length in range(len(content)):
        with pytest.raises(CheckpointError):
            load(content[:length])


def test_too_many_objects(monkeypatch):
    monkeypatch.setattr("minipaddle.saving.source.MAX_OBJECTS", 1000)
    with pytest.raises(CheckpointError, match="more than 1,000 Python objects; keep that many num"):
        load(pickle.dumps(list(range(2000)), protocol=4))


def test_arrays_that_share_their_bytes_are_limited_by_the_file():
    """One payload and a thousand arrays of it: a file of a MB may not become a GB."""
    raw = b"\0" * (1 << 20)
    one = array((len(raw),), b"", "u1").replace(b"B\0\0\0\0tb", b"j\0\0\0\0tb")
    payload = b"B" + struct.pack("<I", len(raw)) + raw + b"r\0\0\0\0" + b"0"
    with pytest.raises(CheckpointError, match="8 times the length"):
        load(pickle_of(payload, b"](", one * 1000, b"e"))
    assert len(load(pickle_of(payload, b"](", one * 5, b"e"))) == 5
