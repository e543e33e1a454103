"""Random state: by place, restarted together, saved and restored exactly."""

import numpy as np
import pytest

from minipaddle.device.backend import get_place, seed, set_device
from minipaddle.device.generator import Generator
from minipaddle.imperative.functions.random import normal, randn, uniform
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
