"""spawn on a third kind of device, which a plug-in brings: eight fake XPUs."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from minipaddle.device.backend import set_device
from minipaddle.distributed.spawn import spawn
from tests.distributed import spawn_targets as targets

if __name__ == "__main__":
    arguments = json.loads(sys.argv[1])
    place = arguments.pop("set_device", None)
    if place:
        set_device(place)
    context = spawn(targets.told, **arguments)
    print(json.dumps([mailbox.get() for mailbox in context.return_queues]))
"""


def run(tmp_path, arguments, environ):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FLAGS_", "PADDLE_")) and "VISIBLE" not in name
    }
    return subprocess.run(
        [sys.executable, str(program), json.dumps(arguments)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={
            **kept,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "MINIPADDLE_PLUGINS": "tests.device.fake_xpu",
            **environ,
        },
    )


@pytest.mark.parametrize(
    ("arguments", "environ", "places", "ids"),
    [
        ({}, {"FLAGS_selected_xpus": "0,1,2,3"}, [0, 1, 2, 3], "0 1 2 3"),
        ({"nprocs": 2}, {"FLAGS_selected_xpus": "4,5,6,7"}, [4, 5], "4 5"),
        ({"nprocs": 2}, {}, [0, 1], "0 1"),
        ({"nprocs": 2, "xpus": "4,5"}, {}, [4, 5], "4 5"),
        ({}, {"XPU_VISIBLE_DEVICES": "10,11"}, [0, 1], "10 11"),
        ({"nprocs": 1, "xpus": " 11 "}, {"XPU_VISIBLE_DEVICES": "10,11"}, [1], "11"),
        ({"nprocs": 2}, {"FLAGS_selected_devices": "6,7"}, [6, 7], "6 7"),
        ({"nprocs": 2, "selected_devices": "2,3"}, {}, [2, 3], "2 3"),
        ({"nprocs": 1, "set_device": "xpu:3"}, {}, [0], "0"),
        # The chosen device has an index behind its kind; all of the kind are meant all the same.
        ({"set_device": "xpu:1"}, {"XPU_VISIBLE_DEVICES": "10,11"}, [0, 1], "10 11"),
        ({"nprocs": 1, "backend": "bkcl"}, {}, [0], "0"),
        ({"nprocs": 1, "xpus": "7", "start_method": "fork"}, {}, [7], "7"),
        ({"nprocs": 1, "xpus": "7", "start_method": "forkserver"}, {}, [7], "7"),
    ],
)
def test_each_process_reports_its_place(arguments, environ, places, ids, tmp_path):
    ended = run(tmp_path, arguments, environ)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert [one["place"] for one in told] == [f"xpu:{index}" for index in places]
    assert [one["flags"]["FLAGS_selected_xpus"] for one in told] == ids.split()
    assert all(one["flags"]["FLAGS_selected_devices"] == "" for one in told)


@pytest.mark.parametrize(
    "arguments",
    [{"nprocs": 1, "backend": "gloo"}, {"nprocs": 1, "set_device": "cpu"}],
)
def test_the_cpu_can_still_be_chosen(arguments, tmp_path):
    ended = run(tmp_path, arguments, {"FLAGS_selected_xpus": "1"})
    assert ended.returncode == 0, ended.stderr
    (told,) = json.loads(ended.stdout)
    assert told["place"] == "cpu" and told["flags"]["FLAGS_selected_xpus"] == ""


@pytest.mark.parametrize(
    ("arguments", "environ", "says"),
    [
        ({"nprocs": 9}, {}, "RuntimeError: nprocs is 9 but there are 8 xpu(s)"),
        ({"nprocs": 2, "xpus": "7,8"}, {}, "ValueError: xpus asks for xpu 8"),
        ({"nprocs": 2, "gpus": "0,1"}, {}, "ValueError: no gpu on this machine"),
        ({"xpus": "0"}, {"XPU_VISIBLE_DEVICES": ""}, "XPU_VISIBLE_DEVICES is set and hides"),
    ],
)
def test_what_the_hardware_cannot_give(arguments, environ, says, tmp_path):
    ended = run(tmp_path, arguments, environ)
    assert ended.returncode == 1
    assert says in ended.stderr.strip().splitlines()[-1]
