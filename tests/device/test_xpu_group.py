"""The process group of a plug-in kind of device passes the suite that every group passes."""

import importlib

import pytest

from tests.device.plug import plugged_in
from tests.distributed.process_group.conformance import CHECKS
from tests.distributed.process_group.harness import Ranks


@pytest.fixture(scope="module")
def ranks():
    with plugged_in():
        module = importlib.import_module("tests.device.xpu_group")
    with Ranks(2, module.make_group, nrings=2, timeout=30) as ranks:
        yield ranks, module.XpuDevice()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(check, ranks):
    group, device = ranks
    group.run(check, device)
