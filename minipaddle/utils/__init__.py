"""Paddle's ``paddle.utils``: names only, each from a module of its own."""

from minipaddle.utils import dlpack
from minipaddle.utils.load_op import load_op
from minipaddle.utils.run_check import run_check

__all__ = ["dlpack", "load_op", "run_check"]
