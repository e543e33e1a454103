"""The error that says why a checkpoint cannot be read."""

from __future__ import annotations


class CheckpointError(ValueError):
    """A file is no checkpoint, is damaged, or asks for what a checkpoint may not do.

    The text names the file, says what is wrong with it and what would work. Nothing was loaded.

    Example:
        >>> import io
        >>> import minipaddle as paddle
        >>> from minipaddle.saving import CheckpointError
        >>> try:
        ...     paddle.load(io.BytesIO(b""))
        ... except CheckpointError as error:
        ...     print(error)
        <BytesIO>: it is empty, so whatever should have written it was stopped before
    """
