"""What this installation can use, under the names by which Paddle's scripts ask."""

from __future__ import annotations

from collections.abc import Callable

from minipaddle.device.backend import known_backends

_DOCUMENTATION = """\
Whether {what}.

Returns:
    {answer}

Example:
    >>> import minipaddle as paddle
    >>> paddle.{name}() in (True, False)
    True
"""


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether a kind of device is there, from this package or plugged in.

    Args:
        device_type: Its name.

    Returns:
        True if it is registered; whether a device is in the machine is another question.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.is_compiled_with_custom_device("npu")
        False
    """
    return device_type in known_backends()


def _of_device(name: str, kind: str, what: str) -> Callable[[], bool]:
    """Declares the question for one kind of device."""

    def ask() -> bool:
        return is_compiled_with_custom_device(kind)

    return _named(ask, name, f"{what} can be used", "True if it is registered.")


def _always(name: str, answer: bool, what: str) -> Callable[[], bool]:
    """Declares a question whose answer is the same everywhere."""

    def ask() -> bool:
        return answer

    return _named(ask, name, what, f"{answer}.")


def _named(ask: Callable[[], bool], name: str, what: str, answer: str) -> Callable[[], bool]:
    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = _DOCUMENTATION.format(what=what, answer=answer, name=name)
    return ask


is_compiled_with_cuda = _of_device("is_compiled_with_cuda", "gpu", "an NVIDIA GPU")
is_compiled_with_xpu = _of_device("is_compiled_with_xpu", "xpu", "an XPU")
is_compiled_with_distribute = _always(
    "is_compiled_with_distribute", True, "several processes can train together"
)
is_compiled_with_rocm = _always("is_compiled_with_rocm", False, "AMD GPUs can be used")
is_compiled_with_ipu = _always("is_compiled_with_ipu", False, "IPUs can be used")
is_compiled_with_cinn = _always("is_compiled_with_cinn", False, "the CINN compiler is there")
