"""Blends two photographs with ``paddle.lerp``, and learns from a blend how it was mixed.

    python examples/lerp.py                     a weight for each colour, found by gradient
    python examples/lerp.py --weight 0.3        one weight for all colours
    python examples/lerp.py --every 4           on every fourth pixel, which is faster

A target is blended with a weight that the training does not see. From a wrong weight the gradient
of ``lerp`` for its weight then leads to the hidden one. A picture shows the way.

The photographs come with scikit-learn, some rights reserved by their authors, who license them
under CC BY 2.0, https://creativecommons.org/licenses/by/2.0/. The picture shows them scaled and
blended.

    china.jpg   danielbuechele, https://www.flickr.com/photos/danielbuechele/6061409035/
    flower.jpg  vultilion, https://www.flickr.com/photos/vultilion/6056698931/
"""

import argparse
import importlib
import sys
from pathlib import Path

import minipaddle as paddle
import minipaddle.nn.functional as F
import minipaddle.optimizer as opt

CREDIT = (
    "Photographs: china.jpg by danielbuechele, flower.jpg by vultilion, both CC BY 2.0 "
    "(creativecommons.org/licenses/by/2.0), here scaled and blended"
)
START = 0.0  # the first photograph alone
TOLERANCE = 1e-3


def optional(module):
    """A package that only this example needs; its absence is explained."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        sys.exit(
            f"lerp.py cannot import {error.name}; install what it needs with\n"
            "    pip install scikit-learn pillow"
        )


def load_photographs(every):
    """china.jpg and flower.jpg as float32 tensors [height, width, 3] in [0, 1]."""
    optional("PIL")  # scikit-learn reads the files with it
    images = optional("sklearn.datasets").load_sample_images().images
    return [paddle.to_tensor(image[::every, ::every] / 255.0, "float32") for image in images]


def learn_weight(x, y, target, size, steps):
    """Looks for the weight with which ``target`` lies between ``x`` and ``y``.

    Returns the weight before each step and after the last one, as lists of its elements.
    """
    weight = paddle.full([size], START)
    weight.stop_gradient = False
    # The loss is a parabola in the weight, as steep as the photographs differ; the rate is set so
    # that a step goes half the way to the bottom for a colour of average contrast.
    curvature = 2.0 * F.mse_loss(x, y).item() / size
    sgd = opt.SGD(learning_rate=0.5 / curvature, parameters=[weight])
    history = []
    for step in range(steps + 1):
        loss = F.mse_loss(paddle.lerp(x, y, weight), target)
        history.append(weight.tolist())
        if step % 5 == 0 or step == steps:
            elements = "  ".join(f"{w:.6f}" for w in history[-1])
            print(f"step {step:3d}   loss {loss.item():.3e}   weight {elements}")
        if step < steps:
            loss.backward()
            sgd.step()
            sgd.clear_grad()
    return history


# ---- the picture ----

PANEL, GAP, LABEL = 300, 14, 26
PAPER, INK, GREY = (250, 249, 246), (40, 40, 40), (150, 150, 150)
COLOURS = ((196, 58, 49), (46, 139, 72), (48, 98, 184))


def as_photograph(image, size):
    from_array = optional("PIL.Image").fromarray
    bytes_of = (image.numpy().clip(0.0, 1.0) * 255.0).round().astype("uint8")
    return from_array(bytes_of).resize(size, optional("PIL.Image").Resampling.LANCZOS)


def draw_curves(size, history, hidden):
    """The weights over the steps, and the hidden ones as broken lines; drawn large, then shrunk."""
    width, height = (3 * length for length in size)
    picture = optional("PIL.Image").new("RGB", (width, height), (255, 255, 255))
    draw = optional("PIL.ImageDraw").Draw(picture)
    font = optional("PIL.ImageFont").load_default(36)
    left, right, top, bottom = 100, width - 40, 40, height - 70

    def at(step, weight):
        x = left + (right - left) * step / max(1, len(history) - 1)
        return x, bottom - (bottom - top) * weight

    for mark in (0.0, 0.5, 1.0):
        y = at(0, mark)[1]
        draw.line([(left, y), (right, y)], fill=(225, 225, 225), width=3)
        draw.text((left - 20, y), f"{mark:.1f}", fill=GREY, font=font, anchor="rm")
    for channel, colour in enumerate(COLOURS if len(hidden) == 3 else (INK,)):
        y = at(0, hidden[channel])[1]
        for x in range(left, right, 30):
            draw.line([(x, y), (x + 14, y)], fill=colour, width=3)
        points = [at(step, weights[channel]) for step, weights in enumerate(history)]
        draw.line(points, fill=colour, width=9, joint="curve")
    draw.text((left, bottom + 14), f"steps 0 to {len(history) - 1}", fill=GREY, font=font)
    return picture.resize(size, optional("PIL.Image").Resampling.LANCZOS)


def draw_picture(x, y, target, history, hidden, path):
    size = (PANEL, round(PANEL * x.shape[0] / x.shape[1]))

    def blend(label, weight):
        blended = paddle.lerp(x, y, paddle.to_tensor(weight, "float32"))
        return label, as_photograph(blended, size)

    upper = [blend(f"lerp(china, flower, {w:g})", w) for w in (0.0, 0.25, 0.5, 0.75, 1.0)]
    shown = (0, min(2, len(history) - 1), len(history) - 1)
    lower = [
        ("target, weight " + "  ".join(f"{w:g}" for w in hidden), as_photograph(target, size)),
        *(blend(f"learnt, step {step}", history[step]) for step in shown),
        ("weight, step by step", draw_curves(size, history, hidden)),
    ]
    row_height = size[1] + LABEL + GAP
    sheet = optional("PIL.Image").new("RGB", (GAP + 5 * (PANEL + GAP), 2 * row_height + 46), PAPER)
    draw = optional("PIL.ImageDraw").Draw(sheet)
    font = optional("PIL.ImageFont").load_default(15)
    for row, panels in enumerate((upper, lower)):
        for column, (label, picture) in enumerate(panels):
            left, top = GAP + column * (PANEL + GAP), GAP + row * row_height
            draw.text((left, top), label, fill=INK, font=font)
            sheet.paste(picture, (left, top + LABEL))
    draw.text(
        (GAP, sheet.height - 30), CREDIT, fill=GREY, font=optional("PIL.ImageFont").load_default(13)
    )
    sheet.save(path)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Blend two photographs and learn how.")
    parser.add_argument(
        "--weight", type=float, nargs="+", default=[0.2, 0.5, 0.85], metavar="W",
        help="the hidden weight: one, or one each for red, green and blue",
    )  # fmt: skip
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="use every Nth pixel")
    parser.add_argument("--out", default=Path(__file__).with_suffix(".png"), type=Path)
    given = parser.parse_args(argv)
    if len(given.weight) not in (1, 3):
        parser.error(f"--weight takes one number or three; got {len(given.weight)}")

    x, y = load_photographs(given.every)
    target = paddle.lerp(x, y, paddle.to_tensor(given.weight, "float32"))
    history = learn_weight(x, y, target, len(given.weight), given.steps)
    draw_picture(x, y, target, history, given.weight, given.out)
    error = max(abs(found - true) for found, true in zip(history[-1], given.weight, strict=True))
    print(f"hidden weight {given.weight}, found to within {error:.1e}; picture: {given.out}")
    if not error < TOLERANCE:
        sys.exit(f"the hidden weight was not found to within {TOLERANCE:g} in {given.steps} steps")


if __name__ == "__main__":
    main()
