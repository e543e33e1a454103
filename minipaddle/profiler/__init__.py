"""Where the time of a training step goes: ops, buckets, waits and data, as a trace or a page."""

from minipaddle.profiler.profiler import Profiler, RecordEvent
from minipaddle.profiler.timeline import write_timeline

__all__ = ["Profiler", "RecordEvent", "write_timeline"]
