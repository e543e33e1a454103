"""The command line of the launcher."""

import sys

from minipaddle.distributed.launch.main import main

sys.exit(main())
