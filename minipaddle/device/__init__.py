"""Devices: what this process may use, and where new tensors are made."""

from minipaddle.device import cpu, cuda, gpu
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
    synchronize,
)
from minipaddle.device.build import (
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from minipaddle.device.generator import Generator
from minipaddle.device.rng_state import (
    fork_rng,
    get_cuda_rng_state,
    get_rng_state,
    set_cuda_rng_state,
    set_rng_state,
)
from minipaddle.device.streams import Event, Stream, current_stream, set_stream, stream_guard

__all__ = [
    "Backend",
    "Event",
    "Generator",
    "Place",
    "Stream",
    "cpu",
    "cuda",
    "current_place",
    "current_stream",
    "fork_rng",
    "get_backend",
    "get_cuda_rng_state",
    "get_device",
    "get_place",
    "get_rng_state",
    "gpu",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "known_backends",
    "register_backend",
    "set_cuda_rng_state",
    "set_device",
    "set_rng_state",
    "set_stream",
    "stream_guard",
    "synchronize",
]
