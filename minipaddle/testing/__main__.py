"""``python -m minipaddle.testing my_ops.yaml``."""

import sys

from minipaddle.testing.runner import main

sys.exit(main())
