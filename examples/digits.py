"""Learns to read handwritten digits, on one process or two, and survives being killed.

    python examples/digits.py                   some seconds; 97 % of unseen digits and more
    python examples/digits.py --processes 2     the same, data-parallel
    python examples/digits.py --resume          goes on where a killed run was
    python -m minipaddle.distributed.launch --nproc_per_node 2 --max_restart 3 \
        examples/digits.py --resume             goes on by itself when a process is killed

The 1797 images of 8 x 8 pixels come with scikit-learn; every fifth is held out. The checkpoint is
one file that is replaced in one go, after every epoch and every few steps. All that later steps
depend on is in it, so a run that is killed at any moment and resumed ends with the same parameters,
bit for bit, as one that was left alone. The last lines show their SHA-256.
"""

import argparse
import hashlib
import importlib
import sys
from pathlib import Path

import minipaddle as paddle
import minipaddle.distributed as dist
import minipaddle.nn as nn
import minipaddle.nn.functional as F
import minipaddle.optimizer as opt
from minipaddle import io

# What a checkpoint fixes: a run with other values would not be the same run.
FIXED = ("processes", "epochs", "batch", "width", "rate", "samples", "seed")


def optional(module):
    """A package that only this example needs; its absence is explained."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        sys.exit(
            f"digits.py cannot import {error.name}; install what it needs with\n"
            "    pip install scikit-learn matplotlib tqdm"
        )


def load_digits(samples):
    """Arrays (images, labels) to learn from, and the same held out; pixels lie in [0, 1]."""
    images, labels = optional("sklearn.datasets").load_digits(return_X_y=True)
    images, labels = (images[:samples] / 16.0).astype("float32"), labels[:samples]
    unseen = [number % 5 == 4 for number in range(len(labels))]
    seen = [not held_out for held_out in unseen]
    return (images[seen], labels[seen]), (images[unseen], labels[unseen])


def parameter_digest(layer):
    """SHA-256 of all parameters: names, dtypes, shapes and every bit of the values."""
    digest = hashlib.sha256()
    for name, parameter in layer.named_parameters():
        values = parameter.numpy()
        digest.update(f"{name} {values.dtype.name} {values.shape}\n".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


class Training:
    """One rank's part of the training, and all of its state."""

    def __init__(self, given, data):
        paddle.seed(given.seed)
        self.given = given
        self.rank = dist.get_rank()
        (images, labels), self.held_out = data
        dataset = io.TensorDataset([paddle.to_tensor(images), paddle.to_tensor(labels)])
        share = given.batch // given.processes
        self.sampler = io.DistributedBatchSampler(dataset, share, shuffle=True, drop_last=True)
        self.loader = io.DataLoader(dataset, batch_sampler=self.sampler)
        self.layer = nn.Sequential(
            nn.Linear(64, given.width),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(given.width, given.width),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(given.width, 10),
        )
        self.model = self.layer if given.processes == 1 else paddle.DataParallel(self.layer)
        self.schedule = opt.lr.CosineAnnealingDecay(given.rate, given.epochs * len(self.loader))
        self.adam = opt.Adam(self.schedule, parameters=self.model.parameters())
        paddle.seed(given.seed + self.rank)  # each rank drops other units
        self.epoch, self.step, self.total = 0, 0, 0.0  # total: of this epoch's losses
        self.history = []  # a tuple of loss and accuracy for each epoch

    # ---- checkpoints ----

    def save(self):
        """Rank 0 writes the state of all ranks to one file."""
        mine = {"loader": self.loader.state_dict(), "total": self.total}
        mine["random"] = paddle.get_rng_state()
        ranks = [mine]
        if self.given.processes > 1:
            dist.all_gather_object(ranks := [], mine)
        if self.rank == 0:
            state = {
                "settings": {name: getattr(self.given, name) for name in FIXED},
                "model": self.layer.state_dict(),
                "optimizer": self.adam.state_dict(),  # with its schedule
                "ranks": ranks,
                "epoch": self.epoch,
                "step": self.step,
                "history": self.history,
            }
            paddle.save(state, self.given.checkpoint)

    def restore(self, state):
        self.layer.set_state_dict(state["model"])
        self.adam.set_state_dict(state["optimizer"])
        self.epoch, self.step, self.history = state["epoch"], state["step"], state["history"]
        mine = state["ranks"][self.rank]
        self.loader.set_state_dict(mine["loader"])
        self.total = mine["total"]
        paddle.set_rng_state(mine["random"])

    # ---- training ----

    def run(self, bar):
        while self.epoch < self.given.epochs:
            # The number of an epoch in which a checkpoint was made leaves the rest of it as it is.
            self.sampler.set_epoch(self.epoch)
            for images, labels in self.loader:
                self.learn(images, labels)
                bar.update()
                if self.step % self.given.every == 0:
                    self.save()
            self.end_epoch(bar)
            self.save()

    def learn(self, images, labels):
        loss = F.cross_entropy(self.model(images), labels)
        loss.backward()
        self.adam.step()
        self.adam.clear_grad()
        self.schedule.step()
        self.step += 1
        self.total += loss.item()

    def end_epoch(self, bar):
        loss = paddle.to_tensor(self.total / len(self.loader), "float64")
        if self.given.processes > 1:
            dist.all_reduce(loss, dist.ReduceOp.AVG)
        self.history.append((loss.item(), self.accuracy()))
        self.epoch, self.total = self.epoch + 1, 0.0
        if self.rank == 0:
            loss, accuracy = self.history[-1]
            bar.write(f"epoch {self.epoch:2d}   loss {loss:.4f}   held-out {accuracy:.2%}")

    def accuracy(self):
        """Share of the held-out digits that are read right; all ranks have the same replica."""
        images, labels = map(paddle.to_tensor, self.held_out)
        self.layer.eval()
        with paddle.no_grad():
            found = self.layer(images).argmax(axis=1)
        self.layer.train()
        return (found == labels).astype("float64").mean().item()


def train(given, data, state):
    """What each process does; returns the digest of its parameters, and the history."""
    if given.processes > 1:
        dist.init_parallel_env()
        dist.broadcast_object_list(found := [state], src=0)  # rank 0 has read the checkpoint
        state = found[0]
    training = Training(given, data)
    if state is not None:
        training.restore(state)
    steps = given.epochs * len(training.loader)
    hide = None if training.rank == 0 else True  # None: only where a terminal shows it
    with optional("tqdm").tqdm(
        total=steps, initial=training.step, disable=hide, unit="step"
    ) as bar:
        training.run(bar)
    return parameter_digest(training.layer), training.history


def results(given, data, state):
    """Digest and history of each rank."""
    if given.processes == 1:
        return [train(given, data, state)]
    if dist.get_world_size() > 1:  # this is one of the launcher's processes
        dist.all_gather_object(ranks := [], train(given, data, state))
        return ranks
    context = dist.spawn(train, args=(given, data, state), nprocs=given.processes)
    return [queue.get() for queue in context.return_queues]


# ---- the program ----


def checkpoint_to_resume(given):
    """The state to go on from; None to begin anew, also if the run was killed before its first."""
    path = Path(given.checkpoint)
    if not given.resume:
        path.unlink(missing_ok=True)  # a later --resume is not to go on from another run's
        return None
    if not path.exists():
        print(f"there is no {path} yet: starting at the beginning", flush=True)
        return None
    state = paddle.load(path, return_numpy=True)
    for name, before in state["settings"].items():
        now = getattr(given, name)
        if now != before:
            raise ValueError(f"{path} is of a run with --{name} {before}; --{name} {now} is not it")
    print(f"resuming after step {state['step']}", flush=True)
    return state


def draw(history, path):
    """A picture of loss and held-out accuracy by epoch."""
    figure = optional("matplotlib.figure").Figure(figsize=(7, 4), layout="constrained")
    epochs = range(1, len(history) + 1)
    losses, accuracies = zip(*history, strict=True)
    left = figure.subplots()
    right = left.twinx()
    left.plot(epochs, losses, color="tab:blue")
    left.set(xlabel="epoch", ylim=(0, None))
    left.set_ylabel("training loss", color="tab:blue")
    right.plot(epochs, accuracies, color="tab:orange")
    right.set_ylabel("held-out accuracy", color="tab:orange")
    figure.savefig(path, dpi=120)


def arguments(argv):
    parser = argparse.ArgumentParser(description="Reads handwritten digits with an MLP.")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("--checkpoint", default="digits.ckpt", metavar="FILE")
    parser.add_argument("--every", type=int, default=100, help="steps between checkpoints")
    parser.add_argument("--curve", default="digits.png", metavar="PNG", help='picture, "" for none')
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=32, help="samples of a step, all processes")
    parser.add_argument("--width", type=int, default=256, help="units of the two hidden layers")
    parser.add_argument("--rate", type=float, default=0.003, help="learning rate at first")
    parser.add_argument("--samples", type=int, default=1797, help="use only so many images")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(argv)
    if dist.get_world_size() > 1:  # the launcher has decided
        given.processes = dist.get_world_size()
    for name in ("every", "epochs", "batch", "width", "samples"):
        if getattr(given, name) < 1:
            parser.error(f"--{name} is {getattr(given, name)}; it has to be 1 or more")
    if given.batch % given.processes:
        parser.error(f"--batch {given.batch} does not divide among {given.processes} processes")
    if given.batch > given.samples * 4 // 5:
        parser.error(f"--batch {given.batch} is more than --samples {given.samples} leave to learn")
    return given


def main(argv=None):
    given = arguments(argv)
    optional("tqdm")
    if given.curve:  # before the training, not after it
        optional("matplotlib.figure")
    data = load_digits(given.samples)
    try:
        state = checkpoint_to_resume(given) if dist.get_rank() == 0 else None
    except ValueError as error:  # of another run, or damaged
        sys.exit(f"digits.py: {error}")
    ranks = results(given, data, state)
    if dist.get_rank() > 0:
        return
    history = ranks[0][1]
    if given.curve:
        draw(history, given.curve)
    print(f"held-out accuracy {history[-1][1]:.2%}")
    for rank, (digest, _) in enumerate(ranks):
        print(f"rank {rank}   parameters sha256 {digest}")
    if len({digest for digest, _ in ranks}) > 1:
        sys.exit("PARAMETERS DIFFER BETWEEN RANKS")


if __name__ == "__main__":
    main()
