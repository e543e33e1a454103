"""L1Decay and L2Decay as values; what optimizers do with them is tested there."""

import pytest

from minipaddle.regularizer import L1Decay, L2Decay


def test_factors_and_texts() -> None:
    for kind, factors in ((L1Decay, (0.5, 0.0)), (L2Decay, (0.0, 0.5))):
        assert (kind(0.5).l1, kind(0.5).l2) == factors
        assert (kind().l1, kind().l2) == (0.0, 0.0)
        assert str(kind(0.5)) == f"{kind.__name__}, coeff=0.500000"
        for wrong in ("0.5", None, True):
            with pytest.raises(TypeError, match="coeff"):
                kind(wrong)
