"""safetensors files, both ways."""

import io
import sys

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.saving import CheckpointError

safetensors = pytest.importorskip("safetensors.numpy")


def test_tensors_come_back(tmp_path):
    path = tmp_path / "model.safetensors"
    state = {name: paddle.to_tensor(np.ones(3, name)) for name in ("float32", "int64", "bool")}
    state |= {"scalar": paddle.to_tensor(2.5), "empty": paddle.zeros([0, 3])}
    paddle.save(state, path)
    found = paddle.load(path)
    assert set(found) == set(state)
    for name, tensor in state.items():
        assert found[name].dtype == tensor.dtype and found[name].shape == tensor.shape
        assert found[name].tolist() == tensor.tolist()
    found["float32"].add_(1.0)  # it may be written to
    assert safetensors.load_file(path)["float32"].tolist() == [1, 1, 1]


def test_a_transposed_weight(tmp_path):
    """The package itself writes the memory as it lies, and so other values."""
    path = tmp_path / "model.safetensors"
    weight = paddle.arange(6, dtype="float32").reshape([2, 3])
    paddle.save({"t": weight.t(), "a": weight.numpy().T, "step": weight[:, ::2]}, path)
    found = paddle.load(path, return_numpy=True)
    np.testing.assert_array_equal(found["t"], weight.numpy().T)
    np.testing.assert_array_equal(found["a"], weight.numpy().T)
    np.testing.assert_array_equal(found["step"], weight.numpy()[:, ::2])


def test_bfloat16(tmp_path):
    pytest.importorskip("ml_dtypes")
    path = tmp_path / "model.safetensors"
    paddle.save({"w": paddle.to_tensor([1.5, -2.0]).astype("bfloat16")}, path)
    assert b'"BF16"' in path.read_bytes()
    found = paddle.load(path)["w"]
    assert found.dtype == paddle.bfloat16 and found.astype("float32").tolist() == [1.5, -2.0]


def test_the_option_stands_for_the_suffix(tmp_path):
    paddle.save({"w": paddle.ones([1])}, tmp_path / "model", safetensors=True)
    assert paddle.load(tmp_path / "model", safetensors=True)["w"].tolist() == [1.0]
    with pytest.raises(CheckpointError, match=r"with the suffix \.safetensors"):
        paddle.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (paddle.ones([1]), "obj is a Tensor"),
        ({"epoch": 3}, r"obj\['epoch'\] is a int; a .pdparams file takes it"),
        ({1: paddle.ones([1])}, r"under names"),
        ({"a": {"b": paddle.ones([1])}}, r"obj\['a'\] is a dict"),
    ],
)
def test_what_it_cannot_hold(value, words, tmp_path):
    with pytest.raises(TypeError, match=words):
        paddle.save(value, tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


def test_damaged_files(tmp_path):
    path = tmp_path / "model.safetensors"
    paddle.save({"w": paddle.ones([4])}, path)
    whole = path.read_bytes()
    for length in range(1, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=r"model\.safetensors: it is"):
            paddle.load(path)
    paddle.save([1], tmp_path / "pickle")
    path.write_bytes((tmp_path / "pickle").read_bytes())
    with pytest.raises(CheckpointError, match=r"it is a pickle.* without the suffix \.safetensors"):
        paddle.load(path)
    with pytest.raises(CheckpointError, match="it is a safetensors file"):
        paddle.load(io.BytesIO(whole))


def test_without_the_package_the_error_says_what_to_install(monkeypatch, tmp_path):
    path = tmp_path / "model.safetensors"
    paddle.save({"w": paddle.ones([4])}, path)
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    for call in (lambda: paddle.save({"w": paddle.ones([1])}, path), lambda: paddle.load(path)):
        with pytest.raises(ImportError, match=r"pip install 'minipaddle\[safetensors\]'"):
            call()
    assert path.stat().st_size
