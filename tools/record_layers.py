"""``python -m tools.record_layers`` has Paddle run tools.layer_cases and writes what it gives.

It needs Paddle, and nothing of this project but that table. Tests compare minipaddle with the file.
"""

from __future__ import annotations

import importlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tools.layer_cases import CASES, measure

FILE = Path(__file__).resolve().parent.parent / "tests" / "nn" / "layers" / "paddle_layers.json"


def plain(value: Any) -> Any:
    """Arrays as flat lists of 7 digits."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    rounded = [float(f"{number:.7g}") for number in np.asarray(value, "float64").ravel()]
    return {"shape": list(np.shape(value)), "values": rounded}


def main() -> None:
    """Writes the file."""
    paddle = importlib.import_module("paddle")
    warnings.simplefilter("ignore")
    found = {case: plain(measure(paddle, case)) for case in CASES}
    lines = [
        f"{json.dumps(case)}: {json.dumps(result, separators=(',', ':'))}"
        for case, result in found.items()
    ]
    version = json.dumps(paddle.__version__)
    text = f'{{"version": {version}, "cases": {{\n' + ",\n".join(lines) + "\n}}\n"
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
