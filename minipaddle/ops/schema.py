"""ops.yaml -> Op objects, once at import. A mistake fails there, naming file, op and key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from minipaddle.ops.op import OPS, REQUIRED, Backward, Op, Param, Saved

KEYS = frozenset(
    {
        "op", "args", "output", "intermediate", "optional", "inplace", "view", "backward", "dtypes",
        "api",
    }
)  # fmt: skip
OWN_DTYPES = frozenset({"int", "bool", "any"})
TENSOR_TYPES = frozenset(
    {"Tensor", "Tensor|Scalar", "Tensor[]", *(f"Tensor:{kind}" for kind in OWN_DTYPES)}
)
ATTRIBUTE_TYPES = frozenset(
    {"bool", "int", "float", "str", "int[]", "Scalar", "DataType", "Index", "Generator"}
)
DTYPE_CLASSES = frozenset({"float", "int", "numeric", "integral", "any"})
LITERALS = {"None": None, "True": True, "False": False}


class SchemaError(ValueError):
    """A declaration in an ops file is wrong."""


def load(path: Path) -> list[Op]:
    """Declares every op of the YAML file at ``path``.

    Returns:
        The new ops.

    Raises:
        SchemaError: A key, type or name is wrong, or an op is declared twice.
    """
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every value is text
    try:
        entries = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    except yaml.YAMLError as error:
        raise SchemaError(f"{path.name}: {error}") from error
    if not isinstance(entries, list):
        raise SchemaError(f"{path.name}: must be a list of ops; got {type(entries).__name__}")
    ops = [_Entry(path.name, entry).op() for entry in entries]
    names = [op.name for op in ops]
    for op in ops:
        if op.name in OPS or names.count(op.name) > 1:
            raise SchemaError(
                f"{path.name}: op {op.name!r}, key 'op': declared twice; no two ops have one name"
            )
    OPS.update((op.name, op) for op in ops)
    return ops


class _Entry:
    """One YAML map on its way to an Op."""

    def __init__(self, file: str, entry: Any) -> None:
        self.file = file
        if not isinstance(entry, dict) or "op" not in entry:
            raise SchemaError(f"{file}: every entry must be a map with the key 'op'; got {entry!r}")
        self.entry = entry
        self.name = str(entry["op"])
        for key in entry:
            if key not in KEYS:
                known = ", ".join(sorted(KEYS))
                raise self.error(key, f"unknown key; known keys: {known}")

    def error(self, key: str, why: str) -> SchemaError:
        return SchemaError(f"{self.file}: op {self.name!r}, key {key!r}: {why}")

    def op(self) -> Op:
        params = self.params()
        words = str(self.entry.get("dtypes", "any")).split()
        if words[0] not in DTYPE_CLASSES or words[1:] not in ([], ["promoted"]):
            raise self.error("dtypes", f"must be one of {sorted(DTYPE_CLASSES)}, then 'promoted'")
        outputs, list_output = self.outputs(params)
        return Op(
            name=self.name,
            params=params,
            outputs=outputs,
            hidden=self.hidden(outputs),
            list_output=list_output,
            inplace=self.pair("inplace", params),
            view=self.pair("view", params),
            optional=self.optional(params),
            dtypes=words[0],
            promoted=len(words) > 1,
            api=tuple(a.strip() for a in str(self.entry.get("api", "")).split(",") if a.strip()),
            backward=self.backward(params, outputs) if "backward" in self.entry else None,
        )

    def outputs(self, params: tuple[Param, ...]) -> tuple[tuple[str, ...], bool]:
        """Names of the results, and whether they are one list."""
        text = self.entry.get("output")
        if self.name.endswith("_"):  # exists only in place: it writes operands, returns nothing
            if text is not None:
                raise self.error("output", f"an op that only writes has none; got {text!r}")
            return (), False
        if text == "Tensor[](out)":
            return ("out",), True
        found = [re.fullmatch(r"Tensor\((\w+)\)", part.strip()) for part in str(text).split(",")]
        names = tuple(match[1] for match in found if match is not None)
        if len(names) < len(found) or names[0] != "out":
            raise self.error(
                "output", f"must be Tensor(out), then more Tensor(name), or Tensor[](out): {text!r}"
            )
        if len({*names, *(p.name for p in params)}) < len(names) + len(params):
            raise self.error("output", f"a name of {list(names)} stands twice, or for an argument")
        return names, False

    def hidden(self, outputs: tuple[str, ...]) -> tuple[str, ...]:
        names = _names(self.entry.get("intermediate"))
        for name in names:
            if name not in outputs[1:]:
                raise self.error("intermediate", f"{name!r} is no output after the first")
        return names

    def params(self) -> tuple[Param, ...]:
        params: list[Param] = []
        for text in self.parenthesised("args", str(self.entry.get("args", ""))):
            match = re.fullmatch(r"([A-Za-z|:]+(?:\[\])?) (\w+)(?:\s*=\s*(\S+))?", text)
            if match is None:
                raise self.error("args", f"{text!r} is not 'type name' or 'type name = default'")
            kind, name, default = match.groups()
            if kind not in TENSOR_TYPES | ATTRIBUTE_TYPES:
                known = ", ".join(sorted(TENSOR_TYPES | ATTRIBUTE_TYPES))
                raise self.error("args", f"unknown type {kind!r}; known types: {known}")
            param = Param(name, kind, REQUIRED if default is None else self.literal(default))
            if params and param.is_tensor and not params[-1].is_tensor:
                raise self.error("args", f"tensor {name!r} stands after an attribute")
            if params and param.default is REQUIRED and params[-1].default is not REQUIRED:
                raise self.error("args", f"{name!r} has no default but the one before it has")
            if name in [p.name for p in params]:
                raise self.error("args", f"{name!r} is named twice")
            params.append(param)
        return tuple(params)

    def literal(self, text: str) -> Any:
        if text in LITERALS:
            return LITERALS[text]
        if re.fullmatch(r'"[^"]*"', text):
            return text[1:-1]
        for number in (int, float):
            try:
                return number(text)
            except ValueError:
                continue
        raise self.error("args", f"default {text!r} is no number, string, None, True or False")

    def parenthesised(self, key: str, text: str) -> list[str]:
        match = re.fullmatch(r"\((.*)\)", text.strip())
        if match is None:
            raise self.error(key, f"must stand in parentheses; got {text!r}")
        return [part.strip() for part in match[1].split(",") if part.strip()]

    def pair(self, key: str, params: tuple[Param, ...]) -> bool:
        if key not in self.entry:
            return False
        expected = f"({params[0].name} -> out)"
        if self.entry[key] != expected:
            raise self.error(key, f"must be {expected}; got {self.entry[key]!r}")
        return True

    def optional(self, params: tuple[Param, ...]) -> tuple[str, ...]:
        names = _names(self.entry.get("optional"))
        for name in names:
            if name not in [p.name for p in params if p.is_tensor]:
                raise self.error("optional", f"{name!r} is no tensor argument")
        return names

    def backward(self, params: tuple[Param, ...], outputs: tuple[str, ...]) -> Backward:
        text = str(self.entry["backward"])
        match = re.fullmatch(r"(\w+)(\(.*\)) -> (\(.*\))", text)
        if match is None or match[1] != self.name + "_grad":
            raise self.error("backward", f"must be '{self.name}_grad(...) -> (...)'; got {text!r}")
        inputs = [p.name for p in params if p.is_input]
        attributes = [p.name for p in params if not p.is_tensor]
        gradients = tuple(self.parenthesised("backward", match[3]))
        if gradients != tuple(f"{name}_grad" for name in inputs):
            raise self.error("backward", f"results must be one gradient per tensor of {inputs}")
        arguments = self.parenthesised("backward", match[2])
        if "out_grad" not in arguments:
            raise self.error("backward", "the rule must take out_grad")
        split = arguments.index("out_grad")
        saved = tuple(self.saved(a, params, outputs) for a in arguments[:split])
        if [s.is_output for s in saved] != sorted(s.is_output for s in saved):
            raise self.error("backward", "the output must stand after the inputs")
        for name in arguments[split + 1 :]:
            if name not in attributes:
                raise self.error("backward", f"{name!r} is no attribute; they are {attributes}")
        return Backward(match[1], saved, tuple(arguments[split + 1 :]), gradients)

    def saved(self, text: str, params: tuple[Param, ...], outputs: tuple[str, ...]) -> Saved:
        operands = {p.name: p for p in params if p.is_tensor}
        match = re.fullmatch(r"(\w+)(\.shape)?(?: for (\w+))?", text)
        if match is None or match[1] not in (*operands, *outputs):
            raise self.error("backward", f"{text!r} keeps none of {[*operands, *outputs]}")
        if match[3] is not None and (match[3] not in operands or not operands[match[3]].is_input):
            raise self.error("backward", f"{text!r}: {match[3]!r} is no tensor with a gradient")
        name = match[1]
        if name in operands and operands[name].type == "Tensor[]" and match[2] is None:
            raise self.error("backward", f"of a list only the shapes are kept: {name}.shape")
        return Saved(name, match[2] is not None, match[3], name in outputs)


def _names(text: Any) -> tuple[str, ...]:
    return tuple(name.strip() for name in str(text or "").split(",") if name.strip())
