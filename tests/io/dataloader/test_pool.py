"""Loading with worker processes: order, seeds, memory, state."""

import functools
import os
import resource
from multiprocessing import get_context

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.io import DataLoader, Dataset, TensorDataset
from minipaddle.io.dataloader import pool as pools
from minipaddle.io.dataloader import slots
from tests.io import test_reader
from tests.io.samples import (
    Draws,
    Facts,
    Large,
    Numbers,
    Stream,
    Uneven,
    numbers_of,
    values_of,
)

pytestmark = pytest.mark.time_limit(60)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("ahead", [1, 3])
def test_batches_are_those_of_one_process(workers, ahead):
    def batches(**options):
        paddle.seed(1)
        loader = DataLoader(Numbers(17), batch_size=3, shuffle=True, **options)
        return [numbers_of(loader) for _ in range(2)]

    assert batches(num_workers=workers, prefetch_factor=ahead) == batches()


def test_the_order_does_not_depend_on_the_speed_of_workers():
    loader = DataLoader(Uneven(), batch_size=2, num_workers=2)
    assert numbers_of(loader) == [[i, i + 1] for i in range(0, 20, 2)]


def test_more_workers_than_batches():
    assert numbers_of(DataLoader(Numbers(2), num_workers=3)) == [[0], [1]]
    assert list(DataLoader([], num_workers=1)) == []


def test_an_iterable_data_set_is_split():
    loader = DataLoader(Stream(10), batch_size=2, num_workers=2)
    assert values_of(loader) == [[0, 2], [1, 3], [4, 6], [5, 7], [8], [9]]


@pytest.mark.parametrize("ahead", [1, 2, 5])
def test_a_worker_that_has_no_more_is_passed_over(ahead):
    loader = DataLoader(Stream(12, uneven=True), num_workers=3, prefetch_factor=ahead)
    wanted = [0, 1, 2, 1, 4, 5, 7, 8, 10, 11]
    assert values_of(loader) == [[n] for n in wanted]


def test_workers_know_who_they_are():
    loader = DataLoader(Facts(), batch_size=None, num_workers=2)
    facts = list(loader)
    assert [fact["id"] for fact in facts] == [0, 1, 0, 1]
    assert facts[1]["seed"] == facts[0]["seed"] + 1
    assert facts[0]["pid"] != facts[1]["pid"]
    assert os.getpid() not in {fact["pid"] for fact in facts}
    assert {(f["num_workers"], f["threads"], f["place"], f["length"]) for f in facts} == {
        (2, "1", "cpu", 4)
    }


def draws(loader):
    return np.concatenate([batch.numpy() for batch in loader])


def test_random_numbers_differ_by_worker_and_pass_and_repeat_after_a_seed():
    loader = DataLoader(Draws(), batch_size=2, num_workers=2)
    paddle.seed(8)
    first = [draws(loader) for _ in range(2)]
    everything = np.concatenate(first)
    assert len(np.unique(everything)) == everything.size
    paddle.seed(8)
    np.testing.assert_array_equal([draws(loader) for _ in range(2)], first)
    keeping = DataLoader(Draws(), batch_size=2, num_workers=2, persistent_workers=True)
    paddle.seed(8)
    np.testing.assert_array_equal([draws(keeping) for _ in range(2)], first)


def seed_numpy(worker):
    np.random.seed(worker)


def test_worker_init_fn_has_the_last_word_on_seeds():
    loader = DataLoader(Draws(), batch_size=1, num_workers=2, worker_init_fn=seed_numpy)
    wanted = [np.random.RandomState(worker).rand(4) for worker in range(2)]
    np.testing.assert_array_equal(draws(loader)[:, 0].reshape(4, 2), np.transpose(wanted))


def fail_to_start(worker):
    raise ValueError(f"worker {worker} will not")


def test_an_error_of_worker_init_fn_comes_with_the_first_batch():
    with pytest.raises(ValueError, match="worker 0 will not"):
        list(DataLoader(Numbers(), num_workers=2, worker_init_fn=fail_to_start))


def pids(loader):
    return {fact["pid"] for fact in loader}


def test_persistent_workers_live_on_and_others_do_not():
    keeping = DataLoader(Facts(), batch_size=None, num_workers=2, persistent_workers=True)
    assert pids(keeping) == pids(keeping)
    fresh = DataLoader(Facts(), batch_size=None, num_workers=2)
    assert not pids(fresh) & pids(fresh)


def test_a_pass_that_was_broken_off_does_not_disturb_the_next():
    loader = DataLoader(Numbers(), batch_size=2, num_workers=2, persistent_workers=True)
    for _ in range(3):
        older = iter(loader)
        next(older)
    assert numbers_of(loader) == [[i, i + 1] for i in range(0, 20, 2)]
    with pytest.raises(RuntimeError, match="later iterator"):
        next(older)


@pytest.mark.parametrize("shared", [True, False])
def test_large_arrays_travel_and_are_the_users_own(shared):
    loader = DataLoader(
        Large(), batch_size=3, num_workers=2, use_shared_memory=shared, persistent_workers=True
    )
    for _ in range(3):
        held = list(loader)
        for i, (rows, small) in enumerate(held):
            assert rows.shape == [3, 20_000]
            np.testing.assert_array_equal(rows.numpy()[:, ::7].T[0], [3 * i, 3 * i + 1, 3 * i + 2])
            assert small.numpy().max() == 3 * i + 2
            rows.add_(paddle.ones([1], dtype="int64"))


def test_slots_are_used_again():
    loader = DataLoader(Large(), batch_size=1, num_workers=1, persistent_workers=True)
    for _ in range(3):
        for rows, _ in loader:
            del rows
    member = loader._pool._members[0]
    assert 1 <= len(member.slots._memory) <= 5  # asked ahead, in hand, and coming


def test_what_a_tensor_lies_in_outlives_the_loader():
    loader = DataLoader(Large(), batch_size=4, num_workers=1)
    rows = next(iter(loader))[0]
    del loader
    assert rows.numpy()[:, -1].tolist() == [0, 1, 2, 3]


@pytest.fixture
def unwarned(monkeypatch):
    monkeypatch.setattr(pools, "_warned", False)


@pytest.mark.usefixtures("unwarned")
def test_without_descriptors_batches_come_through_pipes_with_one_warning(monkeypatch):
    """The loader does not get what the workers have sent, as when too many files are open."""
    loader = DataLoader(Large(), batch_size=2, num_workers=2)
    taking = slots.SlotReader.load
    lost = []

    def load(self, head, layout, files):
        if layout.made and len(lost) < 3:
            lost.append(layout)
            for fd in files:
                os.close(fd)
            raise MemoryError("no room")
        return taking(self, head, layout, files)

    monkeypatch.setattr(slots.SlotReader, "load", load)
    with pytest.warns(RuntimeWarning, match="no room") as warned:
        batches = list(loader)
    assert len(warned) == 1
    assert lost
    assert [rows.numpy()[:, 0].tolist() for rows, _ in batches] == [
        [i, i + 1] for i in range(0, 12, 2)
    ]


@pytest.mark.usefixtures("unwarned")
def test_a_program_with_too_many_open_files_gets_its_batches_through_pipes():
    batches = iter(DataLoader(Large(), batch_size=2, num_workers=2))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(fd) for fd in os.listdir("/proc/self/fd"))
    fill = [os.open(os.devnull, os.O_RDONLY) for _ in range(highest)]  # no gap below the limit
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(fill) + 1, limits[1]))
        with pytest.warns(RuntimeWarning, match="too many files") as warned:
            found = [rows.numpy()[:, 0].tolist() for rows, _ in batches]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for fd in fill:
            os.close(fd)
    assert len(warned) == 1
    assert found == [[i, i + 1] for i in range(0, 12, 2)]


def no_shared_memory(worker):
    def reserve(nbytes):
        raise MemoryError("none is left")

    slots.reserve = reserve


@pytest.mark.usefixtures("unwarned")
def test_where_a_worker_has_no_shared_memory_it_uses_pipes_with_one_warning():
    loader = DataLoader(Large(), batch_size=2, num_workers=2, worker_init_fn=no_shared_memory)
    with pytest.warns(RuntimeWarning, match="none is left") as warned:
        batches = [rows.numpy()[:, 0].tolist() for rows, _ in loader]
    assert len(warned) == 1
    assert batches == [[i, i + 1] for i in range(0, 12, 2)]


def test_requests_and_batches_that_both_overfill_a_pipe():
    """Neither side waits for the other."""
    numbers = [list(range(12)) * 20_000, [1], [2] * 200_000, [3]]
    loader = DataLoader(
        range(12), batch_sampler=numbers, num_workers=1, use_shared_memory=False, prefetch_factor=4
    )
    assert [len(batch.numpy()) for batch in loader] == [len(batch) for batch in numbers]


def test_arrays_of_the_data_set_are_each_workers_own():
    class_ = Accumulating
    data = class_(np.zeros(100_000))
    loader = DataLoader(data, batch_size=None, num_workers=2)
    assert [value.item() for value in loader] == [1.0, 1.0, 2.0, 2.0]
    assert data.sums[0] == 0.0


class Accumulating(Dataset):
    """Writes into its own array."""

    def __init__(self, sums):
        self.sums = sums

    def __getitem__(self, idx):
        self.sums += 1
        return self.sums[:1]

    def __len__(self):
        return 4


def test_multiprocessings_own_objects_reach_the_workers():
    data = Numbers(4)
    data.value = get_context("spawn").Value("i", 3)
    data.queue = get_context("spawn").Queue()
    assert len(list(DataLoader(data, num_workers=2))) == 4
    data.queue.close()


RESUMED = [name for name in test_reader.LOADERS if "stream" not in name]


@pytest.mark.parametrize("name", RESUMED)
@pytest.mark.parametrize(("before", "after"), [(2, 2), (2, 0), (0, 3)])
def test_a_state_resumes_with_any_number_of_workers(name, before, after):
    make = test_reader.LOADERS[name]
    test_reader.check_resuming(
        functools.partial(make, num_workers=before),
        [functools.partial(make, num_workers=after)], 1, 3,
    )  # fmt: skip


@pytest.mark.parametrize("taken", [0, 1, 4, 7])
@pytest.mark.parametrize("keep", [False, True])
def test_a_state_of_an_iterable_data_set(taken, keep):
    make = functools.partial(
        DataLoader, Stream(30, uneven=True), batch_size=2, num_workers=3, persistent_workers=keep
    )
    test_reader.check_resuming(make, [make], 1, taken)


def test_a_state_of_an_iterable_data_set_needs_as_many_workers():
    state = DataLoader(Stream(), num_workers=2).state_dict()
    with pytest.raises(ValueError, match="num_workers=2"):
        DataLoader(Stream(), num_workers=3).set_state_dict(state)


def test_rows_of_tensors_reach_the_workers():
    data = TensorDataset([paddle.arange(6), paddle.ones([6, 3000])])
    loader = DataLoader(data, batch_size=4, num_workers=1)
    assert [(n.tolist(), x.shape) for n, x in loader] == [
        ([0, 1, 2, 3], [4, 3000]), ([4, 5], [2, 3000]),
    ]  # fmt: skip
