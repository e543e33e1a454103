"""Kinds of device and places, and what a plug-in kind has to bring."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from minipaddle.device import backend
from minipaddle.device.backend import (
    Backend,
    Place,
    current_place,
    get_backend,
    get_device,
    get_place,
    known_backends,
    register_backend,
    set_device,
)
from minipaddle.imperative.autograd import grad
from minipaddle.imperative.functions import (
    creation,
    elementwise,
    linalg,
    loss,
    random,
    reduction,
    shape,
)
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.op import OPS, namespace
from tests.device.plug import plugged_in


@pytest.fixture
def xpu():
    with plugged_in() as module:
        yield module


@pytest.fixture
def other_kind(monkeypatch):
    """Lets a test register kinds that are gone afterwards."""
    monkeypatch.setattr(backend, "_backends", dict(backend._backends))
    monkeypatch.setattr(backend, "_places", dict(backend._places))


class Npu(Backend):
    name = "npu"

    def device_count(self):
        return 2


def test_places_are_one_object_a_device(xpu):
    assert get_place("cpu") is get_place("cpu:0") is get_place(get_place("cpu"))
    assert get_place("xpu") is get_place("xpu:0")
    assert get_place("xpu:3") is not get_place("xpu:2")
    assert str(get_place("xpu:3")) == "xpu:3" and repr(get_place("xpu:3")) == "Place(xpu:3)"
    assert str(get_place("cpu")) == "cpu"
    assert pickle.loads(pickle.dumps(get_place("xpu:3"))) is get_place("xpu:3")


def test_places_are_one_object_also_when_threads_race(xpu):
    found, barrier = [], threading.Barrier(8)

    def look():
        barrier.wait(10)
        found.append(get_place("xpu:6"))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(found) == 8 and len(set(map(id, found))) == 1


@pytest.mark.parametrize(
    ("device", "error", "words"),
    [
        ("tpu", ValueError, ("tpu", "cpu", "MINIPADDLE_PLUGINS", "minipaddle.backends")),
        ("cpu:1", ValueError, ("cpu:1", "1 cpu")),
        ("xpu:8", ValueError, ("xpu:8", "8 xpu")),
        ("xpu:-1", ValueError, ("xpu:-1",)),
        ("XPU", ValueError, ("XPU", "gpu:0")),
        ("xpu:a", ValueError, ("xpu:a",)),
        ("", ValueError, ("''",)),
        (0, TypeError, ("0", "str")),
        (None, TypeError, ("None",)),
    ],
)
def test_what_names_no_device(device, error, words, xpu):
    set_device("xpu:2")
    for look in (get_place, set_device):
        with pytest.raises(error) as caught:
            look(device)
        assert all(word in str(caught.value) for word in words), caught.value
        assert get_device() == "xpu:2"  # the choice stays


def test_new_tensors_are_made_on_the_chosen_device(xpu):
    assert set_device("xpu:5") is current_place() is get_place("xpu:5")
    assert get_device() == "xpu:5"
    for made in (creation.ones([2]), random.randn([2]), to_tensor([1.0])):
        assert made.place is get_place("xpu:5")
        assert isinstance(made.data, xpu.XpuArray) and made.data.index == 5
    assert to_tensor([1.0], place="cpu").place is get_place("cpu")
    set_device("cpu")
    assert type(creation.ones([2]).data) is np.ndarray


def test_work_goes_to_the_device_of_the_operands_not_to_the_chosen_one(xpu):
    """The chosen device is where new tensors are made, and nothing else."""
    for chosen in ("cpu", "xpu:0", "xpu:6"):
        set_device(chosen)
        x, w = (to_tensor(np.ones(s), place="xpu:4", stop_gradient=False) for s in ((2, 3), (3, 2)))
        out = loss.mse_loss(linalg.linear(x, w), to_tensor(np.zeros((2, 2)), place="xpu:4"))
        out.backward()
        again = elementwise.square(x)
        again.backward()
        x.clear_grad()
        (second,) = grad(reduction.sum(elementwise.square(x)), [x], create_graph=True)
        picked = shape.getitem(x, (0,))
        picked.backward()
        elementwise.tanh(elementwise.add(x, 1.0)).backward()
        elementwise.multiply(2.0, w)
        elementwise.add(x, np.ones((2, 3)))
        for tensor in (out, x.grad, w.grad, second, picked):
            assert tensor.place is get_place("xpu:4") and tensor.data.index == 4
        assert get_device() == chosen


def test_a_thread_that_chose_nothing_works_on_the_place_of_its_operands(xpu):
    set_device("xpu:2")
    x = to_tensor(np.ones(3), place="xpu:2", stop_gradient=False)
    caught = []

    def work():
        try:
            elementwise.square(x).backward()
        except Exception as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert not caught
    assert x.grad.tolist() == [2.0] * 3


def test_to_and_from_the_host_copies(xpu):
    for place in (get_place("cpu"), get_place("xpu:1")):
        host = np.arange(6.0).reshape(2, 3)
        tensor = to_tensor(host, place=place)
        host[0, 0] = 9.0
        assert tensor.numpy()[0, 0] == 0.0
        tensor.numpy()[0, 0] = 9.0
        assert tensor.numpy()[0, 0] == 0.0
        transposed = to_tensor(host.T, place=place)
        np.testing.assert_array_equal(transposed.numpy(), host.T)


def test_tensors_move_between_places_through_the_host(xpu):
    x = to_tensor([1.0, 2.0], place="xpu:1")
    assert to_tensor(x, place="cpu").tolist() == [1.0, 2.0]
    y = to_tensor([0.0, 0.0])
    y.set_value(x)
    assert y.tolist() == [1.0, 2.0] and y.place is get_place("cpu")


def test_a_kind_is_registered_once_under_a_plain_name(other_kind):
    assert register_backend(Npu()) is get_backend("npu")
    assert "npu" in known_backends()
    assert get_place("npu:1").backend is get_backend("npu")
    with pytest.raises(ValueError, match=r"npu.*already"):
        register_backend(Npu())
    for name in ("", "NPU", "npu0", "n-p", "npu:0"):
        wrong = Npu()
        wrong.name = name
        with pytest.raises(ValueError, match="lower-case"):
            register_backend(wrong)


def test_the_contract_says_what_a_kind_must_define(other_kind):
    class Bare(Backend):
        name = "bare"

    bare = register_backend(Bare())
    for call in (
        bare.device_count,
        lambda: bare.to_host(None),
        lambda: bare.from_host(None, 0),
        lambda: bare.to_dlpack(None),
        lambda: bare.from_dlpack(None, False),
    ):
        with pytest.raises(TypeError, match=r"bare.*does not define"):
            call()
    # Right for a device that computes at once.
    assert bare.synchronize(0) is None and bare.set_device(0) is None
    assert bare.stream(0) is None and bare.event(0) is None
    assert bare.dlpack_type is None
    assert bare.generator(0).get_state() != bare.generator(0).get_state()


def test_a_kind_without_kernels_says_which_to_write(other_kind):
    register_backend(Npu())
    place = get_place("npu:0")
    with pytest.raises(TypeError, match=r'(?s)tanh.*npu.*cpu.*@kernel\("tanh", "npu"\)'):
        elementwise.tanh(Tensor(np.ones(2), place))


def test_an_entry_point_is_looked_for_when_a_name_is_unknown(other_kind, monkeypatch):
    asked = []

    class Point:
        def load(self):
            register_backend(Npu())

    def entry_points(group, name):
        asked.append((group, name))
        return [Point()] if name == "npu" else []

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    assert get_backend("cpu").name == "cpu" and not asked
    assert get_place("npu:1").index == 1
    assert asked == [("minipaddle.backends", "npu")]
    with pytest.raises(ValueError, match="other"):
        get_place("other")


PROGRAM = """
import minipaddle as paddle
paddle.set_device("xpu:1")
x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
paddle.lerp(x, paddle.ones([2]), 0.25).sum().backward()
print(type(x.data).__name__, x.grad.tolist(), paddle.get_device())
"""


def run(program, **environ):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path), "OPENBLAS_NUM_THREADS": "1", **environ},
    )


def test_a_variable_names_the_plug_ins():
    ended = run(PROGRAM, MINIPADDLE_PLUGINS=" tests.device.fake_xpu ,")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "XpuArray [0.75, 0.75] xpu:1\n"
    ended = run(PROGRAM)
    assert ended.returncode == 1 and "known kinds: cpu" in ended.stderr


def test_a_plug_in_may_be_imported_first():
    ended = run("import tests.device.fake_xpu\n" + PROGRAM)
    assert ended.returncode == 0, ended.stderr
    ended = run(
        "import tests.device.fake_xpu\n" + PROGRAM, MINIPADDLE_PLUGINS="tests.device.fake_xpu"
    )
    assert ended.returncode == 0, ended.stderr


def test_a_plug_in_that_cannot_be_imported_is_an_error_each_time():
    program = """
import minipaddle as paddle
for _ in range(2):
    try:
        paddle.set_device("xpu")
    except ImportError as error:
        print(error)
"""
    ended = run(program, MINIPADDLE_PLUGINS="no_such_plug_in")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("no_such_plug_in") == 2


@pytest.mark.parametrize(
    ("visible", "count"), [(None, 8), ("10,11", 2), ("3", 1), ("", 0), (" 4, 5 ,6", 3)]
)
def test_xpus_are_counted_as_they_are_visible(visible, count, xpu, monkeypatch):
    monkeypatch.delenv(xpu.VISIBLE, raising=False)
    if visible is not None:
        monkeypatch.setenv(xpu.VISIBLE, visible)
    assert xpu.BACKEND.device_count() == count


def test_the_array_of_an_xpu_is_opaque(xpu):
    array = to_tensor(np.ones((2, 3), np.float32), place="xpu:1").data
    assert (array.shape, array.dtype, array.size, array.nbytes) == ((2, 3), np.float32, 6, 24)
    uses = (
        np.asarray, np.add.reduce, np.copy, np.shape, len, iter, bool, float, hash, pickle.dumps,
        memoryview, lambda a: a + a, lambda a: a * 2, lambda a: 2 - a, lambda a: -a, lambda a: a[0],
        lambda a: a == a, lambda a: a < a, lambda a: a @ a, lambda a: np.add(a, 1),
        lambda a: np.add(np.ones((2, 3)), 1, out=a), lambda a: np.ones(3) * a, lambda a: a in [1],
    )  # fmt: skip
    for use in uses:
        with pytest.raises((TypeError, AttributeError)):
            use(array)
    public = {name for name in dir(array) if not name.startswith("_")}
    assert public == {"shape", "dtype", "size", "nbytes", "index"}


def test_kernels_of_an_xpu_take_nothing_else(xpu):
    x = to_tensor(np.ones(2), place="xpu:1").data
    run_add = namespace(get_place("xpu:1")).add
    with pytest.raises(TypeError, match="NumPy array"):
        run_add(x, np.ones(2))
    with pytest.raises(RuntimeError, match="XPUs"):
        run_add(x, to_tensor(np.ones(2), place="xpu:2").data)
    with pytest.raises(TypeError, match="array of an XPU"):
        xpu.BACKEND.to_host(np.ones(2))


def test_views_share_memory_and_in_place_kernels_write_there(xpu):
    space = namespace(get_place("xpu:0"))
    whole = xpu.BACKEND.from_host(np.zeros(6), 0)
    part = space.reshape(space.getitem(whole, (slice(2, 6),)), (2, 2))
    assert space.add_(part, 1.0) is part
    np.testing.assert_array_equal(xpu.BACKEND.to_host(whole), [0, 0, 1, 1, 1, 1])


def test_an_xpu_has_every_kernel_of_the_cpu_but_for_what_a_formula_can_do(xpu):
    for name, op in OPS.items():
        assert ("xpu" in op.kernels.registered) == ("cpu" in op.kernels.registered), name
    lerp = OPS["lerp"].backward
    assert "cpu" in lerp.fused and "xpu" not in lerp.fused
    assert not lerp.table[get_place("xpu:0")].fused
    assert OPS["linear"].backward.table[get_place("xpu:0")].fused


def test_places_can_be_told_apart_in_a_dict(xpu):
    table = {get_place("cpu"): 1, get_place("xpu:0"): 2, get_place("xpu:1"): 3}
    assert len(table) == 3 and isinstance(next(iter(table)), Place)
