"""Element types: names, the default type, bfloat16 on demand."""

import re
import subprocess
import sys

import numpy as np
import pytest

from minipaddle.device import dtype as dtypes
from minipaddle.device.dtype import (
    as_dtype,
    bfloat16,
    finfo,
    get_default_dtype,
    iinfo,
    is_float,
    is_half,
    set_default_dtype,
)
from minipaddle.imperative.functions.creation import ones
from minipaddle.imperative.functions.elementwise import tanh
from minipaddle.imperative.tensor import to_tensor


@pytest.mark.parametrize("name", dtypes.NAMES)
def test_a_dtype_by_any_of_its_names(name):
    found = as_dtype(name)
    assert found.name == name
    assert as_dtype(f"paddle.{name}") is found
    assert as_dtype(found) is found
    assert as_dtype(found.type) is found
    assert as_dtype(found.newbyteorder()) is found  # tensors are in native byte order


def test_python_types_and_none():
    assert as_dtype(float).name == "float64"
    assert as_dtype(int).name == "int64"
    assert as_dtype(bool).name == "bool"
    assert as_dtype(None).name == get_default_dtype()


@pytest.mark.parametrize("wrong", ["float", "float128", "string", "", object(), "<U3", np.str_, 3])
def test_what_is_no_element_type(wrong):
    with pytest.raises(TypeError) as caught:
        as_dtype(wrong)
    for word in ("dtype", "float32", "bfloat16", "int64"):
        assert word in str(caught.value)
    assert repr(wrong) in str(caught.value)


def test_bfloat16_is_one_dtype():
    found = bfloat16()
    assert found.name == "bfloat16" and found.itemsize == 2
    assert as_dtype("bfloat16") is found and as_dtype(found) is found
    assert is_float(found) and is_half(found)


def test_halves_and_floats():
    assert [n for n in dtypes.NAMES if is_float(as_dtype(n))] == ["float16", "float32", "float64"]
    assert [n for n in dtypes.NAMES if is_half(as_dtype(n))] == ["float16"]
    assert not is_half(as_dtype("int16"))


PROGRAM = """
import sys
import numpy as np
import minipaddle as paddle
assert "ml_dtypes" not in sys.modules, "imported before anybody asked"
{body}
"""


def run(body):
    program = PROGRAM.format(body=body)
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
    )
    assert ended.returncode == 0, ended.stderr


def test_bfloat16_costs_nothing_until_it_is_asked_for():
    run("paddle.ones([2]); assert 'ml_dtypes' not in sys.modules")


def test_an_array_of_bfloat16_is_a_float_without_having_asked():
    run("""
import ml_dtypes
x = paddle.to_tensor(np.ones(2, ml_dtypes.bfloat16), stop_gradient=False)
paddle.tanh(x).sum().backward()
assert x.grad.dtype.name == "bfloat16"
""")


def test_without_ml_dtypes_the_text_says_how_to_install_it():
    run("""
sys.modules["ml_dtypes"] = None
try:
    paddle.ones([2], "bfloat16")
except ImportError as error:
    assert "pip install" in str(error) and "ml_dtypes" in str(error), error
else:
    raise AssertionError
assert paddle.tanh(paddle.ones([2])).shape == [2]
""")


@pytest.fixture
def default():
    before = get_default_dtype()
    yield
    set_default_dtype(before)


@pytest.mark.parametrize("name", dtypes.FLOAT_NAMES)
def test_the_default_dtype_is_that_of_python_floats(name, default):
    set_default_dtype(name)
    assert get_default_dtype() == name
    assert ones([2]).dtype.name == name
    assert to_tensor([0.5]).dtype.name == name
    assert to_tensor(0.5).dtype.name == name
    assert to_tensor([1]).dtype.name == "int64"
    assert to_tensor(np.zeros(2)).dtype.name == "float64"
    assert to_tensor(np.float32(1)).dtype.name == "float32"
    assert tanh(ones([2])).dtype.name == name


@pytest.mark.parametrize("wrong", ["int64", "bool", "complex64", "half"])
def test_the_default_dtype_is_a_float(wrong, default):
    with pytest.raises(TypeError, match="float32"):
        set_default_dtype(wrong)
    assert get_default_dtype() == "float32"


def test_arrays_in_foreign_byte_order_become_native():
    for dtype in (">f4", ">f8", ">i4", ">i8"):
        host = np.arange(3).astype(dtype)
        tensor = to_tensor(host)
        assert tensor.dtype is as_dtype(host.dtype.name)
        np.testing.assert_array_equal(tensor.numpy(), host)
    assert not to_tensor(np.ones(2, ">f4"), stop_gradient=False).stop_gradient


@pytest.mark.parametrize("dtype", [np.longdouble, "uint16", "M8[s]", "U1", object])
def test_arrays_of_other_element_types_are_refused(dtype):
    with pytest.raises(TypeError, match=re.escape(str(np.dtype(dtype)))):
        to_tensor(np.zeros(2, dtype))


@pytest.mark.parametrize(
    ("name", "bits", "mantissa", "largest"),
    [
        ("float16", 16, 10, 65504.0),
        ("bfloat16", 16, 7, (2 - 2.0**-7) * 2.0**127),
        ("float32", 32, 23, (2 - 2.0**-23) * 2.0**127),
        ("float64", 64, 52, (2 - 2.0**-52) * 2.0**1023),
    ],
)
def test_finfo(name, bits, mantissa, largest):
    info = finfo(name)
    assert (info.dtype, info.bits) == (name, bits)
    assert info.eps == 2.0**-mantissa
    assert info.max == largest == -info.min
    assert info.tiny == info.smallest_normal > 0
    assert info.eps < 8 * info.resolution < 100 * info.eps
    with pytest.raises(TypeError, match="iinfo"):
        finfo("int32")


def test_iinfo():
    assert (iinfo("int8").min, iinfo("int8").max, iinfo("int8").bits) == (-128, 127, 8)
    assert iinfo("int64").max == 2**63 - 1 and iinfo("uint8").min == 0
    assert iinfo("int32").dtype == "int32"
    with pytest.raises(TypeError, match="finfo"):
        iinfo("float32")
