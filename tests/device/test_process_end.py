import os
import subprocess
import sys
import threading

import pytest

from minipaddle.device.process_end import wait_for_end


@pytest.mark.parametrize("watch", ["process", "pipe"])
def test_the_end_shows_at_the_process_and_at_the_pipe(monkeypatch, watch):
    read, write = os.pipe()
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[write]
    )
    os.set_inheritable(write, False)
    if watch == "pipe":

        def pidfd_open(pid):
            raise PermissionError

        monkeypatch.setattr(os, "pidfd_open", pidfd_open)
        os.close(write)
    waiting = threading.Thread(target=wait_for_end, args=(child.pid, read), daemon=True)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    child.communicate(b"\n", timeout=20)
    waiting.join(20)
    assert not waiting.is_alive()
    os.close(read)
    if watch == "process":
        os.close(write)


def test_a_process_that_is_gone_has_ended():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait(20)
    read, write = os.pipe()
    wait_for_end(child.pid, read)
    os.close(read), os.close(write)
