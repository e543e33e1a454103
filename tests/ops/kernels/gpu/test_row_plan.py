"""How rows are shared out to threads; loaded alone, as CuPy may be absent."""

import importlib.util
from pathlib import Path

import pytest

import minipaddle

FILE = Path(minipaddle.__file__).parent / "ops/kernels/gpu/row_plan.py"


def _loaded():
    spec = importlib.util.spec_from_file_location("row_plan_alone", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


row_plan = _loaded()
LENGTHS = [
    0,
    1,
    3,
    4,
    5,
    31,
    32,
    33,
    127,
    128,
    129,
    511,
    512,
    513,
    1000,
    2047,
    2048,
    2049,
    4096,
    8192,
]


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("width", [2, 4, 8])
def test_a_row_fits_into_what_its_threads_hold(width, aligned):
    for n in LENGTHS:
        way = row_plan.held(n, width, aligned)
        assert way.width == (width if aligned and n % width == 0 else 1)
        assert way.group * way.packs * way.width >= n and way.packs * way.width <= 16
        assert way.group in (1, 2, 4, 8, 16, 32) or way.group == way.threads
        assert way.threads % 32 == 0 and way.threads <= 1024
        assert way.grid(1000) * (way.threads // way.group) >= 1000
        assert way.grid(0) == 0


def test_rows_too_long_to_be_held_are_read_again():
    assert row_plan.held(16384, 4, True).packs == 4
    assert row_plan.held(16384, 8, False).packs == 16
    for n in (16385, 16388, 10**7):
        way = row_plan.held(n, 4, True)
        assert way.packs == 0 and way.group == way.threads


def test_short_rows_share_a_block():
    assert row_plan.held(8, 4, True)[1:] == (1, 2, 256)
    assert row_plan.held(4096, 4, True)[1:] == (4, 256, 256)
