"""``python -m docs.compatibility`` writes docs/compatibility.md."""

from docs.compatibility.page import HERE, page

HERE.with_suffix(".md").write_text(page(), "utf-8")
