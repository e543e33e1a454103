"""Writing a file so that its path holds the old content or the new one, and never a part."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

# Whether new files can be written before they have a name; then a killed process leaves none.
_UNNAMED = getattr(os, "O_TMPFILE", None)


def write_file(path: str, pieces: Iterable[bytes | memoryview]) -> None:
    """Writes ``pieces`` to ``path``, in place of what is there, once all of them are on the disk.

    Folders that are missing are made. A link stays one: the file that it points to is replaced.

    Args:
        path: The file.
        pieces: Its content.

    Raises:
        OSError: It cannot be written; the old file is as it was, and no other is left behind.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    os.makedirs(folder, exist_ok=True)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        raise OSError(f"save: path must be a file; {path!r} is a folder or a device")
    temporary = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(8)}.tmp")
    try:
        with _new_file(folder, temporary) as file:
            if mode is not None:
                os.chmod(file.fileno(), stat.S_IMODE(mode))
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
        _sync_folder(folder)
    except BaseException as error:  # Ctrl-C too
        _remove(temporary)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = path
        raise


@contextmanager
def _new_file(folder: str, path: str) -> Iterator[BinaryIO]:
    """A file to write to; it is at ``path`` when the block ends, and maybe before."""
    descriptor = _open_unnamed(folder)
    if descriptor is None:
        with open(path, "xb") as file:
            yield file
        return
    with open(descriptor, "wb") as file:
        yield file
        at = os.open(folder, os.O_RDONLY)
        try:  # a folder must be given for the link in /proc to be followed
            name = os.path.basename(path)
            os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=at, follow_symlinks=True)
        finally:
            os.close(at)


def _open_unnamed(folder: str) -> int | None:
    if _UNNAMED is None or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, _UNNAMED | os.O_WRONLY, 0o666)
    except OSError:  # not every file system can; a real fault shows at the next attempt
        return None


def _sync_folder(folder: str) -> None:
    """Has the folder's new entry written to the disk, where a folder can be opened for that."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
