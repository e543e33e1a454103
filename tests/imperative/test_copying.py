"""Pickling in all protocols and into other processes, copy and deepcopy."""

import copy
import io
import multiprocessing
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from tests.device.plug import plugged_in

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64", "complex64", "complex128"]  # fmt: skip
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Named(paddle.Tensor):
    """A user's tensor with an attribute of its own."""

    def __init__(self, data: Any, place: Any) -> None:
        super().__init__(data, place)
        self.units = ["m"]


def again(value: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


def leaf(values: Any) -> paddle.Tensor:
    return paddle.to_tensor(np.asarray(values, "float64"), stop_gradient=False)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pickle(dtype: str, protocol: int) -> None:
    for shape in ((), (0,), (3,), (2, 3)):
        x = paddle.to_tensor(np.arange(np.prod(shape)).reshape(shape), dtype)
        y = again(x, protocol)
        assert (y.shape, y.stop_gradient, y.is_leaf, str(y.place)) == (x.shape, True, True, "cpu")
        assert y.dtype is x.dtype  # the very object, or every op would take the slow way
        np.testing.assert_array_equal(y.numpy(), x.numpy())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickle_of_a_parameter(protocol: int) -> None:
    weight = paddle.nn.Linear(2, 3).weight
    weight.no_sync = True
    (weight * 2.0).sum().backward()
    twin = again(weight, protocol)
    assert type(twin) is paddle.Parameter
    assert (twin.name, twin.trainable, twin.no_sync) == (weight.name, True, True)
    assert twin.grad is None
    (twin * 3.0).sum().backward()
    assert twin.grad.tolist() == [[3.0] * 3] * 2
    assert weight.grad.tolist() == [[2.0] * 3] * 2


def test_pickle_of_memory_that_is_not_contiguous() -> None:
    x = paddle.to_tensor(np.arange(12.0).reshape(3, 4))
    for part in (x[::-1], x[:, 1], x[::2, ::-2], paddle.ones([1]).expand([3])):
        y = again(part)
        assert y.tolist() == part.tolist()
        assert y.is_contiguous()
        y.add_(1.0)
    assert x.tolist()[0] == [0.0, 1.0, 2.0, 3.0]


def test_buffers_out_of_band_are_copied() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    buffers: list[Any] = []
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    assert len(buffers) == 1
    y = pickle.loads(data, buffers=[bytes(buffers[0])])  # read-only
    assert y.add_(1.0).tolist() == [2.0, 3.0]


def test_the_result_of_an_op_arrives_as_a_leaf() -> None:
    x = leaf([2.0])
    y = again(x * 3.0)
    assert (y.tolist(), y.is_leaf, y.stop_gradient) == ([6.0], True, False)
    y.backward()
    assert (y.grad.tolist(), x.grad) == ([1.0], None)


def test_hooks_and_gradient_stay_behind() -> None:
    x = leaf([1.0])
    x.register_hook(lambda grad: grad * 10.0)
    for y in (again(x), copy.copy(x), copy.deepcopy(x)):
        y.backward()
        assert y.grad.tolist() == [1.0]


def test_one_tensor_in_two_places_stays_one() -> None:
    x = paddle.ones([2])
    one, two = again([x, {"x": x}])
    assert two["x"] is one


def test_names() -> None:
    x = paddle.ones([1])
    x.name = "speed"
    assert again(x).name == copy.copy(x).name == "speed"
    assert again(paddle.ones([1])).name != again(paddle.ones([1])).name


def test_attributes_of_a_subclass() -> None:
    x = paddle.ones([2])
    named = Named(x.data, x.place)
    named.units.append("s")
    for twin in (again(named), copy.deepcopy(named)):
        assert type(twin) is Named
        assert (twin.units, twin.tolist()) == (["m", "s"], [1.0, 1.0])
        assert twin.units is not named.units
    named.units.append(named)  # type: ignore[arg-type] # a cycle
    twin = copy.deepcopy(named)
    assert twin.units[2] is twin


def test_deepcopy_of_a_model_keeps_shared_parameters_shared() -> None:
    layer = paddle.nn.Linear(2, 2)
    held = {"layer": layer, "weight": layer.weight}
    for twin in (copy.deepcopy(held), again(held)):
        assert twin["layer"].weight is twin["weight"]
        assert twin["weight"] is not layer.weight


def test_deepcopy_is_on_the_same_device_and_of_the_same_dtype() -> None:
    with plugged_in():
        x = paddle.to_tensor([1.0, 2.0], dtype="bfloat16", place="xpu:3")
        for twin in (copy.deepcopy(x), again(x), copy.copy(x)):
            assert str(twin.place) == "xpu:3"
            assert (twin.dtype, twin.tolist()) == (x.dtype, [1.0, 2.0])
            twin.add_(1.0)
        assert x.tolist() == [1.0, 2.0]


def test_a_kind_of_device_that_is_not_there_is_named() -> None:
    with plugged_in():
        data = pickle.dumps(paddle.to_tensor([1.0], place="xpu"))
    with pytest.raises(ValueError, match="xpu"):
        pickle.loads(data)


def test_a_new_process_reads_a_bfloat16_parameter() -> None:
    """It has not asked for bfloat16 before, and must know it for a float type."""
    weight = paddle.Parameter(paddle.ones([2], "bfloat16").data, paddle.CPUPlace(), "w")
    program = (
        "import pickle, sys; w = pickle.load(sys.stdin.buffer); (w * 2.0).sum().backward(); "
        "print(w.name, w.dtype, w.grad.tolist(), w.trainable)"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        input=pickle.dumps(weight), capture_output=True, timeout=100, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr.decode()
    assert ended.stdout.decode().split("\n")[0] == "w bfloat16 [2.0, 2.0] True"


def test_through_a_queue_of_another_process() -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        x = leaf([[1.0, 2.0], [3.0, 4.0]])[:, 1]
        y = pool.apply_async(copy.copy, (x,)).get(60)
    assert y.tolist() == [2.0, 4.0]
    assert not y.stop_gradient


def test_an_unpickled_file() -> None:
    file = io.BytesIO()
    pickle.dump({"w": paddle.ones([2])}, file)
    file.seek(0)
    assert pickle.load(file)["w"].tolist() == [1.0, 1.0]
