"""Queues of work on a GPU, and marks in them: CuPy's, under Paddle's names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minipaddle.device.backend import Place
from minipaddle.device.gpu_choice import gpu_place

_HIGH = {1, -1}  # as Paddle and PyTorch say it; both know 0 or 2 for the rest
_NORMAL = {0, 2}


class Stream:
    """A queue of work on one GPU: what is in it runs in order, beside what is in other queues.

    Ops go to the current stream, which is the GPU's default one until ``stream_guard`` or
    ``set_stream`` says otherwise. A new stream waits for no other, the default one included. A
    tensor that is used on another stream than that of its making has to live until the work there
    is done: its memory is free for the next tensor of its own stream as soon as nobody holds it.

    Args:
        device: GPU as ``0``, ``"gpu:0"`` or a Place; the current one by default.
        priority: 1 or -1 for work that goes first, 2 or 0 for other work.

    Attributes:
        place: The GPU.
        raw: CuPy's stream.

    Raises:
        TypeError: ``device`` is none of these.
        ValueError: There is no such GPU, and the text says why; or no such priority.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     side = paddle.device.cuda.Stream()
        ...     side.wait_stream(paddle.device.cuda.current_stream())
        ...     with paddle.device.cuda.stream_guard(side):
        ...         x = paddle.ones([2], "float32")
        ...     side.synchronize()
    """

    __slots__ = ("place", "raw")

    def __init__(self, device: Any = None, priority: int = 2) -> None:
        if priority not in _HIGH | _NORMAL:
            raise ValueError(f"priority must be 1 or -1 (high), 2 or 0 (normal); got {priority!r}")
        place = gpu_place(device)
        cuda = place.backend.xp.cuda
        with cuda.Device(place.index):
            urgent = {"priority": -1} if priority in _HIGH else {}
            self._set(place, cuda.Stream(non_blocking=True, **urgent))

    def _set(self, place: Place, raw: Any) -> None:
        self.place, self.raw = place, raw

    @property
    def cuda_stream(self) -> int:
        """The ``cudaStream_t``, as an int."""
        return int(self.raw.ptr)

    def __cuda_stream__(self) -> tuple[int, int]:
        """How other libraries take a stream: CuPy's ``Stream.from_external`` for one."""
        return 0, self.cuda_stream

    def wait_event(self, event: Event) -> None:
        """Has work that is queued from now on wait for ``event``; the host does not wait."""
        self.raw.wait_event(event.raw)

    def wait_stream(self, stream: Stream) -> None:
        """Has work that is queued from now on wait for all that ``stream`` holds now."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Puts a mark at the end of the queue.

        Args:
            event: The mark; a new one by default.

        Returns:
            The mark.
        """
        event = Event._on(self.place) if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        """Whether all that was queued is done."""
        return bool(self.raw.done)

    def synchronize(self) -> None:
        """Waits until all that was queued is done."""
        self.raw.synchronize()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return self.place is other.place and self.cuda_stream == other.cuda_stream

    def __hash__(self) -> int:
        return hash((self.place, self.cuda_stream))

    def __repr__(self) -> str:
        return f"Stream({self.place}, cuda_stream={self.cuda_stream:#x})"


class Event:
    """A mark in a stream, of the current GPU: others wait for it, and two of them tell a time.

    Args:
        enable_timing: Whether ``elapsed_time`` may be asked.
        blocking: Whether ``synchronize`` lets the processor do other work instead of spinning.
        interprocess: Whether CUDA may share it between processes; then it tells no time.

    Attributes:
        place: The GPU.
        raw: CuPy's event.

    Raises:
        ValueError: There is no GPU, and the text says why; or a time is wanted between processes.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     start, end = (paddle.device.cuda.Event(enable_timing=True) for _ in range(2))
        ...     start.record()
        ...     end.record()
        ...     milliseconds = start.elapsed_time(end)
    """

    __slots__ = ("place", "raw", "recorded", "timed")

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if enable_timing and interprocess:
            raise ValueError("an event between processes tells no time: leave enable_timing False")
        self._make(gpu_place(), enable_timing, block=blocking, interprocess=interprocess)

    @classmethod
    def _on(cls, place: Place) -> Event:
        event = cls.__new__(cls)
        event._make(place, False)
        return event

    def _make(self, place: Place, timed: bool, **options: bool) -> None:
        cuda = place.backend.xp.cuda
        self.place, self.timed, self.recorded = place, timed, False
        with cuda.Device(place.index):
            self.raw = cuda.Event(disable_timing=not timed, **options)

    def record(self, stream: Stream | None = None) -> None:
        """Puts the mark at the end of a stream, by default the GPU's current one.

        Raises:
            ValueError: The stream is one of another GPU.
        """
        stream = current_stream(self.place) if stream is None else stream
        if stream.place is not self.place:
            raise ValueError(f"an event of {self.place} cannot be recorded on {stream!r}")
        self.raw.record(stream.raw)
        self.recorded = True

    def query(self) -> bool:
        """Whether all that was before the mark is done; True if it was never recorded."""
        return bool(self.raw.done)

    def synchronize(self) -> None:
        """Waits until all that was before the mark is done."""
        self.raw.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to a later one, for which it waits.

        Raises:
            RuntimeError: One of them was made without ``enable_timing``, or was not recorded.
        """
        for event in (self, end_event):
            if not (event.timed and event.recorded):
                lack = "recorded" if event.timed else "made with enable_timing=True"
                raise RuntimeError(f"elapsed_time: both events must be {lack}")
        end_event.synchronize()
        return float(self.place.backend.xp.cuda.get_elapsed_time(self.raw, end_event.raw))

    def __repr__(self) -> str:
        return f"Event({self.place}, recorded={self.recorded})"


def current_stream(device: Any = None) -> Stream:
    """The stream that the calling thread's ops on a GPU go to.

    Args:
        device: ``0``, ``"gpu:0"`` or a Place; by default the current GPU, else the first.

    Raises:
        TypeError: ``device`` is none of these.
        ValueError: There is no such GPU; the text says why.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     paddle.device.cuda.current_stream().synchronize()
    """
    place = gpu_place(device)
    stream = Stream.__new__(Stream)
    stream._set(place, place.backend.xp.cuda.get_current_stream(place.index))
    return stream


def set_stream(stream: Stream) -> Stream:
    """Has the calling thread's ops on the stream's GPU go to ``stream``.

    Returns:
        The stream that they went to before.

    Raises:
        TypeError: ``stream`` is no Stream.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     before = paddle.device.set_stream(paddle.device.Stream())
        ...     _ = paddle.device.set_stream(before)
    """
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be a Stream; got {type(stream).__name__}")
    before = current_stream(stream.place)
    with stream.place.backend.xp.cuda.Device(stream.place.index):
        stream.raw.use()
    return before


@contextmanager
def stream_guard(stream: Stream | None = None) -> Iterator[None]:
    """Has the calling thread's ops on the stream's GPU go to ``stream`` inside ``with``.

    Args:
        stream: The stream; None changes nothing.

    Raises:
        TypeError: ``stream`` is neither a Stream nor None.

    Example:
        >>> import minipaddle as paddle
        >>> with paddle.device.cuda.stream_guard(None):
        ...     x = paddle.ones([2])
    """
    if stream is None:
        yield
        return
    before = set_stream(stream)
    try:
        yield
    finally:
        set_stream(before)
