"""What the ops of my_ops.yaml are tested and timed with."""

import numpy as np

from minipaddle.testing import ErrorSample, OpSample, singles

SAMPLES = (
    OpSample(
        "squared_relu",
        lambda x: np.maximum(x, 0) ** 2,
        singles(away=0.125),  # no sample nearer to the kink than a numeric derivative steps
        (ErrorSample("number", lambda f, t: f(1.5), TypeError, ("Tensor", "float")),),
    ),
)
TORCH = {"squared_relu": lambda torch, x: torch.relu(x).square()}
