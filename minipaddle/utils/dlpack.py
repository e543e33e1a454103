"""Memory shared with other libraries, under Paddle's names."""

from minipaddle.imperative.interchange import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
