import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.io import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from tests.io.samples import Numbers, Stream


@pytest.mark.parametrize("call", [lambda d: d[0], len])
def test_a_subclass_must_define_its_methods(call):
    with pytest.raises(NotImplementedError, match="Dataset must define"):
        call(Dataset())


def test_iterable_dataset_has_neither_length_nor_numbers():
    with pytest.raises(TypeError, match="length is not known"):
        len(Stream())
    with pytest.raises(RuntimeError, match="has no sample 3"):
        Stream()[3]
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(IterableDataset())
    assert list(Stream(3)) == [0, 1, 2]


def test_tensor_dataset_has_rows_of_tensors_and_arrays():
    data = TensorDataset([paddle.arange(4), np.arange(8.0).reshape(4, 2)])
    number, row = data[2]
    assert (len(data), number.item(), row.tolist()) == (4, 2, [4.0, 5.0])
    with pytest.raises(IndexError):
        data[4]


@pytest.mark.parametrize(
    ("tensors", "error"),
    [
        ([], ValueError),
        ([np.ones(2), np.ones(3)], ValueError),
        ([np.array(1.0)], ValueError),
        ([[1, 2]], TypeError),
        (np.ones(3), TypeError),
        (3, TypeError),
    ],
)
def test_tensor_dataset_refuses(tensors, error):
    with pytest.raises(error, match="tensors"):
        TensorDataset(tensors)


def test_compose_joins_fields():
    letters = TensorDataset([paddle.arange(20)])
    composed = ComposeDataset([Numbers(), letters])
    assert len(composed) == 20
    assert [np.asarray(field).tolist() for field in composed[3]] == [[3.0] * 3, 3, 3]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: ComposeDataset([]), ValueError),
        (lambda: ComposeDataset([Numbers(2), Numbers(3)]), ValueError),
        (lambda: ComposeDataset([Stream()]), TypeError),
        (lambda: ComposeDataset([[1]]), TypeError),
        (lambda: ChainDataset([]), ValueError),
        (lambda: ChainDataset([Numbers()]), TypeError),
        (lambda: ConcatDataset([]), ValueError),
        (lambda: ConcatDataset([Stream()]), TypeError),
    ],
)
def test_combinations_refuse(make, error):
    with pytest.raises(error, match="datasets"):
        make()


def test_chain_goes_on_from_one_to_the_next():
    assert list(ChainDataset([Stream(2), Stream(3)])) == [0, 1, 0, 1, 2]


def test_concat_numbers_go_on():
    data = ConcatDataset([[0, 1], [], [2]])
    assert [data[i] for i in range(-3, 3)] == [0, 1, 2, 0, 1, 2]
    for idx in (3, -4):
        with pytest.raises(IndexError, match=r"\[-3, 3\)"):
            data[idx]


def test_subset():
    data = Subset("abc", [2, 0])
    assert (len(data), list(data)) == (2, ["c", "a"])


@pytest.mark.parametrize(
    ("lengths", "found"),
    [([3, 7], [3, 7]), ([0.25, 0.75], [3, 7]), ([0.34, 0.33, 0.33], [4, 3, 3]), ([10], [10])],
)
def test_random_split(lengths, found):
    parts = random_split(range(10), lengths)
    assert [len(part) for part in parts] == found
    assert sorted(number for part in parts for number in part) == list(range(10))


def test_random_split_repeats_after_a_seed_and_with_a_generator():
    def split(generator=None):
        return [list(part) for part in random_split(range(50), [20, 30], generator)]

    paddle.seed(4)
    first = split()
    assert split() != first
    paddle.seed(4)
    assert split() == first
    generators = [paddle.device.Generator(7) for _ in range(2)]
    assert split(generators[0]) == split(generators[1])


def test_random_split_of_one_sample_is_no_fraction():
    assert [len(part) for part in random_split([5], [1])] == [1]


@pytest.mark.parametrize("lengths", [[3, 3], [-1, 11], [2.5, 7.5], [0.5, 0.7], []])
def test_random_split_refuses(lengths):
    with pytest.raises(ValueError, match="lengths must"):
        random_split(range(10), lengths)


def test_random_split_warns_of_an_empty_part():
    with pytest.warns(UserWarning, match="empty part"):
        random_split(range(2), [0.9, 0.05, 0.05])


def test_batches_of_rows_are_gathered_as_one_by_one():
    x = np.random.default_rng(0).random((10, 3), dtype=np.float32)
    data = TensorDataset([paddle.to_tensor(x), np.arange(10)])
    part = Subset(Subset(data, [9, 3, 5, 7]), [3, 1, -4])

    class Same(TensorDataset):
        def __getitem__(self, index):
            return super().__getitem__(index)

    for dataset in (data, part, Same(data.tensors)):
        rows, numbers = next(iter(DataLoader(dataset, batch_size=3)))
        np.testing.assert_array_equal(rows.numpy(), x[numbers.numpy()])
    assert next(iter(DataLoader(part, batch_size=3)))[1].tolist() == [7, 3, 9]


def test_gathered_rows_are_copies():
    x = paddle.ones([4, 2])
    (batch,) = next(iter(DataLoader(TensorDataset([x]), batch_size=4)))
    batch.add_(paddle.ones([4, 2]))
    assert x.tolist() == [[1.0, 1.0]] * 4
