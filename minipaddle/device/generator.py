"""Random state: one generator a place, all restarted together by ``seed``."""

from __future__ import annotations

from typing import Any

import numpy as np


class Generator:
    """Random numbers of one place, drawn with NumPy's PCG64."""

    __slots__ = ("_bits", "_seed")

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed
        self._bits: np.random.Generator | None = None

    @property
    def bits(self) -> np.random.Generator:
        """The NumPy generator that kernels draw from.

        It is made at first use: to load ``numpy.random`` takes 20 ms, a quarter of the import.
        """
        if self._bits is None:
            self._bits = np.random.default_rng(self._seed)
        return self._bits

    def manual_seed(self, seed: int) -> Generator:
        """Restarts the sequence at ``seed``.

        Raises:
            TypeError: ``seed`` is not an integer.
            ValueError: ``seed`` is negative.
        """
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise TypeError(f"seed must be an int; got {type(seed).__name__}")
        if seed < 0:
            raise ValueError(f"seed must not be negative; got {seed}")
        self._seed, self._bits = int(seed), None
        return self

    def get_state(self) -> dict[str, Any]:
        """The state as plain Python values; ``set_state`` continues from it exactly."""
        return dict(self.bits.bit_generator.state)

    def set_state(self, state: dict[str, Any]) -> None:
        """Continues the sequence from ``state``, a value of ``get_state``.

        Raises:
            ValueError: It is none.
        """
        try:
            self.bits.bit_generator.state = state
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"state must be what get_state() returned; got {state!r}") from error
