"""What an op's declaration says of its arguments and of what its gradient keeps and gives."""

from __future__ import annotations

from typing import Any, NamedTuple

REQUIRED = object()


class Param(NamedTuple):
    """One declared argument of an op."""

    name: str
    type: str
    default: Any = REQUIRED

    @property
    def is_tensor(self) -> bool:
        """Whether the argument is an operand rather than an attribute."""
        return self.type.startswith("Tensor")

    @property
    def own_dtypes(self) -> str | None:
        """The dtype class of an operand with a type of its own, such as indices; else None.

        Such an operand takes no part in promotion, and no gradient flows to it.
        """
        return self.type.partition(":")[2] or None

    @property
    def is_input(self) -> bool:
        """Whether a gradient can flow to the argument."""
        return self.is_tensor and self.own_dtypes is None


class Saved(NamedTuple):
    """One value kept for a gradient: an operand or an output, whole or only its shape.

    Attributes:
        name: The operand's or output's name.
        shape_only: Keep ``shape`` and let the array go.
        only_for: Name of the input whose wanting a gradient is the reason to keep this one.
        is_output: The value is one of the op's results.
    """

    name: str
    shape_only: bool = False
    only_for: str | None = None
    is_output: bool = False

    @property
    def argument(self) -> str:
        """The name under which formula and gradient kernel take the value."""
        return f"{self.name}_shape" if self.shape_only else self.name


class Rows(NamedTuple):
    """What a fused gradient kernel may return for an input most of whose rows have no gradient.

    A number may stand among ``rows`` several times: its gradients are then to be added. Both arrays
    are the caller's own.

    Attributes:
        rows: int64 array of row numbers.
        value: Their gradients: of rows' length, then the input's shape without its first axis.
    """

    rows: Any
    value: Any

    @property
    def shape(self) -> None:
        """None, which is not the input's shape: whoever compares it finds out."""
        return None
