"""The table of process group classes, and the errors that travel."""

import pickle

import pytest

from minipaddle.distributed.process_group import (
    PeerError,
    ProcessGroup,
    ReduceOp,
    SharedMemoryGroup,
    base,
    process_group_class,
    register_process_group,
)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_CLASSES", dict(base._CLASSES))


def test_cpu_has_the_shared_memory_group() -> None:
    assert process_group_class("cpu") is SharedMemoryGroup


def test_reduce_ops_have_paddles_numbers() -> None:
    assert [op.name for op in sorted(ReduceOp)] == ["SUM", "MAX", "MIN", "PROD", "AVG"]
    assert ReduceOp.SUM == 0 and ReduceOp.AVG == 4


def test_unknown_kind_lists_the_known_ones_and_the_way_to_add_one() -> None:
    with pytest.raises(ValueError, match=r"'tpu' \(registered: cpu.*register_process_group\('tpu'"):
        process_group_class("tpu")


@pytest.mark.usefixtures("table")
def test_plug_in_registers_its_class_once() -> None:
    class Other(SharedMemoryGroup):
        pass

    register_process_group("toy", Other)
    register_process_group("toy", Other)
    assert process_group_class("toy") is Other
    with pytest.raises(ValueError, match="'toy' already has the group class Other"):
        register_process_group("toy", SharedMemoryGroup)


def test_class_must_be_a_process_group() -> None:
    with pytest.raises(TypeError, match="subclass of ProcessGroup"):
        register_process_group("xpu", dict)  # type: ignore[arg-type]


def test_incomplete_group_cannot_be_made() -> None:
    class Incomplete(ProcessGroup):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Incomplete()  # type: ignore[abstract]


def test_peer_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(PeerError("text", 3, "reason")))
    assert (str(error), error.rank, error.reason) == ("text", 3, "reason")
