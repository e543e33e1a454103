"""PyTorch's checkpoints: what it wrote is read, what is damaged is refused."""

import io
import struct
import zipfile

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.saving import CheckpointError
from tests.saving import recorded
from tests.saving.pickles import load, name, number, text
from tools.checkpoint_files import describe

ZIP = recorded.content("views.zip.pt")
LEGACY = recorded.content("views.legacy.pt")


def plain(value):
    """As JSON, without the difference of kinds that PyTorch has and we do not."""
    if isinstance(value, list | tuple):
        kind = (
            {"size": "tuple"}.get(value[0], value[0]) if value and type(value[0]) is str else None
        )
        return [kind, *map(plain, value[1:])] if kind else [plain(item) for item in value]
    return value


@pytest.mark.parametrize("file", recorded.TORCHS)
def test_a_file_of_pytorchs_holds_what_pytorch_finds_in_it(file, tmp_path):
    pytest.importorskip("ml_dtypes")
    path = tmp_path / file
    path.write_bytes(recorded.content(file))
    wanted = plain(recorded.value(file))
    assert plain(describe(paddle.load(path))) == wanted
    assert plain(describe(paddle.load(io.BytesIO(path.read_bytes())))) == wanted


def test_arrays_in_place_of_tensors():
    found = load(ZIP, return_numpy=True)
    assert all(type(array) is np.ndarray for array in found.values())
    assert found["transposed"].flags.c_contiguous and found["transposed"].shape == (4, 2, 3)


def test_a_state_dict_goes_into_a_layer_with_its_weight_transposed():
    state = load(recorded.content("state_dict.zip.pt"))
    net = paddle.nn.Linear(3, 2)
    net.set_state_dict({"weight": state["weight"].t(), "bias": state["bias"]})
    x = np.array([[1.0, 2.0, 3.0]], "float32")
    np.testing.assert_allclose(net(paddle.to_tensor(x)).numpy(), x @ state["weight"].numpy().T)


def test_another_suffix_says_how_to_go_on(tmp_path):
    for content in (ZIP, LEGACY):
        (tmp_path / "model.pdparams").write_bytes(content)
        with pytest.raises(CheckpointError, match=r"model.pdparams: .*\.pt or \.pth.*transposed"):
            paddle.load(tmp_path / "model.pdparams")


def test_a_pickle_of_paddles_may_have_any_suffix(tmp_path):
    paddle.save([1, 2], tmp_path / "model.pt")
    assert paddle.load(tmp_path / "model.pt") == [1, 2]


@pytest.mark.parametrize("step", [7])
def test_a_file_cut_anywhere_is_refused(step):
    for content in (ZIP, LEGACY):
        for length in range(0, len(content) - 22, step):
            with pytest.raises(CheckpointError):
                load(content[:length])


# ---- archives put together by hand ----

DTYPES = name("torch._utils", "_rebuild_tensor_v2")


def storage(count: int = 4, key: str = "0", kind: tuple[str, str] = ("torch", "FloatStorage")):
    ident = text("storage") + name(*kind) + text(key) + text("cpu") + number(count)
    return b"(" + ident + b"tQ"


def tensor(offset=0, shape=(2, 2), strides=(2, 1), held=None) -> bytes:
    lengths = b"(" + b"".join(map(number, shape)) + b"t"
    steps = b"(" + b"".join(map(number, strides)) + b"t"
    return DTYPES + b"(" + (held or storage()) + number(offset) + lengths + steps + b"\x89NtR"


def archive(pickled: bytes, compression=zipfile.ZIP_STORED, **parts: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        made.writestr("a/data.pkl", b"\x80\x02" + pickled + b".")
        made.writestr("a/data/0", np.arange(4, dtype="float32").tobytes())
        for part, content in parts.items():
            made.writestr(f"a/{part}", content)
    return file.getvalue()


def test_an_archive_made_by_hand():
    assert load(archive(tensor())).tolist() == [[0, 1], [2, 3]]
    assert load(archive(tensor(1, (3,), (1,)))).tolist() == [1, 2, 3]
    assert load(archive(tensor(0, (2, 3), (1, 0)))).tolist() == [[0, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (archive(tensor(1)), "past the end of its storage"),
        (archive(tensor(0, (1 << 40,), (1,))), "past the end"),
        (archive(tensor(0, (1 << 40,), (0,))), "8 times the length"),
        (archive(tensor(0, (1 << 31, 1 << 31), (0, 0))), "8 times the length"),
        (archive(tensor(-1)), "no proper storage"),
        (archive(tensor(0, (2,), (-1,))), "no proper storage"),
        (archive(tensor(0, (2, 2), (1,))), "no proper storage"),
        (archive(tensor(held=b"N")), "no proper storage"),
        (archive(tensor(held=storage(5))), "missing or short"),
        (archive(tensor(held=storage(-5))), "has no length"),
        (archive(tensor(held=storage(key="../../etc"))), "missing or short"),
        (archive(tensor(held=storage(kind=("torch", "Size")))), "is no storage"),
        (archive(tensor(held=storage(kind=("torch", "QInt8Storage")))), "QInt8Storage is not allo"),
        (archive(b"NQ"), "no storage"),
        (archive(storage()), "Storage where a value"),
        (archive(name("os", "system") + text("true") + b"\x85R"), "os.system is not allowed"),
        (archive(name("torch.nn", "Module") + b")R"), "torch.nn.Module is not allowed"),
        (archive(tensor(), zipfile.ZIP_DEFLATED), "is compressed"),
        (archive(tensor(), byteorder=b"big"), "other byte order"),
        (archive(tensor(), **{"constants.pkl": b""}), "TorchScript"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",  # the bytes have a date in them
)
def test_damaged_and_hostile_archives(content, words):
    with pytest.raises(CheckpointError, match=words):
        load(content)


def test_other_zip_archives():
    file = io.BytesIO()
    np.savez(file, a=np.arange(3))
    with pytest.raises(CheckpointError, match=r"without data\.pkl, not a checkpoint"):
        load(file.getvalue())


def test_element_types_that_tensors_do_not_have_stay_arrays():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    made = name("torch._utils", "_rebuild_tensor_v3") + b"("
    made += storage(16, kind=("torch.storage", "UntypedStorage")) + b"K\0(K\4t(K\1t\x89N"
    for dtype, wanted in (("uint32", np.uint32), ("float8_e4m3fn", ml_dtypes.float8_e4m3fn)):
        found = load(archive(made + name("torch", dtype) + b"tR"))
        assert type(found) is np.ndarray and found.dtype == wanted
    assert load(archive(made + name("torch", "int16") + b"tR")).dtype == paddle.int16
    with pytest.raises(CheckpointError, match="a tensor has no dtype"):
        load(archive(made + b"NtR"))


def test_a_legacy_file_whose_storages_do_not_fit():
    start = LEGACY.rindex(b"e.") + 2
    count = struct.unpack("<q", LEGACY[start : start + 8])[0]
    assert count > 0
    changed = LEGACY[:start] + struct.pack("<q", count + 1) + LEGACY[start + 8 :]
    with pytest.raises(CheckpointError, match="not those that it uses"):
        load(changed)
    with pytest.raises(CheckpointError, match="version of PyTorch"):
        load(LEGACY.replace(b"M\xe9\x03.", b"M\xea\x03."))


def test_without_ml_dtypes_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    monkeypatch.delitem(paddle.device.dtype.BY_NAME, "bfloat16", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'minipaddle\[bf16\]'"):
        load(recorded.content("dtypes.zip.pt"))
