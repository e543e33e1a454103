"""The shape of the package: what tests/test_architecture.py holds the code to."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE_LINES, MAX_CORE_LINES, MAX_LINES_OF_AN_OP = 400, 9000, 25
# The core is what one reads to know how it works. Ops are looked up one by one, and the tools for
# testing them when one writes another.
OF_OPS = ("ops/formulas/", "ops/kernels/", "imperative/functions/")
NOT_CORE = (*OF_OPS, "testing/", "utils/load_op.py")
MAX_FUNCTION_LINES, MAX_PARAMETERS = 40, 6

# A package may import packages of a smaller number only; minipaddle/__init__.py may import all.
LAYERS = {
    "device": 0,
    "ops": 1,
    "imperative": 2,
    "autograd": 3, "linalg": 3,  # the names of paddle.autograd and paddle.linalg, from imperative
    "nn": 3, "optimizer": 3, "amp": 3, "io": 3, "saving": 3,
    "distributed": 4,
    "vision": 5, "text": 5,
    "utils": 5,  # Paddle's names that have no better place, from the layers below
    "testing": 6, "profiler": 6,
}  # fmt: skip

# Inside a package a module imports only modules listed before it. A module that is not listed
# imports none of its siblings and is imported by none; a package's __init__ may import them all.
ORDER = {
    "device": ["flags", "parallel_env", "shared_memory", "process_end", "dtype", "generator",
               "dlpack", "backend", "rng_state", "build", "selection", "cpu", "gpu"],
    "ops": ["declaration", "axes", "op", "schema", "formulas", "kernels"],
    "ops.kernels": ["composite", "cpu", "gpu"],
    "ops.formulas": ["elementwise", "arithmetic", "math", "rectifier", "cumulative", "reduction",
                     "statistics"],
    "ops.kernels.cpu": ["block", "fold", "ufunc", "erf", "copying", "comparison",
                        "activation", "lerp", "elementwise", "math", "arithmetic", "rectifier",
                        "softmax", "shape", "rearrange", "cumulative", "reduction", "statistics",
                        "update", "embedding", "random", "loss", "pointwise_loss", "normalization",
                        "indexing", "ordering", "linalg", "search"],
    "ops.kernels.gpu": ["launch"],
    "imperative": ["flat_buffer", "selected_rows", "grad_node", "creation_order", "printing",
                   "declared_methods", "tensor", "operand", "view", "bound_source", "dispatch",
                   "functions", "gradient", "engine", "autograd", "interchange", "execution",
                   "conversion", "copying", "hints", "methods", "jacobian", "pylayer", "anomaly",
                   "bucket", "reducer"],
    "imperative.functions": ["elementwise", "rectifier", "comparison", "arithmetic", "math",
                             "reduction", "creation", "shape", "linalg", "broadcasting", "slicing",
                             "rearrange", "padding", "joining", "ranges", "products", "matrices",
                             "geometry", "einsum", "random", "sampling", "filling", "dropout",
                             "cumulative", "statistics", "numerical", "inplace", "activation",
                             "loss", "pointwise_loss", "margin_loss", "normalization",
                             "search", "indexing", "advanced", "gathering", "scattering",
                             "ordering", "counting", "attention"],
    "nn": ["initializer", "parameter", "layer", "functional", "clip", "layers"],
    "nn.layers": ["activation", "rectifier"],
    "optimizer": ["lr", "optimizer", "sgd", "adam"],
    "io": ["dataloader", "reader"],
    "io.dataloader": ["collate", "dataset", "epochs", "sampler", "batch_sampler", "worker_info",
                      "fetcher", "failure", "link", "parcel", "slots", "worker", "fork_server",
                      "pool", "iteration"],
    "distributed": ["store", "process_group", "group", "collective", "parallel",
                    "sync_batch_norm", "spawn_child", "spawn_job", "spawn_context", "spawn",
                    "launch"],
    "testing": ["sample", "operands", "derivative", "forward_suite", "gradient_suite",
                "random_suite", "mutation",
                "places", "binding", "class_rules", "finite_difference", "op_test", "runner",
                "__main__"],
    "distributed.process_group": ["base", "lone", "message", "mesh", "channel", "staging",
                                  "reduction", "flat", "algorithms", "rendezvous", "shm", "nccl",
                                  "mpi"],
}  # fmt: skip

CUPY_IN = ["device/gpu.py", "ops/kernels/gpu/", "distributed/process_group/nccl.py"]
# Who may import or read what. A key that ends in "/" stands for all files below it.
ONLY_IN = {
    "cupy": CUPY_IN,
    "cupyx": CUPY_IN,
    "cupy_backends": CUPY_IN,
    "yaml": ["ops/schema.py"],
    "os.environ": [
        "device/",
        "distributed/spawn.py",  # writes the environment that its children start with
    ],
}
DEVICE_WORDS = {"cpu", "gpu", "xpu", "cuda", "gpus", "xpus", "npu", "npus"}
DEVICE_WORDS_IN = ["device/", "ops/kernels/"]
# Names that Paddle's users write, and the tests of what they name.
VAGUE_FILES_OF_PADDLE = {"utils", "utils.dlpack", "utils.load_op", "utils.run_check",
                         "utils.test_load_op", "utils.test_run_check"}  # fmt: skip
VAGUE_FILES = {"utils", "util", "helpers", "helper", "common", "misc"}

OPTIONAL_EXTRAS = {"ml_dtypes", "mpi4py"}  # imported where they are first needed, if at all

# Exceptions, each with its reason: "file:qualified name" -> reason.
LOCAL_IMPORTS: dict[str, str] = {
    "device/backend.py:get_backend": "importlib.metadata costs 20 ms; only unknown names need it",
}
LONG_FUNCTIONS: dict[str, str] = {
    "io/reader.py:DataLoader.__init__": "nineteen of its lines are Paddle's signature",
}
WIDE_SIGNATURES: dict[str, str] = {
    "imperative/grad_node.py:GradNode.__init__": "one argument a slot; it runs once per op",
    "imperative/grad_node.py:ListNode.__init__": "as GradNode",
    "ops/kernels/": "an op's attributes, as ops.yaml declares them",
    "ops/formulas/": "an op's attributes, as ops.yaml declares them",
    "imperative/functions/": "Paddle's public signatures",
    "imperative/autograd.py:grad": "Paddle's public signature",
    "nn/functional.py": "Paddle's public signatures",
    "nn/layers/": "Paddle's public signatures",
    "io/reader.py:DataLoader.__init__": "Paddle's public signature",
    "testing/op_test.py": "Paddle's public signatures",
}
TRAILING_UNDERSCORE = {"comm_pool_", "comm_op_count_", "cv_", "next_group_"}
BOUND_OPS_IN = [
    "imperative/functions/",
    "imperative/declared_methods.py",
]  # add_ = ..., add_: Callable
TYPES_ALONE_IN = ["imperative/declared_methods.py"]  # says nothing but types
INPLACE_OPS_IN = ["ops/", "imperative/", "nn/", "optimizer/"]
