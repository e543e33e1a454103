"""to, cpu, float and their kin; contiguous, copy_, detach_; numel, rank, shape; `in`."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from tests.device.plug import plugged_in
from tests.imperative.leaves import leaf

# ---- other element types ----

NAMED = {"float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16",
         "int": "int32", "long": "int64", "bool": "bool"}  # fmt: skip


@pytest.mark.parametrize(("method", "dtype"), NAMED.items())
def test_methods_named_after_a_type(method: str, dtype: str) -> None:
    x = paddle.to_tensor([0, 3], "int16")
    y = getattr(x, method)()
    assert y.dtype.name == dtype
    assert y.tolist() == [0, 1] if dtype == "bool" else [0, 3]
    assert getattr(y, method)() is y
    assert getattr(paddle.Tensor, method).__name__ == method


def test_gradients_flow_through_another_float_type() -> None:
    x = leaf([1.5])
    (x.float() * 2.0).backward()
    (x.to("float32") * 2.0).backward()
    assert x.grad.tolist() == [4.0]
    assert x.grad.dtype == paddle.float64
    assert x.int().stop_gradient


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        (("float64",), {}),
        (("paddle.float64",), {}),
        ((paddle.float64,), {}),
        ((np.float64,), {}),
        (("cpu", "float64"), {}),
        ((paddle.CPUPlace(), np.float64, True), {}),
        (("float64", False), {}),
        ((paddle.zeros([1], "float64"),), {}),
        ((paddle.zeros([1], "float64"), True), {}),
        ((), {"dtype": "float64"}),
        ((), {"device": "cpu", "dtype": "float64", "blocking": None}),
        (("cpu",), {"dtype": "float64"}),
        (("float64",), {"device": "cpu"}),
        ((), {"other": paddle.zeros([1], "float64")}),
        ((paddle.zeros([1], "int64"),), {"dtype": "float64"}),
        ((None, "float64"), {}),
        (("cpu", "float64", None), {}),
        (("cpu", None), {"dtype": "float64", "non_blocking": True}),
    ],
)
def test_the_forms_of_to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    x = paddle.to_tensor([1.5, 2.0])
    y = x.to(*args, **kwargs)
    assert y.dtype == paddle.float64
    assert y.tolist() == [1.5, 2.0]
    assert x.dtype == paddle.float32


def test_to_itself() -> None:
    x = leaf([1.0])
    assert x.to() is x.to("cpu") is x.to("float64") is x.to(x) is x.to(None) is x.cpu() is x
    assert x.to("cpu", "float64") is x
    assert x.to("cpu", None, None) is x.to("cpu", copy=False, non_blocking=True) is x


def test_to_a_copy() -> None:
    x = leaf([1.0])
    y = x.to("cpu", copy=True)
    assert y is not x and y.tolist() == [1.0]
    (y * 3.0).backward()
    assert x.grad.tolist() == [3.0]
    assert x.to("float32", copy=True).dtype == paddle.float32


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "text"),
    [
        (("float63",), {}, ValueError, "float63"),
        ((3,), {}, TypeError, "dtype"),
        (("cpu", "cpu"), {}, TypeError, "device is given twice"),
        (("float32", "float64"), {}, TypeError, "dtype is given twice"),
        (("cpu",), {"device": "cpu"}, TypeError, "twice"),
        ((), {"place": "cpu"}, TypeError, r"device, dtype, other and blocking; got 'place'"),
    ],
)
def test_to_refuses(
    args: tuple[Any, ...], kwargs: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        paddle.ones([1]).to(*args, **kwargs)


# ---- other devices ----


def test_moving_between_devices() -> None:
    with plugged_in():
        x = paddle.to_tensor([1.0, 2.0])
        there = x.to("xpu:1", "float64")
        assert (str(there.place), there.dtype, there.tolist()) == (
            "xpu:1", paddle.float64, [1.0, 2.0],
        )  # fmt: skip
        assert there.to("xpu:1") is there
        back = there.cpu()
        assert (str(back.place), back.tolist()) == ("cpu", [1.0, 2.0])
        assert str(x.to(there).place) == "xpu:1"
        assert there.is_contiguous() and there.contiguous() is there
        assert there.copy_(paddle.to_tensor([3.0, 4.0])).tolist() == [3.0, 4.0]


def test_no_gradient_flows_between_devices_in_silence() -> None:
    with plugged_in():
        x = leaf([1.0])
        for move in (lambda: x.to("xpu"), lambda: (x * 2.0).to("xpu:1")):
            with pytest.raises(RuntimeError, match=r"gradient.*xpu.*cpu.*x\.detach\(\)"):
                move()
        assert x.detach().to("xpu").tolist() == [1.0]
        with paddle.no_grad():
            assert x.to("xpu").stop_gradient


def test_a_gpu_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="gpu"):
        paddle.ones([1]).cuda(99)


# ---- memory ----


def test_contiguous() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    assert x.is_contiguous() and x.contiguous() is x
    column = x[:, 0]
    assert not column.is_contiguous()
    copied = column.contiguous()
    assert copied.is_contiguous() and copied.tolist() == [1.0, 3.0]
    (copied * 2.0).sum().backward()
    assert x.grad.tolist() == [[2.0, 0.0], [2.0, 0.0]]
    assert not paddle.ones([1]).expand([3]).is_contiguous()
    assert paddle.ones([1]).expand([3]).contiguous().add_(1.0).tolist() == [2.0, 2.0, 2.0]


def test_copy() -> None:
    x, data = paddle.zeros([2]), None
    data = x.data
    assert x.copy_(paddle.to_tensor([1, 2]), True) is x
    assert x.data is data and x.tolist() == [1.0, 2.0] and x.dtype == paddle.float32
    assert x.inplace_version == 1
    with pytest.raises(ValueError, match=r"\[2\]"):
        x.copy_(paddle.ones([3]))


def test_detach_in_place() -> None:
    x = leaf([2.0])
    y = x * x
    assert y.detach_() is y
    assert y.stop_gradient and y.is_leaf
    (y * x).backward()
    assert x.grad.tolist() == [4.0]


def test_gradient_as_an_array() -> None:
    x = leaf([2.0])
    assert x.gradient() is None
    (x * x).backward()
    array = x.gradient()
    assert type(array) is np.ndarray
    array[0] = 9.0
    assert x.grad.tolist() == [4.0]


# ---- measures ----


@pytest.mark.parametrize("shape", [[], [0], [3], [2, 3]])
def test_measures(shape: list[int]) -> None:
    x = paddle.zeros(shape, "float16")
    assert x.dim() == x.ndimension() == x.ndim == len(shape)
    assert x.element_size() == 2
    assert (paddle.rank(x).item(), x.rank().item()) == (len(shape), len(shape))
    assert (paddle.rank(x).shape, paddle.rank(x).dtype) == ([], paddle.int32)
    assert (paddle.numel(x).item(), paddle.numel(x).shape) == (x.size, [])
    assert paddle.shape(x).tolist() == shape
    assert (paddle.shape(x).dtype, paddle.shape(x).shape) == (paddle.int64, [len(shape)])
    assert paddle.zeros(paddle.shape(x)).shape == shape
    assert paddle.tolist(x) == x.tolist()


@pytest.mark.parametrize("function", [paddle.numel, paddle.rank, paddle.shape, paddle.tolist])
def test_measures_are_of_tensors(function: Any) -> None:
    with pytest.raises(TypeError, match=rf"{function.__name__}: needs a Tensor; got ndarray"):
        function(np.ones(2))


def test_is_tensor() -> None:
    assert paddle.is_tensor(paddle.ones([1]))
    assert paddle.is_tensor(paddle.nn.Linear(1, 1).weight)
    assert not paddle.is_tensor(np.ones(1)) and not paddle.is_tensor(None)


# ---- Python's protocols ----


def test_contains() -> None:
    x = leaf([[1.0, 2.0], [3.0, np.nan]])
    assert 2.0 in x and 2 in x and np.float32(3) in x and paddle.to_tensor(1.0) in x.float()
    assert 5.0 not in x and np.nan not in x
    assert np.array([1.0, 9.0]) in x  # broadcasts, and any equal element will do
    assert 1 in paddle.to_tensor(1) and 1 not in paddle.zeros([0])
    with pytest.raises(TypeError, match="str"):
        "a" in x  # noqa: B015


def test_complex_numbers() -> None:
    assert complex(paddle.to_tensor(1 + 2j)) == 1 + 2j
    assert complex(paddle.to_tensor(1.5)) == 1.5
    with pytest.raises(TypeError, match="complex"):
        complex(paddle.ones([2]))
    with pytest.raises(TypeError):
        float(paddle.to_tensor(1 + 2j))


def test_a_float_of_one_element_is_no_index() -> None:
    with pytest.raises(TypeError, match="float32"):
        range(5)[paddle.to_tensor(2.0)]
    assert [1, 2, 3][paddle.to_tensor([2])] == 3
    assert hex(paddle.to_tensor(255, dtype="uint8")) == "0xff"


# ---- assign ----


def test_assign_copies_what_to_tensor_takes() -> None:
    assert paddle.assign([1, 2]).tolist() == [1, 2]
    assert paddle.assign(np.ones(2)).dtype == "float64"
    x = leaf([1.0, 2.0])
    paddle.assign(x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_assign_writes_its_output_and_the_gradient_goes_to_the_new_values() -> None:
    x, old = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    out = old * 2.0
    assert paddle.assign(x, out) is out
    (out * 5.0).sum().backward()
    assert out.tolist() == [1.0, 2.0]
    assert x.grad.tolist() == [5.0, 5.0]
    assert old.grad.tolist() == [0.0, 0.0]


def test_assign_refuses_an_output_that_does_not_fit() -> None:
    x = paddle.ones([2])
    with pytest.raises(ValueError, match=r"x's shape, \[2\]; got \[3\]"):
        paddle.assign(x, paddle.ones([3]))
    with pytest.raises(TypeError, match="output: needs a Tensor; got str"):
        paddle.assign(x, "name")
    with pytest.raises(ValueError, match="leaf"):
        paddle.assign(x.astype("float64"), leaf([0.0, 0.0]))
