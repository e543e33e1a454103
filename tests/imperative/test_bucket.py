"""assign_buckets and Bucket: which gradients are reduced together."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from minipaddle.device.backend import get_place
from minipaddle.imperative.bucket import Bucket, assign_buckets, plan_buckets

MB = 1024 * 1024

# Sizes in bytes, kinds, limits, numbers of sparse parameters, order of walking, expected buckets.
VECTORS = {
    "two limits": ([120] * 5, "fffff", [200, 400], [], None, [[0, 1], [2, 3, 4]]),
    "two dtypes": ([100, 80, 100, 80, 100], "fdfdf", [150], [], None, [[0, 2], [1, 3], [4]]),
    "limit zero": ([64] * 4, "ffff", [0], [], None, [[0], [1], [2], [3]]),
    "one sparse": ([64] * 4, "ffff", [1_000_000], [1], None, [[0, 2, 3], [1]]),
    "permutation": ([64] * 4, "ffff", [100], [], [2, 0, 3, 1], [[2, 0], [3, 1]]),
    "exact hit closes": ([100, 100, 50], "fff", [100, 150], [], None, [[0], [1, 2]]),
    "LinearNet": ([400, 40, 40, 4], "ffff", [MB, 25 * MB], [], None, [[0, 1, 2, 3]]),
    "nothing": ([], "", [100], [], None, []),
    "one byte short": ([99, 1], "ff", [100], [], None, [[0, 1]]),
    "larger than a limit": ([500, 10, 500], "fff", [100, 200], [], None, [[0], [1, 2]]),
    "last limit serves the rest": (
        [30] * 6,
        "ffffff",
        [30, 60],
        [],
        None,
        [[0], [1, 2], [3, 4], [5]],
    ),
    "limits are per dtype": ([50, 50, 50, 50], "ffdd", [50, 100], [], None, [[0], [1], [2], [3]]),
    "all sparse": ([8] * 3, "fff", [100], [0, 1, 2], None, [[0], [1], [2]]),
    "sparse under a permutation": ([64] * 4, "ffff", [128], [0], [3, 0, 2, 1], [[0], [3, 2], [1]]),
    "left-over by first index": ([10, 10, 10], "dfd", [100], [], None, [[0, 2], [1]]),
    "left-over as first seen": ([10, 10, 10], "dfd", [100], [], [1, 2, 0], [[1], [2, 0]]),
}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name):
    sizes, kinds, limits, sparse, order, expected = VECTORS[name]
    flags = [i in sparse for i in range(len(sizes))]
    assert assign_buckets(sizes, kinds, limits, flags, order) == expected
    if not sparse:
        assert assign_buckets(sizes, kinds, limits, order=order) == expected


@pytest.mark.parametrize("seed", range(30))
def test_every_parameter_is_in_one_bucket_of_its_kind(seed):
    rng = random.Random(seed)
    count = rng.randrange(1, 40)
    sizes = [rng.randrange(1, 200) for _ in range(count)]
    kinds = [rng.choice("fdh") for _ in range(count)]
    sparse = [rng.random() < 0.1 for _ in range(count)]
    limits = sorted(rng.randrange(0, 400) for _ in range(rng.randrange(1, 4)))
    order = rng.sample(range(count), count) if seed % 2 else None
    buckets = assign_buckets(sizes, kinds, limits, sparse, order)
    assert sorted(i for bucket in buckets for i in bucket) == list(range(count))
    place = {index: at for at, index in enumerate(order or range(count))}
    for bucket in buckets:
        assert len({kinds[i] for i in bucket}) == 1
        assert len(bucket) == 1 or not any(sparse[i] for i in bucket)
        assert [place[i] for i in bucket] == sorted(place[i] for i in bucket)
        # Without its last member no bucket had reached any limit that could have closed it.
        assert sum(sizes[i] for i in bucket[:-1]) < max(limits) or len(bucket) == 1
    if order is None:
        assert buckets == sorted(buckets)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kinds": "fff"}, "4, 3"),
        ({"sparse": [True]}, "1"),
        ({"limits": []}, "limits"),
        ({"order": [0, 1, 2]}, "permutation of 0..3"),
        ({"order": [0, 1, 2, 2]}, "permutation"),
        ({"order": [1, 2, 3, 4]}, "permutation"),
        ({"order": [-1, 0, 1, 2]}, "permutation"),
    ],
)
def test_wrong_arguments_are_refused(change, says):
    call = {"sizes": [4] * 4, "kinds": "ffff", "limits": [100], **change}
    with pytest.raises(ValueError, match=says):
        assign_buckets(**call)


@pytest.mark.parametrize(
    ("sizes", "kinds", "expected"),
    [
        ([80, 30, 40, 50], "ffff", [[0, 1, 2, 3]]),  # 90 are left over: less than 100
        ([80, 30, 40, 60], "ffff", [[2, 3], [0, 1]]),  # 100 are not
        ([80, 30, 300, 20], "ffff", [[2, 3], [0, 1]]),
        ([80, 30, 40, 50], "ffdd", [[2, 3], [0, 1]]),  # of another kind
        ([10, 20], "ff", [[0, 1]]),
        ([], "", []),
    ],
)
def test_what_is_left_over_and_small_joins_its_neighbour(sizes, kinds, expected):
    assert plan_buckets(sizes, kinds, [100, 250]) == expected


def test_arguments_are_left_alone():
    sizes, kinds, limits, sparse, order = [4] * 3, list("ffd"), [4, 8], [False] * 3, [2, 0, 1]
    before = [list(x) for x in (sizes, kinds, limits, sparse, order)]
    assign_buckets(sizes, kinds, limits, sparse, order)
    assert [sizes, kinds, limits, sparse, order] == before


def test_a_bucket_is_made_of_views_of_its_buffer():
    buffer = SimpleNamespace(array=np.arange(11.0, dtype=np.float32))
    bucket = Bucket(2, [4, 1, 3], buffer, get_place("cpu"), [(2, 3), (), (4,)])
    assert (bucket.index, bucket.members, bucket.pending) == (2, [4, 1, 3], 3)
    assert bucket.buffer is buffer and bucket.token is None
    assert [view.shape for view in bucket.flat.views] == [(2, 3), (), (4,)]
    for view in bucket.flat.views:
        assert np.shares_memory(view, buffer.array)
        view[...] = -1.0
    assert (buffer.array == -1.0).all()
