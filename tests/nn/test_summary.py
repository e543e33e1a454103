"""summary: the table is Paddle's, and the network is left as it was."""

from collections import Counter
from typing import Any

import pytest

import minipaddle as paddle
from minipaddle import nn


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 4, name="e")
        self.lstm = nn.LSTM(4, 3)
        self.norm = nn.BatchNorm1D(5)
        self.head = nn.Sequential(nn.Linear(3, 2), nn.ReLU())

    def forward(self, x: Any) -> Any:
        return self.head(self.norm(self.lstm(self.embedding(x))[0]))


# What Paddle 3.3.1 prints for this network, but for blanks at the ends of lines.
TABLE = """\
------------------------------------------------------------------------------------------
 Layer (type)       Input Shape                 Output Shape                 Param #
==========================================================================================
  Embedding-1         [[2, 5]]                    [2, 5, 4]                    40
    LSTM-1          [[2, 5, 4]]      [[2, 5, 3], [[1, 2, 3], [1, 2, 3]]]       108
 BatchNorm1D-1      [[2, 5, 3]]                   [2, 5, 3]                    20
   Linear-1         [[2, 5, 3]]                   [2, 5, 2]                     8
    ReLU-1          [[2, 5, 2]]                   [2, 5, 2]                     0
==========================================================================================
Total params: 176
Trainable params: 166
Non-trainable params: 10
------------------------------------------------------------------------------------------
Input size (MB): 0.00
Forward/backward pass size (MB): 0.00
Params size (MB): 0.00
Estimated Total Size (MB): 0.00
------------------------------------------------------------------------------------------

"""


def test_the_table_is_that_of_paddle(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("minipaddle.nn.layer_attributes._instances", Counter())
    found = paddle.summary(Net(), (2, 5), dtypes="int64")
    assert found == {"total_params": 176, "trainable_params": 166}
    lines = [line.rstrip() for line in capsys.readouterr().out.split("\n")]
    assert "\n".join(lines) == TABLE


def test_the_network_is_left_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    net = Net()
    net.head.eval()
    mean = net.norm._mean.numpy()
    paddle.summary(net, (2, 5), "int64")
    assert net.training
    assert net.lstm.training
    assert not net.head[0].training
    assert (net.norm._mean.numpy() == mean).all()
    assert all(p.grad is None for p in net.parameters())
    assert not any(x._forward_post_hooks for x in net.sublayers(include_self=True))
    with pytest.raises((ValueError, TypeError)):
        paddle.summary(net, (2, 5, 3, 3), "int64")  # a failed run cleans up too
    assert net.training
    assert not any(x._forward_post_hooks for x in net.sublayers(include_self=True))


def test_several_inputs_and_unknown_batches(capsys: pytest.CaptureFixture[str]) -> None:
    found = paddle.summary(nn.Bilinear(2, 3, 4), [(None, 2), (-1, 3)], ["float32", "float32"])
    assert found["total_params"] == 28
    assert "[[1, 2], [1, 3]]" in capsys.readouterr().out
    paddle.summary(nn.Linear(3, 1), [7, 3])
    paddle.summary(nn.Linear(3, 1), 3)
    assert "[7, 1]" in capsys.readouterr().out


def test_an_input_is_handed_in_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    class Sum(nn.Layer):
        def forward(self, x: Any) -> Any:
            return sum(x.values()) if isinstance(x, dict) else sum(x)

    paddle.summary(Sum(), input=[paddle.ones([2]), paddle.ones([2])])
    paddle.summary(Sum(), input={"a": paddle.ones([3])})
    paddle.summary(nn.Linear(3, 1), input=paddle.ones([4, 3]))
    out = capsys.readouterr().out
    assert "[[[2], [2]]]" in out
    assert "[4, 1]" in out


def test_shared_and_frozen_parameters_count_once(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    two.weight = one.weight
    two.bias.trainable = False
    assert paddle.summary(nn.Sequential(one, two, one), (1, 2)) == {
        "total_params": 8,
        "trainable_params": 6,
    }


def test_sizes_are_in_megabytes(capsys: pytest.CaptureFixture[str]) -> None:
    paddle.summary(nn.Sequential(nn.Linear(512, 512, bias_attr=False)), (1024, 512))
    out = capsys.readouterr().out
    for line in ("Input size (MB): 2.00", "pass size (MB): 4.00", "Params size (MB): 1.00",
                 "Estimated Total Size (MB): 7.00"):  # fmt: skip
        assert line in out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, ValueError),
        ({"input_size": (None, None, 3)}, ValueError),
        ({"input_size": (0, 3)}, ValueError),
        ({"input_size": (1, 2.5)}, TypeError),
        ({"input_size": [(1, 3)], "dtypes": ["float32", "int64"]}, ValueError),
        ({"input": 5}, TypeError),
    ],
)
def test_what_does_not_fit(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="summary"):
        paddle.summary(nn.Linear(3, 1), **arguments)
