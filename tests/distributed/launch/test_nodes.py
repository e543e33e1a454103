"""Nodes agree over a store: threads as nodes, and a store in memory, whose service can break."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from minipaddle.distributed.launch import nodes
from minipaddle.distributed.launch.node import NodesFailed, Report
from minipaddle.distributed.launch.options import Options

SCRIPT = ["train.py"]


class MemoryStore:
    """What all nodes share; ``broken`` is a service that has gone away."""

    def __init__(self):
        self.values, self.changed = {}, threading.Condition()
        self.broken = False

    def _check(self):
        if self.broken:
            raise ConnectionResetError("the service is gone")

    def set(self, key, value):
        with self.changed:
            self._check()
            self.values[key] = value
            self.changed.notify_all()

    def get(self, key, timeout=None):
        with self.changed:
            if not self.changed.wait_for(lambda: self.broken or key in self.values, timeout or 20):
                raise TimeoutError(key)
            self._check()
            return self.values[key]

    def add(self, key, amount):
        with self.changed:
            self._check()
            self.values[key] = self.values.get(key, 0) + amount
            return self.values[key]

    def close(self):
        pass


class NoPmi:
    def __init__(self, *arguments):
        self.arguments = arguments

    def child(self, rank):
        return {"PMI_RANK": str(rank)}, 7

    def close(self):
        pass


def options(node, nnodes=2, **changed):
    told = {
        "backend": None, "ids": ["", ""], "comm": "mpi", "nnodes": nnodes, "node": node,
        "master": ("127.0.0.1", 5000), "token": "t", "log_dir": "log", "max_restart": 0,
        "meet_timeout": 20.0, "command": SCRIPT,
    }  # fmt: skip
    return Options(**{**told, **changed})


def on_all(actions):
    """Runs one action a node at the same time; results or errors in the order of the nodes."""

    def attempt(action):
        try:
            return action()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(attempt, actions))


def meet(store, *told):
    return on_all([lambda one=one: nodes.ManyNodes(one, store, NoPmi) for one in told])


@pytest.fixture
def pair():
    store = MemoryStore()
    met = meet(store, options(0), options(1))
    yield store, *met
    on_all([one.close for one in met])


def test_nodes_that_meet_know_all_endpoints(pair):
    _, first, second = pair
    assert first.endpoints == second.endpoints
    assert len(set(first.endpoints)) == 4
    first.begin([0, 1])
    assert first.child(1) == ({"PMI_RANK": "1"}, [7])
    assert first._pmi.arguments[1:] == ("start-0", [0, 1], [2, 2], 20.0)
    first.end()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"max_restart": 3}, "node 1 has --max_restart 3, node 0 has 0"),
        ({"ids": [""]}, "node 1 has --nproc_per_node 1, node 0 has 2"),
        ({"command": ["other.py"]}, "node 1 has script ['other.py'], node 0 has ['train.py']"),
        ({"nnodes": 3}, "node 1 has --nnodes 3, node 0 has 2"),
    ],
)
def test_nodes_that_differ_say_so_on_both(changed, says):
    errors = meet(MemoryStore(), options(0), options(1, **changed))
    assert [(type(one), str(one)) for one in errors] == [(RuntimeError, says)] * 2


def test_a_node_that_does_not_come_is_named_on_all_others():
    told = {"nnodes": 3, "meet_timeout": 0.3}
    errors = meet(MemoryStore(), options(0, **told), options(2, **told))
    assert [type(one) for one in errors] == [TimeoutError] * 2
    assert str(errors[0]) == str(errors[1])
    assert str(errors[0]).startswith("node 1 of 3 did not come within 0.3 seconds")


def test_a_node_twice(pair):
    store, *_ = pair
    (error,) = meet(store, options(1))
    assert isinstance(error, RuntimeError)
    assert "another launcher is node 1 already" in str(error)


def test_the_cause_is_shown_on_all_nodes_not_the_complaint_of_a_peer(pair):
    _, first, second = pair
    complaint, cause = Report(1.0, "a peer is gone", of_peer=True), Report(2.0, "the cause")
    found = on_all([lambda: first.agree(complaint), lambda: second.agree(cause)])
    assert found == [cause, cause]


def test_the_earliest_of_two_causes_is_shown(pair):
    _, first, second = pair
    early, late = Report(1.0, "early"), Report(2.0, "late")
    assert on_all([lambda: first.agree(late), lambda: second.agree(early)]) == [early, early]


def test_a_node_that_did_not_fail_is_told_and_the_next_start_is_fresh(pair):
    _, first, second = pair
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.agree, Report(1.0, "the cause"))
        with pytest.raises(NodesFailed):
            first.finish(lambda: until_told(first))
        assert first.agree(None) == waiting.result(20)
    assert first.generation == second.generation == 1
    assert on_all([lambda n=n: n.finish(n.check) for n in (first, second)]) == [None, None]


def until_told(node):
    node._beaten = 0.0  # looks without waiting for its time
    node.check()


def test_a_final_report_of_one_is_final_for_all(pair):
    _, first, second = pair
    reports = [Report(1.0, "a rank failed"), Report(2.0, "ended by SIGTERM", final=True)]
    found = on_all([lambda: first.agree(reports[0]), lambda: second.agree(reports[1])])
    assert found == [reports[0]._replace(final=True)] * 2


def test_a_node_that_is_silent_is_lost(pair, monkeypatch):
    monkeypatch.setattr(nodes, "LOST_SECONDS", 0.2)
    monkeypatch.setattr(nodes, "BEAT_SECONDS", 0.02)
    _, first, _ = pair
    with pytest.raises(NodesFailed):
        first.finish(first.check)
    root = first.agree(None)
    assert root.text.startswith("Node 1 has not been heard of for 0.2 seconds")
    assert root.final


def test_node_0_is_gone(pair):
    store, _, second = pair
    store.broken = True
    second._beaten = 0.0
    with pytest.raises(NodesFailed):
        second.check()
    root = second.agree(Report(time.time(), "a peer is gone", of_peer=True))
    assert root.text.startswith("Node 0 at 127.0.0.1:5000 cannot be reached any more")
    assert root.final
    own = Report(1.0, "the cause")
    assert second.agree(own) == own._replace(final=True)
