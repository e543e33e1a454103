"""Normalizations that know which axis holds the channels, made of other functions."""

from __future__ import annotations

from minipaddle.device.dtype import is_half
from minipaddle.imperative.functions import arithmetic, math, padding, shape, statistics
from minipaddle.imperative.functions.normalization import layer_norm_rows
from minipaddle.imperative.tensor import Tensor

FORMATS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


def channel_axis(function: str, x: Tensor, data_format: str) -> int:
    """The axis of the channels: 1, or the last one.

    Raises:
        ValueError: ``data_format`` is unknown, or x has less than 2 axes.
    """
    if data_format not in FORMATS:
        raise ValueError(f"{function}: data_format must be one of {FORMATS}; got {data_format!r}")
    if x.ndim < 2:
        raise ValueError(f"{function}: x must have 2 axes or more; got shape {x.shape}")
    return 1 if data_format[1] == "C" else x.ndim - 1


def _scaled(x: Tensor, axis: int, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """``x * weight + bias``, channel by channel."""
    lengths = [1] * x.ndim
    lengths[axis] = -1
    for name, factor in (("weight", weight), ("bias", bias)):
        if factor is not None and list(factor.shape) != [x.shape[axis]]:
            raise ValueError(
                f"{name} must have one element a channel, [{x.shape[axis]}]; got {factor.shape}"
            )
    x = x if weight is None else x * shape.reshape(weight, lengths)
    return x if bias is None else x + shape.reshape(bias, lengths)


def batch_norm(
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """``(x - mean) / sqrt(variance + epsilon) * weight + bias``, channel by channel.

    Where mean and variance are those of the batch, the running ones become ``momentum * running +
    (1 - momentum) * batch``.

    Args:
        x: Float tensor [N, C, ...], or with the channels last.
        running_mean: Tensor [C].
        running_var: Tensor [C]; the variance of a batch is that of all its elements, undivided
            by one less.
        weight: Tensor [C], or None for 1.
        bias: Tensor [C], or None for 0.
        training: Whether mean and variance are those of the batch.
        momentum: Share of the running values that is kept.
        epsilon: Added to the variance.
        data_format: Where the channels are: NC, NCL, NCHW, NCDHW, or NLC, NHWC, NDHWC.
        use_global_stats: Whether mean and variance are the running ones; by default those of the
            batch are taken in training.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype; half types are computed in float32.

    Raises:
        ValueError: ``data_format`` is unknown, or a shape does not fit.

    References:
        Ioffe and Szegedy (2015), Batch normalization.

    Example:
        >>> import minipaddle as paddle
        >>> mean, var = paddle.zeros([1]), paddle.ones([1])
        >>> x = paddle.to_tensor([[1.0], [3.0]])
        >>> out = paddle.nn.functional.batch_norm(x, mean, var, training=True, epsilon=0.0)
        >>> out.tolist(), round(mean.item(), 3)
        ([[-1.0], [1.0]], 0.2)
    """
    axis, dtype = channel_axis("batch_norm", x, data_format), x.dtype
    x = x.astype("float32") if is_half(dtype) else x
    given = not training if use_global_stats is None else use_global_stats
    if given:
        factor = math.rsqrt(running_var + epsilon)
        out = _scaled(x, axis, factor, -(running_mean * factor))
    else:
        by_channel = shape.moveaxis(x, axis, 0)
        rows = shape.reshape(by_channel, [x.shape[axis], x.size // max(1, x.shape[axis])])
        normal = shape.reshape(layer_norm_rows(rows, None, None, 1, epsilon), by_channel.shape)
        out = shape.moveaxis(normal, 0, axis)
        values = rows.detach()
        for running, batch in (
            (running_mean, values.mean(1)),
            (running_var, statistics.var(values, 1, unbiased=False)),
        ):
            running.set_value(running.detach() * momentum + batch * (1.0 - momentum))
    out = _scaled(out, axis, weight, bias)
    return out.astype(dtype) if is_half(dtype) else out


def group_norm(
    x: Tensor,
    num_groups: int,
    epsilon: float = 1e-05,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Normalizes groups of channels, in each sample for itself.

    Args:
        x: Float tensor [N, C, ...], or with the channels last.
        num_groups: Number of groups, a divisor of C.
        epsilon: Added to the variance.
        weight: Tensor [C], or None for 1.
        bias: Tensor [C], or None for 0.
        data_format: As of ``batch_norm``.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``data_format`` is unknown, or a shape or ``num_groups`` does not fit.

    References:
        Wu and He (2018), Group normalization.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[[1.0], [3.0], [5.0], [9.0]]])
        >>> paddle.nn.functional.group_norm(x, 2, epsilon=0.0).tolist()
        [[[-1.0], [1.0], [-1.0], [1.0]]]
    """
    axis = channel_axis("group_norm", x, data_format)
    if num_groups < 1 or x.shape[axis] % num_groups:
        raise ValueError(
            f"group_norm: num_groups must divide the {x.shape[axis]} channels; got {num_groups}"
        )
    by_channel = shape.moveaxis(x, axis, 1)
    grouped = shape.reshape(by_channel, [x.shape[0], num_groups, x.size // max(
        1, x.shape[0] * num_groups)])  # fmt: skip
    normal = shape.reshape(layer_norm_rows(grouped, None, None, 2, epsilon), by_channel.shape)
    return _scaled(shape.moveaxis(normal, 1, axis), axis, weight, bias)


def instance_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-05,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Normalizes each channel of each sample for itself.

    Args:
        x: Float tensor [N, C, ...], or with the channels last.
        running_mean: Unused; for Paddle's signature, as the next.
        running_var: Unused.
        weight: Tensor [C], or None for 1.
        bias: Tensor [C], or None for 0.
        use_input_stats: Unused; for Paddle's signature, as the next.
        momentum: Unused.
        eps: Added to the variance.
        data_format: As of ``batch_norm``.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``data_format`` is unknown, or a shape does not fit.

    References:
        Ulyanov, Vedaldi and Lempitsky (2016), Instance normalization.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[[1.0, 3.0], [5.0, 9.0]]])
        >>> paddle.nn.functional.instance_norm(x, eps=0.0).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    channels = x.shape[channel_axis("instance_norm", x, data_format)]
    return group_norm(x, max(1, channels), eps, weight, bias, data_format)


def local_response_norm(
    x: Tensor,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """``x / (k + alpha * m) ** beta``, where m is the mean of x² over neighbouring channels.

    Args:
        x: Float tensor [N, C, ...], or with the channels last.
        size: Number of channels in the mean; what would lie beyond the first and last counts as 0.
        alpha: Factor on the mean.
        beta: Exponent.
        k: Added before the power.
        data_format: As of ``batch_norm``.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``data_format`` is unknown, or ``size`` is less than 1.

    References:
        Krizhevsky, Sutskever and Hinton (2012), ImageNet classification with deep convolutional
        neural networks, section 3.3.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.ones([1, 3, 2])
        >>> paddle.nn.functional.local_response_norm(x, 1, alpha=1.0, beta=1.0).max().item()
        0.5
    """
    axis = channel_axis("local_response_norm", x, data_format)
    if size < 1:
        raise ValueError(f"local_response_norm: size must be 1 or more; got {size}")
    by_channel = shape.moveaxis(x, axis, 0)
    around = [size // 2, (size - 1) // 2] + [0, 0] * (x.ndim - 1)
    squares = padding.pad(by_channel * by_channel, around)
    total = squares[: x.shape[axis]]
    for first in range(1, size):
        total = total + squares[first : first + x.shape[axis]]
    divisor = arithmetic.pow(total * (alpha / size) + k, beta)
    return shape.moveaxis(by_channel / divisor, 0, axis)


API = tuple(
    f"nn.functional.{name}"
    for name in ("batch_norm", "group_norm", "instance_norm", "local_response_norm")
)
