import pickle

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.io import (
    BatchSampler,
    DataLoader,
    DistributedBatchSampler,
    RandomSampler,
    Sampler,
    TensorDataset,
    get_worker_info,
)
from tests.io.samples import Broken, Numbers, Stream, numbers_of, values_of


def test_batches_are_lists_of_tensors():
    batches = list(DataLoader(Numbers(5), batch_size=2))
    assert numbers_of(batches) == [[0, 1], [2, 3], [4]]
    assert isinstance(batches[0], list)
    assert (batches[0][0].shape, batches[0][0].dtype.name) == ([2, 3], "float32")
    assert (batches[0][1].dtype.name, batches[0][1].stop_gradient) == ("int64", True)


def test_lengths():
    for drop_last, batches in ((False, 3), (True, 2)):
        loader = DataLoader(Numbers(5), batch_size=2, drop_last=drop_last)
        assert len(loader) == len(list(loader)) == batches
    assert len(DataLoader(Numbers(5), batch_size=None)) == 5
    assert len(DataLoader(Numbers(5), batch_sampler=[[1], [2, 3]])) == 2
    with pytest.raises(TypeError, match="length is not known"):
        len(DataLoader(Stream()))


def test_the_length_that_an_iterable_data_set_tells_counts():
    class Known(Stream):
        def __len__(self):
            return self.length

    assert len(DataLoader(Known(5), batch_size=2)) == 3
    assert len(DataLoader(Known(5), batch_size=2, drop_last=True)) == 2
    assert len(DataLoader(Known(5), batch_size=None)) == 5


def test_an_iterable_data_set_is_cut_into_batches():
    assert values_of(DataLoader(Stream(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert values_of(DataLoader(Stream(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]


def test_samples_without_batches_are_copied():
    data = Numbers(3)
    rows = np.arange(6.0).reshape(3, 2)
    data.__class__ = type("Rows", (Numbers,), {"__getitem__": lambda self, i: rows[i]})
    batches = list(DataLoader(data, batch_size=None))
    batches[1].add_(paddle.ones([2], dtype="float64"))
    assert rows[1].tolist() == [2.0, 3.0]
    assert batches[1].tolist() == [3.0, 4.0]


def test_shuffling_without_batches():
    loader = DataLoader(Numbers(30), batch_size=None, shuffle=True)
    numbers = [sample[1] for sample in loader]
    assert sorted(numbers) == list(range(30)) != numbers


def test_a_batch_sampler_and_a_collate_fn_of_the_user():
    loader = DataLoader(
        Numbers(5),
        batch_sampler=[[4, 0], [1]],
        collate_fn=lambda samples: {"sum": np.array(sum(n for _, n in samples)), "text": "x"},
    )
    assert [(b["sum"].item(), b["text"]) for b in loader] == [(4, "x"), (1, "x")]


def test_places():
    loader = DataLoader(Numbers(2), places=["cpu"])
    assert next(iter(loader))[0].place is paddle.CPUPlace()
    assert next(loader())[1].tolist() == [0]


def test_outside_of_workers_there_is_no_worker_info():
    assert get_worker_info() is None


def test_an_error_leaves_the_next_batch_to_be_had():
    batches = iter(DataLoader(Broken(6, at=2, how="value_error"), batch_size=2))
    assert next(batches)[1].tolist() == [0, 1]
    with pytest.raises(ValueError, match="bad sample"):
        next(batches)
    assert next(batches)[1].tolist() == [4, 5]
    with pytest.raises(StopIteration):
        next(batches)
    with pytest.raises(StopIteration):
        next(batches)


def test_a_stop_iteration_of_the_data_set_does_not_end_the_loop():
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(DataLoader(Broken(6, at=2, how="stop")))


def test_loops_over_one_loader_inside_each_other():
    loader = DataLoader(Numbers(3), batch_size=2)
    pairs = [(a[1].tolist(), b[1].tolist()) for a in loader for b in loader]
    assert pairs == [([0, 1], [0, 1]), ([0, 1], [2]), ([2], [0, 1]), ([2], [2])]


def test_a_seed_repeats_all_passes():
    def passes():
        paddle.seed(5)
        return [numbers_of(loader) for _ in range(3)]

    loader = DataLoader(Numbers(9), batch_size=2, shuffle=True)
    first = passes()
    assert first[0] != first[1]
    assert passes() == first


class Own(Sampler):
    """A sampler with random numbers and a state of its own."""

    def __init__(self):
        self.passes = self.taken = 0

    def __iter__(self):
        order = np.random.default_rng(self.passes).permutation(20).tolist()
        while self.taken < 20:
            self.taken += 1
            yield order[self.taken - 1]
        self.passes, self.taken = self.passes + 1, 0

    def __len__(self):
        return 20

    def state_dict(self):
        return {"passes": self.passes, "taken": self.taken}

    def set_state_dict(self, state):
        self.passes, self.taken = state["passes"], state["taken"]


LOADERS = {
    "ordered": lambda **kw: DataLoader(Numbers(), batch_size=3, **kw),
    "shuffled": lambda **kw: DataLoader(Numbers(), batch_size=3, shuffle=True, **kw),
    "dropping": lambda **kw: DataLoader(
        Numbers(), batch_size=3, shuffle=True, drop_last=True, **kw
    ),
    "unbatched": lambda **kw: DataLoader(Numbers(), batch_size=None, shuffle=True, **kw),
    "rows": lambda **kw: DataLoader(
        TensorDataset([np.ones(20), np.arange(20)]), batch_size=3, shuffle=True, **kw
    ),
    "shared": lambda **kw: DataLoader(
        Numbers(40), batch_sampler=DistributedBatchSampler(range(40), 3, 2, 1, True), **kw
    ),
    "sampler": lambda **kw: DataLoader(
        Numbers(), batch_sampler=BatchSampler(sampler=RandomSampler(range(20)), batch_size=3), **kw
    ),
    "own sampler": lambda **kw: DataLoader(
        Numbers(), batch_sampler=BatchSampler(sampler=Own(), batch_size=3), **kw
    ),
    "list": lambda **kw: DataLoader(Numbers(), batch_sampler=[[i, i + 1] for i in range(12)], **kw),
    "stream": lambda **kw: DataLoader(Stream(), batch_size=3, **kw),
    "unbatched stream": lambda **kw: DataLoader(Stream(), batch_size=None, **kw),
}


def shown(batches):
    """Batches of any of LOADERS as something to be compared."""
    found = [batch[1] if isinstance(batch, list) else batch for batch in batches]
    return [one.tolist() if isinstance(one, paddle.Tensor) else one for one in found]


def check_resuming(make, others, passes, taken):
    """Takes a state within a pass; what follows is the same in a loader that it is loaded into."""
    loader = make()
    for _ in range(passes):
        list(loader)
    batches = iter(loader)
    for _ in range(taken):
        next(batches)
    state = pickle.loads(pickle.dumps(loader.state_dict()))
    rest = shown(batches)
    later = [shown(loader) for _ in range(2)]
    for make_other in others:
        paddle.rand([3])
        other = make_other()
        other.set_state_dict(state)
        assert other.state_dict() == state
        paddle.rand([3])
        assert shown(other) == rest
        assert [shown(other) for _ in range(2)] == later


@pytest.mark.parametrize("make", LOADERS.values(), ids=list(LOADERS))
@pytest.mark.parametrize("taken", [0, 1, 4, 6])
@pytest.mark.parametrize("passes", [0, 1])
def test_a_state_within_a_pass_resumes_it_and_all_later_ones(make, passes, taken):
    check_resuming(make, [make], passes, taken)


@pytest.mark.parametrize("make", LOADERS.values(), ids=list(LOADERS))
def test_a_state_of_a_resumed_pass_resumes_that(make):
    loader = make()
    batches = iter(loader)
    next(batches)
    second = make()
    second.load_state_dict(loader.state_dict())
    next(batches)
    again = iter(second)
    next(again)
    third = make()
    third.set_state_dict(second.state_dict())
    assert shown(third) == shown(again) == shown(batches)


@pytest.mark.parametrize("make", LOADERS.values(), ids=list(LOADERS))
def test_a_state_between_passes(make):
    loader, other = make(), make()
    list(loader)
    other.set_state_dict(loader.state_dict())
    assert shown(other) == shown(loader)


def test_a_state_in_the_body_of_the_last_turn_leaves_nothing_of_the_pass():
    loader, other = LOADERS["shuffled"](), LOADERS["shuffled"]()
    for _ in loader:
        state = loader.state_dict()
    other.set_state_dict(state)
    assert list(other) == []
    assert shown(other) == shown(loader)


def test_a_state_is_exact_although_an_error_came_between():
    make = lambda: DataLoader(Broken(at=4, how="value_error"), batch_size=2)  # noqa: E731
    loader, other = make(), make()
    batches = iter(loader)
    next(batches), next(batches)
    with pytest.raises(ValueError, match="bad sample"):
        next(batches)
    other.set_state_dict(loader.state_dict())
    with pytest.raises(ValueError, match="bad sample"):  # it was not given, so it comes again
        next(iter(other))


def test_set_epoch_after_a_state():
    loader, same, other = (LOADERS["shared"]() for _ in range(3))
    loader.batch_sampler.set_epoch(4)
    batches = iter(loader)
    next(batches)
    state, rest = loader.state_dict(), shown(batches)
    same.set_state_dict(state)
    same.batch_sampler.set_epoch(4)
    assert shown(same) == rest
    other.set_state_dict(state)
    other.batch_sampler.set_epoch(5)
    assert shown(other) == shown(loader)


def test_states_of_other_loaders_are_refused_and_change_nothing():
    loader = LOADERS["shuffled"]()
    before = loader.state_dict()
    for state in (None, {}, LOADERS["stream"]().state_dict(), LOADERS["list"]().state_dict()):
        with pytest.raises(ValueError, match="state"):
            loader.set_state_dict(state)
    smaller = DataLoader(Numbers(5), batch_size=3, shuffle=True).state_dict()
    with pytest.raises(ValueError, match="5 samples"):
        loader.set_state_dict(smaller)
    assert loader.state_dict() == before


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"batch_sampler": [[1]], "batch_size": 2}, ValueError, "batch_sampler excludes"),
        ({"batch_sampler": [[1]], "shuffle": True}, ValueError, "batch_sampler excludes"),
        ({"batch_sampler": [[1]], "drop_last": True}, ValueError, "batch_sampler excludes"),
        ({"batch_sampler": 3}, TypeError, "batch_sampler"),
        ({"dataset": Stream(), "shuffle": True}, ValueError, "shuffle"),
        ({"dataset": Stream(), "batch_sampler": [[1]]}, ValueError, "batch_sampler"),
        ({"dataset": iter([1])}, TypeError, "dataset"),
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"batch_size": -1}, ValueError, "batch_size"),
        ({"batch_size": 2.0}, TypeError, "batch_size"),
        ({"batch_size": None, "drop_last": True}, ValueError, "drop_last"),
        ({"shuffle": "yes"}, TypeError, "shuffle"),
        ({"drop_last": 1}, TypeError, "drop_last"),
        ({"num_workers": -1}, ValueError, "num_workers"),
        ({"num_workers": 1.0}, TypeError, "num_workers"),
        ({"prefetch_factor": 0}, ValueError, "prefetch_factor"),
        ({"timeout": -1}, ValueError, "timeout"),
        ({"timeout": float("inf")}, ValueError, "timeout"),
        ({"timeout": "1"}, TypeError, "timeout"),
        ({"collate_fn": 3}, TypeError, "collate_fn"),
        ({"worker_init_fn": 3}, TypeError, "worker_init_fn"),
        ({"persistent_workers": 1}, TypeError, "persistent_workers"),
        ({"use_shared_memory": 1}, TypeError, "use_shared_memory"),
        ({"places": ["cpu", "cpu"]}, ValueError, "places"),
        ({"dataset": [], "shuffle": True}, ValueError, "num_samples"),
    ],
)
def test_wrong_arguments(arguments, error, text):
    with pytest.raises(error, match=text):
        DataLoader(**{"dataset": Numbers(), **arguments})


def test_an_empty_data_set_has_no_batches():
    assert list(DataLoader([])) == []
    assert list(DataLoader(Stream(0))) == []
