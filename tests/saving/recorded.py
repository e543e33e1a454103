"""Files that Paddle 3.3.1 and PyTorch 2.13 wrote; tools/checkpoint_files.py recorded them."""

from __future__ import annotations

import base64
import json
from typing import Any

from tools.checkpoint_files import RECORDED

ENTRIES: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text("utf-8"))
PADDLES = [name for name in ENTRIES if name.endswith(".pdparams")]
TORCHS = [name for name in ENTRIES if name.endswith(".pt")]


def content(name: str) -> bytes:
    """The bytes of a file."""
    return base64.b64decode(ENTRIES[name]["file"])


def value(name: str) -> Any:
    """What its own framework found in it, as ``describe`` says it."""
    return ENTRIES[name]["value"]
