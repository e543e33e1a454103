"""Tensors as text: Paddle's layout, summaries, and set_printoptions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.device.backend import get_place
from minipaddle.imperative import printing
from tests.device.plug import plugged_in


@pytest.fixture(autouse=True)
def settings_as_before() -> Iterator[None]:
    before = dict(vars(printing._options))
    yield
    vars(printing._options).update(before)


def body(data: Any, dtype: str | None = None) -> str:
    """The elements as they are shown, without what stands before them."""
    text = repr(paddle.to_tensor(data, dtype=dtype))
    head, _, elements = text.partition("\n")
    assert head.startswith("Tensor(shape=[") and head.endswith(",")
    assert all(line.startswith(" " * 7) or not line for line in elements.split("\n"))
    return elements.removesuffix(")").replace(" " * 7, "", 1)


def test_the_whole_text() -> None:
    x = paddle.to_tensor([[1.0, 0.5], [-3.25, 4.0]], stop_gradient=False)
    assert (
        repr(x)
        == str(x)
        == f"{x}"
        == (
            "Tensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=False,\n"
            "       [[ 1.        ,  0.50000000],\n"
            "        [-3.25000000,  4.        ]])"
        )
    )


@pytest.mark.parametrize(
    ("data", "dtype", "shown"),
    [
        (1.5, None, "1.50000000"),
        (7, None, "7"),
        (True, None, "True"),
        ([], None, "[]"),
        (np.zeros((0, 3)), None, "[]"),
        (np.zeros((2, 0)), "int64", "[]"),
        ([1.0, 2.0], None, "[1., 2.]"),
        ([True, False], None, "[True , False]"),
        ([1, 10], None, "[1 , 10]"),
        ([-1, 2], None, "[-1,  2]"),
        ([-1, 10], None, "[-1, 10]"),
        ([255], "uint8", "[255]"),
        ([0.1], "float16", "[0.09997559]"),
        ([0.1, 1.0], "bfloat16", "[0.10009766, 1.        ]"),
        ([0.1], "float64", "[0.10000000]"),
        ([np.nan, np.inf, -np.inf], None, "[ nan,  inf, -inf]"),
        ([0.0, -0.0], None, "[ 0., -0.]"),
        ([1e-7, 1.0], None, "[1.00000001e-07, 1.00000000e+00]"),
        ([1e-5, 1.0], None, "[0.00001000, 1.        ]"),
        ([1e20], "float64", "[1.00000000e+20]"),
        ([123456789.0], "float64", "[123456789.]"),
        ([1 + 2j, -0.5j], "complex64", "[(1.+2.j)         , (-0.-0.50000000j)]"),
    ],
)  # fmt: skip
def test_elements(data: Any, dtype: str | None, shown: str) -> None:
    assert body(data, dtype) == shown


def test_a_large_tensor_is_summarised() -> None:
    assert body(np.arange(1000)).count(",") == 999
    assert body(np.arange(1001)) == "[0   , 1   , 2   , ..., 998 , 999 , 1000]"
    rows = body(np.arange(3000).reshape(1000, 3)).split("\n")
    assert len(rows) == 7 and rows[3].strip() == "...,"
    assert rows[-1].strip() == "[2997, 2998, 2999]]"
    x = np.zeros((2, 20, 30))
    x[0, 10, 0] = -123.456  # not shown, so it does not widen what is
    assert "..." in body(x) and "-" not in body(x) and "0. ," not in body(x)


@pytest.mark.parametrize("shape", [(6, 400), (7, 400), (8, 1, 200), (1001,), (2, 3, 7, 30)])
def test_a_summary_shows_what_numpy_shows(shape: tuple[int, ...]) -> None:
    values = np.arange(np.prod(shape)).reshape(shape)
    width = len(str(values.max()))
    expected = np.array2string(
        values, max_line_width=80, separator=", ", prefix=" " * 7, suffix=")", threshold=1000,
        formatter={"all": lambda value: str(value).ljust(width)},
    )  # fmt: skip
    assert body(values) == expected


def test_a_summary_copies_only_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    x = paddle.zeros([300, 400])
    backend, copied = get_place("cpu").backend, []
    to_host = backend.to_host

    def counted(array: Any) -> Any:
        copied.append(array.size)
        return to_host(array)

    monkeypatch.setattr(backend, "to_host", counted)
    assert "..." in repr(x)
    assert 0 < sum(copied) < 60


def test_an_array_that_only_its_device_can_read() -> None:
    with plugged_in():
        small, large = (paddle.zeros([2, n]).numpy() for n in (2, 600))
        for values in (small, large):
            here, there = (paddle.to_tensor(values, place=p) for p in ("cpu", "xpu:1"))
            assert repr(there) == repr(here).replace("Place(cpu)", "Place(xpu:1)")


def test_a_view_and_a_parameter() -> None:
    x = paddle.to_tensor(np.arange(6.0).reshape(2, 3))
    assert "[2., 1., 0.]" in repr(x[0, ::-1])
    weight = paddle.nn.Linear(1, 1).weight
    assert repr(weight).startswith(f"Parameter {weight.name}: Tensor(shape=[1, 1]")
    assert "..." in repr(paddle.to_tensor(np.arange(4000)).expand([2, 4000]))


def test_settings() -> None:
    paddle.set_printoptions(precision=3)
    assert body([0.12345, 2.0]) == "[0.123, 2.   ]"
    paddle.set_printoptions(sci_mode=True)
    assert body([0.123, 2.0]) == "[1.230e-01, 2.000e+00]"
    paddle.set_printoptions(sci_mode=False)
    assert body([1e-9, 2.0]) == "[0.000, 2.   ]"
    paddle.set_printoptions(threshold=4, edgeitems=1)
    assert body([1, 2, 3, 4]) == "[1, 2, 3, 4]"
    assert body([1, 2, 3, 4, 5]) == "[1, ..., 5]"
    paddle.set_printoptions(threshold=100, linewidth=30)
    assert all(len(line) <= 30 for line in body(np.arange(60)).split("\n"))
    assert len(body(np.arange(60)).split("\n")) > 10
    assert body([0.5]) == "[0.500]"  # what was not named stays


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ({"precision": -1}, ValueError),
        ({"edgeitems": 0}, ValueError),
        ({"linewidth": 0}, ValueError),
        ({"threshold": -1}, ValueError),
        ({"precision": 1.5}, TypeError),
        ({"linewidth": "80"}, TypeError),
        ({"sci_mode": 1}, TypeError),
    ],
)
def test_wrong_settings_change_nothing(setting: dict[str, Any], error: type[Exception]) -> None:
    before = dict(vars(printing._options))
    with pytest.raises(error, match=next(iter(setting))):
        paddle.set_printoptions(**{"precision": 2} | setting)
    assert vars(printing._options) == before


def test_formats() -> None:
    assert f"{paddle.to_tensor(1.239):.2f}" == "1.24"
    assert f"{paddle.to_tensor([[7]]):>4d}" == "   7"
    assert f"{paddle.ones([2]):>200}".endswith(repr(paddle.ones([2])))
    with pytest.raises(ValueError, match=r"one element.*'\.2f'.*\[2\]"):
        f"{paddle.ones([2]):.2f}"
