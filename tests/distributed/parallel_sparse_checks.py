"""Checks on two processes of DataParallel with sparse gradients; see jobs.py."""

import numpy as np

import minipaddle as paddle
from tests.distributed.jobs import assert_same
from tests.distributed.parallel_models import PARTS, equal

nn, optimizer = paddle.nn, paddle.optimizer


class _Text(nn.Layer):
    """A table, used ``uses`` times with sparse gradients or dense ones, and a layer."""

    def __init__(self, sparse, uses=1):
        super().__init__()
        self.uses = uses
        self.table = nn.Embedding(40, 6, padding_idx=0, sparse=sparse)
        self.out = nn.Linear(6, 2)
        rng = np.random.default_rng(5)
        for parameter in self.parameters():
            parameter.set_value(rng.standard_normal(parameter.shape))

    def forward(self, ids):
        rows = [self.table((ids + i) % 40) for i in range(self.uses)]
        return self.out(sum(rows[1:], rows[0]))


def check_sparse_embedding_is_dense_embedding(group):
    rng = np.random.default_rng(group.rank)
    batches = [paddle.to_tensor(rng.integers(0, 40, (3, 4))) for _ in range(8)]
    for kind in (optimizer.SGD, optimizer.Adam):
        for options in ({}, PARTS, {"find_unused_parameters": True}):
            results = []
            for sparse in (False, True):
                net = _Text(sparse, uses=2)
                model = paddle.DataParallel(net, group=group, **options)
                trainer = kind(0.05, parameters=net.parameters())
                for i in range(0, 8, 2):
                    with model.no_sync():
                        paddle.mean(paddle.square(model(batches[i]))).backward()
                    paddle.mean(paddle.square(model(batches[i + 1]))).backward()
                    assert type(net.table.weight.grad) is paddle.Tensor
                    assert_same(group, [p.grad for p in net.parameters()])
                    trainer.step()
                    trainer.clear_grad(i % 4 == 0)
                results.append([p.numpy() for p in net.parameters()])
                assert_same(group, net.parameters())
            for dense, rows in zip(*results, strict=True):
                np.testing.assert_allclose(rows, dense, rtol=1e-6, atol=1e-6)


def check_sparse_embedding_equals_one_process(group):
    ids = np.random.default_rng(3).integers(0, 40, (6, 4))
    alone, net = _Text(sparse=True), _Text(sparse=True)
    model = paddle.DataParallel(net, group=group)
    mine = paddle.to_tensor(ids[3 * group.rank : 3 * group.rank + 3])
    for layer, x in ((alone, paddle.to_tensor(ids)), (model, mine)):
        sgd = optimizer.SGD(0.05, parameters=layer.parameters())
        for _ in range(4):
            paddle.mean(paddle.square(layer(x))).backward()
            sgd.step()
            sgd.clear_grad()
    for expected, found in zip(alone.parameters(), net.parameters(), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def check_sparse_embedding_used_on_one_rank(group):
    """A rank that has not looked anything up gets its half of the other's gradient."""
    net = _Text(sparse=True)
    model = paddle.DataParallel(_Maybe(net), group=group, find_unused_parameters=True)
    for _ in range(2):
        model(paddle.to_tensor([[3, 5]]), group.rank == 1).sum().backward()
        expected = np.zeros((40, 6))
        expected[[3, 5]] = net.out.weight.numpy().sum(axis=1) / 2
        equal(net.table.weight.grad, expected)
        net.clear_gradients()


class _Maybe(nn.Layer):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, ids, look_up):
        return self.net(ids) if look_up else self.net.out(paddle.ones([1, 2, 6]))
