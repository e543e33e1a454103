"""How parameters of any sizes are cut into stretches that blocks update. Knows no device."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CHUNK = 4096  # elements: a few accesses of each of the 256 threads of a block


def chunks(addresses: Sequence[int], sizes: Sequence[int], itemsize: int) -> np.ndarray:
    """One row for each chunk: its address, where it begins in the flat arrays, its length.

    Args:
        addresses: Where each parameter lies.
        sizes: How many elements it has.
        itemsize: Bytes of one.

    Returns:
        An int64 array [chunks, 3]. A chunk belongs to one parameter.
    """
    found = [np.zeros((0, 3), np.int64)]
    start = 0
    for address, size in zip(addresses, sizes, strict=True):
        begins = np.arange(0, size, CHUNK, dtype=np.int64)
        lengths = np.minimum(CHUNK, size - begins)
        found.append(np.stack([address + begins * itemsize, start + begins, lengths], axis=1))
        start += size
    return np.concatenate(found)
