"""One contender: a process of any interpreter that runs workloads when it is told to.

``PYTHON -m benchmarks.worker FRAMEWORK PROCESSES`` reads a JSON request a line from stdin and
answers with a JSON line. With more than one process the framework's own spawn starts the ranks,
every request goes to all of them, and the slowest rank's time is the answer.
"""

import importlib
import json
import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

ANSWER_SECONDS = 300.0


class Workloads:
    """The prepared workloads of one process."""

    def __init__(self, framework: str) -> None:
        self.module = importlib.import_module(f"benchmarks.workloads.{framework}_")
        self.prepared: dict[str, Callable[[int], float]] = {}

    def answer(self, request: dict[str, Any]) -> Any:
        """Do what the request asks: prepare, run, drop or call."""
        do, case = request["do"], request.get("case", "")
        if do == "run":
            return self.prepared[case](request["n"])
        if do == "drop":
            return bool(self.prepared.pop(case))
        result = getattr(self.module, request["workload"])(**request["args"])
        if do == "call":
            return result
        self.prepared[case] = result
        return True


class Ranks:
    """Several processes of one job behind the interface of `Workloads`."""

    def __init__(self, framework: str, processes: int) -> None:
        pairs = [multiprocessing.Pipe() for _ in range(processes)]
        self.connections = [ours for ours, _ in pairs]
        module = importlib.import_module(f"benchmarks.workloads.{framework}_")
        theirs = [connection for _, connection in pairs]
        self.job = module.spawn(serve_rank, (framework, theirs), processes)
        for connection in theirs:  # so that the death of a rank ends our read
            connection.close()

    def answer(self, request: dict[str, Any]) -> Any:
        """Send the request to every rank; the slowest time, or the list of results of a call."""
        for connection in self.connections:
            connection.send(request)
        answers = []
        for rank, connection in enumerate(self.connections):
            if not connection.poll(ANSWER_SECONDS):
                raise TimeoutError(f"rank {rank} did not answer {request} in {ANSWER_SECONDS} s")
            answers.append(connection.recv())
        failed = [answer["error"] for answer in answers if "error" in answer]
        if failed:
            raise RuntimeError(failed[0])
        values = [answer["value"] for answer in answers]
        return max(values) if request["do"] == "run" else values

    def close(self) -> None:
        """Let the ranks end by themselves."""
        for connection in self.connections:
            connection.send(None)
        self.job.join()


def serve_rank(framework: str, connections: list[Connection]) -> None:
    """Answer requests as one rank of a job."""
    workloads = Workloads(framework)
    connection = connections[workloads.module.start()]
    while (request := connection.recv()) is not None:
        connection.send(attempt(workloads.answer, request))


def attempt(answer: Callable[[dict[str, Any]], Any], request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request as what can be sent: a value or the text of an error."""
    try:
        return {"value": answer(request)}
    except Exception:
        return {"error": traceback.format_exc()}


def main(framework: str, processes: int) -> None:
    """Serve requests from stdin until it ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a framework prints must not mix with the answers
    group = Ranks(framework, processes) if processes > 1 else None
    target = group or Workloads(framework)
    for line in sys.stdin:
        print(json.dumps(attempt(target.answer, json.loads(line))), file=answers)
    if group:
        group.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
