"""Makes the BVH files of this folder that are random, and read.txt: where their joints must be.

    python3 make.py

Joints follow from the format's definition in plain matrices, not from sinew: channels turn in the order in which they stand,
and positions replace the offset axis by axis."""

import json
import math
import random
from pathlib import Path

HERE = Path(__file__).parent
ROWS = ["""# BVH files, and where their joints are. Made by make.py; common::rows says how to read this table.

# Two joints and an end, by hand. A quarter turn about Z lays the spine along -X; one about the chest's X then lifts its end to +Z.
base small.bvh as walk.bvh
= /format "Bvh"
= /up_axis "Y"
= /meters_per_unit 1
= /frames_per_second 30
count /nodes 3
= /nodes/0 {"name": "Hips", "parent": null}
= /nodes/1 {"name": "Chest", "parent": 0}
= /nodes/2 {"name": "Chest_end", "parent": 1}
= /nodes/0/local/Trs {"translation": [1, 2, 3], "rotation": [0, 0, 0, 1]}
= /nodes/1/local/Trs/rotation [0, 0, 0, 1]
= /nodes/2/local/Trs/rotation [0, 0, 0, 1]
= /roots [0]
count /clips 1
= /clips/0/name "walk"
count /clips/0/tracks 3
= /clips/0/tracks/0/curve {"times": [0, 0.03333333333333333], "interpolation": "Linear"}
= /clips/0/tracks/1/curve {"times": [0, 0.03333333333333333], "interpolation": "Linear"}
= /clips/0/tracks/2/curve {"times": [0, 0.03333333333333333], "interpolation": "Linear"}
@ 0 Hips 0 0 0
@ 0 Chest 0 5 0
@ 0 Chest_end 0 9 0
@ 0.03333333333333333 Hips 10 20 30
@ 0.03333333333333333 Chest 5 20 30
@ 0.03333333333333333 Chest_end 5 20 34

# The order of channels is the order of turns: two quarter turns of a bone along +Y, either way round.
text HIERARCHY\\nROOT a\\n{\\nOFFSET 0 0 0\\nCHANNELS 3 Xrotation Yrotation Zrotation\\nEnd Site\\n{\\nOFFSET 0 1 0\\n}\\n}\\nMOTION\\nFrames: 1\\nFrame Time: 0.04\\n90 90 0\\n
@ 0 a_end 0 0 1

text HIERARCHY\\nROOT a\\n{\\nOFFSET 0 0 0\\nCHANNELS 3 Zrotation Yrotation Xrotation\\nEnd Site\\n{\\nOFFSET 0 1 0\\n}\\n}\\nMOTION\\nFrames: 1\\nFrame Time: 0.04\\n90 90 0\\n
@ 0 a_end -1 0 0

# Positions replace the offset axis by axis.
- CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation -> CHANNELS 1 Yposition
- 0 0 0 0 0 0 0 0 0 -> 8 0 0 0
- 10 20 30 90 0 0 0 90 0 -> 9 0 0 0
@ 0 Hips 1 8 3
@ 9 Hips 1 9 3

# Positions that are 0 in all frames, but for round-off, say nothing where there is an OFFSET.
- 10 20 30 90 0 0 0 90 0 -> 0 0 0 90 0 0 0 90 0
? bvh-positions Hips | OFFSET
count /clips/0/tracks 2
@ 0.03333333333333333 Hips 1 2 3

- 10 20 30 90 0 0 0 90 0 -> 0.001 0 -0.002 90 0 0 0 90 0
? bvh-positions Hips | OFFSET
count /clips/0/tracks 2
@ 0.03333333333333333 Hips 1 2 3

# Names.
- JOINT Chest -> JOINT mixamorig:Chest
= /nodes/1/name "mixamorig:Chest"
= /nodes/2/name "mixamorig:Chest_end"

- JOINT Chest\\n -> JOINT Upper  Chest \\n
= /nodes/1/name "Upper  Chest"

# Few frames.
- Frames: 2\\nFrame Time: 0.0333333\\n0 0 0 0 0 0 0 0 0\\n10 20 30 90 0 0 0 90 0 -> Frames: 0\\nFrame Time: 0.1
= /clips []
count /nodes 3

- Frames: 2\\nFrame Time: 0.0333333\\n0 0 0 0 0 0 0 0 0\\n10 20 30 90 0 0 0 90 0 -> Frames: 1\\nFrame Time: 0\\n1 2 3 4 5 6 7 8 9
= /frames_per_second null
= /clips/0/tracks/0/curve/times [0]

# Rounded frame times are usual rates.
- 0.0333333 -> 0.0333333
within 3e-11
= /frames_per_second 30.0

- 0.0333333 -> 0.033333
within 3e-11
= /frames_per_second 30.0

- 0.0333333 -> 0.0333
within 3e-11
= /frames_per_second 30.0

- 0.0333333 -> 0.033
within 3e-11
= /frames_per_second 30.0

- 0.0333333 -> .03333333333333333333
within 3e-11
= /frames_per_second 30.0

- 0.0333333 -> 0.008333
within 1e-10
= /frames_per_second 120.0

- 0.0333333 -> 0.00833333
within 1e-10
= /frames_per_second 120.0

- 0.0333333 -> 0.0083
within 1e-10
= /frames_per_second 120.0

- 0.0333333 -> 8.33333e-3
within 1e-10
= /frames_per_second 120.0

- 0.0333333 -> 0.0416667
within 2e-11
= /frames_per_second 24.0

- 0.0333333 -> 0.041667
within 2e-11
= /frames_per_second 24.0

- 0.0333333 -> 0.0417
within 2e-11
= /frames_per_second 24.0

- 0.0333333 -> 0.04
within 3e-11
= /frames_per_second 25.0

- 0.0333333 -> 0.01
within 1e-10
= /frames_per_second 100.0

- 0.0333333 -> 0.016667
within 6e-11
= /frames_per_second 60.0

- 0.0333333 -> 0.0166666
within 6e-11
= /frames_per_second 60.0

- 0.0333333 -> 0.0069444
within 1e-10
= /frames_per_second 144.0

- 0.0333333 -> 0.033367
within 3e-11
= /frames_per_second 29.97002997002997

- 0.0333333 -> 0.0417083
within 2e-11
= /frames_per_second 23.976023976023978

- 0.0333333 -> 0.0357143
within 3e-11
= /frames_per_second 28.0

- 0.0333333 -> 1
within 1e-12
= /frames_per_second 1.0

- 0.0333333 -> 0.07
within 1e-11
= /frames_per_second 14.285714285714285

- 0.0333333 -> 0.0345678
within 3e-11
= /frames_per_second 28.92865614820729

# The unit is guessed from the size.
- OFFSET 0 4 0 -> OFFSET 0 40 0
= /meters_per_unit 0.01

# Where the root stands is no bone's length.
- OFFSET 1 2 3 -> OFFSET 0 90 0
= /meters_per_unit 1

# That of a human is guessed from thigh and shin: centimetres here, then the unit of CMU's files, decimetres, inches, metres.
base figure.bvh as figure.bvh
- \\n	}\\n} -> \\n	}\\n}\\nMOTION\\nFrames: 0\\nFrame Time: 0.1\\n
= /meters_per_unit 0.01

- \\n	}\\n} -> \\n	}\\n}\\nMOTION\\nFrames: 0\\nFrame Time: 0.1\\n
- OFFSET 0.4 -40.5 0.5 -> OFFSET 0.1 -7 0
- OFFSET -0.2 -41.0 -2.0 -> OFFSET 0 -7.3 -0.3
? bvh-unit HIERARCHY | 0.0564 m is a guess | legs 0.81 m
= /meters_per_unit 0.0564

- \\n	}\\n} -> \\n	}\\n}\\nMOTION\\nFrames: 0\\nFrame Time: 0.1\\n
- OFFSET 0.4 -40.5 0.5 -> OFFSET 0 -4.1 0
- OFFSET -0.2 -41.0 -2.0 -> OFFSET 0 -4.1 0
? bvh-unit HIERARCHY | 0.1 m is a guess | legs 0.82 m
= /meters_per_unit 0.1

- \\n	}\\n} -> \\n	}\\n}\\nMOTION\\nFrames: 0\\nFrame Time: 0.1\\n
- OFFSET 0.4 -40.5 0.5 -> OFFSET 0 -16.5 0
- OFFSET -0.2 -41.0 -2.0 -> OFFSET 0 -16.5 0
? bvh-unit HIERARCHY | 0.0254 m is a guess | legs 0.84 m
= /meters_per_unit 0.0254

- \\n	}\\n} -> \\n	}\\n}\\nMOTION\\nFrames: 0\\nFrame Time: 0.1\\n
- OFFSET 0.4 -40.5 0.5 -> OFFSET 0 -0.405 0
- OFFSET -0.2 -41.0 -2.0 -> OFFSET 0 -0.41 0
= /meters_per_unit 1
"""]

AXES = "XYZ"


def turn(axis, degrees):
    s, c = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    m = [[float(a == b) for b in range(3)] for a in range(3)]
    m[j][j], m[k][j], m[j][k], m[k][k] = c, s, -s, c
    return m


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def moved(m, v):
    return [sum(m[i][k] * v[k] for k in range(3)) for i in range(3)]


def some_channels(rng):
    """In any order: fewer than three, an axis twice (ZXZ), positions between rotations."""
    channels = [rng.choice(AXES) + "rotation" for _ in range(rng.randrange(5))]
    for axis in AXES:
        if rng.random() < 0.3:
            channels.insert(rng.randrange(len(channels) + 1), axis + "position")
    return channels


def some_parts(rng):
    """Name, parent, offset, channels, and the offset of an end: depth first, with two roots and more."""
    parts, open_ = [], []
    for i in range(12):
        if open_:
            del open_[len(open_) - rng.randrange(len(open_) + 1):]
        offset = [rng.uniform(-2, 2) for _ in range(3)]
        end = [0.0, 1.0, 2.0] if rng.random() < 0.3 else None
        parts.append((f"j{i}", open_[-1] if open_ else None, offset, some_channels(rng), end))
        open_.append(i)
    return parts


def text(parts, frames):
    lines, open_ = ["HIERARCHY"], []

    def close():
        open_.pop()
        lines.append("\t" * len(open_) + "}")
    for i, (name, parent, offset, channels, end) in enumerate(parts):
        while (open_[-1] if open_ else None) != parent:
            close()
        indent = "\t" * len(open_)
        lines += [f"{indent}{'ROOT' if parent is None else 'JOINT'} {name}", indent + "{"]
        lines.append(f"{indent}\tOFFSET {' '.join(map(repr, offset))}")
        lines.append(f"{indent}\tCHANNELS {len(channels)} {' '.join(channels)}".rstrip())
        if end:
            lines += [f"{indent}\tEnd Site", indent + "\t{", f"{indent}\t\tOFFSET {' '.join(map(repr, end))}", indent + "\t}"]
        open_.append(i)
    while open_:
        close()
    lines += ["MOTION", f"Frames: {len(frames)}", "Frame Time: 0.008333"]
    lines += [" ".join(map(repr, frame)) for frame in frames]
    return "\n".join(lines) + "\n"


def worlds(parts, frame):
    values, out = iter(frame), []
    for _, parent, offset, channels, _ in parts:
        m, at = turn(0, 0), list(offset)
        for channel in channels:
            value, axis = next(values), AXES.index(channel[0])
            if channel.endswith("position"):
                at[axis] = value
            else:
                m = product(m, turn(axis, value))
        if parent is not None:
            above, origin = out[parent]
            m, at = product(above, m), [a + b for a, b in zip(origin, moved(above, at))]
        out.append((m, at))
    return out


def main():
    seen = [False] * 3
    for seed in range(5):
        rng = random.Random(seed)
        parts = some_parts(rng)
        count = sum(len(p[3]) for p in parts)
        frames = [[rng.choice([rng.uniform(-3, 3), rng.uniform(-400, 400)]) for _ in range(count)] for _ in range(3)]
        kinds = [c for p in parts for c in p[3]]
        frames = [[v if c.endswith("rotation") else v / 200 for v, c in zip(f, kinds)] for f in frames]
        (HERE / f"random_{seed}.bvh").write_text(text(parts, frames))
        seen[0] |= sum(p[1] is None for p in parts) > 1
        seen[1] |= any(not p[3] for p in parts)
        seen[2] |= any(len(set(p[3])) < len(p[3]) for p in parts)
        lines = [f"base random_{seed}.bvh as walk.bvh", "= /frames_per_second 120", "within 1e-11"]
        for i, frame in enumerate(frames):
            for part, (m, at) in zip(parts, worlds(parts, frame)):
                numbers = [m[row][column] for column in range(3) for row in range(3)] + at
                numbers = " ".join(f"{n + 0.0:.14g}" for n in numbers)
                lines.append(f"@ {i / 120!r} {part[0]} {numbers}")
        ROWS.append("# Any hierarchy, and channels in any order.\n" + "\n".join(lines) + "\n")
    assert all(seen), "two roots, a joint without channels, an axis twice"
    spin = [("a", None, [0.0, 0.0, 0.0], ["Zrotation"], None)]
    angles = [17.0 * i for i in range(60)]
    (HERE / "spin.bvh").write_text(text(spin, [[a] for a in angles]))
    keys = [[0, 0, math.sin(math.radians(a) / 2), math.cos(math.radians(a) / 2)] for a in angles]
    ROWS.append("# Rotations stay on one hemisphere, over more than one round.\nbase spin.bvh as walk.bvh\nwithin 1e-12\n"
                f"= /clips/0/tracks/0/curve/keys/Rotation {json.dumps(keys)}\n")
    (HERE / "read.txt").write_text("\n".join(ROWS))


main()
