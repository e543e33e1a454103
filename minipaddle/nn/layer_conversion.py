"""A layer in another element type or on another device; its tensors stay the same objects."""

from __future__ import annotations

from typing import Any, Self

from minipaddle.device.backend import Place, get_place
from minipaddle.device.dtype import DType, as_dtype, is_float
from minipaddle.device.gpu_choice import gpu_place
from minipaddle.imperative.autograd import no_grad
from minipaddle.imperative.conversion import to as tensor_to
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer_state import LayerState


def _repoint(tensor: Tensor, place: Place | None, dtype: DType | None) -> None:
    """Lets ``tensor`` and its gradient hold their values on ``place`` and of ``dtype``."""
    if not is_float(tensor.dtype):
        dtype = None
    with no_grad():
        moved = tensor_to(tensor, device=place, dtype=dtype)
        if moved is tensor:
            return
        grad = None if tensor.grad is None else tensor_to(tensor.grad, device=place, dtype=dtype)
    # Views and recorded ops keep the old memory, so the new one begins with a record of its own.
    hooks = tensor.leaf.hooks if tensor.leaf is not None else None
    trained = tensor.is_leaf and not tensor.stop_gradient
    tensor.data, tensor.place, tensor.version = moved.data, moved.place, [0, 0]
    tensor.leaf = tensor.edge = tensor.origin = None
    if trained:
        tensor.edge = tensor.leaf_node()
        tensor.edge.hooks = hooks
    if grad is not None:
        tensor.grad = grad


class LayerConversion(LayerState):
    """The part of ``Layer`` that changes element types and devices."""

    def _convert(self, place: Place | None, dtype: Any, left_out: Any = ()) -> Self:
        excluded = (left_out,) if isinstance(left_out, type) else tuple(left_out or ())
        element = None if dtype is None else as_dtype(dtype)
        if element is not None and not is_float(element):
            raise ValueError(f"dtype must be a float type; got {element.name}")
        for _, layer in self._walk("", True, set()):
            if type(layer) in excluded:
                continue
            for tensor in (*layer._parameters.values(), *layer._buffers.values()):
                if tensor is not None:
                    _repoint(tensor, place, element)
            if element is not None:
                layer.__dict__["_dtype"] = element
        return self

    def to(
        self,
        device: Any = None,
        dtype: Any = None,
        blocking: bool | None = None,
        non_blocking: bool | None = None,
    ) -> Self:
        """Moves this layer and those below it to a device, to a float type, or both.

        Parameters stay the same objects, so an optimizer that has them goes on; wrap a layer in
        ``DataParallel`` after this. Gradients are converted too, int buffers keep their type.

        Args:
            device: Device such as ``"cpu"``, or a Place.
            dtype: Float element type, also of parameters made later.
            blocking: Unused; for Paddle's signature.
            non_blocking: Unused; for Paddle's signature.

        Returns:
            This layer.

        Raises:
            ValueError: The device does not exist, or the dtype is not a float type.

        Example:
            >>> import minipaddle as paddle
            >>> paddle.nn.Linear(2, 1).to(dtype="float64").weight.dtype
            dtype('float64')
        """
        return self._convert(None if device is None else get_place(device), dtype)

    def astype(self, dtype: Any = None) -> Self:
        """``to(dtype=dtype)``.

        Raises:
            ValueError: The dtype is not a float type.
        """
        if dtype is None:
            raise ValueError("dtype must be a float type such as 'float32'; got None")
        return self._convert(None, dtype)

    type = astype

    def float(self, excluded_layers: Any = None) -> Self:
        """``to(dtype="float32")``, but for layers of the excluded classes."""
        return self._convert(None, "float32", excluded_layers)

    def double(self) -> Self:
        """``to(dtype="float64")``."""
        return self._convert(None, "float64")

    def half(self) -> Self:
        """``to(dtype="float16")``."""
        return self._convert(None, "float16")

    def float16(self, excluded_layers: Any = None) -> Self:
        """``to(dtype="float16")``, but for layers of the excluded classes."""
        return self._convert(None, "float16", excluded_layers)

    def bfloat16(self, excluded_layers: Any = None) -> Self:
        """``to(dtype="bfloat16")``, but for layers of the excluded classes."""
        return self._convert(None, "bfloat16", excluded_layers)

    def cpu(self) -> Self:
        """``to("cpu")``."""
        return self._convert(get_place("cpu"), None)

    def cuda(self, device: int | None = None) -> Self:
        """Moves to a GPU, by default to the chosen one, else to the first.

        Raises:
            TypeError: ``device`` is no GPU's number.
            ValueError: There is no such GPU; the text says why.
        """
        return self._convert(gpu_place(device), None)
