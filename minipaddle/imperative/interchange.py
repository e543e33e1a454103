"""Tensors and other libraries' arrays: NumPy's protocols, DLPack, and shared memory.

NumPy's operators leave ``array * tensor`` to Tensor, and the result is a Tensor. NumPy's functions
(``numpy.sin``, ``numpy.add``, ``numpy.sum``) take a tensor's values and return arrays, outside the
graph, as ``tensor.numpy()`` does. Nothing ever becomes an array of objects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.device.backend import Backend, Place, get_backend, get_place, known_backends
from minipaddle.device.dlpack import capsule_device, is_capsule
from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.tensor import Tensor, to_tensor


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    if copy is False:
        raise ValueError(
            "a tensor becomes an array only by a copy; numpy.from_dlpack(x) shares its memory"
        )
    host = self.numpy()
    return host if dtype is None else host.astype(dtype, copy=False)


def __array_function__(
    self: Tensor, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
) -> Any:
    if not all(issubclass(kind, (Tensor, np.ndarray)) for kind in types):
        return NotImplemented
    return function(*_hosted(args), **_hosted(kwargs))


def _hosted(value: Any) -> Any:
    """``value`` with an array in the place of every tensor in it."""
    if isinstance(value, Tensor):
        return value.numpy()
    if type(value) in (list, tuple):
        return type(value)(map(_hosted, value))
    return {k: _hosted(v) for k, v in value.items()} if type(value) is dict else value


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A CPU tensor over the memory of an array: a write to one is seen in the other.

    The array's owner lives as long as the tensor. A write to the array that backward needs as it
    was is not noticed; ``to_tensor`` copies.

    Args:
        ndarray: Array of any shape and strides, of a dtype that minipaddle has.

    Returns:
        The tensor; its stop_gradient is True.

    Raises:
        TypeError: ``ndarray`` is no NumPy array, or of another dtype.
        ValueError: ``ndarray`` is read-only, or not in this machine's byte order.

    Example:
        >>> import numpy as np
        >>> import minipaddle as paddle
        >>> array = np.array([1.0, 2.0])
        >>> x = paddle.from_numpy(array)
        >>> array[0] = 5.0
        >>> x.tolist()
        [5.0, 2.0]
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(
            f"from_numpy: ndarray must be a NumPy array; got {type(ndarray).__name__}; to_tensor "
            "takes numbers, lists and tensors"
        )
    for wrong, is_so in (("read-only", not ndarray.flags.writeable),
                         ("of foreign byte order", not ndarray.dtype.isnative)):  # fmt: skip
        if is_so:
            raise ValueError(f"from_numpy: array is {wrong}; to_tensor(array) copies it")
    return Tensor(np.asarray(ndarray).view(as_dtype(ndarray.dtype)), get_place("cpu"))


def __dlpack__(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule over this tensor's memory.

    Args:
        self: A tensor that wants no gradient, on a device whose backend shares memory.
        stream: The consumer's stream, which waits for what was queued on this thread's: 1, 2 or
            a pointer on a GPU, None for 1, -1 for no waiting. None for memory of the CPU.
        max_version: The newest DLPack that the consumer reads; None means the form before 1.0.
        dl_device: Where the consumer wants the memory; None means where it is.
        copy: True asks for a copy, False refuses one.

    Raises:
        BufferError: A gradient flows to the tensor, or its memory cannot be shared that way.
    """
    _shared_type(self)
    if self.edge is not None:
        raise BufferError(
            f"{self.name} wants a gradient, which another library cannot take; share x.detach()"
        )
    return self.place.backend.to_dlpack(
        self.data, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
    )


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """DLPack's numbers for the kind of device, and for the device, that the tensor lies on."""
    return _shared_type(self), self.place.index


def _shared_type(x: Tensor) -> int:
    number = x.place.backend.dlpack_type
    if number is None:
        raise BufferError(
            f"the memory of {x.place} cannot be shared: its backend has no DLPack; share x.cpu()"
        )
    return number


def to_dlpack(x: Tensor) -> Any:
    """A DLPack capsule over a tensor's memory, in the old form, to be taken once.

    Args:
        x: A tensor that wants no gradient.

    Returns:
        The capsule; it keeps the memory alive.

    Raises:
        BufferError: A gradient flows to ``x``, or its memory cannot be shared.
        TypeError: ``x`` is no tensor.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> y = paddle.utils.dlpack.from_dlpack(paddle.utils.dlpack.to_dlpack(x))
        >>> _ = y.add_(1.0)
        >>> x.tolist()
        [2.0, 3.0]
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"to_dlpack: x must be a Tensor; got {type(x).__name__}")
    return __dlpack__(x)


def from_dlpack(
    dlpack: Any, *, device: str | Place | None = None, copy: bool | None = None
) -> Tensor:
    """A tensor over the memory of another library's array: a write to one is seen in the other.

    Args:
        dlpack: Object with ``__dlpack__`` and ``__dlpack_device__``, or a capsule.
        device: Where the tensor is wanted; by default where the memory is.
        copy: True copies, False refuses to; by default only another device makes a copy.

    Returns:
        The tensor; its stop_gradient is True.

    Raises:
        BufferError: The memory lies on a kind of device that is not known here.
        TypeError: ``dlpack`` has no DLPack, or the elements are of an unknown dtype.
        ValueError: The memory is read-only and ``copy`` is not True, ``copy`` is False and
            ``device`` another device, or the capsule was taken before.

    Example:
        >>> import numpy as np
        >>> import minipaddle as paddle
        >>> array = np.array([1.0, 2.0])
        >>> paddle.from_dlpack(array).add_(1.0).tolist()
        [2.0, 3.0]
        >>> array.tolist()
        [2.0, 3.0]
    """
    tensor = _taken(dlpack, bool(copy))
    where = tensor.place if device is None else get_place(device)
    if where is tensor.place:
        return tensor
    if copy is False:
        raise ValueError(
            f"from_dlpack: copy is False, and from {tensor.place} to {where} is a copy"
        )
    return to_tensor(tensor, place=where)


def _taken(dlpack: Any, copy: bool) -> Tensor:
    if is_capsule(dlpack):
        kind, index = capsule_device(dlpack)
    elif hasattr(dlpack, "__dlpack__") and hasattr(dlpack, "__dlpack_device__"):
        kind, index = dlpack.__dlpack_device__()
    else:
        raise TypeError(
            "from_dlpack: needs an object with __dlpack__ and __dlpack_device__, or a capsule; got "
            f"{type(dlpack).__name__}"
        )
    backend = _backend_of(int(kind))
    capsule = dlpack if is_capsule(dlpack) else _capsule(dlpack, backend.dlpack_stream(index))
    return Tensor(backend.from_dlpack(capsule, copy), get_place(f"{backend.name}:{index}"))


def _backend_of(kind: int) -> Backend:
    backends = [get_backend(name) for name in known_backends()]
    found = next((b for b in backends if b.dlpack_type == kind), None)
    if found is None or not found.device_count():
        sharing = [b for b in backends if b.dlpack_type is not None and b.device_count()]
        known = ", ".join(f"{b.name} ({b.dlpack_type})" for b in sharing)
        raise BufferError(
            f"from_dlpack: the memory lies on a device of DLPack's type {kind}; known are {known}; "
            "copy it to the CPU first"
        )
    return found


def _capsule(producer: Any, stream: int | None) -> Any:
    options = {} if stream is None else {"stream": stream}
    try:
        return producer.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # it has the signature from before DLPack 1.0
        return producer.__dlpack__(**options)


METHODS = (__array__, __array_function__, __dlpack__, __dlpack_device__)
