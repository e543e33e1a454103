"""Data sets that the tests of paddle.io load, in worker processes too."""

import os
import random
import signal
import time

import numpy as np

import minipaddle as paddle
from minipaddle.io import Dataset, IterableDataset, get_worker_info


class Numbers(Dataset):
    """Sample i is a row of floats and the number i."""

    def __init__(self, length=20, width=3):
        self.length, self.width = length, width

    def __getitem__(self, idx):
        if not 0 <= idx < self.length:
            raise IndexError(f"no sample {idx}")
        return np.full(self.width, idx, np.float32), idx

    def __len__(self):
        return self.length


class Uneven(Numbers):
    """Some workers are slower than others."""

    def __getitem__(self, idx):
        if get_worker_info().id == 0:
            time.sleep(0.03)
        return super().__getitem__(idx)


class Broken(Numbers):
    """Does something to its process at one sample."""

    def __init__(self, length=20, at=7, how="raise"):
        super().__init__(length)
        self.at, self.how = at, how

    def __getitem__(self, idx):
        if idx == self.at:
            getattr(self, self.how)()
        return super().__getitem__(idx)

    def value_error(self):
        raise ValueError("bad sample")

    def key_error(self):
        raise KeyError("missing")

    def odd_error(self):
        raise OddError(1, 2)

    def stop(self):
        raise StopIteration

    def leave(self):
        raise SystemExit(5)

    def kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def exit(self):
        os._exit(17)

    def hang(self):
        time.sleep(60)


class OddError(Exception):
    """Cannot be made again from its args."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


class Draws(Dataset):
    """What the worker's random generators give."""

    def __getitem__(self, idx):
        return np.array([np.random.rand(), random.random(), float(paddle.rand([1]))], np.float64)

    def __len__(self):
        return 8


class Stream(IterableDataset):
    """0 .. length - 1, split over the workers."""

    def __init__(self, length=20, uneven=False):
        self.length, self.uneven = length, uneven

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        if self.uneven and info is not None and info.id == 0:
            return iter(range(2))
        return iter(range(first, self.length, step))


class Facts(Dataset):
    """What a worker knows of itself."""

    def __getitem__(self, idx):
        info = get_worker_info()
        return {
            "id": info.id, "num_workers": info.num_workers, "seed": info.seed, "pid": os.getpid(),
            "threads": os.environ["OMP_NUM_THREADS"], "place": paddle.get_device(),
            "length": len(info.dataset), "argument": str(idx),
        }  # fmt: skip

    def __len__(self):
        return 4


class Large(Dataset):
    """Samples whose batches do not fit a small message."""

    def __getitem__(self, idx):
        return np.full(20_000, idx, np.int64), np.full((2, 3), idx, np.int16)

    def __len__(self):
        return 12


def numbers_of(batches):
    """The numbers of the samples in batches of Numbers."""
    return [batch[1].tolist() for batch in batches]


def values_of(batches):
    return [batch.tolist() for batch in batches]
