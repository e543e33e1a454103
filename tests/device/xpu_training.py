"""What a process of a training job on fake XPUs, or on the CPU, does; run by test_xpu_training.py.

A program of its own: spawn imports it again in every child.
"""

import hashlib
import json
import sys

import numpy as np

import minipaddle as paddle
import minipaddle.distributed as dist
from minipaddle import nn

STEPS, BATCH = 6, 8


class Net(nn.Layer):
    """Two linear layers, as in Paddle's own example of spawn."""

    def __init__(self) -> None:
        super().__init__()
        self._linear1 = nn.Linear(10, 10)
        self._linear2 = nn.Linear(10, 1)

    def forward(self, x):
        return self._linear2(self._linear1(x))


def model(seed: int) -> Net:
    paddle.seed(seed)
    return Net()


def data(rank: int, step: int):
    drawn = np.random.default_rng([rank, step])
    x, y = (drawn.standard_normal((BATCH, n)).astype(np.float32) for n in (10, 1))
    return paddle.to_tensor(x), paddle.to_tensor(y)


def train(optimizer: str, nrings: int) -> dict:
    """Trains on this rank's data and tells how it went."""
    paddle.set_flags({"FLAGS_nccl_nrings": nrings})
    dist.init_parallel_env()
    rank = dist.get_rank()
    # Small buckets: every parameter is in one of its own, so that all rings have work.
    net = paddle.DataParallel(model(rank), comm_buffer_size=1e-4, last_comm_buffer_size=1e-4)
    chosen = getattr(paddle.optimizer, optimizer)(0.01, parameters=net.parameters())
    loss_of, losses = nn.MSELoss(), []
    for step in range(STEPS):
        x, y = data(rank, step)
        loss = loss_of(net(x), y)
        loss.backward()
        chosen.step()
        chosen.clear_grad()
        losses.append(loss.numpy().item())
    places = {str(p.place) for p in net.parameters()}
    kinds = {type(p.data).__name__ for p in net.parameters()}
    digest = hashlib.sha256(b"".join(p.numpy().tobytes() for p in net.parameters())).hexdigest()
    return {"places": sorted(places), "kinds": sorted(kinds), "losses": losses, "sha": digest}


def gradient_of_ones(layer) -> list:
    """The weight's gradient for an input of 3 ones, which is 3 if nobody scales the loss."""
    layer(paddle.ones([3, 1])).sum().backward()
    return layer.parameters()[0].grad.numpy().ravel().tolist()


def collectives() -> dict:
    """Each collective once, on tensors of this rank's place."""
    dist.init_parallel_env()
    rank, world = dist.get_rank(), dist.get_world_size()
    told = {"unwrapped": gradient_of_ones(nn.Linear(1, 1))}
    wrapped = paddle.DataParallel(nn.Linear(1, 1))
    with wrapped.no_sync():
        told["no_sync"] = gradient_of_ones(wrapped)
    own = paddle.to_tensor(np.arange(3.0) + rank)
    summed = paddle.to_tensor(own)
    dist.all_reduce(summed)
    told["all_reduce"] = summed.tolist()
    sent = paddle.to_tensor(own)
    dist.broadcast(sent, src=world - 1)
    told["broadcast"] = sent.tolist()
    gathered = []
    dist.all_gather(gathered, own)
    told["all_gather"] = [part.tolist() for part in gathered]
    told["places"] = sorted({str(t.place) for t in (summed, sent, *gathered)})
    dist.barrier()
    return told


if __name__ == "__main__":
    target, args, options = json.loads(sys.argv[1])
    context = dist.spawn(globals()[target], args=tuple(args), **options)
    print(json.dumps([mailbox.get() for mailbox in context.return_queues]))
