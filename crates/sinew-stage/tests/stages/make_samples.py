"""Writes a stage of arrays with two samples: make_samples.py FILE"""

import random
import sys

ELEMENTS = 3000
TYPES = {"half": 1, "half3": 3, "float": 1, "float3": 3, "double3": 3, "quath": 4, "quatf": 4, "quatd": 4}


def element(rng, width):
    """A number between -1 and 1, or a vector or quaternion of length 1."""
    values = [rng.uniform(-1, 1) for _ in range(width)]
    if width == 1:
        return repr(values[0])
    length = sum(v * v for v in values) ** 0.5
    return f"({', '.join(repr(v / length) for v in values)})"


def main(file):
    rng = random.Random(1)
    lines = ["#usda 1.0", 'def "A"', "{"]
    for name, width in TYPES.items():
        samples = [", ".join(element(rng, width) for _ in range(ELEMENTS)) for _ in range(2)]
        lines.append(f"{name}[] {name}s.timeSamples = {{ 0: [{samples[0]}], 1: [{samples[1]}] }}")
    with open(file, "w") as out:
        out.write("\n".join([*lines, "}", ""]))


main(*sys.argv[1:])
