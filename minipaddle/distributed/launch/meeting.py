"""How a launcher comes to its nodes: alone, or over the store that node 0 serves."""

from __future__ import annotations

from minipaddle.distributed.launch.node import OneNode
from minipaddle.distributed.launch.nodes import ManyNodes
from minipaddle.distributed.launch.options import Options
from minipaddle.distributed.launch.pmi import PmiServer
from minipaddle.distributed.store import Store

_ANSWER_SECONDS = 30.0  # of node 0, to anything


def meet(options: Options) -> OneNode:
    """Meets the other nodes, if there are any.

    Raises:
        OSError: The address of node 0 cannot be used.
        RuntimeError: Nodes do not agree; the text says in what, on all of them.
        TimeoutError: A node did not come; the text names it.
    """
    if options.nnodes == 1:
        return OneNode(options)
    host, port = options.master
    if options.node:
        store = Store.connect(host, port, options.token, options.meet_timeout)
    else:
        store = Store.serve(host, port, options.token, _ANSWER_SECONDS)
    try:
        return ManyNodes(options, store, PmiServer)
    except BaseException:
        store.close()
        raise
