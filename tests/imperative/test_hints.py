"""PyTorch's names: the error says what Paddle's are."""

import copy

import pytest

import minipaddle as paddle
from minipaddle.imperative import hints


def test_a_method_of_pytorch() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'requires_grad_'.*stop_gradient = Fal"):
        paddle.ones([1]).requires_grad_()
    with pytest.raises(AttributeError, match=r"'Parameter'.*x\.place in Paddle"):
        paddle.nn.Linear(1, 1).weight.device  # noqa: B018


def test_a_function_of_pytorch() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'manual_seed'.*paddle\.seed\(value\)"):
        paddle.manual_seed(1)


@pytest.mark.parametrize("owner", [paddle, paddle.ones([1])], ids=["module", "tensor"])
def test_an_unknown_name_is_an_ordinary_error(owner: object) -> None:
    with pytest.raises(AttributeError, match="'frobnicate'") as raised:
        owner.frobnicate  # type: ignore[attr-defined] # noqa: B018
    assert "PyTorch" not in str(raised.value)
    assert not hasattr(owner, "frobnicate")
    assert getattr(owner, "frobnicate", 5) == 5


def test_a_hint_names_only_what_is_there() -> None:
    table = {"old": "sum(axis)", "gone": "frobnicate(x)", "same": "stop_gradient, its negation"}
    assert hints.hint(table, "old", paddle.Tensor, "x") == (
        "PyTorch's old is written x.sum(axis) in Paddle"
    )
    assert hints.hint(table, "gone", paddle.Tensor, "x") is None
    assert hints.hint(table, "other", paddle.Tensor, "x") is None
    assert "x.stop_gradient, " in str(hints.hint(table, "same", paddle.Tensor, "x"))


@pytest.mark.parametrize(
    ("table", "owner"),
    [(hints.METHODS, paddle.ones([1])), (hints.FUNCTIONS, paddle)],
    ids=["methods", "functions"],
)
def test_every_hint_that_can_be_followed_is_given(table: dict[str, str], owner: object) -> None:
    given = 0
    for name in table:
        kind = type(owner) if isinstance(owner, paddle.Tensor) else owner
        advice = hints.hint(table, name, kind, "x")
        if advice is None or hasattr(owner, name):
            continue
        given += 1
        with pytest.raises(AttributeError, match=rf"PyTorch's {name} is written"):
            getattr(owner, name)
    assert given >= 5


def test_names_that_are_not_there_are_not_listed() -> None:
    listed = dir(paddle.ones([1]))
    assert "permute" not in listed
    assert {"transpose", "data", "shape"} <= set(listed)
    assert not hasattr(paddle.Tensor, "permute")


def test_a_tensor_is_read_without_a_function_for_missing_names() -> None:
    """With ``__getattr__`` in the class, every read of a field takes several times as long."""
    kinds = type(paddle.nn.Linear(1, 1).weight).__mro__
    assert not any("__getattr__" in vars(kind) for kind in kinds)


def test_copying_protocols_find_no_hint() -> None:
    x = paddle.ones([1])
    assert copy.copy(x).tolist() == [1.0]
    assert not hasattr(x, "__array_interface__")
