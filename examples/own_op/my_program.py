"""Uses an op from outside the tree; run it in this folder."""

import minipaddle as paddle
from minipaddle.utils import load_op

ops = load_op("my_ops.yaml")
x = paddle.to_tensor([-1.0, 3.0], stop_gradient=False)
ops.squared_relu(x).sum().backward()
assert x.grad.tolist() == [0.0, 6.0]
