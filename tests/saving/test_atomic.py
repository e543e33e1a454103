"""A path holds the old file or the new one, whatever happens while it is written."""

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap

import pytest

import minipaddle as paddle
from minipaddle.saving import atomic


@pytest.fixture(params=["unnamed", "named"])
def way(request, monkeypatch):
    """With files that have no name until they are complete, and without."""
    if request.param == "named":
        monkeypatch.setattr(atomic, "_UNNAMED", None)
    return request.param


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_new_and_old_files(way, tmp_path):
    path = tmp_path / "model"
    atomic.write_file(str(path), [b"one", memoryview(b"two")])
    assert path.read_bytes() == b"onetwo"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    atomic.write_file(str(path), [b"new"])
    assert path.read_bytes() == b"new" and names(tmp_path) == ["model"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(way, tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    atomic.write_file(str(tmp_path / "link"), [b"new"])
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"new"


def test_long_names(way, tmp_path):
    path = tmp_path / ("x" * 255)
    atomic.write_file(str(path), [b"new"])
    assert path.read_bytes() == b"new"


def test_a_folder_in_the_way(way, tmp_path):
    (tmp_path / "model").mkdir()
    with pytest.raises(OSError, match="is a folder or a device"):
        atomic.write_file(str(tmp_path / "model"), [b"new"])
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_a_failure_leaves_the_old_file_and_no_other(way, stop, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def pieces():
        yield b"x" * 100_000
        raise stop(errno.ENOSPC, "No space left on device")

    with pytest.raises(stop) as caught:
        atomic.write_file(str(path), pieces())
    assert path.read_bytes() == b"old" and names(tmp_path) == ["model"]
    if stop is OSError:
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("fails", ["fsync", "replace", "link"])
def test_a_failure_of_the_system_leaves_the_old_file(way, fails, monkeypatch, tmp_path):
    if fails == "link" and way == "named":
        return
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def fail(*args, **kwargs):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, fails, fail)
    with pytest.raises(OSError, match="Input/output error"):
        paddle.save({"w": paddle.ones([5000])}, path)
    assert path.read_bytes() == b"old" and names(tmp_path) == ["model"]


def child(program: str, *args: str) -> subprocess.Popen:
    code = textwrap.dedent(program)
    return subprocess.Popen(
        [sys.executable, "-c", code, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip


def test_a_disk_that_is_full(tmp_path):
    """The system itself refuses to let the file grow, as it does where no space is left."""
    path = tmp_path / "model"
    paddle.save([1], path)
    process = child(
        """
        import resource, signal, sys
        import minipaddle as paddle
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        state = {"w": paddle.ones([1 << 20])}
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            paddle.save(state, sys.argv[1])
        except OSError as error:
            print(error)
        """,
        str(path),
    )
    out, err = process.communicate(timeout=60)
    assert "File too large" in out and str(path) in out, err
    assert paddle.load(path) == [1] and names(tmp_path) == ["model"]


def test_a_process_killed_while_it_saves(tmp_path):
    path = tmp_path / "model"
    paddle.save([1], path)
    process = child(
        """
        import sys, time
        from minipaddle.saving import atomic

        def pieces():
            yield b"x" * (1 << 20)
            print("half", flush=True)
            time.sleep(600)

        atomic.write_file(sys.argv[1], pieces())
        """,
        str(path),
    )
    try:
        assert process.stdout.readline() == "half\n"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    assert paddle.load(path) == [1]
    if atomic._open_unnamed(str(tmp_path)) is not None:
        assert names(tmp_path) == ["model"]
