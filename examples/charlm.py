"""A small language model learns to write like Python's own help texts, one character at a time.

    python examples/charlm.py                   some minutes; prints what it writes as it learns
    python examples/charlm.py --steps 300       a first impression
    python examples/charlm.py --resume          goes on where a killed run was

The texts are those of ``help("topics")``, which come with Python. A transformer of a few layers
sees some dozens of characters and says which comes next. A checkpoint is written with every sample.
"""

import argparse
import sys
import time
from pathlib import Path
from pydoc_data.topics import topics

import minipaddle as paddle
import minipaddle.nn as nn
import minipaddle.nn.functional as F
import minipaddle.optimizer as opt

# What a checkpoint fixes: a run with other values would not be the same run.
FIXED = ("steps", "batch", "context", "width", "layers", "heads", "rate", "seed")


class Text:
    """The help texts as numbers, and the characters that these stand for."""

    def __init__(self):
        text = "\n\n".join(topics[name] for name in sorted(topics))
        text = text.encode("ascii", "ignore").decode()  # a few letters of other alphabets go
        self.characters = sorted(set(text))
        number = {character: at for at, character in enumerate(self.characters)}
        self.numbers = paddle.to_tensor([number[character] for character in text])

    def batch(self, size, context):
        """Pieces [size, context] from anywhere, and for each character the one that follows."""
        starts = paddle.randint(0, len(self.numbers) - context, [size, 1])
        places = starts + paddle.arange(context + 1)
        pieces = paddle.take(self.numbers, places)
        return pieces[:, :-1], pieces[:, 1:]

    def written(self, numbers):
        return "".join(self.characters[number] for number in numbers)


class CharacterModel(nn.Layer):
    """Logits [batch, length, characters] of the next character at every place."""

    def __init__(self, characters, given):
        super().__init__()
        self.context = given.context
        self.character = nn.Embedding(characters, given.width)
        self.place = nn.Embedding(given.context, given.width)
        self.blocks = nn.LayerList(
            nn.TransformerEncoderLayer(
                given.width,
                given.heads,
                4 * given.width,
                dropout=0.0,
                activation="gelu",
                normalize_before=True,
            )
            for _ in range(given.layers)
        )
        self.norm = nn.LayerNorm(given.width)
        self.head = nn.Linear(given.width, characters)
        # Added to the scores of attention: no place looks at one that comes after it.
        ahead = paddle.triu(paddle.full([given.context, given.context], -1e9), diagonal=1)
        self.register_buffer("ahead", ahead, persistable=False)

    def forward(self, numbers):
        length = numbers.shape[1]
        x = self.character(numbers) + self.place(paddle.arange(length))
        for block in self.blocks:
            x = block(x, self.ahead[:length, :length])
        return self.head(self.norm(x))


@paddle.no_grad()
def sample(model, text, length):
    """``length`` characters that the model writes, each drawn by its probability."""
    model.eval()
    numbers = [text.characters.index("\n")]
    for _ in range(length):
        seen = paddle.to_tensor([numbers[-model.context :]])
        chances = F.softmax(model(seen)[0, -1])
        numbers.append(paddle.multinomial(chances).item())
    model.train()
    return text.written(numbers[1:])


class Training:
    def __init__(self, given):
        paddle.seed(given.seed)
        self.given = given
        self.text = Text()
        self.model = CharacterModel(len(self.text.characters), given)
        warm = max(1, given.steps // 20)
        cosine = opt.lr.CosineAnnealingDecay(given.rate, max(1, given.steps - warm))
        self.schedule = opt.lr.LinearWarmup(cosine, warm, start_lr=0.0, end_lr=given.rate)
        self.adamw = opt.AdamW(
            self.schedule,
            parameters=self.model.parameters(),
            weight_decay=0.1,
            grad_clip=nn.ClipGradByGlobalNorm(1.0),
        )
        self.losses = []  # one of each step

    def save(self):
        state = {
            "settings": {name: getattr(self.given, name) for name in FIXED},
            "model": self.model.state_dict(),
            "optimizer": self.adamw.state_dict(),  # with its schedule
            "random": paddle.get_rng_state(),
            "losses": self.losses,
        }
        paddle.save(state, self.given.checkpoint)

    def restore(self, state):
        self.model.set_state_dict(state["model"])
        self.adamw.set_state_dict(state["optimizer"])
        self.losses = state["losses"]
        paddle.set_rng_state(state["random"])

    def learn(self):
        numbers, following = self.text.batch(self.given.batch, self.given.context)
        loss = F.cross_entropy(self.model(numbers), following)
        loss.backward()
        self.adamw.step()
        self.adamw.clear_grad()
        self.schedule.step()
        self.losses.append(loss.item())

    def run(self):
        """Trains to the end; the losses of all steps."""
        every, start, first = self.given.every, time.perf_counter(), len(self.losses)
        while len(self.losses) < self.given.steps:
            self.learn()
            step = len(self.losses)
            if step % every == 0 or step == self.given.steps:
                each = (time.perf_counter() - start) / (step - first)
                recent = self.losses[-every:]
                mean = sum(recent) / len(recent)
                print(f"step {step}   loss {mean:.3f}   {each * 1e3:.0f} ms per step")
                print(f"{sample(self.model, self.text, self.given.length)}\n", flush=True)
                self.save()
        return self.losses


def checkpoint_to_resume(given):
    """The state to go on from; None to begin anew."""
    path = Path(given.checkpoint)
    if not given.resume:
        path.unlink(missing_ok=True)  # a later --resume is not to go on from another run's
        return None
    if not path.exists():
        print(f"there is no {path} yet: starting at the beginning", flush=True)
        return None
    state = paddle.load(path)
    for name, before in state["settings"].items():
        now = getattr(given, name)
        if now != before:
            raise ValueError(f"{path} is of a run with --{name} {before}; --{name} {now} is not it")
    print(f"resuming after step {len(state['losses'])}", flush=True)
    return state


def arguments(argv):
    parser = argparse.ArgumentParser(description="Learns to write like Python's help texts.")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("--checkpoint", default="charlm.ckpt", metavar="FILE")
    parser.add_argument("--every", type=int, default=100, help="steps from sample to sample")
    parser.add_argument("--length", type=int, default=200, help="characters of a sample")
    parser.add_argument("--batch", type=int, default=32, help="pieces of text in a step")
    parser.add_argument("--context", type=int, default=64, help="characters that the model sees")
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--rate", type=float, default=0.003, help="highest learning rate")
    given = parser.parse_args(argv)
    for name in ("steps", "every", "length", "batch", "context", "width", "layers", "heads"):
        if getattr(given, name) < 1:
            parser.error(f"--{name} is {getattr(given, name)}; it has to be 1 or more")
    if given.width % given.heads:
        parser.error(f"--width {given.width} does not divide among {given.heads} heads")
    return given


def main(argv=None):
    given = arguments(argv)
    try:
        state = checkpoint_to_resume(given)
    except ValueError as error:  # of another run, or damaged
        sys.exit(f"charlm.py: {error}")
    training = Training(given)
    if state is not None:
        training.restore(state)
    return training.run()


if __name__ == "__main__":
    main()
