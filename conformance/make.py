#!/usr/bin/env python3
"""Writes points.json and index.txt from the stages in cases/. Needs usd-core 26.11 and numpy.

`--check` writes nothing, and fails if one of them would change.

The first lines of a stage, after `#usda 1.0`, say what it is:

    # rule N: SUBJECT, or `# exporter: SUBJECT`
    # times: 0 10                      the time codes to compare; these two if the line is missing
    # normals: compared
    # refusal: right                   an error is as good as these points, which are the rest points
    # specification: "SENTENCE"        of the UsdSkel documentation, where usd-core departs from it
    # by hand: PRIM TIME: X Y Z, ...   the points that follow from it
    # also: PRIM TIME: X Y Z, ...      points of a second reading, which are right too
    # usd-core: with instanceable = false, ...

Points are usd-core's unless they are given by hand. If those equal usd-core's, make.py fails: then
there is no departure.
"""

import json
import sys

import numpy as np
import run
from pxr import Usd

CASES = run.HERE / "cases"


def by_hand(lines):
    out = {}
    for line in lines:
        where, _, values = line.partition(": ")
        path, time = where.split()
        out.setdefault(path, {})[time] = [[float(x) for x in v.split()] for v in values.split(", ")]
    return out


def rounded(found, times):
    """Seven digits behind the point: one more than f32 has of a coordinate of 1."""
    return {
        path: {t: (np.round(v, 7) + 0.0).tolist() for t, v in at.items() if t in times}
        for path, at in found.items()
    }


def made(stage_file):
    lines = stage_file.read_text().splitlines()[1:]
    keys = {}
    for line in lines[: next(i for i, line in enumerate(lines) if not line.startswith("# "))]:
        key, _, value = line[2:].partition(": ")
        keys.setdefault(key, []).append(value)
    kind = next(iter(keys))
    times = [float(t) for t in keys.get("times", ["0 10"])[0].split()]
    names = [run.number(t) for t in times]
    points, normals = run.usd_core(stage_file, times, instances="usd-core" not in keys)
    rest, _ = run.world_points(Usd.Stage.Open(str(stage_file)), times)
    points, rest = rounded(points, names), rounded(rest, names)
    hand, by = by_hand(keys.get("by hand", [])), "usd-core " + ".".join(map(str, Usd.GetVersion()[1:]))
    if hand:
        assert run.differs(hand, points), f"{stage_file.name}: usd-core finds the same"
        points, by = hand, "hand"
    still = [path for path in points if run.differs({path: points[path]}, rest) is None]
    if "refusal" in keys:
        assert len(still) == len(points), f"{stage_file.name}: usd-core skins {points}"
    case = {
        "name": stage_file.stem,
        "about": kind,
        "subject": keys[kind][0],
        "by": by,
        "specification": keys.get("specification", [""])[0],
        "times": times,
        "refusal": "refusal" in keys,
        "still": still,
        "points": points,
        "also": by_hand(keys.get("also", [])),
        "normals": rounded(normals, names) if "normals" in keys else {},
    }
    return case


def main():
    cases = [made(file) for file in sorted(CASES.glob("*.usda"))]
    index = [f"{c['name']:28} {c['about']:10} {c['by']:14} {c['subject']}" for c in cases]
    for name, lines in (("points.json", map(json.dumps, cases)), ("index.txt", index)):
        file, text = run.HERE / name, "\n".join(lines) + "\n"
        if "--check" not in sys.argv:
            file.write_text(text)
        elif file.read_text() != text:
            sys.exit(f"{file}: run make.py, and look at what changes")


if __name__ == "__main__":
    main()
