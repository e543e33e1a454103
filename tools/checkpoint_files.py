"""Checkpoints of Paddle's and PyTorch's own: recorded for the tests, and compared both ways.

    python -m tools.checkpoint_files record PADDLE_PYTHON TORCH_PYTHON
    python -m tools.checkpoint_files check PADDLE_PYTHON

``record`` has both write small files and say what is in them, into tests/saving/recorded.json.
``check`` has Paddle read what minipaddle writes and the other way round, and compares what each
finds. Interpreters of Paddle and PyTorch run this file, which therefore imports nothing of either.
"""

from __future__ import annotations

import base64
import importlib
import json
import subprocess
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).resolve().parent.parent / "tests" / "saving" / "recorded.json"
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
          "complex64", "complex128")  # fmt: skip
SECONDS = 300


def paddle_cases(paddle: Any) -> Iterator[tuple[str, Any]]:
    """Names and values that both frameworks can make and save."""
    tensor = paddle.to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
    half, brain = tensor.astype("float16"), tensor.astype("bfloat16")
    net = paddle.nn.Linear(3, 2)
    net.weight.set_value(tensor.numpy().T.copy())
    yield "layer", net.state_dict()
    yield "tensor", tensor
    yield "bfloat16", brain
    yield "half_state", {"half": half, "brain": brain}
    yield "dtypes", {name: paddle.to_tensor(np.ones(3, name)) for name in DTYPES}
    yield "shapes", {"scalar": paddle.to_tensor(2.5), "empty": paddle.zeros([0, 3])}
    yield "optimizer", {
        "linear_0.w_0_moment1_0": tensor, "linear_0.w_0_beta1_pow_acc_0": paddle.to_tensor([0.9]),
        "LR_Scheduler": {"last_epoch": 3, "last_lr": 0.05},
    }  # fmt: skip
    yield "master_weights", {"moment": tensor, "master_weights": {"w": tensor, "b": half}}
    yield "nested", {"model": {"w": tensor}, "list": [half, (brain, 3)], "epoch": 7}
    yield "same_twice", [tensor, tensor]
    yield "ordered", OrderedDict(b=1, a=tensor)
    yield "plain", {
        "none": None, "true": True, "ints": [0, -1, 255, 256, -129, 2**31, -(2**63), 2**70],
        "floats": (0.5, -1e300, float("inf")), "text": "pädäl", "set": {1, 2}, "complex": 1 + 2j,
        3: "int key", (1, "a"): "tuple key",
    }  # fmt: skip
    yield "arrays", [np.arange(3), np.ones((2, 2), "float16").T, np.arange(6.0).reshape(2, 3).T]
    yield "arrays_beside_tensors", [tensor, np.arange(3, dtype="int16")]
    yield "state_with_arrays", {"w": tensor, "extra": {"array": np.arange(3)}}
    yield "numbers", [np.float32(1.5), np.int64(-3), np.bool_(True), np.float16(2.0)]
    yield "empty_dict", {}
    yield "text", "only text"


def torch_cases(torch: Any) -> Iterator[tuple[str, Any]]:
    """Names and values as PyTorch saves them."""
    net = torch.nn.Linear(3, 2)
    with torch.no_grad():
        net.weight.copy_(torch.arange(6.0).reshape(2, 3))
        net.bias.zero_()
    base = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    yield "state_dict", net.state_dict()
    yield "parameters", dict(net.named_parameters())
    yield (
        "dtypes",
        {name: torch.ones(3, dtype=getattr(torch, name)) for name in (*DTYPES, "bfloat16")},
    )
    yield "views", {
        "base": base, "offset": base[1], "transposed": base.permute(2, 0, 1), "step": base[:, ::2],
        "expanded": torch.ones(1).expand(3, 2), "scalar": base[1, 2, 3], "empty": base[:0],
    }  # fmt: skip
    yield (
        "marked",
        {"conj": torch.tensor([1 + 2j]).conj(), "neg": torch.tensor([1 + 2j]).conj().imag},
    )
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    yield "training", {
        "optimizer": optimizer.state_dict(), "epoch": 3, "size": base.shape,
        "device": torch.device("cpu"), "dtype": torch.float32,
    }  # fmt: skip


def describe(value: Any) -> Any:
    """``value`` in JSON: kinds, dtypes, shapes and bytes, the same for every framework."""
    if isinstance(value, np.generic):
        return ["number", value.dtype.name, value.item()]
    if isinstance(value, dict):
        kind = "ordered" if isinstance(value, OrderedDict) else "dict"
        return [kind, [[describe(key), describe(item)] for key, item in value.items()]]
    if isinstance(value, list | tuple | set):
        return [type(value).__name__.lower(), [describe(item) for item in value]]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | complex):
        return [type(value).__name__, repr(value)]
    if isinstance(value, np.ndarray):
        return ["array", value.dtype.name, *_contents(value)]
    if hasattr(value, "numpy"):
        dtype = str(getattr(value.dtype, "name", value.dtype)).lower().rpartition(".")[2]
        return ["tensor", dtype, *_contents(_array(value, dtype))]
    return str(value).rpartition(".")[2]  # PyTorch's devices and dtypes


def _array(tensor: Any, dtype: str) -> Any:
    if not hasattr(tensor, "resolve_conj"):  # not PyTorch's
        return tensor.numpy()
    plain = tensor.detach().resolve_conj().resolve_neg()
    bits = getattr(sys.modules["torch"], "int16", None)
    return plain.contiguous().view(bits).numpy() if dtype == "bfloat16" else plain.numpy()


def _contents(array: Any) -> tuple[list[int], str]:
    return list(array.shape), base64.b64encode(array.tobytes()).decode()


# ---- run by each framework's interpreter ----


def write(framework: str, folder: Path) -> None:
    """Writes every case to ``folder``, with what this framework itself finds in the file."""
    module = importlib.import_module(framework)
    if framework == "torch":
        for name, value in torch_cases(module):
            for suffix, is_zip in (("zip", True), ("legacy", False)):
                path = folder / f"{name}.{suffix}.pt"
                module.save(value, path, _use_new_zipfile_serialization=is_zip)
                _note(path, describe(module.load(path, weights_only=False)))
        return
    for name, value in paddle_cases(module):
        for protocol in (2, 3, 4):
            path = folder / f"{name}.{protocol}.pdparams"
            module.save(value, str(path), protocol=protocol)
            _note(path, describe(module.load(str(path))))


def _note(path: Path, found: Any) -> None:
    path.with_suffix(path.suffix + ".json").write_text(json.dumps(found), "utf-8")


def read(framework: str, folder: Path) -> None:
    """Reads every file in ``folder`` and prints those in which it finds something else."""
    module = importlib.import_module(framework)
    for note in sorted(folder.glob("*.json")):
        found = json.loads(json.dumps(describe(module.load(str(note.with_suffix(""))))))
        wanted = json.loads(note.read_text("utf-8"))
        print("same" if found == wanted else f"DIFFERENT {found} for {wanted}", note.stem)


# ---- the commands ----


def _run(python: str, *args: str) -> str:
    command = [python, str(Path(__file__)), *args]
    return subprocess.run(
        command, stdout=subprocess.PIPE, timeout=SECONDS, text=True, check=True
    ).stdout


def record(paddle_python: str, torch_python: str) -> None:
    """Writes the recorded file anew."""
    recorded: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        _run(paddle_python, "write", "paddle", name)
        _run(torch_python, "write", "torch", name)
        for note in sorted(Path(name).glob("*.json")):
            content = base64.b64encode(note.with_suffix("").read_bytes()).decode()
            recorded[note.stem] = {"file": content, "value": json.loads(note.read_text("utf-8"))}
    lines = [f"{json.dumps(key)}: {json.dumps(entry)}" for key, entry in recorded.items()]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def check(paddle_python: str) -> int:
    """Has each framework read the other's files; 1 if one finds something else."""
    report = ""
    for writer, reader in (("minipaddle", "paddle"), ("paddle", "minipaddle")):
        pythons = {"minipaddle": sys.executable, "paddle": paddle_python}
        with tempfile.TemporaryDirectory() as name:
            _run(pythons[writer], "write", writer, name)
            found = _run(pythons[reader], "read", reader, name)
        print(f"{writer} wrote, {reader} read:\n{found}")
        report += found
    return int("DIFFERENT" in report or "same" not in report)


if __name__ == "__main__":
    action, *rest = sys.argv[1:] or ["help"]
    if action in ("write", "read") and len(rest) == 2:
        {"write": write, "read": read}[action](rest[0], Path(rest[1]))
    elif action == "record" and len(rest) == 2:
        record(*rest)
    elif action == "check" and len(rest) == 1:
        sys.exit(check(*rest))
    else:
        sys.exit(__doc__)
