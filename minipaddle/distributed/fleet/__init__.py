"""Paddle's ``paddle.distributed.fleet``: names only, of what is elsewhere."""

from minipaddle.distributed.fleet import utils
from minipaddle.distributed.fleet.utils import recompute

__all__ = ["recompute", "utils"]
