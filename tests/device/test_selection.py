"""Which devices a job gets: a pure function of options, flags and environment."""

import pytest

from minipaddle.device.selection import (
    AbsentKind,
    choose_kind,
    comm_of_kind,
    device_options,
    find_kind,
    kind_of_comm,
    resolve_devices,
)

GPU, XPU = AbsentKind("gpu"), AbsentKind("xpu")


class Plain:
    """A kind without ids."""

    name = "cpu"
    visible_devices_env = None
    selected_devices_env = None


def xpus(nprocs=-1, environ=None, count=8, **options):
    return resolve_devices(XPU, nprocs, options, environ or {}, count)


@pytest.mark.parametrize(
    ("nprocs", "environ", "options", "ids"),
    [
        (-1, {"FLAGS_selected_xpus": "0,1,2,3"}, {}, "0 1 2 3"),
        (2, {"FLAGS_selected_xpus": "4,5,6,7"}, {}, "4 5"),
        (2, {}, {}, "0 1"),
        (2, {}, {"xpus": "4,5"}, "4 5"),
        (-1, {}, {"xpus": "4,5"}, "4 5"),
        (-1, {"XPU_VISIBLE_DEVICES": "10,11"}, {}, "10 11"),
        (1, {"XPU_VISIBLE_DEVICES": "10,11"}, {}, "10"),
        (-1, {}, {}, "0 1 2 3 4 5 6 7"),
        (2, {}, {"xpus": " 4 , 5 "}, "4 5"),
        (1, {"XPU_VISIBLE_DEVICES": "0,1,12"}, {"xpus": "12"}, "12"),
        (2, {"XPU_VISIBLE_DEVICES": "5,4"}, {"xpus": "4,5"}, "4 5"),
        (2, {}, {"selected_devices": "6,7"}, "6 7"),
        (2, {}, {"selected_devices": "6,7", "xpus": "6, 7"}, "6 7"),
        (2, {"FLAGS_selected_devices": "6,7"}, {}, "6 7"),
        (2, {"FLAGS_selected_devices": "6,7", "FLAGS_selected_xpus": "6, 7"}, {}, "6 7"),
        (-1, {"FLAGS_selected_devices": "6,7"}, {"xpus": "2"}, "2"),
        (-1, {"FLAGS_selected_xpus": "11", "XPU_VISIBLE_DEVICES": "10,11"}, {}, "11"),
        (2, {"FLAGS_selected_xpus": "", "XPU_VISIBLE_DEVICES": "XPU-a,XPU-b"}, {}, "XPU-a XPU-b"),
        (-1, {"FLAGS_selected_gpus": "3"}, {"xpus": "2"}, "2"),
    ],
)
def test_which_ids_are_used(nprocs, environ, options, ids):
    assert xpus(nprocs, environ, **options) == ids.split()


@pytest.mark.parametrize("kind", ["gpu", "xpu"])
@pytest.mark.parametrize(
    ("nprocs", "environ", "options", "error", "says"),
    [
        (2, {}, {"{k}s": "4,5,6"}, ValueError, "{k}s=4,5,6 names 3 {k}.*nprocs is 2"),
        (3, {}, {"{k}s": "4,5"}, ValueError, "names 2 {k}.*nprocs is 3"),
        (2, {}, {"{k}s": "4,4"}, ValueError, "{k}s names 4 more than once"),
        (2, {}, {"{k}s": "4,,5"}, ValueError, "{k}s must be ids"),
        (-1, {}, {"{k}s": ""}, ValueError, "{k}s must be ids"),
        (2, {}, {"{k}s": 4.5}, TypeError, "{k}s must be text"),
        (2, {}, {"{k}s": "7,8"}, ValueError, "{k}s asks for {k} 8, .*{V} "),
        (2, {"{V}": "0,1"}, {"{k}s": "4,5"}, ValueError, r"{k} 4, 5, .*{V} \(0,1\)"),
        (1, {"{V}": "10,11"}, {"{k}s": "1"}, ValueError, r"{k} 1, .*{V} \(10,11\)"),
        (9, {}, {}, RuntimeError, "nprocs is 9 but there are 8 {k}.*{V}"),
        (3, {"{V}": "0,1"}, {}, RuntimeError, "nprocs is 3 but there are 2 {k}.*{V}=0,1"),
        (3, {"FLAGS_selected_{k}s": "1,2"}, {}, RuntimeError, "FLAGS_selected_{k}s=1,2"),
        (1, {"FLAGS_selected_{k}s": "9"}, {}, ValueError, "FLAGS_selected_{k}s asks for {k} 9"),
        (1, {"{V}": "0,0"}, {}, ValueError, "{V} names 0 more than once"),
        (1, {"{V}": ""}, {}, ValueError, "no {k} on this machine.*{V} is set and hides"),
        (
            2,
            {"FLAGS_selected_{k}s": "1,2", "FLAGS_selected_devices": "1,3"},
            {},
            ValueError,
            "FLAGS_selected_devices=1,3 and FLAGS_selected_{k}s=1,2 differ",
        ),
        (
            2,
            {},
            {"{k}s": "1,2", "selected_devices": "2,1"},
            ValueError,
            "{k}s=1,2 and selected_devices=2,1 differ",
        ),
    ],
)
def test_what_is_refused_in_the_words_of_its_kind(kind, nprocs, environ, options, error, says):
    visible = {"gpu": "CUDA_VISIBLE_DEVICES", "xpu": "XPU_VISIBLE_DEVICES"}[kind]

    def named(text):
        return text.replace("{k}", kind).replace("{V}", visible)

    with pytest.raises(error, match=named(says)) as caught:
        resolve_devices(
            AbsentKind(kind),
            nprocs,
            {named(k): v for k, v in options.items()},
            {named(k): v for k, v in environ.items()},
            8,
        )
    other = {"gpu": "xpu", "xpu": "gpu"}[kind]
    assert other not in str(caught.value).lower()


def test_the_old_option_for_gpus():
    assert resolve_devices(GPU, 2, {"selected_gpus": "10,11"}, {}) == ["10", "11"]


def test_without_a_count_nothing_is_asked_of_the_hardware():
    assert resolve_devices(GPU, 2, {}, {}) == ["0", "1"]
    assert resolve_devices(GPU, 2, {"gpus": "40,41"}, {}) == ["40", "41"]
    assert resolve_devices(GPU, 2, {}, {"CUDA_VISIBLE_DEVICES": "4,5,6,7"}) == ["4", "5"]
    with pytest.raises(RuntimeError, match="number of gpus is unknown"):
        resolve_devices(GPU, -1, {}, {})


@pytest.mark.parametrize("options", [{}, {"gpus": "4,5"}])
def test_a_machine_without_such_a_device_says_so(options):
    with pytest.raises(ValueError, match="no gpu on this machine") as caught:
        resolve_devices(GPU, 2, options, {}, 0)
    assert ("gpus=4,5" in str(caught.value)) == bool(options)


def test_ids_beyond_the_hardware_are_not_used():
    with pytest.raises(RuntimeError, match="nprocs is 3 but there are 2"):
        xpus(3, {"XPU_VISIBLE_DEVICES": "10,11,12"}, count=2)


def test_a_kind_without_ids_has_a_process_a_core():
    assert resolve_devices(Plain, -1, {}, {}, 6) == [""] * 6
    assert resolve_devices(Plain, 4, {}, {}, 2) == [""] * 4


@pytest.mark.parametrize("name", ["gpus", "xpus", "selected_devices", "selected_gpus"])
def test_a_kind_without_ids_refuses_them(name):
    with pytest.raises(ValueError, match=f"{name}='4,5' picks devices, but there is none"):
        resolve_devices(Plain, 2, {name: "4,5"}, {}, 2)
    with pytest.raises(ValueError, match="FLAGS_selected_devices='4,5'"):
        resolve_devices(Plain, 2, {}, {"FLAGS_selected_devices": "4,5"}, 2)


@pytest.mark.parametrize(
    ("options", "environ", "current", "found", "kind"),
    [
        ({}, {}, None, ["cpu"], "cpu"),
        ({}, {}, None, ["xpu", "cpu"], "xpu"),
        ({}, {}, "xpu:3", ["gpu", "xpu", "cpu"], "xpu"),
        ({}, {}, "gpu:0", ["gpu", "cpu"], "gpu"),
        ({}, {}, "cpu", ["gpu", "cpu"], "cpu"),
        ({"gpus": "4"}, {}, "cpu", ["cpu"], "gpu"),
        ({"xpus": "4"}, {"FLAGS_selected_gpus": "1"}, "gpu:0", ["gpu", "cpu"], "xpu"),
        ({"selected_gpus": "4"}, {}, None, ["cpu"], "gpu"),
        ({}, {"FLAGS_selected_xpus": "4"}, None, ["gpu", "cpu"], "xpu"),
        ({}, {"FLAGS_selected_xpus": "4"}, "cpu", ["gpu", "cpu"], "cpu"),
        ({"backend": "gloo"}, {"FLAGS_selected_xpus": "4"}, "xpu:0", ["xpu"], "cpu"),
        ({"backend": "nccl"}, {}, None, ["cpu"], "gpu"),
        ({"backend": "bkcl", "xpus": "1"}, {}, None, ["cpu"], "xpu"),
        ({"backend": "auto"}, {}, None, ["cpu"], "cpu"),
        ({"backend": None, "gpus": None}, {}, None, ["cpu"], "cpu"),
    ],
)
def test_the_kind_of_device(options, environ, current, found, kind):
    asked = []

    def kinds():
        asked.append(True)
        return found

    assert choose_kind(options, environ, current, kinds) == kind
    decided = any(value not in (None, "auto") for value in options.values())
    assert bool(asked) == (not decided and current is None and not environ)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"gpus": "0", "xpus": "1"}, "gpus and xpus ask for devices of different kinds"),
        ({"selected_gpus": "0", "xpus": "1"}, "different kinds"),
        ({"gpus": "0", "backend": "bkcl"}, "gpus and backend='bkcl'"),
        ({"gpus": "0,1", "backend": "gloo"}, "gpus and backend='gloo'"),
        ({"backend": "foo"}, "backend must be one of auto, gloo, nccl, bkcl.*'foo'"),
        ({"backend": 3}, "backend must be one of"),
    ],
)
def test_options_that_disagree(options, says):
    with pytest.raises(ValueError, match=says):
        choose_kind(options, {}, None, list)


def test_flags_of_two_kinds():
    with pytest.raises(ValueError, match="FLAGS_selected_gpus and FLAGS_selected_xpus"):
        choose_kind({}, {"FLAGS_selected_gpus": "0", "FLAGS_selected_xpus": "0"}, None, list)


def test_names_of_collectives_and_options():
    assert [comm_of_kind(kind) for kind in ("cpu", "gpu", "xpu", "npu")] == [
        "gloo",
        "nccl",
        "bkcl",
        "npu",
    ]
    assert kind_of_comm("cpu") == kind_of_comm("gloo") == "cpu"
    assert {"gpus", "xpus", "selected_devices", "selected_gpus"} <= set(device_options())
    assert "cpus" not in device_options()
    assert find_kind("cpu").name == "cpu"
    assert find_kind("npu").device_count() == 0
