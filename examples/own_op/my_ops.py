"""The code of my_ops.yaml: squared ReLU, max(x, 0) ** 2 (So and others, "Primer", 2021)."""

from minipaddle.ops.op import formula, kernel


@kernel("squared_relu", "composite")
def squared_relu(F, x):
    return F.square(F.relu(x))


@formula
def squared_relu_grad(F, x, out_grad):
    return (F.multiply(out_grad, F.multiply(2.0, F.relu(x))),)
