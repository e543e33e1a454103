"""Functions of nn.functional are the ops themselves."""

import minipaddle as paddle
import minipaddle.nn.functional as F


def test_every_listed_function_is_there_and_works() -> None:
    x = paddle.to_tensor([[1.0, -2.0]])
    w = paddle.to_tensor([[1.0], [2.0]])
    assert F.linear(x, w).tolist() == [[-3.0]]
    assert F.relu(x).tolist() == [[1.0, 0.0]]
    assert F.mse_loss(x, paddle.zeros([1, 2])).item() == 2.5
    assert F.tanh(paddle.zeros([1])).tolist() == [0.0]
    assert F.relu_(x) is x
    assert F.tanh_(w) is w
    for name in F.__all__:
        assert callable(getattr(F, name))
