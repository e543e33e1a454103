"""save and load: files of Paddle's, files of ours, and what is refused."""

import io
import pathlib
from collections import OrderedDict

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.saving import CheckpointError
from tests.saving import recorded
from tools.checkpoint_files import describe, paddle_cases


def as_json(value):
    """Tuples and lists look the same in JSON."""
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return value


@pytest.mark.parametrize("name", recorded.PADDLES)
def test_a_file_of_paddles_holds_what_paddle_finds_in_it(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(recorded.content(name))
    assert as_json(describe(paddle.load(path))) == recorded.value(name)
    # In memory too, from the middle of a buffer, which is left behind the value.
    buffer = io.BytesIO(b"before" + recorded.content(name) + b"after")
    buffer.seek(6)
    assert as_json(describe(paddle.load(buffer))) == recorded.value(name)
    assert buffer.read() == b"after"


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("name", [name for name, _ in paddle_cases(paddle)])
def test_what_is_saved_is_what_paddle_saves(name, protocol, tmp_path):
    """Ours, read here, is what Paddle finds in its own file of the same value."""
    path = str(tmp_path / "folder" / "file.pdparams")
    paddle.save(dict(paddle_cases(paddle))[name], path, protocol=protocol)
    assert as_json(describe(paddle.load(path))) == recorded.value(f"{name}.{protocol}.pdparams")


def test_tensors_get_their_names_back():
    weight = paddle.ones([2])
    weight.name = "my_weight"
    for value in ({"w": weight}, [weight]):
        file = saved(value)
        (found,) = paddle.load(file).values() if isinstance(value, dict) else paddle.load(file)
        assert found.name == "my_weight" and found.stop_gradient


def test_a_parameter_comes_back_as_a_tensor():
    layer = paddle.nn.Linear(2, 1)
    found = paddle.load(saved(layer.state_dict()))
    assert type(found["weight"]) is paddle.Tensor and type(found) is dict


def test_the_table_of_names_can_be_kept():
    state = paddle.nn.Linear(2, 1).state_dict()
    found = paddle.load(saved(state), keep_name_table=True)
    assert found["StructuredToParameterName@@"] == {k: v.name for k, v in state.items()}


@pytest.mark.parametrize("value", [{"w": paddle.ones([2])}, {"m": {"w": paddle.ones([2])}, "e": 1}])
def test_arrays_in_place_of_tensors(value):
    found = paddle.load(saved(value), return_numpy=True)
    array = found["w"] if "w" in found else found["m"]["w"]
    assert type(array) is np.ndarray and array.tolist() == [1.0, 1.0]
    array += 1.0  # it may be written to


def test_bfloat16_is_read_as_such_whatever_is_wanted():
    pytest.importorskip("ml_dtypes")
    file = saved([paddle.ones([2]).astype("bfloat16")])
    assert paddle.load(file)[0].dtype == paddle.bfloat16
    file.seek(0)
    assert paddle.load(file, return_numpy=True)[0].dtype.name == "bfloat16"


def test_one_tensor_twice_is_one_tensor_again():
    weight = paddle.ones([2])
    first, second = paddle.load(saved([weight, weight]))
    assert first is second


def test_tensors_come_to_the_current_place_and_can_be_written_to():
    found = paddle.load(saved({"w": paddle.zeros([2])}))["w"]
    assert found.place is paddle.zeros([1]).place
    assert found.add_(1.0).tolist() == [1.0, 1.0]


def test_views_are_saved_as_they_look():
    base = paddle.arange(6, dtype="float32").reshape([2, 3])
    found = paddle.load(saved([base.t(), base[:, 1], np.arange(6, dtype=">i4").reshape(2, 3).T]))
    assert found[0].tolist() == [[0, 3], [1, 4], [2, 5]] and found[1].tolist() == [1, 4]
    assert found[2].tolist() == [[0, 3], [1, 4], [2, 5]]


def test_training_goes_on_as_if_it_had_not_stopped(tmp_path):
    def parts():
        net = paddle.nn.Linear(3, 1)
        return net, paddle.optimizer.Adam(0.1, parameters=net.parameters())

    def steps(net, optimizer, count):
        for _ in range(count):
            (net(paddle.ones([2, 3])) ** 2).sum().backward()
            optimizer.step()
            optimizer.clear_grad()

    net, optimizer = parts()
    steps(net, optimizer, 3)
    path = str(tmp_path / "all.pdparams")
    state = {"model": net.state_dict(), "epoch": 3, "rng": paddle.get_rng_state()}
    paddle.save(state, path)
    names = {old.name: key for key, old in net.state_dict().items()}
    paddle.save(optimizer.state_dict(), str(tmp_path / "all.pdopt"))
    steps(net, optimizer, 3)

    again, optimizer_again = parts()
    found = paddle.load(path)
    again.set_state_dict(found["model"])
    paddle.set_rng_state(found["rng"])
    moved = {}
    for key, value in paddle.load(str(tmp_path / "all.pdopt")).items():
        old = next(name for name in names if key.startswith(name))
        moved[key.replace(old, again.state_dict()[names[old]].name)] = value
    optimizer_again.set_state_dict(moved)
    steps(again, optimizer_again, 3)
    assert again.weight.tolist() == net.weight.tolist()


def test_folders_are_made_and_any_kind_of_path_taken(tmp_path):
    path = tmp_path / "a" / "b" / "c.pdparams"
    paddle.save(paddle.ones([1]), path)
    assert isinstance(path, pathlib.Path) and paddle.load(path).tolist() == [1.0]


@pytest.mark.parametrize("protocol", [1, 5, True, 4.0, "4", None])
def test_protocols_that_are_refused(protocol, tmp_path):
    with pytest.raises(ValueError, match="protocol must be 2, 3 or 4"):
        paddle.save(paddle.ones([1]), str(tmp_path / "x"), protocol=protocol)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("path", "words"), [("", "end in the name"), ("no_such/", "end in the name"), (3, "got int")]
)
def test_paths_that_cannot_be_saved_to(path, words):
    with pytest.raises(ValueError, match=words):
        paddle.save(paddle.ones([1]), path)


def test_unknown_options_are_errors():
    with pytest.raises(ValueError, match="use_binary is no option; the options are safetensors"):
        paddle.save(1, io.BytesIO(), use_binary=True)
    with pytest.raises(ValueError, match="params_filename is no option"):
        paddle.load(io.BytesIO(), params_filename="x")
    with pytest.raises(ValueError, match="return_numpy must be True or False; got 1"):
        paddle.load(io.BytesIO(), return_numpy=1)


def test_what_is_not_there(tmp_path):
    with pytest.raises(ValueError, match=r"nothing\.pdparams: there is no such file$"):
        paddle.load(str(tmp_path / "nothing.pdparams"))
    with pytest.raises(CheckpointError, match="it is a folder"):
        paddle.load(tmp_path)
    paddle.save(1, tmp_path / "model.pdparams")
    with pytest.raises(CheckpointError, match=r"model.pdparams does: give the whole name"):
        paddle.load(tmp_path / "model")
    with pytest.raises(CheckpointError, match="no file but a device"):
        paddle.load("/dev/null")
    with pytest.raises(ValueError, match="got float"):
        paddle.load(1.5)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (
            {"net": paddle.nn.Linear(1, 1)},
            ValueError,
            r"obj\['net'\] is a Linear; save its state_d",
        ),
        ([1, (2, object())], TypeError, r"obj\[1\]\[1\] is a object; tensors, arrays"),
        (b"raw", TypeError, "bytes.*frombuffer"),
        ([np.array(["a"])], TypeError, r"obj\[0\] is an array of dtype <U1"),
        ({frozenset(): 1}, TypeError, "a key of obj is a frozenset"),
        ([lambda: 1], TypeError, r"obj\[0\] is a function"),
    ],
)
def test_what_cannot_be_saved_is_named_and_nothing_is_written(value, error, words, tmp_path):
    path = tmp_path / "x.pdparams"
    path.write_bytes(b"old")
    with pytest.raises(error, match=words):
        paddle.save(value, path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_what_contains_itself_is_refused():
    loop = [1]
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        paddle.save(loop, io.BytesIO())


def test_what_is_shared_is_written_once():
    """Without that a hundred lists of two would be 2**100 lists."""
    value = [0]
    for _ in range(90):
        value = [value, value]
    found = paddle.load(saved(value))
    assert found[0] is found[1]


def test_a_failed_load_leaves_the_buffer_where_it_was():
    buffer = io.BytesIO(b"xx" + recorded.content("layer.4.pdparams")[:-20])
    buffer.seek(2)
    with pytest.raises(CheckpointError, match="<BytesIO>: it is damaged or cut short"):
        paddle.load(buffer)
    assert buffer.tell() == 2


def test_ordered_dicts_keep_their_kind():
    found = paddle.load(saved(OrderedDict(epoch=1, w=paddle.ones([1]))))
    assert type(found) is OrderedDict and list(found) == ["epoch", "w"]


def saved(value, **options):
    file = io.BytesIO()
    paddle.save(value, file, **options)
    file.seek(0)
    return file
