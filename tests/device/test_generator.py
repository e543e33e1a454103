"""Random state: by place, restarted together, saved and restored exactly."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from minipaddle.device.backend import get_place, seed, set_device
from minipaddle.device.generator import Generator
from minipaddle.device.rng_state import (
    fork_rng,
    get_cuda_rng_state,
    get_rng_state,
    set_cuda_rng_state,
    set_rng_state,
)
from minipaddle.imperative.functions.creation import full
from minipaddle.imperative.functions.random import normal, randint, randn, randperm, uniform
from minipaddle.imperative.functions.sampling import bernoulli
from minipaddle.ops.op import namespace
from tests.device.plug import plugged_in


@pytest.fixture
def xpu():
    with plugged_in() as module:
        yield module


def test_the_same_seed_gives_the_same_numbers():
    one, other = Generator(), Generator()
    one.manual_seed(5), other.manual_seed(5)
    assert one.bits.random() == other.bits.random()
    assert one.manual_seed(6) is one
    assert one.bits.random() != other.bits.random()


def test_generators_without_a_seed_differ():
    assert Generator().bits.random() != Generator().bits.random()


def test_a_state_continues_exactly():
    generator = Generator(3)
    generator.bits.standard_normal(7)
    state = generator.get_state()
    drawn = generator.bits.standard_normal(5)
    generator.set_state(state)
    np.testing.assert_array_equal(generator.bits.standard_normal(5), drawn)
    other = Generator().manual_seed(0)
    other.set_state(state)
    np.testing.assert_array_equal(other.bits.standard_normal(5), drawn)


@pytest.mark.parametrize(
    ("wrong", "error"), [(-1, ValueError), (1.5, TypeError), (True, TypeError), ("1", TypeError)]
)
def test_a_wrong_seed_changes_nothing(wrong, error):
    seed(4)
    before = get_place("cpu").generator.get_state()
    for refuse in (seed, get_place("cpu").generator.manual_seed):
        with pytest.raises(error, match="seed"):
            refuse(wrong)
    assert get_place("cpu").generator.get_state() == before


def test_seed_restarts_every_place_also_those_of_later(xpu):
    drawn = {}
    for round_ in range(2):
        seed(11)
        for device in ("cpu", "xpu:0", "xpu:3"):
            set_device(device)
            drawn[device, round_] = randn([4]).numpy()
    for device in ("cpu", "xpu:0", "xpu:3"):
        np.testing.assert_array_equal(drawn[device, 0], drawn[device, 1])
    assert seed(11) is get_place("xpu:3").generator
    np.testing.assert_array_equal(randn([4]).numpy(), drawn["xpu:3", 0])


def test_numpy_integers_are_seeds():
    seed(np.int64(9))
    first = randn([3]).numpy()
    seed(9)
    np.testing.assert_array_equal(randn([3]).numpy(), first)


def test_a_seed_of_its_own_leaves_the_sequence_alone():
    seed(1)
    plain = [randn([2]).numpy(), randn([2]).numpy()]
    seed(1)
    first = randn([2]).numpy()
    own = uniform([3], seed=42).numpy()
    np.testing.assert_array_equal([first, randn([2]).numpy()], plain)
    np.testing.assert_array_equal(uniform([3], seed=42).numpy(), own)
    with pytest.raises((TypeError, ValueError)):
        uniform([2, -1], seed=42)
    after = randn([2]).numpy()
    seed(1)
    randn([4])
    np.testing.assert_array_equal(after, randn([2]).numpy())


def test_drawing_refuses_what_has_no_meaning():
    with pytest.raises(TypeError, match="int64"):
        randn([2], "int64")
    with pytest.raises(ValueError, match="std"):
        normal(0.0, -1.0, [2])
    assert normal(5.0, 0.0, [3]).tolist() == [5.0] * 3


def test_states_of_all_devices_of_a_kind_are_saved_and_restored(xpu):
    for device, count in (("cpu", 1), ("xpu:1", 8)):
        set_device(device)
        seed(21)
        randn([3])
        states = pickle.loads(pickle.dumps(get_rng_state()))
        assert len(states) == count
        # One state, whatever is drawn from it; and one number of normals leaves half a pair.
        draws = [
            lambda: randn([5]),
            lambda: randint(9, shape=[3], dtype="int32"),
            lambda: uniform([300, 1000]),
            lambda: bernoulli(full([7], 0.5)),
            lambda: randperm(9),
        ]
        first = [draw().numpy().tobytes() for draw in draws]
        set_rng_state(states)
        assert [draw().numpy().tobytes() for draw in draws] == first
        set_device("cpu")
        set_rng_state(states, device)
        set_device(device)
        assert draws[0]().numpy().tobytes() == first[0]


def test_a_state_taken_between_two_halves_of_64_bits_continues_exactly():
    seed(8)
    randint(9, shape=[1], dtype="int32")
    states = get_rng_state()
    drawn = randint(2**31 - 1, shape=[4], dtype="int32").tolist()
    set_rng_state(states)
    assert randint(2**31 - 1, shape=[4], dtype="int32").tolist() == drawn


def test_wrong_states_are_refused_and_change_nothing(xpu):
    seed(5)
    before = get_rng_state("xpu")
    with pytest.raises(ValueError, match=r"8 devices; got 1"):
        set_rng_state(get_rng_state("cpu"), "xpu")
    for wrong in (None, {}, {"bit_generator": "PCG64"}, 3):
        with pytest.raises(ValueError, match="state must be what get_state"):
            set_rng_state([Generator(1).get_state()] * 7 + [wrong], "xpu")
    assert get_rng_state("xpu") == before


def test_without_gpus_there_are_no_states_of_them():
    assert get_cuda_rng_state() == []
    set_cuda_rng_state([])
    with pytest.raises(ValueError, match="0 devices; got 1"):
        set_cuda_rng_state(get_rng_state("cpu"))


def test_devices_draw_independently_also_in_threads(xpu):
    seed(6)
    alone = {name: bits_of(name) for name in ("xpu:0", "xpu:1")}
    seed(6)
    together = {}

    def work(name):
        together[name] = bits_of(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in alone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def bits_of(name):
    """What 50 draws on a device are."""
    run = namespace(get_place(name)).uniform
    generator = get_place(name).generator
    draws = [run(generator, (1000,), np.dtype("float32"), 0.0, 1.0) for _ in range(50)]
    to_host = get_place(name).backend.to_host
    return b"".join(to_host(one).tobytes() for one in draws)


def test_a_fork_leaves_every_sequence_as_it_was(xpu):
    seed(4)
    for device in ("cpu", "xpu:2"):
        set_device(device)
        with pytest.raises(KeyError), fork_rng():
            inside = randn([4]).tolist()
            seed(99)
            randn([4])
            raise KeyError
        assert randn([4]).tolist() == inside


def test_processes_without_a_seed_differ_and_forks_go_on_alike():
    code = "import minipaddle as paddle; print(paddle.rand([4]).tolist())"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout != runs[1].stdout
    seed(4)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, randn([4]).numpy().tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 100) == randn([4]).numpy().tobytes()
    os.close(read), os.close(write)


def test_seed_repeats_and_goes_on():
    seed(3)
    first, second = randn([4]).numpy(), randn([4]).numpy()
    seed(3)
    assert (randn([4]).numpy() == first).all()
    assert (randn([4]).numpy() == second).all()
    assert (first != second).any()
