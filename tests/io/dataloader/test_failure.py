import pytest

from minipaddle.io.dataloader.failure import Failure, failure_of, rebuilt, unpicklable
from tests.io.samples import OddError


def failure(error):
    try:
        raise error
    except BaseException as caught:
        return failure_of(caught)


class Unprintable(Exception):
    def __reduce__(self):
        raise RuntimeError


def test_an_error_keeps_type_and_attributes():
    error = rebuilt(failure(FileNotFoundError(2, "not there", "a.txt")), "worker 3")
    assert type(error) is FileNotFoundError
    assert (error.errno, error.filename) == (2, "a.txt")
    assert "Raised in worker 3" in error.__notes__[0]
    assert "raise error" in error.__notes__[0]


@pytest.mark.parametrize("error", [OddError(1, 2), Unprintable("x"), KeyboardInterrupt("x")])
def test_what_cannot_be_raised_again_is_told(error):
    found = rebuilt(failure(error), "worker 3")
    assert type(found) is RuntimeError
    assert type(error).__name__ in str(found)
    assert "Raised in worker 3" in str(found)


def test_what_cannot_be_unpickled_here_is_told():
    assert "ValueError: x" in str(rebuilt(Failure(b"nonsense", "ValueError: x", ""), "worker 3"))


class Holder:
    def __init__(self, part):
        self.part = part


@pytest.mark.parametrize(
    ("part", "path"),
    [
        (lambda: 1, "dataset"),
        (Holder(lambda: 1), "dataset.part"),
        (Holder([1, (lambda: 1,)]), r"dataset.part\[1\]\[0\]"),
        ({"a": open}, None),
    ],
)
def test_the_part_that_cannot_be_pickled_is_found(part, path):
    error = unpicklable({"fine": 3, "dataset": part}, ValueError())
    if path is None:
        assert error is None
    else:
        with pytest.raises(TypeError, match=rf"^{path} \(function\) cannot be pickled"):
            raise error
