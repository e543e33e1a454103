"""DLPack with NumPy and, where they are installed, PyTorch and JAX."""

import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.utils import dlpack
from tests.device.plug import plugged_in

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
          "complex64", "complex128"]  # fmt: skip


class Old:
    """A producer from before DLPack 1.0."""

    def __init__(self, array: Any, device: tuple[int, int] | None = None) -> None:
        self.array = array
        self.device = device

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device or self.array.__dlpack_device__()


FORMS: dict[str, Callable[[Any], Any]] = {
    "object": lambda producer: producer,
    "old object": Old,
    "capsule": lambda producer: producer.__dlpack__(),
    "versioned capsule": lambda producer: producer.__dlpack__(max_version=(1, 0)),
}


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return FORMS[request.param]


# ---- DLPack with NumPy ----


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_dlpack_to_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    x = paddle.ones(list(shape), dtype)
    array = np.from_dlpack(x)
    assert (array.shape, array.dtype) == (shape, x.dtype)
    x.set_value(np.zeros(shape, dtype))
    assert not array.any()
    array[...] = 1
    assert x.numpy().all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_dlpack_from_numpy(dtype: str, shape: tuple[int, ...], form: Callable[[Any], Any]) -> None:
    array = np.ones(shape, dtype)
    for taken in (paddle.from_dlpack, dlpack.from_dlpack):
        x = taken(form(array))
        assert (x.shape, x.stop_gradient, str(x.place)) == (list(shape), True, "cpu")
        assert x.dtype is getattr(paddle, dtype, x.dtype)
        array[...] = 0
        assert not x.numpy().any()
        x.set_value(np.ones(shape, dtype))
        assert array.all()


def test_dlpack_of_memory_that_is_not_contiguous(form: Callable[[Any], Any]) -> None:
    x = paddle.to_tensor(np.arange(12.0).reshape(3, 4))
    part = x[::-1, 1::2]
    array = np.from_dlpack(part)
    np.testing.assert_array_equal(array, x.numpy()[::-1, 1::2])
    again = paddle.from_dlpack(form(part))
    again.set_value(np.zeros((3, 2)))
    assert not part.numpy().any() and not array.any()
    assert x.tolist()[0] == [0.0, 0.0, 2.0, 0.0]


@pytest.mark.parametrize("shape", [(), (0,), (4,), (2, 3)])
def test_dlpack_of_bfloat16(shape: tuple[int, ...], form: Callable[[Any], Any]) -> None:
    x = paddle.full(list(shape), 1.5, "bfloat16")
    y = paddle.from_dlpack(form(x))
    assert (y.shape, y.dtype) == (list(shape), paddle.bfloat16)
    assert y.tolist() == x.tolist()
    x.set_value(np.zeros(shape))
    assert not y.numpy().any()
    assert paddle.from_dlpack(x[..., None], copy=True).dtype is paddle.bfloat16


def test_the_arguments_of_dlpack() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    assert x.__dlpack_device__() == (1, 0)
    assert 'object "dltensor"' in repr(x.__dlpack__())
    assert 'object "dltensor"' in repr(x.__dlpack__(stream=None, copy=False, dl_device=(1, 0)))
    assert 'object "dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 1)))
    copied = paddle.from_dlpack(x.__dlpack__(copy=True))
    assert copied.add_(1.0).tolist() == [2.0, 3.0]
    assert np.from_dlpack(x, copy=True)[0] == x.tolist()[0] == 1.0
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="stream"):
        x.__dlpack__(stream=1)
    with pytest.raises(TypeError):
        x.__dlpack__(None)


def test_a_tensor_that_wants_a_gradient_is_not_handed_out() -> None:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    for tensor in (x, x * 2.0, paddle.nn.Linear(1, 1).weight):
        for share in (np.from_dlpack, dlpack.to_dlpack, paddle.from_dlpack):
            with pytest.raises(BufferError, match=r"wants a gradient.*x\.detach\(\)"):
                share(tensor)
    np.from_dlpack(x.detach())[0] = 5.0
    assert x.tolist() == [5.0]
    with paddle.no_grad():
        assert np.from_dlpack(x * 2.0)[0] == 10.0


def test_a_gradient_can_be_handed_out() -> None:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    (x * 3.0).backward()
    assert np.from_dlpack(x.grad)[0] == 3.0


def test_read_only_memory() -> None:
    x = paddle.to_tensor([1.0]).expand([3])
    assert not np.from_dlpack(x).flags.writeable  # NumPy asks for DLPack 1.0, which can say it
    with pytest.raises(BufferError, match=r"read-only.*clone\(\)"):
        dlpack.to_dlpack(x)
    assert np.from_dlpack(x.clone()).flags.writeable
    array = np.zeros(2)
    array.flags.writeable = False
    with pytest.raises(ValueError, match=r"read-only.*copy=True"):
        paddle.from_dlpack(array)
    assert paddle.from_dlpack(array, copy=True).add_(1.0).tolist() == [1.0, 1.0]
    assert array.tolist() == [0.0, 0.0]


def test_a_capsule_is_taken_once() -> None:
    capsule = dlpack.to_dlpack(paddle.ones([1]))
    paddle.from_dlpack(capsule)
    with pytest.raises(ValueError, match=r"once.*used_dltensor"):
        paddle.from_dlpack(capsule)
    with pytest.raises(ValueError, match="once"):
        paddle.from_dlpack(np._core._multiarray_umath._ARRAY_API)  # another capsule


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ([1.0], TypeError, r"from_dlpack.*list"),
        (None, TypeError, "NoneType"),
        (np.zeros(2, "uint32"), TypeError, "uint32"),
        (np.zeros(2, "M8[s]"), BufferError, "DLPack"),
        (Old(np.zeros(2), (2, 0)), BufferError, r"type 2; known are cpu \(1\)"),
    ],
)
def test_from_dlpack_refuses(given: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        paddle.from_dlpack(given)


def test_to_dlpack_takes_a_tensor() -> None:
    with pytest.raises(TypeError, match=r"to_dlpack.*ndarray"):
        dlpack.to_dlpack(np.ones(2))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_dlpack_keeps_memory_alive_and_lets_it_go(dtype: str, form: Callable[[Any], Any]) -> None:
    x = paddle.ones([3], dtype)
    gone = weakref.ref(x.data)
    y = paddle.from_dlpack(form(x))
    del x
    assert gone() is not None and y.tolist() == [1.0, 1.0, 1.0]
    z = y[1:]
    del y
    assert gone() is not None and z.tolist() == [1.0, 1.0]
    del z
    assert gone() is None


def test_a_capsule_that_nobody_takes_lets_its_memory_go() -> None:
    x = paddle.ones([3])
    gone = weakref.ref(x.data)
    capsule = dlpack.to_dlpack(x)
    del x
    assert gone() is not None
    del capsule
    assert gone() is None


def test_sharing_leaks_nothing() -> None:
    x = paddle.ones([3], "bfloat16")
    paddle.from_dlpack(x)
    gc.collect()
    before = sys.getrefcount(x.data)
    for _ in range(20):
        paddle.from_dlpack(x).tolist()
        paddle.from_dlpack(dlpack.to_dlpack(x))
        with pytest.raises(BufferError):
            x.__dlpack__(dl_device=(2, 0))
    after = sys.getrefcount(x.data)
    assert after == before


def test_devices() -> None:
    with plugged_in():
        x = paddle.to_tensor([1.0, 2.0], place="xpu:1")
        for share in (np.from_dlpack, dlpack.to_dlpack, paddle.from_dlpack):
            with pytest.raises(BufferError, match=r"xpu:1.*x\.cpu\(\)"):
                share(x)
        with pytest.raises(BufferError, match="xpu:1"):
            x.__dlpack_device__()
        assert np.from_dlpack(x.cpu()).tolist() == [1.0, 2.0]
        moved = paddle.from_dlpack(np.array([3.0]), device="xpu:2")
        assert (str(moved.place), moved.tolist()) == ("xpu:2", [3.0])
        with pytest.raises(ValueError, match=r"copy is False.*xpu:2"):
            paddle.from_dlpack(np.array([3.0]), device="xpu:2", copy=False)
    assert paddle.from_dlpack(np.array([3.0]), device="cpu", copy=False).tolist() == [3.0]


# ---- DLPack with PyTorch ----


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_torch_both_ways(torch: Any, dtype: str, form: Callable[[Any], Any]) -> None:
    for shape in ((), (0,), (3,), (2, 3)):
        x = paddle.ones(list(shape), dtype)
        theirs = torch.from_dlpack(form(x))
        assert (tuple(theirs.shape), theirs.dtype) == (shape, getattr(torch, dtype))
        theirs.zero_()
        assert not x.numpy().any()
        ours = paddle.from_dlpack(form(theirs))
        assert (ours.shape, ours.dtype) == (list(shape), x.dtype)
        x.set_value(np.ones(shape))
        assert ours.numpy().all() and bool(theirs.all())
        ours.set_value(np.zeros(shape))
        assert not theirs.any()


def test_torch_strides_and_lifetime(torch: Any) -> None:
    theirs = torch.arange(6.0).reshape(2, 3)
    ours = paddle.from_dlpack(theirs.T)
    assert ours.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    assert torch.from_dlpack(ours[1:]).tolist() == [[1.0, 4.0], [2.0, 5.0]]
    del theirs
    assert ours.add_(1.0).tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    x = paddle.ones([3])
    gone = weakref.ref(x.data)
    held = torch.from_dlpack(x)
    del x
    assert gone() is not None
    del held
    assert gone() is None


def test_torch_and_gradients(torch: Any) -> None:
    with pytest.raises(BufferError, match="detach"):
        torch.from_dlpack(paddle.to_tensor([1.0], stop_gradient=False))
    with pytest.raises(BufferError, match="detach"):
        paddle.from_dlpack(torch.ones(1, requires_grad=True))


# ---- DLPack with JAX ----


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "bfloat16", "float32"])
def test_jax_both_ways(dtype: str) -> None:
    jax = pytest.importorskip("jax")
    x = paddle.ones([2, 3], dtype)
    theirs = jax.dlpack.from_dlpack(x)
    assert (theirs.shape, theirs.dtype.name) == ((2, 3), dtype)
    ours = paddle.from_dlpack(theirs + theirs, copy=True)
    assert (ours.dtype, ours.tolist()) == (x.dtype, (x + x).tolist())
