"""Damaged and hostile checkpoints, the same ones on every run; as a program, loads them all.

    python -m tests.saving.mutants FOLDER SEED COUNT

loads each under a limit of memory and of time and with every door watched that leads out of the
program, and prints what became of them as JSON.
"""

from __future__ import annotations

import io
import json
import random
import signal
import struct
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import minipaddle as paddle
from minipaddle.saving import CheckpointError
from minipaddle.saving.pickle_reader import _OPCODES
from minipaddle.saving.torch_format import _ALLOWED
from tests.saving import recorded
from tests.saving.pickles import array, number, text

MEMORY = 700 << 20  # beyond what the process has when it starts to load
SECONDS = 10
SECRETS = [
    "os system", "posix system", "builtins eval", "builtins exec", "builtins getattr",
    "builtins __import__", "builtins open", "builtins compile", "subprocess Popen",
    "operator attrgetter", "functools partial", "numpy load",
    "numpy.testing._private.utils runstring",
    "torch load", "torch.storage _load_from_bytes", "pickle loads", "copyreg _reconstructor",
    "builtins type", "types FunctionType", "importlib import_module", "builtins object",
]  # fmt: skip
Mutation = Callable[[bytes, random.Random], bytes]


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwrite(content: bytes, rng: random.Random) -> bytes:
    at, length = rng.randrange(len(content)), rng.randrange(1, 16)
    filling = rng.choice([rng.randbytes(length), b"\xff" * length, b"\0" * length])
    return content[:at] + filling + content[at + length :]


def repeat(content: bytes, rng: random.Random) -> bytes:
    at = sorted(rng.randrange(len(content)) for _ in range(3))
    return content[: at[1]] + content[at[0] : at[1]] * rng.choice([1, 2, 200]) + content[at[2] :]


def insert_opcodes(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(2, len(content))
    return content[:at] + opcodes(rng, rng.randrange(1, 8)) + content[at:]


MUTATIONS: list[Mutation] = [cut, flip, flip, overwrite, repeat, insert_opcodes]


def opcodes(rng: random.Random, count: int) -> bytes:
    """Opcodes with arguments that are now and then sensible."""
    return b"".join(_opcode(rng) for _ in range(count))


def _opcode(rng: random.Random) -> bytes:
    kind = rng.randrange(8)
    if kind == 0:
        names = SECRETS if rng.random() < 0.1 else list(_ALLOWED)
        module, _, attribute = rng.choice(names).replace(" ", ".").rpartition(".")
        return f"c{module}\n{attribute}\n".encode()
    if kind == 1:
        return text(rng.choice(["data", "f4", "u1", "<", "latin1", "storage", "0", "_metadata"]))
    if kind == 2:
        return number(rng.choice([0, 1, 2, -1, 2**31, 2**40, 2**62]))
    if kind == 3:
        shape = tuple(rng.choice([0, 1, 2, 3, 2**20]) for _ in range(rng.randrange(4)))
        return array(shape, rng.randbytes(rng.choice([0, 4, 8, 24])), rng.choice(["f4", "u1", "O"]))
    if kind == 4:
        return rng.choice([b"h", b"q"]) + bytes([rng.randrange(6)])
    if kind == 5:
        return rng.choice([b"\x8e", b"\x8d", b"\x95", b"\x96"]) + struct.pack(
            "<Q", rng.getrandbits(60)
        )
    if kind == 6:
        return rng.choice([b"B", b"X", b"T", b"r", b"\x8b"]) + struct.pack(
            "<I", rng.getrandbits(32)
        )
    return rng.choice(
        [*_OPCODES, b"R", b"R", b"b", b"u", b"e", b"a", b"(", b"t", b"\x85", b"]", b"}"]
    )


def hostile_pickle(rng: random.Random) -> bytes:
    name = rng.choice(SECRETS).replace(" ", "\n").encode()
    call = b"c" + name + b"\n" + text("open('escaped', 'w')") + b"\x85R"
    body = opcodes(rng, rng.randrange(1, 40))
    at = rng.choice([0, rng.randrange(len(body) + 1)])
    head = b"\x80" + bytes([rng.randrange(2, 6)])
    return head + body[:at] + rng.choice([b"", call]) + body[at:] + b"."


def hostile_archive(content: bytes, rng: random.Random) -> bytes:
    """One of PyTorch's archives, whole as an archive, with a damaged or hostile pickle in it."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for info in old.infolist():
            part = old.read(info)
            if info.filename.endswith("data.pkl"):
                whole = rng.random() < 0.8
                part = rng.choice(MUTATIONS)(part, rng) if whole else hostile_pickle(rng)
            new.writestr(info.filename, part)
    return made.getvalue()


def safetensors() -> bytes:
    header = {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
              "b": {"dtype": "I64", "shape": [1], "data_offsets": [24, 32]}}  # fmt: skip
    raw = json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + np.arange(8, dtype="f4").tobytes()


def mutants(seed: int, count: int, with_safetensors: bool) -> list[tuple[str, bytes]]:
    """Suffix and content of ``count`` files."""
    rng = random.Random(seed)
    bases = [(".pdparams", recorded.content(n)) for n in recorded.PADDLES if ".3." not in n]
    torchs = [(".pt", recorded.content(n)) for n in recorded.TORCHS]
    archives = [content for _, content in torchs if content.startswith(b"PK")]
    made = []
    for i in range(count):
        if i % 10 < 4:
            suffix, content = rng.choice(bases)
        elif i % 10 < 6:
            suffix, content = rng.choice(torchs)
        elif i % 10 == 6:
            made.append((".pt", hostile_archive(rng.choice(archives), rng)))
            continue
        elif i % 10 < 9 or not with_safetensors:
            made.append((rng.choice([".pdparams", ".pt"]), hostile_pickle(rng)))
            continue
        else:
            suffix, content = ".safetensors", safetensors()
        made.append((suffix, rng.choice(MUTATIONS)(content, rng)))
    return made


# ---- the program ----


def limit_memory() -> None:
    import resource

    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))


def watch(seen: list[str]) -> None:
    """Notes every event by which a program does more than compute."""
    harmless = {"object.__getattr__", "sys._getframe", "object.__setattr__", "builtins.id"}

    def hook(event: str, args: tuple[Any, ...]) -> None:
        reads = event == "open" and args[1] in ("r", "rb") and not (args[2] or 0) & 3
        if not reads and event not in harmless:
            seen.append(f"{event} {args}"[:200])

    sys.addaudithook(hook)


def main(folder: Path, seed: int, count: int) -> dict[str, Any]:
    try:
        import safetensors.numpy as package
    except ImportError:
        package = None
    for suffix, content in [(".pdparams", recorded.content("layer.4.pdparams")),
                            (".pt", recorded.content("views.zip.pt")),
                            (".safetensors", safetensors())]:  # fmt: skip
        (folder / f"whole{suffix}").write_bytes(content)
        if package or suffix != ".safetensors":
            paddle.load(folder / f"whole{suffix}")  # all that is ever imported, is now
    "".encode("cp437")  # of archives' names
    paddle.load(io.BytesIO(recorded.content("bfloat16.4.pdparams")))
    files = []
    for i, (suffix, content) in enumerate(mutants(seed, count, package is not None)):
        files.append(folder / f"{i}{suffix}")
        files[-1].write_bytes(content)
    events: list[str] = []
    results: Counter[str] = Counter()
    wrong: list[str] = []
    limit_memory()
    watch(events)
    for path in files:
        signal.alarm(SECONDS)
        try:
            paddle.load(path)
            results["loaded"] += 1
        except CheckpointError as error:
            results["refused"] += 1
            if not str(error).startswith(f"{path}: ") or len(str(error)) > 2000:
                wrong.append(f"{path.name}: {error}")
        except BaseException as error:
            wrong.append(f"{path.name}: {type(error).__name__} {error}")
        signal.alarm(0)
    return {**results, "wrong": wrong, "events": dict(Counter(events))}


if __name__ == "__main__":
    report = main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(report))
