"""``python -m benchmarks.random_programs``."""

import argparse
import json
import sys
import traceback
from pathlib import Path
from typing import Any

import minipaddle
from benchmarks.random_programs.generator import Program, generate
from benchmarks.random_programs.running import TOLERANCE, differences, rounded, run


def compare(program: Program, right: dict[str, list[Any]]) -> list[str]:
    """What minipaddle does otherwise, in words."""
    try:
        return differences(run(program, minipaddle), right)
    except Exception:
        return [traceback.format_exc()]


def main(arguments: list[str] | None = None) -> int:
    """Runs the programs of the command line; 1 if any differs, 2 without PyTorch."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.random_programs")
    parser.add_argument("--count", type=int, default=300, help="number of programs")
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--record", type=Path, help="write PyTorch's numbers to this file")
    options = parser.parse_args(arguments)
    try:
        import torch
    except ImportError:
        print("needs PyTorch beside minipaddle: pip install torch")
        return 2
    failed, recorded, steps = 0, [], 0
    for seed in range(options.first, options.first + options.count):
        program = generate(seed)
        right = run(program, torch)
        steps += len(program.steps)
        record = {"seed": seed, "steps": [step.name for step in program.steps], **rounded(right)}
        recorded.append(json.dumps(record, separators=(",", ":")))
        wrong = compare(program, right)
        if wrong:
            failed += 1
            print(f"program {seed}:", *program.leaves, *program.steps, *wrong, sep="\n  ")
    if options.record:
        options.record.write_text("[\n" + ",\n".join(recorded) + "\n]\n", "utf-8")
    print(f"{options.count} programs of {steps} steps: {failed} differ by more than {TOLERANCE}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
