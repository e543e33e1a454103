"""Models, data and comparisons for the checks of DataParallel."""

import numpy as np

import minipaddle as paddle

nn = paddle.nn

PARTS = {"comm_buffer_size": 1e-4, "last_comm_buffer_size": 1e-4}  # some buckets for a small model


class Two(nn.Layer):
    """Two layers a and b, of which ``use`` says which are used, and a third that never is."""

    def __init__(self, never=False):
        super().__init__()
        self.a, self.b = nn.Linear(1, 1), nn.Linear(1, 1)
        if never:
            self.never = nn.Linear(1, 1)

    def forward(self, x, use="ab"):
        return sum((getattr(self, name)(x) for name in use), paddle.zeros([1, 1]))


def mlp(seed=3):
    layers = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    rng = np.random.default_rng(seed)
    for parameter in layers.parameters():
        parameter.set_value(rng.standard_normal(parameter.shape))
    return layers


class Wide(nn.Layer):
    """Like ``mlp``, in float64."""

    def __init__(self, seed=3):
        super().__init__()
        rng = np.random.default_rng(seed)
        for name, shape in (("w", [6, 8]), ("v", [8, 2]), ("c", [2])):
            setattr(self, name, self.create_parameter(shape, dtype="float64"))
            getattr(self, name).set_value(rng.standard_normal(shape))

    def forward(self, x):
        return paddle.matmul(paddle.tanh(paddle.matmul(x, self.w)), self.v) + self.c


def batch(dtype, step=0):
    rng = np.random.default_rng(100 + step)
    return rng.standard_normal((8, 6)).astype(dtype), rng.standard_normal((8, 2)).astype(dtype)


def half(array, rank):
    return paddle.to_tensor(array[4 * rank : 4 * rank + 4])


def ones_of(rank, factor=1.0):
    return paddle.full([1, 1], factor * (rank + 1))


def equal(tensor, expected):
    np.testing.assert_allclose(tensor.numpy().astype("float64"), expected, rtol=1e-6)
