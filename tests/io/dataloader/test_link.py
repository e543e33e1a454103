import os
import socket
import threading

import pytest

from minipaddle.io.dataloader.link import Link


@pytest.fixture
def ends():
    pair = [Link(sock) for sock in socket.socketpair()]
    yield pair
    for link in pair:
        link.close()


def test_messages_keep_their_borders_and_order(ends):
    one, other = ends
    bodies = [b"", b"a", b"bc" * 1000, b""]
    for body in bodies:
        one.send(body)
    assert [other.receive() for _ in bodies] == [(body, []) for body in bodies]


def test_both_ends_may_send_more_than_the_system_holds(ends):
    body = os.urandom(5_000_000)
    found = []

    def swap(link):
        link.send(body, None, 20.0)
        found.append(link.receive()[0] == body)

    threads = [threading.Thread(target=swap, args=(link,), daemon=True) for link in ends]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == [True, True]


def test_descriptors_come_with_their_message(ends):
    one, other = ends
    read, write = os.pipe()
    one.send(b"first")
    one.send(b"second", [read, write])
    one.send(b"third")
    os.close(read), os.close(write)
    assert other.receive() == (b"first", [])
    body, files = other.receive()
    assert (body, other.receive()) == (b"second", (b"third", []))
    os.write(files[1], b"x")
    assert os.read(files[0], 1) == b"x"
    assert not os.get_inheritable(files[0])
    for fd in files:
        os.close(fd)


def test_unread_descriptors_are_closed_at_the_end(ends):
    one, other = ends
    read, write = os.pipe()
    one.send(b"body", [write])
    os.close(write)
    other.fill()
    other.close()
    assert os.read(read, 1) == b""  # nobody holds the other end
    os.close(read)


def test_the_end_of_the_other_side(ends):
    one, other = ends
    one.send(b"last")
    one.close()
    assert other.receive() == (b"last", [])
    with pytest.raises(EOFError):
        other.receive()
    with pytest.raises(OSError, match="pipe"):
        other.send(b"x")


def test_a_full_link_is_not_waited_for_for_ever(ends):
    with pytest.raises(TimeoutError, match=r"takes nothing for 0\.05 s"):
        ends[0].send(bytes(5_000_000), None, 0.05)
