"""The shape of the package: what tests/test_architecture.py holds the code to."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE_LINES, MAX_CORE_LINES, MAX_LINES_OF_AN_OP = 400, 9500, 25
# The core is what one reads to know how it works. Ops, layers, first values, rules of optimizers
# and schedules are looked up one by one, and the tools for testing ops when one writes another.
# Data loading, checkpoints and the GPU are subjects of their own, with limits of their own.
OF_OPS = ("ops/formulas/", "ops/kernels/cpu/", "ops/kernels/composite/", "imperative/functions/")
LOOKED_UP = ("nn/layers/", "nn/functional.py", "nn/clip.py", "nn/first_values.py",
             "nn/random_values.py", "nn/summary.py",
             "nn/weight_norm.py", "optimizer/lr/", "optimizer/sgd.py", "optimizer/momentum.py",
             "optimizer/adagrad.py", "optimizer/rmsprop.py", "optimizer/adadelta.py",
             "optimizer/adamax.py", "optimizer/adam.py")  # fmt: skip
SUBJECTS = {"saving/": 1500, "io/": 2500, "ops/kernels/gpu/": 4500,
            "profiler/": 400, "imperative/recompute.py": 110, "distributed/join.py": 60,
            "distributed/hooks.py": 60, "distributed/comm_report.py": 110,
            "device/starters.py": 80, "device/cuda.py": 100, "device/streams.py": 110,
            "device/gpu_absence.py": 60, "device/out_of_memory.py": 50,
            "device/gpu_dlpack.py": 60, "device/peak_memory.py": 40, "device/gpu_choice.py": 20,
            "distributed/launch/": 450,
            "distributed/plan/": 700, "distributed/fleet/": 10, "distributed/store.py": 200,
            "distributed/store_server.py": 220}  # fmt: skip
# So is what takes in ops from outside the tree.
NOT_CORE = (*OF_OPS, *LOOKED_UP, *SUBJECTS, "testing/", "utils/load_op.py",
            "ops/kernels/functor_file.py")  # fmt: skip
MAX_FUNCTION_LINES, MAX_PARAMETERS = 40, 6

# A package may import packages of a smaller number only; minipaddle/__init__.py may import all.
LAYERS = {
    "device": 0,
    "ops": 1,
    "imperative": 2,
    "autograd": 3, "linalg": 3,  # the names of paddle.autograd and paddle.linalg, from imperative
    "regularizer": 2,
    "nn": 3, "amp": 3, "io": 3, "saving": 3,
    "optimizer": 4,  # takes clips and settings of parameters from nn
    "distributed": 4,
    "vision": 5, "text": 5,
    "utils": 5,  # Paddle's names that have no better place, from the layers below
    "testing": 6, "profiler": 6,
}  # fmt: skip

# Inside a package a module imports only modules listed before it. A module that is not listed
# imports none of its siblings and is imported by none; a package's __init__ may import them all.
ORDER = {
    "device": ["flags", "starters", "parallel_env", "shared_memory", "process_end", "dtype",
               "generator", "dlpack", "backend", "rng_state", "build", "selection", "cpu",
               "gpu_absence", "out_of_memory", "gpu_dlpack", "gpu", "gpu_choice", "streams",
               "peak_memory", "cuda"],
    "ops": ["declaration", "axes", "loading", "op", "schema", "formulas", "kernels"],
    "ops.kernels": ["composite", "cpu", "functor_file", "gpu"],
    "ops.formulas": ["elementwise", "arithmetic", "math", "rectifier", "cumulative", "reduction",
                     "statistics"],
    "ops.kernels.cpu": ["block", "fold", "ufunc", "erf", "copying", "comparison",
                        "activation", "lerp", "elementwise", "math", "arithmetic", "rectifier",
                        "softmax", "shape", "rearrange", "cumulative", "reduction", "statistics",
                        "update", "update_adam", "embedding", "random", "loss", "pointwise_loss",
                        "normalization", "indexing", "ordering", "linalg", "search"],
    "ops.kernels.gpu": ["layout", "source", "compiled", "launch", "elementwise", "copying",
                        "arithmetic", "math", "comparison", "activation", "rectifier",
                        "pointwise_loss", "selection", "outside",
                        "fold_plan", "row_plan", "update_plan", "fold", "spread", "reduction",
                        "statistics", "softmax", "normalization", "loss",
                        "cumulative", "update", "lerp", "axis_plan", "positions", "shape",
                        "rearrange", "joining", "padding", "linalg", "indexing", "embedding",
                        "search", "ordering", "random"],
    "imperative": ["flat_buffer", "selected_rows", "grad_node", "creation_order", "printing",
                   "declared_methods", "tensor", "operand", "view", "bound_source", "dispatch",
                   "functions", "gradient", "run_end", "engine", "autograd", "interchange",
                   "execution", "conversion", "copying", "hints", "methods", "jacobian", "pylayer",
                   "anomaly", "recompute", "bucket", "communication", "launching", "leaf_hook",
                   "reducer"],
    "imperative.functions": ["elementwise", "rectifier", "comparison", "arithmetic", "math",
                             "reduction", "creation", "shape", "linalg", "broadcasting", "slicing",
                             "rearrange", "padding", "joining", "ranges", "products", "matrices",
                             "einsum", "random", "sampling", "filling", "dropout", "cumulative",
                             "statistics", "geometry", "numerical", "inplace", "activation",
                             "loss", "pointwise_loss", "margin_loss", "normalization",
                             "channel_norm", "search", "indexing", "advanced", "gathering",
                             "scattering", "ordering", "counting", "attention", "piecewise",
                             "likelihood_loss", "class_margin_loss", "image"],
    "nn": ["first_values", "random_values", "initializer", "parameter", "layer_attributes",
           "layer_state", "layer_conversion", "layer", "functional", "clip", "layers",
           "parameter_vector", "weight_norm", "summary", "utils"],
    "nn.layers": ["function_layer", "activation", "rectifier", "linear", "dropout", "norm",
                  "batch_norm", "channel_norm", "distance", "margin_loss", "rearrange", "container",
                  "rnn_cell", "recurrence", "rnn", "attention", "transformer"],
    "optimizer": ["lr", "settings", "layout", "saved_state", "optimizer", "sgd", "momentum",
                  "adagrad", "rmsprop", "adadelta", "adamax", "adam"],
    "optimizer.lr": ["scheduler", "warmup", "decay", "function", "annealing", "plateau"],
    "io": ["dataloader", "reader"],
    "io.dataloader": ["collate", "dataset", "epochs", "sampler", "batch_sampler", "worker_info",
                      "fetcher", "failure", "link", "parcel", "slots", "worker", "fork_server",
                      "pool", "iteration"],
    "saving": ["errors", "source", "pickled", "pickle_reader", "values", "paddle_format",
               "pickle_writer", "torch_format", "safetensors_format", "file_kind", "atomic",
               "checkpoint"],
    "distributed": ["store_server", "store", "process_group", "group", "collective", "agreement",
                    "comm_report", "hooks", "join", "strategy", "waits", "parallel",
                    "sync_batch_norm", "spawn_child", "spawn_job", "spawn_context", "job_environ",
                    "spawn", "launch", "fleet", "plan"],
    "profiler": ["recorder", "timeline", "profiler"],
    "testing": ["sample", "operands", "derivative", "forward_suite", "gradient_suite",
                "random_suite", "mutation",
                "places", "binding", "class_rules", "finite_difference", "op_test", "runner",
                "__main__"],
    "distributed.fleet": ["utils"],
    "distributed.plan": ["sweep", "cost", "trace", "replay", "prediction", "drawing", "command",
                         "__main__"],
    "distributed.launch": ["pmi", "options", "worker", "job", "main", "__main__"],
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
VAGUE_FILES_OF_PADDLE = {"distributed.fleet.utils", "nn.utils", "utils", "utils.dlpack",
                         "utils.load_op", "utils.run_check",
                         "utils.test_load_op", "utils.test_run_check"}  # fmt: skip
VAGUE_FILES = {"utils", "util", "helpers", "helper", "common", "misc"}

# Imported where they are first needed, if at all.
OPTIONAL_EXTRAS = {"ml_dtypes", "mpi4py", "safetensors"}

# Exceptions, each with its reason: "file:qualified name" -> reason.
LOCAL_IMPORTS: dict[str, str] = {
    "device/flags.py:_find": "difflib takes 3 ms to import; only a wrong name needs it",
    "device/backend.py:get_backend": "importlib.metadata costs 20 ms; only unknown names need it",
    "device/gpu.py:_found": "CuPy takes 0.5 s to import; only who uses a GPU needs it",
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
    "optimizer/": "Paddle's public signatures",
    "distributed/parallel.py:DataParallel.__init__": "Paddle's public signature and two more",
    "testing/op_test.py": "Paddle's public signatures",
    "io/reader.py:DataLoader.__init__": "Paddle's public signature",
}
TRAILING_UNDERSCORE = {"comm_pool_", "comm_op_count_", "cv_", "next_group_"}
BOUND_OPS_IN = [
    "imperative/functions/",
    "imperative/declared_methods.py",
]  # add_ = ..., add_: Callable
TYPES_ALONE_IN = ["imperative/declared_methods.py"]  # says nothing but types
INPLACE_OPS_IN = ["ops/", "imperative/", "nn/", "optimizer/"]
