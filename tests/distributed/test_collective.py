"""The collectives on tensors: on two processes, and in a process that is alone."""

import numpy as np
import pytest

import minipaddle as paddle
from tests.distributed import collective_checks, jobs

dist = paddle.distributed


@pytest.fixture(scope="module")
def outcomes():
    return jobs.run(collective_checks)


@pytest.mark.parametrize("name", jobs.checks_of(collective_checks))
def test_on_two_processes(name, outcomes):
    assert outcomes[name] == ["", ""], "\n".join(outcomes[name])


def test_the_numbers_of_reduce_ops_are_paddles():
    assert [(op.name, int(op)) for op in dist.ReduceOp] == [
        ("SUM", 0),
        ("MAX", 1),
        ("MIN", 2),
        ("PROD", 3),
        ("AVG", 4),
    ]


ALONE = {
    "all_reduce": lambda x: dist.all_reduce(x),
    "reduce": lambda x: dist.reduce(x, 0),
    "broadcast": lambda x: dist.broadcast(x, 0),
    "scatter": lambda x: dist.scatter(x, [paddle.to_tensor([1.0, 2.0])]),
    "reduce_scatter": lambda x: dist.reduce_scatter(x, [paddle.to_tensor([1.0, 2.0])]),
}


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("op", ["SUM", "MAX", "MIN", "PROD", "AVG"])
def test_alone_a_tensor_keeps_its_values(name, op):
    x = paddle.to_tensor([1.0, 2.0])
    if name in ("all_reduce", "reduce"):
        getattr(dist, name)(x, *([0] if name == "reduce" else []), op=dist.ReduceOp[op])
    else:
        ALONE[name](x)
    assert x.tolist() == [1.0, 2.0]


def test_alone_lists_get_one_entry():
    x, gathered, exchanged, objects = paddle.ones([2]), [], [], []
    dist.all_gather(gathered, x)
    dist.alltoall(exchanged, [x])
    dist.all_gather_object(objects, "text")
    assert [t.tolist() for t in gathered + exchanged] == [[1.0, 1.0]] * 2
    assert objects == ["text"]
    for found in gathered + exchanged:
        assert not np.shares_memory(found.data, x.data)
    listed = [1, "a"]
    dist.broadcast_object_list(listed, 0)
    assert listed == [1, "a"]
    dist.barrier()
    dist.wait(x)


@pytest.mark.parametrize("call", [dist.send, dist.recv])
def test_alone_there_is_nobody_to_send_to(call):
    with pytest.raises(ValueError, match="0"):
        call(paddle.ones([1]), 0)
    with pytest.raises(AssertionError, match="1"):
        call(paddle.ones([1]), 1)


@pytest.mark.parametrize("op", [5, "SUM", 0.5, None])
def test_unknown_ops_are_refused(op):
    x = paddle.ones([1])
    with pytest.raises(ValueError, match=r"ReduceOp\.SUM"):
        dist.all_reduce(x, op)
    assert x.inplace_version == 0
