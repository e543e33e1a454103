"""A tensor in another element type, on another device or in other memory, and its measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.device.backend import Place, get_place
from minipaddle.device.dtype import NAMES, as_dtype
from minipaddle.device.gpu_choice import gpu_place
from minipaddle.imperative.grad_node import grad_state
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.tensor import Tensor, to_tensor

# Methods named after what they convert to.
_DTYPE_METHODS = {"float": "float32", "double": "float64", "half": "float16", "bool": "bool",
                  "int": "int32", "long": "int64", "bfloat16": "bfloat16"}  # fmt: skip


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """This tensor with another element type, on another device, or both.

    ``to(dtype)``, ``to(device, dtype)`` and ``to(other)``, each with ``blocking`` last.

    Args:
        self: Any tensor.
        *args: A dtype, a device such as ``"cpu"`` or a Place, a tensor to be like, and
            ``blocking``; None stands for what is left as it is.
        **kwargs: The same by name: ``device``, ``dtype``, ``other`` and ``blocking``. Besides
            ``non_blocking``, like ``blocking`` of no effect, and ``copy``: True has the result
            never be the tensor itself.

    Returns:
        The tensor itself if nothing changes. A change of the element type is recorded, and so is
        a copy.

    Raises:
        RuntimeError: A gradient would have to flow from one device to another.
        TypeError: An argument is none of these, or given twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.ones([2]).to("cpu", "float64").dtype
        dtype('float64')
    """
    wanted = dict(kwargs)
    for arg in args:
        if arg is None:
            continue
        name = _meaning(arg)
        if name in wanted:
            raise TypeError(f"to: {name} is given twice; got {wanted[name]!r} and {arg!r}")
        wanted[name] = arg
    other, device, dtype = (wanted.pop(name, None) for name in ("other", "device", "dtype"))
    copy = wanted.pop("copy", False)
    if unknown := wanted.keys() - {"blocking", "non_blocking"}:
        raise TypeError(
            "to: takes copy, non_blocking, device, dtype, other and blocking; got "
            f"{', '.join(map(repr, sorted(unknown)))}"
        )
    if other is not None:
        device = other.place if device is None else device
        dtype = other.dtype if dtype is None else dtype
    moved = self if device is None else _on(self, get_place(device))
    result = moved if dtype is None else _as(moved, as_dtype(dtype))
    return FUNCTIONS["assign"](self) if copy and result is self else result


def _meaning(arg: Any) -> str:
    if isinstance(arg, Tensor):
        return "other"
    if isinstance(arg, Place):
        return "device"
    if isinstance(arg, bool):
        return "blocking"
    is_dtype = not isinstance(arg, str) or arg.removeprefix("paddle.") in (*NAMES, "bfloat16")
    return "dtype" if is_dtype else "device"


def _on(x: Tensor, place: Place) -> Tensor:
    if place is x.place:
        return x
    if x.edge is not None and grad_state.recording:
        raise RuntimeError(
            f"{x.name} wants a gradient, and none flows from {place} back to {x.place}; move "
            "x.detach(), or move under no_grad()"
        )
    return to_tensor(x, place=place)


def _as(x: Tensor, dtype: Any) -> Tensor:
    converted: Tensor = x if x.dtype == dtype else FUNCTIONS["cast"](x, dtype)
    return converted


def cpu(self: Tensor) -> Tensor:
    """This tensor on the CPU: itself if it lies there, else a copy.

    Raises:
        RuntimeError: It lies elsewhere and wants a gradient; move ``x.detach()``.
    """
    return _on(self, get_place("cpu"))


def cuda(self: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
    """This tensor on a GPU: itself if it lies there, else a copy.

    Args:
        self: Any tensor.
        device_id: Number of the GPU; by default the one that ``set_device`` has chosen, else the
            first.
        blocking: Of no effect.

    Raises:
        RuntimeError: It lies elsewhere and wants a gradient; move ``x.detach()``.
        TypeError: ``device_id`` is no GPU's number.
        ValueError: There is no such GPU; the text says why.
    """
    return _on(self, gpu_place(device_id))


def is_contiguous(self: Tensor) -> bool:
    """Whether the elements lie in memory in row-major order, without gaps."""
    flags = getattr(self.data, "flags", None)  # an opaque array is laid out as its device likes
    return flags is None or bool(flags.c_contiguous)


def contiguous(self: Tensor) -> Tensor:
    """This tensor if it is contiguous, else a copy that is; the gradient flows through."""
    copied: Tensor = self if is_contiguous(self) else FUNCTIONS["assign"](self)
    return copied


def copy_(self: Tensor, other: Any, blocking: bool = True) -> Tensor:
    """Overwrites the values with those of ``other``, without recording.

    Args:
        self: The tensor that is written.
        other: Tensor or array of the same shape; converted to this dtype and device.
        blocking: Of no effect.

    Returns:
        The tensor itself.

    Raises:
        ValueError: The shapes differ.
    """
    self.set_value(other)
    return self


def detach_(self: Tensor) -> Tensor:
    """Cuts this tensor off its graph, and returns it."""
    self.stop_gradient = True
    return self


def gradient(self: Tensor) -> np.ndarray[Any, Any] | None:
    """A copy of the gradient as a NumPy array, or None."""
    return None if self.grad is None else self.grad.numpy()


def dim(self: Tensor) -> int:
    """Number of axes."""
    return self.ndim


def ndimension(self: Tensor) -> int:
    """Number of axes."""
    return self.ndim


def element_size(self: Tensor) -> int:
    """Bytes that one element takes."""
    return self.dtype.itemsize


def is_tensor(x: Any) -> bool:
    """Whether ``x`` is a Tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.is_tensor(paddle.ones([1])), paddle.is_tensor(1.0)
        (True, False)
    """
    return isinstance(x, Tensor)


def _checked(function: str, x: Any) -> Tensor:
    if not isinstance(x, Tensor):
        raise TypeError(f"{function}: needs a Tensor; got {type(x).__name__}")
    return x


def numel(x: Tensor, name: str | None = None) -> Tensor:
    """Number of elements, as a 0-d int64 tensor; ``x.size`` is the plain number.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.numel(paddle.ones([2, 3])).item()
        6
    """
    return to_tensor(_checked("numel", x).size, place=x.place)


def assign(x: Any, output: Tensor | None = None, name: str | None = None) -> Tensor:
    """Copies values, as a recorded op.

    Args:
        x: Tensor, or what ``to_tensor`` takes.
        output: Tensor of x's shape that is overwritten; by default a new one is made.
        name: Unused; for Paddle's signature.

    Returns:
        ``output``, or a tensor with memory of its own.

    Raises:
        TypeError: ``x`` holds no numbers, or ``output`` is no Tensor.
        ValueError: ``output`` has another shape, or is a leaf that wants a gradient.

    Example:
        >>> import minipaddle as paddle
        >>> out = paddle.zeros([2])
        >>> paddle.assign(paddle.to_tensor([1.0, 2.0]), out) is out
        True
        >>> out.tolist()
        [1.0, 2.0]
    """
    if not isinstance(x, Tensor):
        x = to_tensor(x)
    if output is None:
        copied: Tensor = FUNCTIONS["assign"](x)
        return copied
    if _checked("assign: output", output).shape != x.shape:
        raise ValueError(f"assign: output must have x's shape, {x.shape}; got {output.shape}")
    output[...] = x
    return output


def rank(input: Tensor) -> Tensor:
    """Number of axes, as a 0-d int32 tensor; ``x.ndim`` is the plain number.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.rank(paddle.ones([2, 3])).item()
        2
    """
    return to_tensor(_checked("rank", input).ndim, dtype="int32", place=input.place)


def shape(input: Tensor) -> Tensor:
    """Length of each axis, as a 1-D int64 tensor; ``x.shape`` is the plain list.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.shape(paddle.ones([2, 3])).tolist()
        [2, 3]
    """
    return to_tensor(_checked("shape", input).shape, dtype="int64", place=input.place)


def tolist(x: Tensor) -> Any:
    """The values as nested lists of Python numbers.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.tolist(paddle.ones([2]))
        [1.0, 1.0]
    """
    return _checked("tolist", x).tolist()


def _to_dtype(name: str, dtype: str) -> Callable[[Tensor], Tensor]:
    def convert(self: Tensor) -> Tensor:
        return _as(self, as_dtype(dtype))

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"This tensor as {dtype}; itself if it is that already."
    return convert


METHODS: tuple[Callable[..., Any], ...] = (
    to, cpu, cuda, is_contiguous, contiguous, copy_, detach_, gradient, dim, ndimension,
    element_size, rank, *(_to_dtype(name, dtype) for name, dtype in _DTYPE_METHODS.items()),
)  # fmt: skip
