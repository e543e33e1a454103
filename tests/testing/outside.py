"""The example of an op from outside the tree, copied into a folder as a user would."""

from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "own_op"


def write(folder: Path, **changes: tuple[str, str]) -> Path:
    """The ops file of a copy, with ``old, new`` replaced in ``yaml``, ``code`` or ``samples``."""
    names = {"yaml": "my_ops.yaml", "code": "my_ops.py", "samples": "my_ops_samples.py"}
    for kind, name in names.items():
        text = (EXAMPLE / name).read_text("utf-8")
        old, new = changes.get(kind, ("", ""))
        assert old in text, f"{name} has no {old!r}"
        (folder / name).write_text(text.replace(old, new) if old else text, "utf-8")
    return folder / "my_ops.yaml"
