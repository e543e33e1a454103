"""What an OpTest class as a whole is held to, and how it is taken out of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

RULES = ("accuracy", "check_grad", "float64", "inplace", "no_grad_set", "size")
LEAST_ELEMENTS = 100

T = TypeVar("T")


def exempt(rule: str, reason: str) -> Callable[[T], T]:
    """Takes an OpTest class out of one rule.

    Args:
        rule: ``accuracy`` (the limits of float64), ``check_grad`` (it must be called), ``float64``
            (once in float64), ``inplace`` (the form in place gives the same bits), ``no_grad_set``
            (none may be given) or ``size`` (100 elements).
        reason: Why; not empty.

    Returns:
        A class decorator.

    Raises:
        TypeError: ``reason`` is no text.
        ValueError: No such rule.

    Example:
        >>> from minipaddle.testing import OpTest, exempt
        >>> @exempt("size", "a table of all sixteen cases")
        ... class TestTable(OpTest):
        ...     pass
        >>> TestTable.exempt_from
        {'size': 'a table of all sixteen cases'}
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}")
    if not isinstance(reason, str) or not reason.strip():
        raise TypeError(f"reason must say why the rule {rule!r} does not hold; got {reason!r}")

    def mark(cls: T) -> T:
        before: dict[str, str] = getattr(cls, "exempt_from", {})
        setattr(cls, "exempt_from", {**before, rule: reason})  # noqa: B010 - of any class
        return cls

    return mark


def skip_check_grad_ci(reason: str) -> Callable[[T], T]:
    """Paddle's name for ``exempt("check_grad", reason)``."""
    return exempt("check_grad", reason)


@dataclass
class Seen:
    """What the tests of one class have done, for the rules that it is held to at its end."""

    ran: set[str] = field(default_factory=set)
    differentiable: str = ""
    dtypes: set[str] = field(default_factory=set)
    complaints: list[tuple[str, str]] = field(default_factory=list)
    states: tuple[Any, Any] = (None, None)

    def every_complaint(self) -> Iterator[tuple[str, str]]:
        """Rule and text of everything that is missing."""
        if self.differentiable and not self.dtypes:
            yield "check_grad", f"{self.differentiable} has a gradient, and check_grad is not run"
        if "float32" in self.dtypes and "float64" not in self.dtypes:
            yield "float64", "check_grad is run in float32; float64 is wanted as well"
        yield from self.complaints
