"""Names in ops.yaml, in the package and on Tensor agree."""

import functools

import pytest

import minipaddle as paddle
from minipaddle.imperative.declared_methods import DeclaredMethods
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS
from tools import public_names

PATHS = [(op, path) for op in OPS.values() for path in op.api]


@pytest.mark.parametrize(("op", "path"), PATHS, ids=[path for _, path in PATHS])
def test_an_op_is_found_where_its_declaration_says(op, path):
    found = functools.reduce(getattr, path.split("."), paddle)
    if op.name in FUNCTIONS and not path.rpartition(".")[2].startswith("__"):
        assert found is FUNCTIONS[op.name]


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_methods_are_declared_for_type_checkers(op):
    for path in op.api:
        owner, _, name = path.rpartition(".")
        if owner == "Tensor":
            names = [name, name + "_"] if op.inplace else [name]
            assert set(names) <= set(DeclaredMethods.__annotations__)


def test_every_declared_method_exists():
    missing = [n for n in DeclaredMethods.__annotations__ if n not in vars(paddle.Tensor)]
    assert not missing


def test_public_names_are_listed():
    assert set(paddle.__all__) <= set(dir(paddle))
    assert not [name for name in paddle.__all__ if name.startswith("_")]


def test_the_lists_of_names_are_what_the_tool_writes():
    names = public_names.collect()
    for owner, file in public_names.FILES.items():
        text = (public_names.PACKAGE / file).read_text(encoding="utf-8")
        assert public_names.with_names(text, names[owner]) == text, f"{file}: run make names"
    text = (public_names.PACKAGE / public_names.METHODS).read_text(encoding="utf-8")
    assert public_names.with_methods(text, names["Tensor"]) == text, "run make names"
