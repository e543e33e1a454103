"""Paddle's ``paddle.distributed.fleet.utils``: names only."""

from minipaddle.imperative.recompute import recompute

__all__ = ["recompute"]
