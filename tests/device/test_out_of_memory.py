"""Errors for want of memory: what they say, and that work goes on afterwards."""

import pytest

import minipaddle as paddle
from minipaddle.device.out_of_memory import OutOfMemoryError, in_units, out_of_memory
from tests.device import fake_cupy
from tests.device.fake_cupy import GiB
from tests.device.plug import plugged_in

cuda = paddle.device.cuda


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1 << 20, "1.00 MiB"), (3 * GiB // 2, "1.50 GiB")],
)
def test_sizes_are_told_in_units(count, text):
    assert in_units(count) == text


def test_the_error_says_what_there_was(two_gpus):
    two_gpus.used[1], two_gpus.held[1] = 4 * GiB, 5 * GiB
    error = fake_cupy.OutOfMemoryError(3 * GiB, 5 * GiB)
    found = paddle.device.get_place("gpu:1").backend.out_of_memory(1, error, "add(x: [9])")
    assert isinstance(found, cuda.OutOfMemoryError) and isinstance(found, MemoryError)
    for words in (
        "add(x: [9]): out of memory on gpu:1: 3.00 GiB was asked for; 2.00 GiB of 8.00 GiB are",
        "arrays of this process hold 4.00 GiB, and it keeps 1.00 GiB for later ones",
        "others hold 1.00 GiB",
        "A smaller batch, no_grad()",
    ):
        assert words in str(found)
    assert (found.requested, found.free, found.total) == (3 * GiB, 2 * GiB, 8 * GiB)
    assert (found.allocated, found.reserved, found.limit) == (4 * GiB, 5 * GiB, 0)
    assert two_gpus.current == 0


def test_a_limit_of_the_pool_is_told_and_an_unknown_size_is_not(two_gpus):
    two_gpus.limit = 6 * GiB
    error = fake_cupy.OutOfMemoryError(1, 1)
    error.args = ("other words",)
    found = out_of_memory(two_gpus, 0, error, "full([9])")
    assert "more was asked for" in str(found) and "(its limit is 6.00 GiB)" in str(found)
    assert (found.requested, found.limit) == (None, 6 * GiB)


def test_errors_of_the_host_stay_errors_of_the_host(two_gpus):
    backend = paddle.device.get_backend("gpu")
    found = backend.out_of_memory(0, MemoryError("no room"), "sort(x: [9])")
    assert type(found) is MemoryError and str(found) == "sort(x: [9]): no room"
    known = OutOfMemoryError("told already")
    assert backend.out_of_memory(0, known, "sort(x: [9])") is known


def test_a_copy_that_does_not_fit_leaves_all_as_it_was(two_gpus):
    x = paddle.ones([4, 8])
    two_gpus.allocate(7 * GiB - 100)
    with pytest.raises(cuda.OutOfMemoryError, match=r"copy of \[4, 8\] float32: .* 128 bytes was"):
        x.cuda()
    assert cuda.memory_allocated() == 7 * GiB - 100
    two_gpus.used[0] = 0
    assert x.cuda().tolist() == x.tolist()


def test_ops_name_themselves_also_on_the_cpu():
    huge = paddle.ones([1]).expand([1 << 45])
    for make, words in (
        (lambda: paddle.zeros([1 << 45]), r"^full\(\[35184372088832\], float32\): "),
        (lambda: paddle.randn([1 << 45]), "^gaussian: "),
        (lambda: huge + 1.0, r"^add\(x: \[35184372088832\] float32, y: 1.0\): "),
        (lambda: paddle.concat([huge, huge]), r"^concat\(x: \[\[3"),
    ):
        with pytest.raises(MemoryError, match=words):
            make()
    assert (paddle.ones([2]) + 1.0).tolist() == [2.0, 2.0]


def test_backward_names_the_op_and_can_be_run_again(monkeypatch):
    with plugged_in() as module:
        x = paddle.to_tensor([1.0, 2.0], place="xpu:1", stop_gradient=False)
        table = paddle.ops.op.OPS["tanh"].backward.table
        fused, rule, F = table[x.place]

        def no_room(*args):
            raise MemoryError("no room")

        table[x.place] = table[x.place]._replace(function=no_room)
        loss = paddle.tanh(x * 2.0).sum()
        with pytest.raises(MemoryError, match=r"^the gradient of tanh: no room"):
            loss.backward(retain_graph=True)
        table[x.place] = type(table[x.place])(fused, rule, F)
        assert x.grad is None
        paddle.tanh(x * 2.0).sum().backward()
        assert x.grad.shape == [2]
        assert module.BACKEND.name == "xpu"
