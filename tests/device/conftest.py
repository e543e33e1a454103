"""Fixtures of tests that meet GPUs on a machine without."""

import pytest

from tests.device.fake_cupy import CuPy, installed


@pytest.fixture
def two_gpus(monkeypatch):
    """A CuPy with two GPUs, neither of them chosen."""
    with installed(monkeypatch, CuPy()) as cupy:
        yield cupy
