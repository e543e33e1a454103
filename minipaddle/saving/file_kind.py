"""What a file is, by its first bytes: for the choice of a reader, and for errors that help."""

from __future__ import annotations

from enum import Enum

from minipaddle.saving.torch_format import LEGACY_MAGIC

HEAD_BYTES = 512


class Kind(Enum):
    """The kinds of files that can be read."""

    PICKLE = "a pickle, as paddle.save writes it"
    TORCH_ZIP = "a zip archive"
    TORCH_LEGACY = "a checkpoint of PyTorch before 1.6"
    SAFETENSORS = "a safetensors file"


_FOREIGN = {
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"BZh": "compressed by bzip2; unpack it first",
    b"\xfd7zXZ\x00": "compressed by xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; unpack it first",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive; unpack it first",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"\x7fELF": "a program",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file; h5py reads its arrays, and paddle.save takes them",
    b"\x93NUMPY": "an array of NumPy's; numpy.load reads it",
    b"GGUF": "a GGUF file",
}


def kind_of(head: bytes, size: int) -> Kind | str:
    """The kind of a file, or in words what else it is.

    Args:
        head: Its first ``HEAD_BYTES`` bytes.
        size: Its length in bytes.
    """
    if head.startswith(LEGACY_MAGIC):
        return Kind.TORCH_LEGACY
    if head.startswith(b"PK\x03\x04"):
        return Kind.TORCH_ZIP
    if len(head) > 1 and head[0] == 0x80 and 2 <= head[1] <= 5:
        return Kind.PICKLE
    if len(head) > 8 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= size - 8:
        return Kind.SAFETENSORS
    return _foreign(head)


def _foreign(head: bytes) -> str:
    if not head:
        return "empty, so whatever should have written it was stopped before"
    for magic, words in _FOREIGN.items():
        if head.startswith(magic):
            return words
    if head[257:262] == b"ustar":
        return "a tar archive; unpack it first"
    if _is_text(head):
        return "text, or a pickle of protocol 0, which is not read"
    return "none of the formats that are read: pickles, PyTorch's zip files, safetensors"


def _is_text(head: bytes) -> bool:
    if any(byte < 32 and byte not in b"\t\n\r" for byte in head):
        return False
    cut = 3 if len(head) == HEAD_BYTES else 0  # the last letter may lack bytes
    return len(head.decode("utf-8", "ignore").encode()) >= len(head) - cut
