"""Headers and the texts made from them."""

import numpy as np
import pytest

from minipaddle.distributed.process_group import PeerError, ReduceOp, message
from minipaddle.distributed.process_group.message import Call, Code, Phase


def test_header_keeps_data_behind_it_aligned() -> None:
    assert message.HEADER_BYTES % 16 == 0


@pytest.mark.parametrize(
    "other",
    [
        Call(Code.REDUCE, 5, 0, 8, np.dtype("f4")),
        Call(Code.ALL_REDUCE, 6, 0, 8, np.dtype("f4")),
        Call(Code.ALL_REDUCE, 5, 1, 8, np.dtype("f4")),
        Call(Code.ALL_REDUCE, 5, 0, 9, np.dtype("f4")),
        Call(Code.ALL_REDUCE, 5, 0, 8, np.dtype("i4")),
        Call(Code.ALL_REDUCE, 5, 0, 8, np.dtype("f4"), ReduceOp.MAX),
        Call(Code.ALL_REDUCE, 5, 0, 8, np.dtype("f4"), root=1),
        Call(Code.ALL_REDUCE, 5, 0, 8, np.dtype("f4"), buffer=1),
    ],
)
def test_headers_differ_in_every_value(other: Call) -> None:
    call = Call(Code.ALL_REDUCE, 5, 0, 8, np.dtype("f4"))
    assert call.header() == Call(Code.ALL_REDUCE, 5, 0, 8, np.dtype("f4")).header()
    assert len(other.header()) == message.HEADER_BYTES
    assert other.header() != call.header()
    assert message.describe(other.header(), 9) != message.describe(call.header(), 9)


def test_description_of_a_later_exchange_names_it() -> None:
    call = Call(Code.ALLREDUCE_MEAN, 3, 1, 400, np.dtype("f4"), ReduceOp.AVG, buffer=7)
    assert message.describe(call.header(Phase.STREAM, 4), user_ring=2) == (
        "allreduce_mean number 3 "
        "(ring 1, 400 bytes of float32, buffer 7, exchange 4 of its stream phase)"
    )


def test_abort_carries_rank_and_any_text() -> None:
    packed = message.pack_abort(3, "größe \udc80")
    assert packed[0] == Code.ABORT and len(packed) <= message.MAX_MESSAGE_BYTES
    assert message.unpack_abort(packed) == (3, "größe ?")


def test_longest_failure_text_fits_a_message() -> None:
    text = message.failure_text(ValueError("\N{GRINNING FACE}" * 1_000_000))
    assert "characters left out" in text and text.startswith("ValueError")
    assert len(message.pack_abort(0, text)) <= message.MAX_MESSAGE_BYTES


def test_failure_text_of_a_peers_failure_is_its_own() -> None:
    assert message.failure_text(PeerError("rank 0 heard of it", 1, "the cause")) == "the cause"


def test_long_shapes_are_told_apart() -> None:
    shapes = [(*[1] * 29, 2, 3, 1), (*[1] * 29, 2, 1, 3)]
    dtype = np.dtype("float32")
    headers = [
        message.Call(message.Code.ALL_REDUCE, 1, 0, 24, dtype, shape=shape).header()
        for shape in shapes
    ]
    assert headers[0] != headers[1]
    assert "shape [1, 1, 1, 1" in message.describe(headers[0], 0)
