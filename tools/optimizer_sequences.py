"""Records what optimizers and schedulers of Paddle and PyTorch do, for tests to compare with.

``python -m tools.optimizer_sequences paddle`` (or ``torch``), run where that package is installed,
writes tests/optimizer/recorded/paddle.json (or torch.json): for each case the parameters after some
of 200 steps in float64 on the CPU, and for each scheduler of Paddle the rates of 60 epochs.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "optimizer" / "recorded"
STEPS, SHOWN, EPOCHS = 200, (1, 2, 3, 10, 50, 200), 60
START = [np.array([1.0, -2.0, 0.5]), np.array([[0.3, -0.7], [2.0, 0.1]])]

# Name -> Paddle's class, its arguments without the parameters, and the same for PyTorch or None.
# A tuple in an argument names a class, which ``argument`` makes. Paddle's kernels hold momentum,
# rho, epsilon and AdamW's decay in float32, also where they compute in float64: these fit.
_ADAM = {"learning_rate": 0.05, "beta1": 0.8, "beta2": 0.95, "epsilon": 2**-10}
_TORCH_ADAM = {"lr": 0.05, "betas": (0.8, 0.95), "eps": 2**-10}
_BY_VALUE = ("ClipGradByValue", 0.4)
_RMSPROP = {"learning_rate": 0.01, "rho": 0.875, "epsilon": 2**-10}
CASES: dict[str, tuple[str, dict[str, Any], str | None, dict[str, Any]]] = {
    "sgd": ("SGD", {"learning_rate": 0.1}, "SGD", {"lr": 0.1}),
    "sgd, L2": (
        "SGD", {"learning_rate": 0.1, "weight_decay": 0.3},
        "SGD", {"lr": 0.1, "weight_decay": 0.3},
    ),
    "sgd, L1": ("SGD", {"learning_rate": 0.1, "weight_decay": ("L1Decay", 0.3)}, None, {}),
    "sgd, by value": ("SGD", {"learning_rate": 0.1, "grad_clip": _BY_VALUE}, None, {}),
    "sgd, global norm, L2": (
        "SGD",
        {"learning_rate": 0.1, "grad_clip": ("ClipGradByGlobalNorm", 0.7), "weight_decay": 0.3},
        None, {},
    ),
    "sgd, step decay": ("SGD", {"learning_rate": ("StepDecay", 0.1, 20, 0.5)}, None, {}),
    "momentum": (
        "Momentum", {"learning_rate": 0.05, "momentum": 0.75},
        "SGD", {"lr": 0.05, "momentum": 0.75},
    ),
    "nesterov, L2": (
        "Momentum",
        {"learning_rate": 0.05, "momentum": 0.75, "use_nesterov": True, "weight_decay": 0.25},
        "SGD", {"lr": 0.05, "momentum": 0.75, "nesterov": True, "weight_decay": 0.25},
    ),
    "adam": ("Adam", _ADAM, "Adam", _TORCH_ADAM),
    "adam, L2": (
        "Adam", {**_ADAM, "weight_decay": 0.25}, "Adam", {**_TORCH_ADAM, "weight_decay": 0.25},
    ),
    "adam, global norm": ("Adam", {**_ADAM, "grad_clip": ("ClipGradByGlobalNorm", 0.7)}, None, {}),
    "amsgrad": ("Adam", {**_ADAM, "amsgrad": True}, "Adam", {**_TORCH_ADAM, "amsgrad": True}),
    "adamw": (
        "AdamW", {**_ADAM, "weight_decay": 0.25}, "AdamW", {**_TORCH_ADAM, "weight_decay": 0.25},
    ),
    "adamw, amsgrad": (
        "AdamW", {**_ADAM, "weight_decay": 0.25, "amsgrad": True},
        "AdamW", {**_TORCH_ADAM, "weight_decay": 0.25, "amsgrad": True},
    ),
    "adagrad": (
        "Adagrad", {"learning_rate": 0.3, "epsilon": 2**-10}, "Adagrad", {"lr": 0.3, "eps": 2**-10},
    ),
    "adagrad, begun": (
        "Adagrad", {"learning_rate": 0.3, "epsilon": 2**-10, "initial_accumulator_value": 0.125},
        "Adagrad", {"lr": 0.3, "eps": 2**-10, "initial_accumulator_value": 0.125},
    ),
    "adadelta": (
        "Adadelta", {"learning_rate": 0.5, "rho": 0.875, "epsilon": 2**-10},
        "Adadelta", {"lr": 0.5, "rho": 0.875, "eps": 2**-10},
    ),
    "adamax": (
        "Adamax", {"learning_rate": 0.05, "beta1": 0.75, "beta2": 0.875, "epsilon": 2**-10},
        None, {},
    ),
    "rmsprop": ("RMSProp", _RMSPROP, None, {}),
    "rmsprop, momentum": ("RMSProp", {**_RMSPROP, "momentum": 0.5}, None, {}),
    "rmsprop, centered": (
        "RMSProp", {**_RMSPROP, "momentum": 0.5, "centered": True, "weight_decay": 0.125}, None, {},
    ),
}  # fmt: skip

# Name -> Paddle's class and its arguments. A function is made by ``argument``.
SCHEDULERS: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "noam": ("NoamDecay", [64, 10], {"learning_rate": 2.0}),
    "piecewise": ("PiecewiseDecay", [[3, 6, 40], [0.1, 0.2, 0.3, 0.4]], {}),
    "natural": ("NaturalExpDecay", [0.5, 0.1], {}),
    "inverse": ("InverseTimeDecay", [0.5, 0.1], {}),
    "polynomial": ("PolynomialDecay", [0.5, 20], {"end_lr": 0.1, "power": 2.0}),
    "polynomial cycle": ("PolynomialDecay", [0.5, 20], {"cycle": True}),
    "warmup": ("LinearWarmup", [0.5, 20, 0.1, 0.4], {}),
    "warmup, then": ("LinearWarmup", [("ExponentialDecay", 0.5, 0.9), 20, 0.0, 0.5], {}),
    "exponential": ("ExponentialDecay", [0.5, 0.9], {"last_epoch": 4}),
    "multistep": ("MultiStepDecay", [0.5, [4, 9, 30]], {"gamma": 0.2}),
    "step": ("StepDecay", [0.5, 7], {"gamma": 0.5}),
    "lambda": ("LambdaDecay", [0.5, ("function",)], {}),
    "multiplicative": ("MultiplicativeDecay", [0.5, ("function",)], {}),
    "cosine": ("CosineAnnealingDecay", [0.5, 13], {"eta_min": 0.1}),
    "restarts": ("CosineAnnealingWarmRestarts", [0.5, 5], {"T_mult": 2, "eta_min": 0.1}),
    "restarts, even": ("CosineAnnealingWarmRestarts", [0.5, 7], {}),
    "one cycle": ("OneCycleLR", [0.5, 60], {}),
    "one cycle, three": (
        "OneCycleLR", [0.5, 70],
        {"three_phase": True, "phase_pct": 0.4, "anneal_strategy": "linear"},
    ),
    "cyclic": ("CyclicLR", [0.1, 0.5, 7], {"step_size_down": 4}),
    "cyclic 2": ("CyclicLR", [0.1, 0.5, 7], {"mode": "triangular2"}),
    "cyclic, exp": ("CyclicLR", [0.1, 0.5, 7], {"mode": "exp_range", "exp_gamma": 0.95}),
    "linear": ("LinearLR", [0.5, 20], {"start_factor": 0.25, "end_factor": 0.75}),
    "plateau": ("ReduceOnPlateau", [0.5], {"patience": 3, "cooldown": 2, "factor": 0.5}),
    "plateau, max": (
        "ReduceOnPlateau", [0.5],
        {"mode": "max", "threshold_mode": "abs", "threshold": 0.05, "patience": 2, "min_lr": 0.01},
    ),
}  # fmt: skip


def gradient(params: list[Array], step: int) -> list[Array]:
    """Gradients of step ``step``, from 0: of a bowl whose middle moves."""
    return [p - np.cos(0.3 * step + np.arange(p.size)).reshape(p.shape) for p in params]


def measure(epoch: int) -> float:
    """What a plateau is looked for in."""
    return float(1 / (1 + 0.3 * epoch) + 0.1 * np.cos(epoch))


def factor(epoch: int) -> float:
    """The function of schedulers that take one."""
    return 1 - 0.01 * epoch


def argument(paddle: Any, value: Any) -> Any:
    """``value`` as Paddle or minipaddle takes it: a tuple names a class, or "function"."""
    if not isinstance(value, tuple):
        return value
    if value[0] == "function":
        return factor
    modules = paddle.nn, paddle.regularizer, paddle.optimizer.lr
    found = next(getattr(m, value[0]) for m in modules if hasattr(m, value[0]))
    return found(*value[1:])


def made(paddle: Any, module: Any, name: str, args: list[Any], options: dict[str, Any]) -> Any:
    """An optimizer or a scheduler of ``module``."""
    options = {key: argument(paddle, value) for key, value in options.items()}
    return getattr(module, name)(*[argument(paddle, value) for value in args], **options)


def rates(paddle: Any, case: str) -> list[float]:
    """The rates of EPOCHS epochs of a scheduler."""
    name, args, options = SCHEDULERS[case]
    scheduler = made(paddle, paddle.optimizer.lr, name, args, options)
    found = []
    for epoch in range(EPOCHS):
        found.append(float(scheduler()))
        scheduler.step(*([measure(epoch)] if name == "ReduceOnPlateau" else []))
    return found


def parameters(paddle: Any, case: str) -> dict[str, list[list[float]]]:
    """The parameters after the SHOWN steps, with Paddle or minipaddle."""
    params, optimizer = training(paddle, case, START)
    shown = {}
    for step in range(STEPS):
        advance(paddle, params, optimizer, step)
        if step + 1 in SHOWN:
            shown[str(step + 1)] = lists(params)
    return shown


def training(paddle: Any, case: str, values: list[Array], names: str = "") -> tuple[Any, Any]:
    """Parameters of these values and the optimizer of a case, with Paddle or minipaddle."""
    name, options, _, _ = CASES[case]
    params = []
    for i, value in enumerate(values):
        attr = paddle.ParamAttr(name=f"{names}.w_{i}") if names else None
        params.append(paddle.create_parameter(list(value.shape), "float64", attr=attr))
        params[-1].set_value(value)
    return params, made(paddle, paddle.optimizer, name, [], {**options, "parameters": params})


def advance(paddle: Any, params: Any, optimizer: Any, step: int) -> None:
    """One step, and one of the scheduler if there is one."""
    values = [p.numpy() for p in params]
    for param, grad in zip(params, gradient(values, step), strict=True):
        param.grad = paddle.to_tensor(grad)
    optimizer.step()
    if not isinstance(optimizer._learning_rate, float):
        optimizer._learning_rate.step()


def lists(params: Any) -> list[list[float]]:
    """The values as lists of numbers."""
    return [p.numpy().ravel().tolist() for p in params]


def halfway(paddle: Any, case: str) -> dict[str, Any]:
    """Parameters and state after 5 steps, and the parameters after 5 more."""
    params, optimizer = training(paddle, case, START, f"recorded_{list(CASES).index(case)}")
    for step in range(5):
        advance(paddle, params, optimizer, step)
    state = optimizer.state_dict()
    found: dict[str, Any] = {"parameters": lists(params), "LR_Scheduler": None, "state": {}}
    found["LR_Scheduler"] = state.pop("LR_Scheduler", None)
    for name, value in state.items():
        array = value.numpy()
        found["state"][name] = [array.dtype.name, list(array.shape), array.ravel().tolist()]
    for step in range(5, 10):
        advance(paddle, params, optimizer, step)
    found["after"] = lists(params)
    return found


def torch_parameters(torch: Any, case: str) -> dict[str, list[list[float]]]:
    """The same with PyTorch."""
    _, _, name, options = CASES[case]
    params = [torch.tensor(value, requires_grad=True) for value in START]
    optimizer = getattr(torch.optim, str(name))(params, **options)
    shown = {}
    for step in range(STEPS):
        values = [p.detach().numpy().copy() for p in params]
        for param, grad in zip(params, gradient(values, step), strict=True):
            param.grad = torch.tensor(grad)
        optimizer.step()
        if step + 1 in SHOWN:
            shown[str(step + 1)] = [p.detach().numpy().ravel().tolist() for p in params]
    return shown


def main(framework: str) -> None:
    """Writes the file of one framework."""
    module = importlib.import_module(framework)
    record: dict[str, Any] = {"version": module.__version__.split("+")[0]}
    if framework == "paddle":
        module.set_device("cpu")
        record["parameters"] = {case: parameters(module, case) for case in CASES}
        record["states"] = {case: halfway(module, case) for case in CASES}
        record["rates"] = {case: rates(module, case) for case in SCHEDULERS}
    else:
        cases = [case for case, entry in CASES.items() if entry[2] is not None]
        record["parameters"] = {case: torch_parameters(module, case) for case in cases}
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(record, indent=None, separators=(",", ":")).replace('},"', '},\n"')
    (FOLDER / f"{framework}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
