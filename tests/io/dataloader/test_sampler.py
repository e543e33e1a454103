import pickle

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.io import (
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

MAKERS = {
    "sequence": lambda: SequenceSampler(range(12)),
    "random": lambda: RandomSampler(range(12)),
    "replacement": lambda: RandomSampler(range(12), replacement=True, num_samples=20),
    "some": lambda: RandomSampler(range(12), num_samples=5),
    "weighted": lambda: WeightedRandomSampler([1, 2, 3, 0, 5.0], 9),
    "weights": lambda: WeightedRandomSampler(np.ones((2, 6)), 4, replacement=False),
    "subset": lambda: SubsetRandomSampler([3, 1, 4, 15, 9]),
    "given": lambda: RandomSampler(range(12), num_samples=7, generator=iter(range(1000))),
}
RANDOM = ["random", "replacement", "some", "weighted", "weights", "subset"]


@pytest.fixture(params=list(MAKERS))
def make(request):
    return MAKERS[request.param]


def test_numbers_are_ints_as_many_as_the_length(make):
    numbers = list(make())
    assert len(numbers) == len(make())
    assert {type(number) for number in numbers} == {int}


@pytest.mark.parametrize("name", RANDOM)
def test_a_seed_repeats_all_passes_and_passes_differ(name):
    paddle.seed(11)
    sampler = MAKERS[name]()
    first = [list(sampler) for _ in range(4)]
    assert len({tuple(numbers) for numbers in first}) > 1
    paddle.seed(11)
    assert [list(sampler) for _ in range(4)] == first
    paddle.seed(11)
    again = MAKERS[name]()
    assert [list(again) for _ in range(4)] == first
    paddle.seed(12)
    assert [list(sampler) for _ in range(4)] != first


def test_what_else_draws_does_not_change_later_passes():
    paddle.seed(1)
    sampler = RandomSampler(range(30))
    first = list(sampler), list(sampler)
    paddle.seed(1)
    sampler = RandomSampler(range(30))
    again = [list(sampler)]
    paddle.rand([10])
    again.append(list(sampler))
    assert tuple(again) == first


@pytest.mark.parametrize("taken", [0, 1, 3, 5])
@pytest.mark.parametrize("passes", [0, 2])
def test_a_state_within_a_pass_resumes_it_and_all_later_ones(make, passes, taken):
    sampler = make()
    for _ in range(passes):
        list(sampler)
    numbers = iter(sampler)
    for _ in range(taken if taken else 0):
        next(numbers)
    state = pickle.loads(pickle.dumps(sampler.state_dict()))
    rest = list(numbers)
    later = [list(sampler) for _ in range(3)]
    other = make()
    other.load_state_dict(state)
    assert list(other) == rest
    assert [list(other) for _ in range(3)] == later


def test_a_state_after_a_pass_is_that_of_the_next(make):
    sampler, other = make(), make()
    list(sampler)
    other.set_state_dict(sampler.state_dict())
    assert list(other) == list(sampler)


def test_a_state_at_the_last_number_leaves_nothing_of_the_pass():
    sampler, other = RandomSampler(range(4)), RandomSampler(range(4))
    numbers = iter(sampler)
    for _ in range(4):
        next(numbers)
    other.set_state_dict(sampler.state_dict())
    assert (list(numbers), list(other)) == ([], [])
    assert list(sampler) == list(other)


def test_a_state_that_was_loaded_holds_although_a_seed_follows():
    sampler, other = RandomSampler(range(20)), RandomSampler(range(20))
    numbers = iter(sampler)
    next(numbers)
    other.set_state_dict(sampler.state_dict())
    paddle.seed(5)
    assert list(other) == list(numbers)


def test_an_abandoned_pass_is_followed_by_the_next():
    paddle.seed(2)
    sampler = RandomSampler(range(20))
    passes = [list(sampler) for _ in range(2)]
    paddle.seed(2)
    next(iter(sampler))
    assert list(sampler) == passes[1]


def test_an_older_iterator_does_not_disturb_the_state_of_a_newer():
    sampler = RandomSampler(range(8))
    older, newer = iter(sampler), iter(sampler)
    next(newer)
    list(older)
    state = sampler.state_dict()
    assert state["position"] == 1
    assert len(list(newer)) == 7


def test_states_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="state is of a sampler with 3 samples"):
        RandomSampler(range(4)).set_state_dict(RandomSampler(range(3)).state_dict())
    with pytest.raises(ValueError, match="must be what state_dict"):
        RandomSampler(range(4)).set_state_dict(SequenceSampler(range(4)).state_dict())
    with pytest.raises(ValueError, match="must be what state_dict"):
        SequenceSampler(range(4)).set_state_dict(None)


def test_random_sampler_draws_without_replacement():
    assert sorted(RandomSampler(range(50))) == list(range(50))
    assert len(set(RandomSampler(range(50), num_samples=10))) == 10


def test_replacement_draws_all_over_the_range():
    numbers = list(RandomSampler(range(5), replacement=True, num_samples=500))
    assert set(numbers) == set(range(5))


def test_weights_are_chances():
    paddle.seed(0)
    numbers = list(WeightedRandomSampler(paddle.to_tensor([1.0, 3.0, 0.0]), 4000))
    share = numbers.count(1) / 4000
    assert numbers.count(2) == 0
    assert abs(share - 0.75) < 5 * (0.75 * 0.25 / 4000) ** 0.5


def test_rows_of_weights_are_drawn_from_one_after_another():
    numbers = list(WeightedRandomSampler([[1, 0], [0, 1]], 3))
    assert numbers == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("make_wrong", "error", "text"),
    [
        (lambda: RandomSampler([]), ValueError, "num_samples"),
        (lambda: RandomSampler([1], num_samples=2), ValueError, "without replacement"),
        (lambda: RandomSampler([1], num_samples=0), ValueError, "num_samples"),
        (lambda: RandomSampler([1], num_samples=1.0), TypeError, "num_samples"),
        (lambda: RandomSampler([1], replacement=1), TypeError, "replacement"),
        (lambda: RandomSampler([1], generator=3), TypeError, "generator"),
        (lambda: SubsetRandomSampler([]), ValueError, "indices"),
        (lambda: WeightedRandomSampler([1.0], 0), ValueError, "num_samples"),
        (lambda: WeightedRandomSampler([1.0], 1, 1), TypeError, "replacement"),
        (lambda: WeightedRandomSampler([0.0], 1), ValueError, "weights"),
        (lambda: WeightedRandomSampler([1.0, -1.0], 1), ValueError, "weights"),
        (lambda: WeightedRandomSampler([1.0, np.inf], 1), ValueError, "weights"),
        (lambda: WeightedRandomSampler([1.0, np.nan], 1), ValueError, "weights"),
        (lambda: WeightedRandomSampler([1.0, 0.0], 2, False), ValueError, "weights"),
        (lambda: WeightedRandomSampler(["a"], 2), ValueError, "weights"),
        (lambda: WeightedRandomSampler(3.0, 2), ValueError, "weights"),
        (lambda: iter(Sampler()), NotImplementedError, "__iter__"),
    ],
)
def test_wrong_arguments(make_wrong, error, text):
    with pytest.raises(error, match=text):
        make_wrong()
