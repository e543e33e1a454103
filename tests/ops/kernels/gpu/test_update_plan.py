"""How parameters are cut into stretches; loaded alone, as CuPy may be absent."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import minipaddle

FILE = Path(minipaddle.__file__).parent / "ops/kernels/gpu/update_plan.py"


def _loaded():
    spec = importlib.util.spec_from_file_location("update_plan_alone", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


update_plan = _loaded()
CHUNK = update_plan.CHUNK


@pytest.mark.parametrize(
    "sizes", [[], [0], [5], [3, 0, 1], [CHUNK], [CHUNK + 1, 7, 3 * CHUNK], [0, 2 * CHUNK - 1, 0, 4]]
)
def test_chunks_cover_every_parameter_once(sizes):
    itemsize = 4
    addresses = [10**6 * (i + 1) for i in range(len(sizes))]
    table = update_plan.chunks(addresses, sizes, itemsize)
    assert table.dtype == np.int64 and table.shape == (len(table), 3)
    seen = []
    for address, start, length in table.tolist():
        assert 0 < length <= CHUNK
        at = max(i for i, a in enumerate(addresses) if a <= address)
        offset = (address - addresses[at]) // itemsize
        assert start == sum(sizes[:at]) + offset and offset + length <= sizes[at]
        seen += range(start, start + length)
    assert seen == list(range(sum(sizes)))
