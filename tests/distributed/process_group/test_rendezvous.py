"""Ranks find each other, and say who is missing or different if they do not."""

import secrets
import socket
import sys
import threading
from typing import Any

import pytest

from minipaddle.distributed.process_group import SharedMemoryGroup, rendezvous


def meet_in_threads(*options: dict[str, Any]) -> list[str]:
    """Creates one group a thread with the given arguments; returns the error texts."""
    texts = [""] * len(options)
    groups: list[SharedMemoryGroup] = []
    token = secrets.token_hex(16)

    def create(position: int, arguments: dict[str, Any]) -> None:
        try:
            groups.append(SharedMemoryGroup.create(**{"token": token, "timeout": 20, **arguments}))
        except Exception as error:
            texts[position] = f"{type(error).__name__}: {error}"

    threads = [threading.Thread(target=create, args=item) for item in enumerate(options)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    for group in groups:
        group.destroy()
    return texts


def test_ranks_meet_in_any_order() -> None:
    texts = meet_in_threads(*({"rank": rank, "world_size": 4} for rank in (3, 1, 0, 2)))
    assert texts == [""] * 4


def test_missing_ranks_are_named_by_a_lower_rank() -> None:
    (text,) = meet_in_threads({"rank": 0, "world_size": 3, "timeout": 0.3})
    assert text.startswith("TimeoutError: timeout: rank 0 waited 0.3 seconds for rank 1 and rank 2")


def test_missing_rank_is_named_by_a_higher_rank() -> None:
    (text,) = meet_in_threads({"rank": 1, "world_size": 2, "timeout": 0.3})
    assert text.startswith("TimeoutError: timeout: rank 1 waited 0.3 seconds for rank 0")


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"world_size": 2}, {"world_size": 3}, ("world_size", "has 2", "has 3")),
        ({"nrings": 1}, {"nrings": 2}, ("nrings", "has 1", "has 2")),
    ],
)
def test_differing_values_are_named_on_both_ranks(
    first: dict[str, int], second: dict[str, int], said: tuple[str, ...]
) -> None:
    texts = meet_in_threads(
        {"rank": 0, "world_size": 2, **first}, {"rank": 1, "world_size": 2, **second}
    )
    for text in texts:
        assert "the ranks disagree on" in text and "rank 0" in text and "rank 1" in text
        assert all(part in text for part in said), text


def test_second_process_with_a_rank_is_refused() -> None:
    texts = meet_in_threads(
        {"rank": 0, "world_size": 2, "timeout": 1}, {"rank": 0, "world_size": 2, "timeout": 1}
    )
    assert sum("rank 0 of this job is already taken" in text for text in texts) == 1
    assert sum("waited 1 seconds for rank 1" in text for text in texts) == 1


def test_job_with_another_token_does_not_disturb() -> None:
    other = secrets.token_hex(16)
    texts = meet_in_threads(
        *({"rank": rank, "world_size": 2} for rank in range(2)),
        *({"rank": rank, "world_size": 2, "token": other} for rank in range(2)),
    )
    assert texts == [""] * 4


def test_stranger_on_the_name_is_turned_away() -> None:
    with open("/proc/net/unix") as table:
        before = {line.split()[-1] for line in table}
    token = secrets.token_hex(16)
    groups: list[SharedMemoryGroup] = []

    def create(rank: int) -> None:
        groups.append(SharedMemoryGroup.create(rank, 2, token, timeout=20))

    listening = threading.Thread(target=create, args=(0,))
    listening.start()
    name = wait_for_name(before)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
        stranger.settimeout(10)
        stranger.connect("\0" + name[1:])
        stranger.send(b"x" * 52)
        assert stranger.recv(100) == b""
    create(1)
    listening.join(20)
    assert sorted(group.rank for group in groups) == [0, 1]
    for group in groups:
        group.destroy()
    with open("/proc/net/unix") as table:
        assert name not in table.read()


def test_rank_that_ends_while_another_joins_is_named() -> None:
    token = secrets.token_hex(16)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.settimeout(10)
        listener.bind(rendezvous._Meeting(0, 2, token, 1, 10).name + "0")
        listener.listen()

        def answer_and_end() -> None:
            listener.accept()[0].close()

        ending = threading.Thread(target=answer_and_end)
        ending.start()
        with pytest.raises(RuntimeError, match="rank 0 ended while rank 1 joined it"):
            SharedMemoryGroup.create(1, 2, token, timeout=10)
        ending.join(10)


def wait_for_name(before: set[str]) -> str:
    for _ in range(100_000):
        with open("/proc/net/unix") as table:
            fresh = {line.split()[-1] for line in table} - before
        found = [name for name in fresh if name.startswith("@minipaddle-")]
        if found:
            return found[0]
    raise AssertionError("nobody listens")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"rank": 2, "world_size": 2}, "got rank 2 and world_size 2"),
        ({"rank": -1, "world_size": 2}, "got rank -1"),
        ({"rank": 0, "world_size": 0}, "world_size 0"),
        ({"rank": 0, "world_size": 1, "nrings": 0}, "nrings must be at least 1, got 0"),
        ({"rank": 0, "world_size": 1, "timeout": 0}, "timeout must be a positive number"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SharedMemoryGroup.create(**{"token": "t", **arguments})


def test_other_systems_are_told_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(RuntimeError, match=r"need Linux.*this is darwin"):
        SharedMemoryGroup.create(0, 1, "token")
