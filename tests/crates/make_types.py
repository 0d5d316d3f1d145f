#!/usr/bin/env python3
"""Writes what UsdSkel.BakeSkinning makes of base.usda with one declaration changed at a time, for the test of value types
(crates/sinew-cli/tests/commands/types.rs).

    make_types.py            writes types.json next to this file
    make_types.py --check    compares with the committed file

Needs usd-core 26.11 and nothing else.
"""
import json
import os
import sys

from pxr import Sdf, Usd, UsdSkel

USD_CORE = "26.11"
HERE = os.path.dirname(os.path.abspath(__file__))

# What stands in base.usda, and what takes its place. Nothing changes in the first.
CASES = [
    ("point3f[] points", "point3f[] points"),
    # Types of older files, which are read.
    ("int[] pointIndices", "uint[] pointIndices"),
    ("vector3f[] offsets", "point3f[] offsets"),
    ("vector3f[] offsets", "float3[] offsets"),
    ("uniform vector3f[] offsets", "vector3f[] offsets"),
    ("vector3f[] normalOffsets", "normal3f[] normalOffsets"),
    ("normal3f[] normals", "float3[] normals"),
    ("normal3f[] normals", "vector3f[] normals"),
    ("point3f[] points", "float3[] points"),
    ("float3[] translations", "point3f[] translations"),
    # Other precisions, which are no value.
    ("vector3f[] offsets", "vector3d[] offsets"),
    ("vector3f[] offsets", "half3[] offsets"),
    ("int[] pointIndices", "int64[] pointIndices"),
    ("float[] blendShapeWeights", "double[] blendShapeWeights"),
    ("token[] skel:blendShapes", "string[] skel:blendShapes"),
    ("half3[] scales", "float3[] scales"),
    ("half3[] scales", "double3[] scales"),
    ("quatf[] rotations", "quath[] rotations"),
    ("quatf[] rotations", "quatd[] rotations"),
    ("float3[] translations", "double3[] translations"),
    ("float3[] translations", "half3[] translations"),
    ("normal3f[] normals", "normal3h[] normals"),
    ("normal3f[] normals", "normal3d[] normals"),
]


def bake(text):
    layer = Sdf.Layer.CreateAnonymous(".usda")
    if not layer.ImportFromString(text):
        raise SystemExit("a stage that does not parse")
    # A bake writes normal3f and point3f, which a layer refuses where it has another type.
    root = Sdf.Layer.CreateAnonymous(".usda")
    root.subLayerPaths = [layer.identifier]
    stage = Usd.Stage.Open(root)
    if not UsdSkel.BakeSkinning(stage.Traverse()):
        raise SystemExit("a bake that failed")
    body = stage.GetPrimAtPath("/R/Body")

    def values(name):
        # The mesh does not move: its first sample is all there is.
        attribute = body.GetAttribute(name)
        times = attribute.GetTimeSamples()
        value = attribute.Get(times[0] if times else Usd.TimeCode.Default())
        return [[float(c) for c in v] for v in value]

    return values("points"), values("normals")


def main():
    assert Usd.GetVersion() == (0, 26, 11), "usd-core %s is needed" % USD_CORE
    with open(os.path.join(HERE, "base.usda")) as f:
        base = f.read()
    cases = []
    for usual, other in CASES:
        assert usual in base, usual
        points, normals = bake(base.replace(usual, other))
        cases.append({"usual": usual, "other": other, "points": points, "normals": normals})
    rows = ",\n".join("  " + json.dumps(case) for case in cases)
    text = '{"usd_core": "%s", "cases": [\n%s\n]}\n' % (USD_CORE, rows)
    path = os.path.join(HERE, "types.json")
    if sys.argv[1:] == ["--check"]:
        with open(path) as f:
            if f.read() != text:
                raise SystemExit("types.json is not what usd-core %s gives" % USD_CORE)
    else:
        with open(path, "w") as f:
            f.write(text)


main()
