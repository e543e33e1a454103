"""Checks of the collectives on tensors that run on two processes; see jobs.py."""

import numpy as np

import minipaddle as paddle
from tests.distributed.jobs import assert_same, dist, from_all, raises

ReduceOp = dist.ReduceOp
FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = (*FLOATS, "int8", "int32", "int64", "uint8")
SHAPES = ([], [1], [3, 4], [0], [1000, 70])
JOIN = {ReduceOp.SUM: np.add, ReduceOp.MAX: np.maximum, ReduceOp.MIN: np.minimum,
        ReduceOp.PROD: np.multiply}  # fmt: skip


def values(rank, shape, dtype, seed=0):
    """Small whole numbers, which every dtype holds and joins exactly."""
    found = np.random.default_rng(seed * 10 + rank).integers(1, 8, size=shape)
    return paddle.to_tensor(np.asarray(found), dtype=dtype)


def exact(tensor, expected):
    """Values, dtype and shape."""
    assert tensor.shape == list(np.shape(expected)), (tensor.shape, np.shape(expected))
    np.testing.assert_array_equal(tensor.astype("float64").numpy(), expected)


def both(shape, dtype, seed=0):
    return [values(rank, shape, dtype, seed).astype("float64").numpy() for rank in (0, 1)]


def check_all_reduce(group):
    for dtype in DTYPES:
        for shape in SHAPES:
            a, b = both(shape, dtype)
            for op, join in JOIN.items():
                tensor = values(group.rank, shape, dtype)
                data, before = tensor.data, tensor.inplace_version
                assert dist.all_reduce(tensor, op, group=group) is None
                exact(tensor, join(a, b))
                assert tensor.dtype.name == dtype and tensor.data is data
                assert tensor.inplace_version == before + 1
    for dtype in FLOATS:
        tensor = values(group.rank, [3, 4], dtype)
        dist.all_reduce(tensor, ReduceOp.AVG, group=group)
        exact(tensor, sum(both([3, 4], dtype)) / 2)


def check_reduce(group):
    for dst in (0, 1):
        for dtype in DTYPES:
            tensor = values(group.rank, [3, 4], dtype)
            assert dist.reduce(tensor, dst, group=group) is None
            shares = both([3, 4], dtype)
            exact(tensor, sum(shares) if group.rank == dst else shares[group.rank])
    tensor = values(group.rank, [], "float32")
    dist.reduce(tensor, dst=1, op=ReduceOp.MAX, group=group)
    exact(tensor, max(both([], "float32")) if group.rank else both([], "float32")[0])


def check_broadcast(group):
    for src in (0, 1):
        for dtype in (*DTYPES, "bool"):
            for shape in SHAPES:
                tensor = values(group.rank, shape, dtype)
                before = tensor.inplace_version
                assert dist.broadcast(tensor, src, group=group) is None
                exact(tensor, both(shape, dtype)[src])
                assert group.rank == src or tensor.inplace_version == before + 1


def check_all_gather(group):
    for dtype in (*DTYPES, "bool"):
        for shape in SHAPES:
            found = ["kept"]
            assert dist.all_gather(found, values(group.rank, shape, dtype), group=group) is None
            assert found[0] == "kept" and len(found) == 3
            for tensor, expected in zip(found[1:], both(shape, dtype), strict=True):
                exact(tensor, expected)
                assert tensor.dtype.name == dtype and tensor.stop_gradient
    own = values(group.rank, [3], "float32")
    found = []
    dist.all_gather(found, own, group=group)
    assert not np.shares_memory(found[group.rank].data, own.data)


def check_reduce_scatter(group):
    rank = group.rank
    for dtype in DTYPES:
        out = values(rank, [3, 4], dtype)
        parts = [values(rank, [3, 4], dtype, seed) for seed in (1, 2)]
        dist.reduce_scatter(out, parts, group=group)
        exact(out, sum(both([3, 4], dtype, rank + 1)))
        for seed, part in zip((1, 2), parts, strict=True):
            exact(part, both([3, 4], dtype, seed)[rank])
    before = out.inplace_version
    dist.reduce_scatter(out, parts, ReduceOp.MAX, group)
    exact(out, np.maximum(*both([3, 4], dtype, rank + 1)))
    assert out.inplace_version == before + 1


def check_scatter(group):
    for src in (0, 1):
        for dtype in DTYPES:
            out = values(group.rank, [3, 4], dtype)
            before = out.inplace_version
            parts = [values(src, [3, 4], dtype, seed) for seed in (1, 2)]
            dist.scatter(out, parts if group.rank == src else None, src, group=group)
            exact(out, both([3, 4], dtype, group.rank + 1)[src])
            assert out.inplace_version == before + 1


def check_alltoall(group):
    rank = group.rank
    for dtype in DTYPES:
        parts = [values(rank, [3, 4], dtype, seed) for seed in (1, 2)]
        found = []
        assert dist.alltoall(found, parts, group=group) is None
        for tensor, expected in zip(found, both([3, 4], dtype, rank + 1), strict=True):
            exact(tensor, expected)


def check_send_and_recv(group):
    for dtype in (*DTYPES, "bool"):
        for shape in SHAPES:
            tensor = values(group.rank, shape, dtype)
            before = tensor.inplace_version
            if group.rank == 0:
                dist.send(tensor, 1, group=group)
                dist.recv(tensor, 1, group=group)
            else:
                received = values(1, shape, dtype)
                dist.recv(received, 0, group=group)
                exact(received, both(shape, dtype)[0])
                dist.send(tensor, 0, group=group)
            exact(tensor, both(shape, dtype)[1])
            assert tensor.inplace_version == before + (group.rank == 0)


def check_objects(group):
    objects = [{"rank": group.rank, "size": "x" * (1000 + 100_000 * group.rank)}, None]
    found = ["kept"]
    dist.all_gather_object(found, objects, group=group)
    assert found[0] == "kept"
    assert [len(o[0]["size"]) for o in found[1:]] == [1000, 101_000]
    for src in (0, 1):
        listed = [group.rank, "text", (group.rank,)]
        same = listed
        dist.broadcast_object_list(listed, src, group=group)
        assert listed is same and listed == [src, "text", (src,)]
    with raises(Exception, "lambda"):  # it cannot be pickled, and nothing was sent
        dist.all_gather_object([], lambda: None, group=group)
    assert from_all(group.rank, group) == [0, 1]


def check_barrier_and_wait(group):
    for _ in range(3):
        assert dist.barrier(group) is None
    assert dist.wait(paddle.ones([2]), group) is None


def check_views_and_strided_tensors(group):
    """The memory behind a view changes, and its whole knows."""
    whole = paddle.zeros([4, 6])
    part = whole[1:3]
    part.set_value(values(group.rank, [2, 6], "float32"))
    before = whole.inplace_version
    dist.all_reduce(part, group=group)
    exact(whole[1:3], sum(both([2, 6], "float32")))
    exact(whole[0], np.zeros(6))
    assert whole.inplace_version == before + 1
    strided = whole[:, ::2]
    dist.broadcast(strided, 0, group=group)
    assert_same(group, [strided])


def check_a_collective_on_a_saved_tensor_is_noticed(group):
    x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    w = paddle.to_tensor([4.0, 5.0])
    y = (x * w).sum()
    dist.all_reduce(w, group=group)
    with raises(RuntimeError, "multiply", "in place"):
        y.backward()
    (x * w).sum().backward()
    exact(x.grad, [8.0, 10.0])


def check_parameters_and_gradients(group):
    p = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (p * (group.rank + 1.0)).sum().backward()
    dist.all_reduce(p.grad, ReduceOp.AVG, group=group)
    exact(p.grad, [1.5, 1.5])
    dist.broadcast(p, 1, group=group)
    assert not p.stop_gradient and p.is_leaf


def check_wrong_arguments(group):
    """Refused before anything is sent, on both ranks; the group stays usable."""
    x = paddle.ones([2])
    pair = [paddle.ones([2]), paddle.ones([2])]
    tensors = (
        lambda t: dist.all_reduce(t, group=group),
        lambda t: dist.reduce(t, 0, group=group),
        lambda t: dist.broadcast(t, 0, group=group),
        lambda t: dist.all_gather([], t, group=group),
        lambda t: dist.scatter(t, pair, 0, group=group),
        lambda t: dist.reduce_scatter(t, pair, group=group),
        lambda t: dist.send(t, 1 - group.rank, group=group),
        lambda t: dist.recv(t, 1 - group.rank, group=group),
        lambda t: dist.wait(t, group),
    )
    for call in tensors:
        for wrong in (np.ones(2, "float32"), [1.0], None):
            with raises(TypeError, "Tensor"):
                call(wrong)
    for op in (17, -1, "sum", None):
        with raises(ValueError, "ReduceOp.SUM", repr(op)):
            dist.all_reduce(x, op, group=group)
        with raises(ValueError, "ReduceOp.SUM"):
            dist.reduce(x, 0, op, group=group)
        with raises(ValueError, "ReduceOp.SUM"):
            dist.reduce_scatter(x, pair, op, group=group)
    ranked = (
        ("dst", lambda r: dist.reduce(x, r, group=group)),
        ("src", lambda r: dist.broadcast(x, r, group=group)),
        ("src", lambda r: dist.scatter(x, pair, r, group=group)),
        ("dst", lambda r: dist.send(x, r, group=group)),
        ("src", lambda r: dist.recv(x, r, group=group)),
        ("src", lambda r: dist.broadcast_object_list([1], r, group=group)),
    )
    for name, call in ranked:
        for wrong in (1.0, "0", None, True):
            with raises(ValueError, name, repr(wrong)):
                call(wrong)
        for outside in (2, -1):
            with raises(AssertionError, f"{name}={outside}"):
                call(outside)
    for call in (dist.send, dist.recv):
        with raises(ValueError, str(group.rank)):
            call(x, group.rank, group=group)
    for wrong in ([], pair[:1], [*pair, x], x, None):
        with raises(ValueError, "tensor_list", "2"):
            dist.reduce_scatter(x, wrong, group=group)
        with raises(ValueError, "in_tensor_list", "2"):
            dist.alltoall([], wrong, group=group)
    with raises(TypeError, "tensor_list[1]"):
        dist.reduce_scatter(x, [x, 3], group=group)
    for wrong in ((), None, x):
        with raises(TypeError, "list"):
            dist.all_gather(wrong, x, group=group)
    for wrong in (0, [0, 1], "world"):
        with raises(TypeError, "Group"):
            dist.all_reduce(x, group=wrong)
    with raises((TypeError, ValueError), "bool"):
        dist.all_reduce(paddle.to_tensor([True]), group=group)
    with raises((TypeError, ValueError)):
        dist.all_reduce(paddle.to_tensor([1, 2]), ReduceOp.AVG, group=group)
    assert from_all(group.rank, group) == [0, 1]
    exact(x, [1.0, 1.0])


def check_ranks_that_disagree(group):
    """Both learn what the other called, nothing is changed, and the group goes on."""
    for mine in ([2], [3]), (["float32"], ["float64"]):
        kind = mine[group.rank]
        x = paddle.ones([2], kind[0]) if isinstance(kind[0], str) else paddle.ones(kind)
        with raises(RuntimeError, "rank 0", "rank 1", "all_reduce"):
            dist.all_reduce(x, group=group)
        exact(x, np.ones(x.shape))
    with raises(RuntimeError, "all_reduce", "broadcast"):
        (dist.all_reduce if group.rank else lambda t, group: dist.broadcast(t, 0, group))(
            paddle.ones([2]), group=group
        )
    assert from_all(group.rank, group) == [0, 1]


def check_the_default_group(group):
    x = values(dist.get_rank(), [5], "float32")
    for sync_op in (True, False):
        dist.all_reduce(x, ReduceOp.MAX, sync_op=sync_op)
        exact(x, np.maximum(*both([5], "float32")))
    dist.barrier()
    assert from_all(dist.get_rank(), None) == [0, 1]
