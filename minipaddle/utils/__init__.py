"""Paddle's ``paddle.utils``: names only, from the layers below."""

from minipaddle.utils import dlpack

__all__ = ["dlpack"]
