import pickle

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.io import BatchSampler, DistributedBatchSampler, RandomSampler, Sampler
from tests.io.samples import Stream


class Backwards(Sampler):
    def __iter__(self):
        return iter(range(len(self.data_source) - 1, -1, -1))

    def __len__(self):
        return len(self.data_source)


@pytest.mark.parametrize("length", [0, 1, 5, 6, 7])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("size", [1, 3])
def test_batches(length, drop_last, size):
    found = list(BatchSampler(range(length), batch_size=size, drop_last=drop_last))
    numbers = list(range(length))
    wanted = [numbers[i : i + size] for i in range(0, length, size)]
    if drop_last:
        wanted = [batch for batch in wanted if len(batch) == size]
    assert found == wanted
    assert len(BatchSampler(range(length), batch_size=size, drop_last=drop_last)) == len(wanted)


def test_batches_of_any_sampler():
    assert list(BatchSampler(sampler=Backwards("abc"), batch_size=2)) == [[2, 1], [0]]
    assert list(BatchSampler(sampler=[7, 8, 9], batch_size=2)) == [[7, 8], [9]]


MAKERS = {
    "ordered": lambda: BatchSampler(range(11), batch_size=2),
    "shuffled": lambda: BatchSampler(range(11), shuffle=True, batch_size=2, drop_last=True),
    "sampler": lambda: BatchSampler(sampler=RandomSampler(range(9)), batch_size=2),
    "own": lambda: BatchSampler(sampler=Backwards(range(11)), batch_size=2),
    "list": lambda: BatchSampler(sampler=list(range(11)), batch_size=2),
    "shared": lambda: DistributedBatchSampler(range(21), 2, 2, 1, shuffle=True),
    "shared ordered": lambda: DistributedBatchSampler(range(21), 2, 2, 0),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
@pytest.mark.parametrize("taken", [0, 1, 3])
@pytest.mark.parametrize("passes", [0, 2])
def test_a_state_within_a_pass_resumes_it_and_all_later_ones(make, passes, taken):
    sampler = make()
    for _ in range(passes):
        list(sampler)
    batches = iter(sampler)
    for _ in range(taken):
        next(batches)
    state = pickle.loads(pickle.dumps(sampler.state_dict()))
    rest = list(batches)
    later = [list(sampler) for _ in range(2)]
    other = make()
    other.set_state_dict(state)
    assert list(other) == rest
    assert [list(other) for _ in range(2)] == later


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_a_state_between_passes(make):
    sampler, other = make(), make()
    list(sampler)
    other.load_state_dict(sampler.state_dict())
    assert list(other) == list(sampler)


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_an_abandoned_pass_does_not_leave_a_rest(make):
    sampler = make()
    next(iter(sampler))
    assert len(list(sampler)) == len(sampler)


def test_a_state_belongs_to_a_kind_of_sampler():
    ordered, own = MAKERS["ordered"](), MAKERS["own"]()
    with pytest.raises(ValueError, match="another kind"):
        ordered.set_state_dict(own.state_dict())
    with pytest.raises(ValueError, match="state"):
        ordered.set_state_dict({})


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, ValueError, "one of dataset and sampler"),
        ({"dataset": [1], "sampler": [1]}, ValueError, "one of dataset and sampler"),
        ({"sampler": [1], "shuffle": True}, ValueError, "shuffle"),
        ({"sampler": 3}, TypeError, "sampler"),
        ({"dataset": Stream()}, TypeError, "IterableDataset"),
        ({"dataset": [1], "shuffle": 1}, TypeError, "shuffle"),
        ({"dataset": [1], "drop_last": None}, TypeError, "drop_last"),
        ({"dataset": [1], "batch_size": 0}, ValueError, "batch_size"),
        ({"dataset": [1], "batch_size": 1.5}, TypeError, "batch_size"),
        ({"dataset": [1], "batch_size": True}, TypeError, "batch_size"),
    ],
)
def test_wrong_arguments(arguments, error, text):
    with pytest.raises(error, match=text):
        BatchSampler(**arguments)


# What Paddle 3.3.1 gives: length, batch size, ranks, drop_last, and the batches of each rank.
OF_PADDLE = [
    (10, 2, 2, False, [[[0, 1], [4, 5], [8]], [[2, 3], [6, 7], [9]]]),
    (10, 2, 2, True, [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]),
    (7, 2, 3, False, [[[0, 1], [6]], [[2, 3], [0]], [[4, 5], [1]]]),
    (2, 2, 5, False, [[[0]], [[1]], [[0]], [[1]], [[0]]]),
]


@pytest.mark.parametrize(("length", "size", "ranks", "drop_last", "wanted"), OF_PADDLE)
def test_batches_of_each_process_are_paddles(length, size, ranks, drop_last, wanted):
    for rank, batches in enumerate(wanted):
        sampler = DistributedBatchSampler(range(length), size, ranks, rank, False, drop_last)
        assert list(sampler) == batches
        assert len(sampler) == len(batches)


def test_shuffled_order_is_paddles():
    sampler = DistributedBatchSampler(range(8), 2, 2, 0, shuffle=True)
    sampler.set_epoch(3)
    order = list(range(8))
    np.random.RandomState(3).shuffle(order)
    assert list(sampler) == [order[0:2], order[4:6]]
    assert sampler.epoch == 4


def test_processes_share_all_samples_in_each_pass():
    samplers = [DistributedBatchSampler(range(22), 3, 2, r, shuffle=True) for r in range(2)]
    orders = []
    for _ in range(3):
        numbers = [n for sampler in samplers for batch in sampler for n in batch]
        assert sorted(numbers) == list(range(22))
        orders.append(tuple(numbers))
    assert len(set(orders)) == 3


def test_set_epoch_repeats_a_pass():
    sampler = DistributedBatchSampler(range(20), 3, 2, 1, shuffle=True)
    first = list(sampler)
    second = list(sampler)
    sampler.set_epoch(0)
    assert (list(sampler), list(sampler)) == (first, second)
    sampler.epoch = 1
    assert list(sampler) == second


def test_set_epoch_after_a_state_keeps_the_position_in_that_pass_only():
    def make():
        return DistributedBatchSampler(range(20), 3, 2, 1, shuffle=True)

    sampler = make()
    sampler.set_epoch(5)
    batches = iter(sampler)
    next(batches)
    state, rest = sampler.state_dict(), list(batches)
    same, other = make(), make()
    same.set_state_dict(state)
    same.set_epoch(5)
    assert list(same) == rest
    other.set_state_dict(state)
    other.set_epoch(6)
    assert list(other) == list(sampler)


def test_rank_and_size_come_from_the_job(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "3")
    sampler = DistributedBatchSampler(range(6), 1)
    assert (sampler.nranks, sampler.local_rank, list(sampler)) == (3, 2, [[2], [5]])


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"num_replicas": 0}, ValueError, "num_replicas"),
        ({"num_replicas": 2, "rank": 2}, ValueError, "rank"),
        ({"rank": -1}, ValueError, "rank"),
        ({"rank": "0"}, TypeError, "rank"),
        ({"shuffle": 1}, TypeError, "shuffle"),
        ({"drop_last": 1}, TypeError, "drop_last"),
    ],
)
def test_wrong_arguments_of_the_distributed_one(arguments, error, text):
    with pytest.raises(error, match=text):
        DistributedBatchSampler(**{"dataset": range(4), "batch_size": 1, **arguments})


def test_wrong_epochs_and_states_of_the_distributed_one():
    sampler = DistributedBatchSampler(range(4), 1, 2, 0)
    for epoch in (-1, 1.5, True):
        with pytest.raises(ValueError, match="epoch"):
            sampler.set_epoch(epoch)
    state = DistributedBatchSampler(range(4), 1, 4, 0).state_dict()
    with pytest.raises(ValueError, match="nranks=4"):
        sampler.set_state_dict(state)


def test_the_default_generator_is_not_touched_without_shuffling():
    paddle.seed(3)
    wanted = paddle.rand([2]).tolist()
    paddle.seed(3)
    list(BatchSampler(range(4)))
    list(DistributedBatchSampler(range(4), 1, 2, 0, shuffle=True))
    assert paddle.rand([2]).tolist() == wanted
