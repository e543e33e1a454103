"""How rows are shared out to threads that hold them in registers. Knows no device."""

from __future__ import annotations

import functools
from typing import NamedTuple

THREADS = 256
_WARP = 32
_HELD = 16  # elements that a thread holds of a row at most, and no more than 4 accesses bring


class Held(NamedTuple):
    """How a row is held.

    Attributes:
        width: Elements that one access moves.
        packs: Accesses whose elements a thread holds; 0 if the row is too long and is read again
            in every pass.
        group: Threads that share the row: a power of 2 of at most 32, or a whole block.
        threads: Of a block.
    """

    width: int
    packs: int
    group: int
    threads: int

    def grid(self, rows: int) -> int:
        """Number of blocks for so many rows."""
        return -(-rows * self.group // self.threads)


@functools.lru_cache(maxsize=4096)
def held(n: int, width: int, aligned: bool) -> Held:
    """How a row of ``n`` elements is held: 16384 at most, 8192 of float64.

    A few threads do for a short row.

    Args:
        n: Length of the row.
        width: Elements that the widest access moves.
        aligned: Whether the first row begins where such an access may begin.
    """
    one = width if aligned and n % width == 0 else 1
    packs, most = max(1, -(-n // width)), min(4, _HELD // width)
    each = next((k for k in (1, 2, 4) if packs <= k * _WARP and k <= most), 0)
    if each:
        group = 1 << (-(-packs // each) - 1).bit_length()
        return Held(one, each * width // one, group, THREADS)
    for threads in (128, 256, 512, 1024):
        if packs <= threads * most:
            return Held(one, most * width // one, threads, threads)
    return Held(one, 0, 1024, 1024)
