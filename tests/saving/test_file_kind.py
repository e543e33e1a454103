"""Files that are no checkpoints are called by what they are."""

import bz2
import gzip
import io
import lzma
import tarfile

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.saving import CheckpointError


def tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as made:
        made.addfile(tarfile.TarInfo("weights"))
    return file.getvalue()


def npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"<html>404 not found</html>\n", "it is text"),
        ("nicht gefunden: Gewichte für das Modell".encode(), "it is text"),
        (b"cos\nsystem\n(S'true'\ntR.", "it is text, or a pickle of protocol 0"),
        (b"version https://git-lfs.github.com/spec/v1\n", "it is text"),
        (gzip.compress(b"abc"), "it is compressed by gzip; unpack it first"),
        (bz2.compress(b"abc"), "it is compressed by bzip2"),
        (lzma.compress(b"abc"), "it is compressed by xz"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "it is a PNG image"),
        (b"\x89HDF\r\n\x1a\n" + bytes(30), "it is an HDF5 file; h5py reads"),
        (tar(), "it is a tar archive"),
        (npy(), "it is an array of NumPy's; numpy.load"),
        (b"PK\x03\x04" + bytes(30), "it is a zip archive; what PyTorch has saved"),
        (bytes(100), "it is none of the formats"),
        (bytes(range(256)), "it is none of the formats"),
        (b"\x80\x01N.", "it is none of the formats"),
        (b"\x80", "it is none of the formats"),
        (b"\x80\x04", "it is damaged or cut short"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",  # the bytes have a date in them
)
def test_foreign_files(content, words, tmp_path):
    path = tmp_path / "model.pdparams"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=f"^{path}: {words}"):
        paddle.load(path)
