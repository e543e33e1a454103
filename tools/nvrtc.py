"""NVIDIA's run-time compiler from its wheel, called directly: it needs no GPU, driver or CuPy.

``pip install 'minipaddle[kernels]'`` brings the library (nvidia-cuda-nvrtc) and the headers of half
types (nvidia-cuda-runtime) of CUDA 13. ``minipaddle[kernels-cuda12]`` brings those of CUDA 12.9,
which still knows GPUs older than 7.5. Both may be installed side by side.

References:
    NVIDIA, NVRTC documentation: the functions that are called below, and what they return.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Sequence
from pathlib import Path

# By major version of CUDA: the extra; library and headers beneath the wheels' package ``nvidia``.
_WHEELS = {
    13: ("kernels", "cu13/lib/libnvrtc.so.13", "cu13/include"),
    12: ("kernels-cuda12", "cuda_nvrtc/lib/libnvrtc.so.12", "cuda_runtime/include"),
}

# How far a text is compiled: what --gpu-architecture begins with, and further options.
MODES: dict[str, tuple[str, tuple[str, ...]]] = {
    "text": ("compute", ("--Ofast-compile=max",)),  # to PTX, which finds all that is wrong with it
    "draft": ("sm", ("--Ofast-compile=max",)),  # to machine code, hardly optimized
    "full": ("sm", ()),  # as a GPU gets it
}


class CompileError(Exception):
    """A text that NVRTC does not take; the message is its log."""


def _find(cuda: int) -> tuple[Path, Path] | None:
    spec = importlib.util.find_spec("nvidia")
    _extra, library, headers = _WHEELS[cuda]
    for root in map(Path, spec.submodule_search_locations or () if spec else ()):
        if (root / library).is_file() and (root / headers / "cuda_fp16.h").is_file():
            return root / library, root / headers
    return None


@functools.cache
def is_installed(cuda: int = 13) -> bool:
    """Whether the wheels of this major version of CUDA are there."""
    return _find(cuda) is not None


class Compiler:
    """NVRTC of one major version of CUDA.

    Args:
        cuda: 13 or 12.

    Raises:
        ModuleNotFoundError: Its wheels are not installed.
    """

    def __init__(self, cuda: int = 13) -> None:
        found = _find(cuda)
        if found is None:
            extra = _WHEELS[cuda][0]
            raise ModuleNotFoundError(f"NVRTC is not installed: pip install 'minipaddle[{extra}]'")
        self._library = ctypes.CDLL(str(found[0]))
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p
        self._headers = found[1]

    def _check(self, code: int) -> None:
        if code:
            raise RuntimeError(f"NVRTC: {self._library.nvrtcGetErrorString(code).decode()}")

    def version(self) -> str:
        """NVRTC's, as "13.0"."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._check(self._library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        return f"{major.value}.{minor.value}"

    def architectures(self) -> tuple[int, ...]:
        """Compute capabilities that it compiles for, as 90 for 9.0."""
        count = ctypes.c_int()
        self._check(self._library.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
        found = (ctypes.c_int * count.value)()
        self._check(self._library.nvrtcGetSupportedArchs(found))
        return tuple(found)

    def compile(
        self,
        path: Path,
        expressions: Sequence[str],
        architecture: int,
        options: Sequence[str] = (),
        mode: str = "full",
    ) -> int:
        """Compiles a file with instances of its templates.

        Args:
            path: The .cu file. Its headers are found beside it. The log names it by this path.
            expressions: Templates with their arguments, as "flat<Add<float>, float, 4, ...>".
            architecture: Compute capability, as 90.
            options: Of NVRTC, as "--std=c++17" or "-Ifolder" for more headers.
            mode: One of MODES: how far. "text" costs a tenth of "full", "draft" a third.

        Returns:
            Bytes of machine code, or of PTX.

        Raises:
            CompileError: It does not compile.
        """
        library, program = self._library, ctypes.c_void_p()
        text, name = path.read_bytes(), str(path).encode()
        self._check(library.nvrtcCreateProgram(ctypes.byref(program), text, name, 0, None, None))
        try:
            for expression in expressions:
                self._check(library.nvrtcAddNameExpression(program, expression.encode()))
            kind, more = MODES[mode]
            said = [f"--gpu-architecture={kind}_{architecture}", *more, *options]
            said += [f"-I{folder}" for folder in (path.parent, self._headers)]
            given = (ctypes.c_char_p * len(said))(*map(str.encode, said))
            if library.nvrtcCompileProgram(program, len(said), given):
                raise CompileError(self._log(program))
            size = ctypes.c_size_t()
            size_of = library.nvrtcGetCUBINSize if kind == "sm" else library.nvrtcGetPTXSize
            self._check(size_of(program, ctypes.byref(size)))
            return size.value
        finally:
            library.nvrtcDestroyProgram(ctypes.byref(program))

    def _log(self, program: ctypes.c_void_p) -> str:
        size = ctypes.c_size_t()
        self._check(self._library.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self._check(self._library.nvrtcGetProgramLog(program, text))
        return text.value.decode("utf-8", "replace").strip()
