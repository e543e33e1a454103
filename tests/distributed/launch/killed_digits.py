"""examples/digits.py with ranks that are killed: ``killed_digits.py KILLS ARGS...``.

KILLS says for every start, but the last, which rank is killed at which step, as in ``1:7,0:12``; a
step before the one from which the start goes on counts from there.
"""

import os
import signal
import sys

from examples import digits


def main(kills, *arguments):
    planned = [tuple(map(int, one.split(":"))) for one in kills.split(",") if one]
    start = int(os.environ["PADDLE_RESTART_COUNT"])
    learn = digits.Training.learn

    def learn_or_die(training, images, labels):
        rank, step = planned[start] if start < len(planned) else (-1, 0)
        if training.rank == rank and training.step >= step:
            os.kill(os.getpid(), signal.SIGKILL)
        learn(training, images, labels)

    digits.Training.learn = learn_or_die
    digits.main(arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
