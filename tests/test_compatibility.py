"""docs/compatibility.md is what its generator writes, and the generator sees all names."""

import types

import pytest

import minipaddle as paddle
from docs.compatibility import page, signatures

LISTED = page.paddle_names()
COMPARED = page.compare()


def test_the_page_is_up_to_date():
    pytest.importorskip("ml_dtypes")  # without it bfloat16 is absent
    written = page.HERE.with_suffix(".md").read_text("utf-8")
    assert written == page.page(), "make docs writes docs/compatibility.md again"


def test_every_namespace_is_listed():
    assert list(LISTED) == list(signatures.NAMESPACES)
    assert len(LISTED[""]) > 400


@pytest.mark.parametrize("path", page.differences())
def test_a_hand_written_difference_is_about_a_name_that_both_have(path):
    owner, _, name = path.rpartition(".")
    names = LISTED[owner]
    assert name in names or "~" + name in names
    found = next(c for c in COMPARED if c.path == owner)
    assert page.differences()[path] in found.differs[name]


@pytest.mark.parametrize("found", COMPARED, ids=lambda c: c.title)
def test_no_name_is_forgotten_and_none_counts_twice(found):
    here = set(signatures.public(signatures.namespace(paddle, found.path)))
    announced = {name for name in LISTED[found.path] if name[0] != "~"}
    kinds = [found.same, list(found.differs), found.absent, found.only_here]
    names = [name for kind in kinds for name in kind]
    assert len(names) == len(set(names))
    assert set(names) == here | announced
    assert not set(found.absent) & here
    assert set(found.only_here) <= here


@pytest.mark.parametrize(
    ("ours", "theirs", "notes"),
    [
        ("(x, axis=None)", "(x, axis=None, name=None, *, out=None)", []),
        ("(x, axis=None)", "(x, dim=None)", ["`dim` is called `axis`"]),
        ("(x)", "(x, axis=None, *, alpha=1)", ["no `axis`, `alpha`"]),
        ("(x, **rest)", "(x, axis=None)", []),
        ("(x, y)", "(x)", ["also needs `y`"]),
        ("(x, y=1)", "(x)", []),
        ("(y, x)", "(x, y)", ["order `y`, `x`"]),
        ("(x, *, y=1)", "(x, y=1)", ["`y` by keyword only"]),
        ("(x, y)", "(x, y=1)", ["`y` has no default (Paddle: 1)"]),
        ("(x, y=2)", "(x, y=1)", ["`y` is 2 by default (Paddle: 1)"]),
        ("(x, y=(0, 1))", "(x, y=[0, 1])", []),
        ("(x, y=1e-5)", "(x, y=1e-05)", []),
        ("(*args)", "(x, y=1)", []),
        ("", "(x, y=1)", []),
        ("(shape)", "(shape, *, device=None, requires_grad=False)", []),
    ],
)
def test_signatures_are_compared(ours, theirs, notes):
    assert page.compare_signatures(ours, theirs, method=False) == notes


def test_the_first_argument_of_a_method_has_no_name():
    assert page.compare_signatures("(self, axis)", "(x, axis)", method=True) == []
    assert page.compare_signatures("(self, axis)", "(x, axis)", method=False) != []


def test_a_signature_is_text_without_annotations():
    def function(x: int, y: float = 1.5, *, z: object = paddle) -> None: ...

    assert signatures.signature(function) == "(x, y=1.5, *, z=...)"
    assert signatures.signature(3) == ""


def test_a_name_that_only_we_have_is_found(monkeypatch):
    root = types.SimpleNamespace(__all__=["ours", "lerp"], ours=3, lerp=paddle.lerp)
    listed = {"lerp": LISTED[""]["lerp"], "gone": "(x)", "~hidden": "(x)"}
    found = page._compare_namespace("", root, listed, {"lerp": "told"})
    assert (found.same, found.differs, found.absent) == ([], {"lerp": "told"}, ["gone"])
    assert found.only_here == ["ours"]
