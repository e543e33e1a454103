"""FlatBuffer: values of many parameters in one 1-D array, with one shaped view for each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from minipaddle.device.backend import Array, Place
from minipaddle.ops.op import namespace


class FlatBuffer:
    """One 1-D array and, for each shape, the view of its stretch of it.

    Gradients that lie in one buffer are reduced over processes, and used by an optimizer, in one
    go. Buckets of the Reducer and the gradients and moments of an optimizer are FlatBuffers; no
    other part of the package owns gradient memory of several parameters.

    Attributes:
        array: The whole, 1-D.
        offsets: Where each stretch begins; one more than there are views.
        views: The stretches in the parameters' shapes, sharing the whole's memory.
    """

    __slots__ = ("array", "offsets", "place", "views")

    def __init__(self, place: Place, array: Array, shapes: Sequence[tuple[int, ...]]) -> None:
        kernels = namespace(place)
        self.place = place
        self.array = array
        self.offsets = offsets_of(shapes)
        self.views = [
            kernels.reshape(kernels.getitem(array, (slice(start, stop),)), shape)
            for start, stop, shape in zip(self.offsets, self.offsets[1:], shapes, strict=False)
        ]

    def stretch(self, first: int, last: int) -> Array:
        """The 1-D part that holds views ``first`` to ``last``, without ``last`` itself."""
        if first == 0 and last == len(self.views):
            return self.array
        part = slice(self.offsets[first], self.offsets[last])
        return namespace(self.place).getitem(self.array, (part,))


def offsets_of(shapes: Sequence[tuple[int, ...]]) -> list[int]:
    """Where each of ``shapes`` begins when they are laid one after another, and the total."""
    offsets = [0]
    for shape in shapes:
        offsets.append(offsets[-1] + math.prod(shape))
    return offsets
