"""Flags and ids of devices."""

import pytest

from minipaddle.device import flags
from minipaddle.device.flags import (
    define_flag,
    device_index,
    get_flags,
    parse_ids,
    set_flags,
    visible_ids,
)


@pytest.fixture(autouse=True)
def clean_flags(monkeypatch):
    monkeypatch.setattr(flags, "_set_values", {})
    monkeypatch.setattr(flags, "_flags", dict(flags._flags))
    monkeypatch.setattr(flags, "_device_variables", dict(flags._device_variables))
    for name in flags._flags:
        monkeypatch.delenv(name, raising=False)


define_flag("FLAGS_a_switch", False, "A flag of these tests.")


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("FLAGS_selected_devices", ""),
        ("FLAGS_selected_gpus", ""),
        ("FLAGS_selected_xpus", ""),
        ("FLAGS_nccl_nrings", 1),
        ("FLAGS_a_switch", False),
    ],
)
def test_every_public_flag_has_its_default(name, default):
    value = get_flags(name)[name]
    assert value == default and type(value) is type(default)


@pytest.mark.parametrize("container", [list, tuple])
def test_get_flags_takes_a_list_or_tuple(container):
    names = container(["FLAGS_nccl_nrings", "FLAGS_selected_xpus"])
    assert get_flags(names) == {"FLAGS_nccl_nrings": 1, "FLAGS_selected_xpus": ""}


@pytest.mark.parametrize("wrong", [{"FLAGS_nccl_nrings"}, {"FLAGS_nccl_nrings": 1}, None, 3])
def test_get_flags_refuses_other_containers(wrong):
    with pytest.raises(TypeError, match="str, a list or a tuple"):
        get_flags(wrong)


@pytest.mark.parametrize("wrong", [[("FLAGS_nccl_nrings", 2)], "FLAGS_nccl_nrings", None])
def test_set_flags_wants_a_dict(wrong):
    with pytest.raises(TypeError, match="dict"):
        set_flags(wrong)


def test_an_unknown_flag_names_those_like_it():
    with pytest.raises(ValueError, match=r"FLAGS_selected_xpu'.*FLAGS_selected_xpus"):
        get_flags("FLAGS_selected_xpu")
    with pytest.raises(ValueError, match="FLAGS_nccl_nrings"):
        set_flags({"FLAGS_nccl_nring": 2})
    with pytest.raises(TypeError, match="must be a str"):
        get_flags([3])


def test_the_environment_decides_until_set_flags_does(monkeypatch):
    monkeypatch.setenv("FLAGS_selected_xpus", "4, 10")
    monkeypatch.setenv("FLAGS_nccl_nrings", "3")
    monkeypatch.setenv("FLAGS_a_switch", "True")
    assert get_flags(["FLAGS_selected_xpus", "FLAGS_nccl_nrings", "FLAGS_a_switch"]) == {
        "FLAGS_selected_xpus": "4, 10",
        "FLAGS_nccl_nrings": 3,
        "FLAGS_a_switch": True,
    }
    set_flags({"FLAGS_nccl_nrings": 2})
    monkeypatch.setenv("FLAGS_nccl_nrings", "5")
    assert get_flags("FLAGS_nccl_nrings") == {"FLAGS_nccl_nrings": 2}


@pytest.mark.parametrize("text", ["three", "0", "9", "2.5", ""])
def test_a_bad_variable_is_named_with_the_bounds(monkeypatch, text):
    monkeypatch.setenv("FLAGS_nccl_nrings", text)
    with pytest.raises(ValueError, match=r"variable FLAGS_nccl_nrings.*in 1\.\.8") as caught:
        get_flags("FLAGS_nccl_nrings")
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FLAGS_nccl_nrings", 9),
        ("FLAGS_nccl_nrings", True),
        ("FLAGS_nccl_nrings", 1.5),
        ("FLAGS_nccl_nrings", None),
        ("FLAGS_a_switch", "maybe"),
        ("FLAGS_a_switch", 2),
        ("FLAGS_selected_gpus", [4, 5]),
        ("FLAGS_selected_gpus", 1.0),
    ],
)
def test_a_refused_value_changes_nothing(name, value):
    with pytest.raises(ValueError, match=name):
        set_flags({"FLAGS_selected_xpus": "7", name: value})
    assert get_flags("FLAGS_selected_xpus") == {"FLAGS_selected_xpus": ""}


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("FLAGS_a_switch", 1, True),
        ("FLAGS_a_switch", "off", False),
        ("FLAGS_nccl_nrings", "8", 8),
        ("FLAGS_selected_gpus", 4, "4"),
    ],
)
def test_values_are_read_as_their_flags_type(name, value, read):
    set_flags({name: value})
    assert get_flags(name)[name] is read or get_flags(name)[name] == read


def test_a_plugin_defines_its_flag():
    flags.define_device_variables("npu", "ASCEND_VISIBLE_DEVICES", None)
    assert flags.device_variables("npu") == ("ASCEND_VISIBLE_DEVICES", "FLAGS_selected_npus")
    assert get_flags("FLAGS_selected_npus") == {"FLAGS_selected_npus": ""}
    assert "FLAGS_selected_npus" in flags.selected_flag_names()
    flags.define_flag("FLAGS_ratio", 0.5, "A float.")
    set_flags({"FLAGS_ratio": 2})
    assert get_flags("FLAGS_ratio") == {"FLAGS_ratio": 2.0}
    flags.define_flag("FLAGS_ratio", 0.5, "The same again.")
    with pytest.raises(ValueError, match="defined already"):
        flags.define_flag("FLAGS_ratio", 0.25, "Another default.")
    with pytest.raises(ValueError, match="begin with FLAGS_"):
        flags.define_flag("ratio", 0.5, "No prefix.")


def test_what_set_flags_has_set_goes_on_top_of_the_environment(monkeypatch):
    monkeypatch.setenv("FLAGS_selected_xpus", "1")
    set_flags({"FLAGS_selected_xpus": "10", "FLAGS_a_switch": True})
    assert flags.flag_environ() == {"FLAGS_selected_xpus": "10", "FLAGS_a_switch": "1"}
    assert flags.selection_environ()["FLAGS_selected_xpus"] == "10"
    monkeypatch.setenv("FLAGS_a_switch", "0")
    flags.apply_environ({"FLAGS_selected_xpus": "11"})
    assert get_flags("FLAGS_selected_xpus") == {"FLAGS_selected_xpus": "11"}
    assert get_flags("FLAGS_a_switch") == {"FLAGS_a_switch": True}


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("4,5", ["4", "5"]),
        (" 4 , 5 ", ["4", "5"]),
        ("10", ["10"]),
        ("10,11", ["10", "11"]),
        (12, ["12"]),
        ([4, "10"], ["4", "10"]),
        (("GPU-8a1c", "MIG-77"), ["GPU-8a1c", "MIG-77"]),
    ],
)
def test_ids_are_split_at_commas_and_kept_whole(value, ids):
    assert parse_ids(value, "xpus") == ids


@pytest.mark.parametrize("value", ["", ",", "4,", "4,,5", " ", [], ["4,5"], [""]])
def test_empty_items_are_refused(value):
    with pytest.raises(ValueError, match="xpus must be ids"):
        parse_ids(value, "xpus")


@pytest.mark.parametrize("value", ["4,5,4", "4, 4", [4, "4"]])
def test_repeated_ids_are_refused(value):
    with pytest.raises(ValueError, match="xpus names 4 more than once"):
        parse_ids(value, "xpus")


@pytest.mark.parametrize("value", [4.0, True, None, [4.5], {"4"}])
def test_ids_of_other_types_are_refused(value):
    with pytest.raises(TypeError, match="xpus"):
        parse_ids(value, "xpus")


def test_visible_ids():
    name = "CUDA_VISIBLE_DEVICES"
    assert visible_ids(name, {}) is None
    assert visible_ids(name, {}, 2) == ["0", "1"]
    assert visible_ids(name, {name: "10, 11"}, 8) == ["10", "11"]
    for hidden in ("", " ", "-1", "NoDevFiles"):
        assert visible_ids(name, {name: hidden}, 8) == []


def test_an_index_is_the_position_in_the_visible_list():
    name = "XPU_VISIBLE_DEVICES"
    assert device_index("11", name, {name: "10,11"}) == 1
    assert device_index("XPU-b", name, {name: "XPU-a,XPU-b"}) == 1
    assert device_index("12", name, {}) == 12
    with pytest.raises(ValueError, match=r"'1' is not in XPU_VISIBLE_DEVICES \(10,11\)"):
        device_index("1", name, {name: "10,11"})
    with pytest.raises(ValueError, match="needs XPU_VISIBLE_DEVICES"):
        device_index("XPU-a", name, {})


def test_the_time_out_is_given_in_milliseconds(monkeypatch):
    monkeypatch.delenv("PADDLE_PG_TIMEOUT", raising=False)
    assert flags.pg_timeout_seconds() == 1800.0
    monkeypatch.setenv("PADDLE_PG_TIMEOUT", "2500")
    assert flags.pg_timeout_seconds() == 2.5
    for wrong in ("soon", "0", "-5", "inf", "nan", ""):
        monkeypatch.setenv("PADDLE_PG_TIMEOUT", wrong)
        with pytest.raises(ValueError, match="PADDLE_PG_TIMEOUT"):
            flags.pg_timeout_seconds()
