"""Adam, and AdamW, whose weight decay does not go through the moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.clip import ClipGradBase
from minipaddle.ops.op import get_op
from minipaddle.optimizer.layout import Stretch
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.settings import Group, Settings, betas, not_negative, settings_of
from minipaddle.regularizer import L2Decay


class Adam(Optimizer):
    """Step over a running mean of the gradient, divided by the root of one of its square.

    Args:
        learning_rate: Step size: a float or an LRScheduler.
        beta1: Decay of the mean, in [0, 1).
        beta2: Decay of the mean square, in [0, 1).
        epsilon: Added to the root after its bias correction; not negative.
        parameters: Tensors to train, or groups; see ``Optimizer``.
        weight_decay: Penalty; see ``Optimizer``.
        grad_clip: Limit on the gradients; see ``Optimizer``.
        lazy_mode: Of a sparse gradient, update only the rows that it has, and only their moments.
        multi_precision: Keep the values of half-precision parameters in float32 too, and update
            those.
        use_multi_tensor: Unused: parameters are updated in long stretches anyway.
        amsgrad: Divide by the largest mean square so far.
        name: Goes into the names of the accumulators in the state.

    Raises:
        ValueError: A beta is outside [0, 1), or epsilon is negative.

    References:
        Kingma and Ba (2015), Adam: a method for stochastic optimization, algorithm 1.
        Reddi, Kale and Kumar (2018), On the convergence of Adam and beyond, for amsgrad.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> adam = paddle.optimizer.Adam(learning_rate=0.1, parameters=[w])
        >>> (w * 2).sum().backward()
        >>> adam.step()
        >>> round(w.item(), 6)
        0.9
    """

    accumulators: tuple[str, ...] = ("moment1", "moment2")
    powers: ClassVar = {"beta1_pow_acc": "beta1", "beta2_pow_acc": "beta2"}

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float | Tensor = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        if amsgrad:
            self.accumulators = ("moment1", "moment2", "moment2_max")
        options = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "lazy_mode": lazy_mode}
        super().__init__(
            learning_rate, parameters, weight_decay, grad_clip, name,
            options=options, multi_precision=multi_precision,
        )  # fmt: skip
        self._op, self._rows_op = get_op("adam_"), get_op("adam_rows_")

    def check(self, group: Group) -> None:
        """See ``Optimizer``."""
        betas(group)
        group.options["epsilon"] = float(group.options["epsilon"])
        not_negative(group, "epsilon")

    def settings(self, param: Tensor, group: Group) -> Settings:
        """See ``Optimizer``."""
        *numbers, lazy = group.options.values()
        return settings_of(param, group, (lazy, (*numbers, 0.0)), group.decay)

    def update(self, stretch: Stretch, rate: float, step: int) -> None:
        """See ``Optimizer``."""
        lazy, numbers = stretch.settings.options
        rows = stretch.sparse if lazy else None
        if rows is None:
            lacking = () if len(stretch.state) > 2 else (None,)
            self.run(self._op, stretch, *lacking, rate, *numbers, step)
            return
        slot = stretch.slots[0]
        views = slot.views() if len(slot.state) > 2 else (*slot.views(), None)
        kernel, param = self._rows_op.kernels[stretch.place], slot.param.data
        numbers = rate, *numbers, step, *stretch.treatment[:3]
        kernel(param, rows.rows, rows.value, *views, *numbers)


class AdamW(Adam):
    """Adam whose weight decay acts on the parameters at once: ``p -= rate * weight_decay * p``.

    Args:
        learning_rate: Step size: a float or an LRScheduler.
        beta1: Decay of the mean, in [0, 1).
        beta2: Decay of the mean square, in [0, 1).
        epsilon: Added to the root after its bias correction; not negative.
        parameters: Tensors to train, or groups; see ``Optimizer``.
        weight_decay: How fast parameters decay, a number.
        grad_clip: Limit on the gradients; see ``Optimizer``.
        use_lowprecision_moment: Keep the moments of half-precision parameters in their type.
        lr_ratio: Function from a parameter to a factor on its rate; asked once.
        apply_decay_param_fun: Function from the name of a parameter to whether it decays; asked
            once. By default all do.
        lazy_mode: Of a sparse gradient, update only the rows that it has, and only their moments.
        multi_precision: Keep the values of half-precision parameters in float32 too, and update
            those.
        amsgrad: Divide by the largest mean square so far.
        name: Goes into the names of the accumulators in the state.

    Raises:
        TypeError: ``weight_decay`` is no number, or a function cannot be called.
        ValueError: A beta is outside [0, 1), or epsilon is negative.

    References:
        Loshchilov and Hutter (2019), Decoupled weight decay regularization, algorithm 2.

    Example:
        >>> import minipaddle as paddle
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> adamw = paddle.optimizer.AdamW(0.1, parameters=[w], weight_decay=0.5)
        >>> (w * 2).sum().backward()
        >>> adamw.step()
        >>> round(w.item(), 6)
        0.85
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float | Tensor = 1e-8,
        parameters: Any = None,
        weight_decay: float | Tensor = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Tensor], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        functions = {"lr_ratio": lr_ratio, "apply_decay_param_fun": apply_decay_param_fun}
        for argument, function in functions.items():
            if function is not None and not callable(function):
                raise TypeError(f"{argument} must be a function or None; got {function!r}")
        self._ratio, self._decays = lr_ratio, apply_decay_param_fun
        self.wide_state = not use_lowprecision_moment
        if isinstance(weight_decay, Tensor):
            weight_decay = weight_decay.item()
        if isinstance(weight_decay, bool) or not isinstance(weight_decay, (int, float)):
            raise TypeError(f"weight_decay of AdamW must be a number; got {weight_decay!r}")
        super().__init__(
            learning_rate, beta1, beta2, epsilon, parameters, weight_decay, grad_clip, lazy_mode,
            multi_precision, amsgrad=amsgrad, name=name,
        )  # fmt: skip

    def check(self, group: Group) -> None:
        """See ``Optimizer``."""
        super().check(group)
        if not isinstance(group.decay, L2Decay):
            raise TypeError("weight_decay of a group of AdamW must be a number")

    def settings(self, param: Tensor, group: Group) -> Settings:
        """See ``Optimizer``."""
        *numbers, lazy = group.options.values()
        decays = self._decays is None or self._decays(param.name)
        ratio = 1.0 if self._ratio is None else float(self._ratio(param))
        decay = group.decay.l2 if decays else 0.0  # type: ignore[union-attr]
        return settings_of(param, group, (lazy, (*numbers, decay)), None, factor=ratio)
