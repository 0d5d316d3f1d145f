"""Times the Python package against the same loops over usd-core's own functions.

    python benches/python_points.py [POINTS [FRAMES]] [--runs N] [--rows]

Needs the package (a release build: `pip install ./crates/sinew-python`), usd-core and numpy. Points, of a
tube with 4 influences each, must agree. Three things are timed, each side in turn:

- all frames of a clip, posed and skinned, as one array: the package in one call, usd-core in a loop
- the same, by one call of the package for each frame
- plain arrays, skinned by linear blending alone

--rows prints one JSON object per line, as the suite (`cargo bench --bench suite -- --only python`) reads
them, in place of text.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import sinew
from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

sys.path.insert(0, str(Path(__file__).parents[1] / "crates" / "sinew-python" / "tests"))
from big import write  # noqa: E402

USD_CORE = "usd-core " + ".".join(str(v) for v in Usd.GetVersion()[1:])
PACKAGE = "sinew, Python"
# Roundings of f32 over a tube of 24 units.
NEAR = 1e-4


def in_turn(runs: int, *sides) -> list:
    """Seconds of the runs of each side, which take turns after one run that does not count."""
    spans = [[] for _ in sides]
    for turn in range(runs + 1):
        for side, own in zip(sides, spans):
            start = time.perf_counter()
            side()
            if turn:
                own.append(time.perf_counter() - start)
    return spans


def clip(path: str, frames: int, runs: int) -> list:
    prim = sinew.open(path).values()[0]
    out = np.empty((frames, prim.point_count, 3), np.float32)
    times = range(1, frames + 1)

    stage = Usd.Stage.Open(path)
    cache, root = UsdSkel.Cache(), UsdSkel.Root(stage.GetPrimAtPath("/Tube"))
    cache.Populate(root, Usd.PrimDefaultPredicate)
    (binding,) = cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate)
    skeleton, query = cache.GetSkelQuery(binding.GetSkeleton()), binding.GetSkinningTargets()[0]
    rest = UsdGeom.Mesh(query.GetPrim()).GetPointsAttr().Get()
    theirs = np.empty_like(out)

    def loop() -> None:
        for i, frame in enumerate(times):
            points = Vt.Vec3fArray(rest)
            query.ComputeSkinnedPoints(skeleton.ComputeSkinningTransforms(frame), points, frame)
            theirs[i] = points

    def one_call() -> None:
        prim.points(times, out=out, space="skel", backend="cpu")

    def one_by_one() -> None:
        for i, frame in enumerate(times):
            prim.points(frame, out=out[i], space="skel", backend="cpu")

    found = in_turn(runs, loop, one_call, one_by_one)
    for compute in (one_call, one_by_one):
        out.fill(np.nan)
        compute()
        error = np.abs(out - theirs).max()
        assert error < NEAR, error
    values = out.size // 3
    return [
        ("clip", USD_CORE, values, found[0]),
        ("clip", PACKAGE + ", one call", values, found[1]),
        ("clip", PACKAGE + ", a call for each frame", values, found[2]),
    ]


def arrays(path: str, runs: int) -> list:
    """Linear blend skinning of plain arrays, which both take as they are."""
    prim = sinew.open(path).values()[0]
    influences, points = prim.influences, prim.rest_points
    palette = prim.skeleton.transforms(7, space="skinning")
    out = np.empty_like(points)
    matrices = Vt.Matrix4dArray.FromBuffer(palette)
    flat = (
        Vt.IntArray.FromNumpy(influences.indices.reshape(-1)),
        Vt.FloatArray.FromNumpy(influences.weights.reshape(-1)),
    )
    count = influences.indices.shape[1]
    rest = Vt.Vec3fArray.FromNumpy(points)
    theirs = []

    def ours() -> None:
        sinew.skin_points_lbs(points, influences.indices, influences.weights, palette, out=out)

    def loop() -> None:
        theirs[:] = [Vt.Vec3fArray(rest)]
        UsdSkel.SkinPointsLBS(Gf.Matrix4d(1), matrices, *flat, count, theirs[0])

    found = in_turn(4 * runs, loop, ours)
    error = np.abs(out - np.array(theirs[0])).max()
    assert error < NEAR, error
    return [
        ("plain arrays", USD_CORE, len(points), found[0]),
        ("plain arrays", PACKAGE, len(points), found[1]),
    ]


def row(case: str, who: str, points: int, seconds: list) -> str:
    return json.dumps(
        {
            "load": "python", "case": case, "who": who, "threads": 0, "points": points,
            "times": {"seconds": sorted(seconds)},
            "floor_bytes": None, "floor": None, "bytes_per_point": None, "note": "",
        }
    )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("points", type=int, nargs="?", default=100_000)
    asked.add_argument("frames", type=int, nargs="?", default=100)
    asked.add_argument("--runs", type=int, default=5)
    asked.add_argument("--rows", action="store_true")
    given = asked.parse_args()
    if not given.rows:
        print(f"{given.points:,} points, {given.frames} frames, sinew {sinew.__version__}, {USD_CORE}")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "tube.usda")
        write(path, given.points, given.frames)
        found = clip(path, given.frames, given.runs) + arrays(path, given.runs)
    named = f", {given.points:,} points" if given.rows else ""
    slowest = 0.0
    for case, who, points, seconds in found:
        if given.rows:
            print(row(case + named, who, points, seconds), flush=True)
            continue
        median = statistics.median(seconds)
        slowest = median if who == USD_CORE else slowest
        print(f"{case:13} {who:36} {median * 1e3:8.2f} ms  {points / median / 1e6:7.1f} M points/s  "
              f"{slowest / median:5.1f}x")


if __name__ == "__main__":
    main()
