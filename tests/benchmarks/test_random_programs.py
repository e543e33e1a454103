"""Random programs give what PyTorch gave, and the comparison notices what is wrong.

``python -m benchmarks.random_programs --first 3 --count 20 --record FILE`` has recorded the numbers
of random_programs.json where PyTorch is; here it is not needed.
"""

import copy
import json
import math
import sys
from pathlib import Path

import pytest

import minipaddle
from benchmarks.random_programs import __main__ as command
from benchmarks.random_programs import steps
from benchmarks.random_programs.generator import Generator, generate
from benchmarks.random_programs.running import differences, rounded, run
from minipaddle.ops.op import OPS
from minipaddle.testing import mutation

RECORDED = json.loads(Path(__file__).with_name("random_programs.json").read_text("utf-8"))
BY_SEED = {record["seed"]: record for record in RECORDED}
FIRST = min(BY_SEED)


def expected(seed):
    return {key: BY_SEED[seed][key] for key in ("values", "gradients")}


def names(seed):
    return [step.name for step in generate(seed).steps]


@pytest.mark.parametrize("seed", BY_SEED)
def test_a_program_gives_what_pytorch_gave(seed):
    assert names(seed) == BY_SEED[seed]["steps"], "the generator has changed: record again"
    assert differences(run(generate(seed), minipaddle), expected(seed)) == []


def test_a_seed_always_makes_the_same_program():
    assert generate(5) == generate(5)
    assert generate(5) != generate(6)
    assert rounded(run(generate(5), minipaddle)) == rounded(run(generate(5), minipaddle))


def test_every_kind_of_step_is_recorded():
    assert {name for seed in BY_SEED for name in names(seed)} == set(steps.STEPS)
    assert all(5 <= len(names(seed)) <= 40 for seed in BY_SEED)


def shared_writes(seed):
    """How many writes of a program are to memory that a view shares."""
    program = generate(seed)
    bases, shared, count = list(range(len(program.leaves))), set(), 0
    for step in program.steps:
        base = bases[step.inputs[0]]
        bases.append(base if step.name in steps.VIEWS | set(steps.WRITES) else len(bases))
        if step.name in steps.VIEWS:
            shared.add(base)
        count += step.name in steps.WRITES and base in shared
    return count


def test_programs_write_into_memory_that_views_share():
    writes = [shared_writes(seed) for seed in BY_SEED]
    assert sum(count > 0 for count in writes) >= 5, writes


def test_leaves_are_never_written_and_some_want_no_gradient():
    for seed in BY_SEED:
        generator = Generator(seed)
        program = generator.run()
        leaves = range(len(program.leaves))
        written = {
            generator.values[step.inputs[0]].memory
            for step in program.steps
            if step.name in steps.WRITES
        }
        assert not written & set(leaves)
    wants = [want for seed in BY_SEED for _, want in generate(seed).leaves]
    assert 0 < sum(wants) < len(wants)


@pytest.mark.parametrize("what", ["values", "gradients"])
def test_a_wrong_number_is_found(what):
    right = expected(FIRST)
    wrong = copy.deepcopy(right)
    at = next(i for i, item in enumerate(wrong[what]) if isinstance(item, list))
    inner = wrong[what][at]
    while isinstance(inner[0], list):
        inner = inner[0]
    inner[0] += 3e-10 * (1 + abs(inner[0]))
    [text] = differences(wrong, right)
    assert text.startswith(f"{what}[{at}]: ")
    inner[0] = math.nan
    assert len(differences(wrong, right)) == 1


def test_a_missing_gradient_and_another_shape_are_found():
    right = {"values": [[1.0, 1.0]], "gradients": [1.0, None]}
    assert differences(right, right) == []
    assert differences({"values": [[1.0, 1.0]], "gradients": [None, 0.0]}, right) == [
        "gradients[0]: None is not 1.0",
        "gradients[1]: 0.0 is not None",
    ]
    assert len(differences({"values": [1.0], "gradients": [1.0, None]}, right)) == 1


WRONG = ["multiply", "lerp", "softmax", "gelu", "cumsum", "prod", "transpose", "getitem", "concat"]


@pytest.mark.parametrize("op", WRONG)
def test_a_wrong_gradient_of_an_op_is_found(op):
    """With a rule off by one, at least one program's gradients are not PyTorch's."""
    place = minipaddle.ones([1]).place
    kind = place.backend.name
    rule, _ = mutation.rules(op, kind)[-1]
    with mutation.mutated(op, rule, 0, shifted, kind):
        found = [differences(run(generate(seed), minipaddle), expected(seed)) for seed in BY_SEED]
    texts = [text for wrong in found for text in wrong]
    assert texts and all(text.startswith("gradients") for text in texts)
    assert OPS[op].backward is not None


def shifted(args, gradient):
    """Off by one; a gradient of a list is one of its items'."""
    if isinstance(gradient, (list, tuple)):
        return [item + 1.0 for item in gradient]
    return gradient + 1.0


def test_the_command_says_that_it_needs_pytorch(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert command.main(["--count", "1"]) == 2
    assert "needs PyTorch" in capsys.readouterr().out


def test_an_error_is_a_difference(monkeypatch):
    monkeypatch.delitem(steps.STEPS, names(FIRST)[0])
    [text] = command.compare(generate(FIRST), expected(FIRST))
    assert "KeyError" in text
