"""What gated_square is tested and timed with."""

import numpy as np

from minipaddle.testing import ErrorSample, OpSample, Sample, values
from minipaddle.testing.sample import PAIRS

LARGE = (4096, 4096)

SAMPLES = (
    OpSample(
        "gated_square",
        lambda x, y: np.maximum(x, 0) ** 2 * y,
        # No x nearer to the kink than a numeric derivative steps.
        tuple(Sample(name, (values(a, 1, 0.125), values(b, 2))) for name, (a, b) in PAIRS.items()),
        (ErrorSample("shapes", lambda f, t: f(t((2,)), t((3,))), ValueError, ("[2]", "[3]")),),
        roundings=lambda x, y: 3,
    ),
)
BENCHMARK = {"gated_square": lambda: [Sample("large", (values(LARGE, 1), values(LARGE, 2)))]}
TORCH = {"gated_square": lambda torch, x, y: torch.relu(x).square() * y}
