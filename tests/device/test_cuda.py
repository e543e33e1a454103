"""``paddle.device.cuda`` on GPUs that are none, and which GPU is meant."""

import pytest

import minipaddle as paddle
from tests.device.fake_cupy import GiB

cuda = paddle.device.cuda


def test_what_a_gpu_is_and_holds(two_gpus):
    two_gpus.used[1], two_gpus.held[0] = 101, 200
    assert cuda.device_count() == 2
    assert cuda.get_device_properties() == ("GPU 0", 9, 0, 8 * GiB, 132)
    assert cuda.get_device_name(1) == "GPU 1"
    assert cuda.get_device_capability("gpu:1") == (9, 0)
    assert cuda.memory_allocated(paddle.device.get_place("gpu:1")) == 101
    assert cuda.memory_reserved() == 200
    assert two_gpus.current == 0
    cuda.synchronize(1)
    cuda.empty_cache()
    assert two_gpus.log == [("gpu:1", "synchronized"), "freed device memory", "freed pinned memory"]


@pytest.mark.parametrize(
    ("device", "error", "text"),
    [
        (2, ValueError, r"there is no device gpu:2; this process sees 2 gpu\(s\)"),
        (-1, ValueError, "gpu:-1"),
        ("cpu", ValueError, "device must be a GPU, as 0 or 'gpu:0'; got 'cpu'"),
        (1.5, TypeError, "device must be an int, 'gpu:0' or a Place; got 1.5"),
        (True, TypeError, "got True"),
    ],
)
def test_what_is_no_gpu_is_refused(two_gpus, device, error, text):
    x = paddle.ones([1])
    for use in (cuda.get_device_name, cuda.Stream, cuda.current_stream, x.cuda):
        with pytest.raises(error, match=text):
            use(device)


def test_the_chosen_gpu_is_meant_where_none_is_named(two_gpus):
    x, layer = paddle.ones([2]), paddle.nn.BatchNorm1D(2)
    assert (cuda.current_device(), str(x.cuda().place)) == (0, "gpu:0")
    assert paddle.set_device("cuda:1") is paddle.device.get_place("gpu:1")
    assert two_gpus.current == 1
    assert cuda.current_device() == 1
    assert (str(x.cuda().place), str(x.cuda(0).place)) == ("gpu:1", "gpu:0")
    assert cuda.current_stream().place is paddle.device.get_place("gpu:1")
    paddle.device.synchronize()
    paddle.device.synchronize("gpu:0")
    assert two_gpus.log == [("gpu:1", "synchronized"), ("gpu:0", "synchronized")]
    assert {str(t.place) for t in layer.cuda().state_dict().values()} == {"gpu:1"}


def test_tensors_move_and_stay(two_gpus):
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    y = x.cuda(blocking=False)
    assert y.cuda() is y and y.to("gpu") is y and y.to("cuda:0") is y and y.cuda(0) is y
    assert x.to(y).place is y.place and x.to(other=y).place is y.place
    for there in (y, x.to("gpu:1"), y.to("gpu:1"), y.to(paddle.device.get_place("gpu:1"))):
        assert there.tolist() == x.tolist() == there.cpu().tolist()
        assert str(there.cpu().place) == "cpu"
    assert two_gpus.current == 0
