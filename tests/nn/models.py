"""A layer with a bit of everything, for the tests of Layer."""

import minipaddle as paddle
from minipaddle import nn
from minipaddle.imperative.tensor import Parameter


def parameter(*shape: int) -> Parameter:
    made = nn.Layer().create_parameter(list(shape))
    assert made is not None
    return made


class Block(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.second = nn.Linear(3, 1, bias_attr=False)
        self.scale = parameter(1)
        self.register_buffer("mean", paddle.zeros([3]))
        self.cache = paddle.ones([2])

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.second(self.first(x)) * self.scale


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.left = Block()
        self.right = Block()
        self.shared = self.left.first
        self.missing = None

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.left(x) + self.right(x)
