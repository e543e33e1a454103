"""Data-parallel training on one machine: LinearNet, started by ``paddle.distributed.spawn``.

    python examples/linear_net.py                      the demo: two processes, fixed data
    python examples/linear_net.py --usage 1            one step, a process on every device
    python examples/linear_net.py --usage 2            the same, with an argument for train
    python examples/linear_net.py --usage 3            the same on two devices
    python examples/linear_net.py --usage 4            the same on the GPUs 4 and 5
    python examples/linear_net.py --usage 4 --xpus 4,5 the same on the XPUs 4 and 5

``LinearNet`` and ``train`` are a program for Paddle; only the name after ``import`` is another.
"""

import argparse
import hashlib
import sys
import time

import minipaddle as paddle
import minipaddle.distributed as dist
import minipaddle.nn as nn
import minipaddle.optimizer as opt


class LinearNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self._linear1 = nn.Linear(10, 10)
        self._linear2 = nn.Linear(10, 1)

    def forward(self, x):
        return self._linear2(self._linear1(x))


def train(print_result=False):
    # Meet the other processes.
    dist.init_parallel_env()

    # The wrapped layer starts from rank 0's parameters, and backward averages its gradients.
    layer = LinearNet()
    dp_layer = paddle.DataParallel(layer)

    loss_fn = nn.MSELoss()
    adam = opt.Adam(learning_rate=0.001, parameters=dp_layer.parameters())

    # One step.
    inputs = paddle.randn([10, 10], "float32")
    outputs = dp_layer(inputs)
    labels = paddle.randn([10, 1], "float32")
    loss = loss_fn(outputs, labels)

    if print_result is True:
        print("loss:", loss.numpy())

    loss.backward()

    adam.step()
    adam.clear_grad()


def run_usage(number, devices):
    if number == 1:
        dist.spawn(train)
    elif number == 2:
        dist.spawn(train, args=(True,))
    elif number == 3:
        dist.spawn(train, args=(True,), nprocs=2)
    else:  # devices is {"gpus": "4,5"} or {"xpus": "4,5"}
        dist.spawn(train, args=(True,), nprocs=2, **devices)


# ---- the demo ----

SAMPLES, BATCH, EPOCHS, RANKS = 1024, 64, 10, 2


def regression_data(samples):
    """Made-up data, the same in every process: labels are a line through the inputs, and noise."""
    paddle.seed(2021)
    slope = paddle.randn([10, 1])
    inputs = paddle.randn([samples, 10])
    labels = paddle.matmul(inputs, slope) + 0.5 + 0.1 * paddle.randn([samples, 1])
    return inputs, labels


def parameter_digest(layer):
    """SHA-256 of all parameters: names, dtypes, shapes and every bit of the values."""
    digest = hashlib.sha256()
    for name, parameter in layer.named_parameters():
        values = parameter.numpy()
        digest.update(f"{name} {values.dtype.name} {values.shape}\n".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


def train_epoch(model, adam, batches):
    """Mean loss over the batches of this rank, and seconds per step."""
    loss_fn = nn.MSELoss()
    total = 0.0
    start = time.perf_counter()
    for inputs, labels in batches:
        loss = loss_fn(model(inputs), labels)
        loss.backward()
        adam.step()
        adam.clear_grad()
        total += loss.item()
    return total / len(batches), (time.perf_counter() - start) / len(batches)


def train_on_shard(samples, epochs):
    """What each process of the demo does; returns the digest of its parameters."""
    dist.init_parallel_env()
    rank, ranks = dist.get_rank(), dist.get_world_size()
    inputs, labels = regression_data(samples)
    inputs, labels = inputs[rank::ranks], labels[rank::ranks]  # this rank's shard
    batches = [
        (inputs[at : at + BATCH], labels[at : at + BATCH]) for at in range(0, len(inputs), BATCH)
    ]

    paddle.seed(rank)  # other weights on each rank: DataParallel replaces them by rank 0's
    layer = LinearNet()
    model = paddle.DataParallel(layer)
    adam = opt.Adam(learning_rate=0.01, parameters=model.parameters())

    for epoch in range(1, epochs + 1):
        loss, seconds = train_epoch(model, adam, batches)
        figures = paddle.to_tensor([loss, seconds], "float64")
        dist.all_reduce(figures, dist.ReduceOp.AVG)
        loss, seconds = figures.tolist()
        if rank == 0:
            print(
                f"epoch {epoch:2d}   loss {loss:.6f}   {seconds * 1e6:6.0f} us per step", flush=True
            )
    return parameter_digest(layer)


def demo(samples=SAMPLES, epochs=EPOCHS):
    """Trains on two processes; True if they end with the same parameters, bit for bit."""
    print(f"LinearNet on {RANKS} processes, {samples // RANKS} samples each, batches of {BATCH}")
    context = dist.spawn(train_on_shard, args=(samples, epochs), nprocs=RANKS)
    digests = [results.get() for results in context.return_queues]
    for rank, digest in enumerate(digests):
        print(f"rank {rank}   parameters sha256 {digest}")
    equal = len(set(digests)) == 1
    print("parameters are equal on all ranks" if equal else "PARAMETERS DIFFER BETWEEN RANKS")
    return equal


def arguments(argv):
    parser = argparse.ArgumentParser(description="LinearNet, trained by several processes.")
    parser.add_argument("--demo", action="store_true", help="train on two processes (the default)")
    parser.add_argument("--usage", type=int, choices=(1, 2, 3, 4), help="one of four ways to spawn")
    parser.add_argument("--gpus", metavar="IDS", help="for usage 4; 4,5 by default")
    parser.add_argument("--xpus", metavar="IDS", help="for usage 4, in place of --gpus")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of the demo")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="of the demo")
    given = parser.parse_args(argv)
    if given.demo and given.usage:
        parser.error("--demo and --usage exclude each other")
    if (given.gpus or given.xpus) and given.usage != 4:
        parser.error("--gpus and --xpus belong to --usage 4")
    return given


def main(argv=None):
    given = arguments(argv)
    devices = {kind: ids for kind, ids in vars(given).items() if kind in ("gpus", "xpus") and ids}
    try:
        if given.usage:
            run_usage(given.usage, devices or {"gpus": "4,5"})
        elif not demo(given.samples, given.epochs):
            sys.exit(1)
    except ValueError as error:  # spawn refuses devices that are not there before it starts any
        sys.exit(f"linear_net.py: {error}")


if __name__ == "__main__":
    main()
