"""gated_square on a GPU: the share of the copy speed, and PyTorch's time where it is installed.

Run in the checkout's root: python -m examples.own_kernel.measure
"""

import importlib.util
from pathlib import Path

import cupy

import minipaddle as paddle
from benchmarks.lerp_gpu import Clock, copy_speed
from minipaddle.device.backend import get_place
from minipaddle.ops.op import OPS
from minipaddle.utils import load_op

SHAPE = (64, 1048576)  # 268 MB: no cache holds it

load_op(Path(__file__).with_name("my_kernels.yaml"))
paddle.set_device("gpu")
place, op, clock = get_place("gpu"), OPS["gated_square"], Clock(cupy)
x, y, g = (cupy.random.standard_normal(SHAPE, "float32") for _ in range(3))
forward, backward = op.kernels[place], op.backward.table[place]
calls = {  # and how many arrays each reads and writes
    "forward": (lambda: forward(x, y), 3),
    "backward": (lambda: backward.function(x, y, g, (True, True), None), 7),
}
speed = copy_speed(cupy, clock)
for name, (call, arrays) in calls.items():
    time = clock.microseconds([call] * 8)
    print(f"{name}: {time:.0f} us, {arrays * x.nbytes / time / speed:.2f} of the copy speed")
if importlib.util.find_spec("torch"):
    torch = importlib.import_module("torch")
    a, b = (torch.as_tensor(one, device="cuda") for one in (x, y))
    time = clock.microseconds([lambda: torch.relu(a).square() * b] * 8)
    print(f"forward in PyTorch: {time:.0f} us")
