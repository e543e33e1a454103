"""``python -m minipaddle.distributed.plan``; see ``command``."""

import sys

from minipaddle.distributed.plan.command import main

if __name__ == "__main__":
    sys.exit(main())
