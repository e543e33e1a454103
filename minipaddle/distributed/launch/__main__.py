"""The program."""

import sys

from minipaddle.distributed.launch.launcher import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
